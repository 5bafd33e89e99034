"""Strategies: what is asked of the data so that a whole workload can be answered well.

exact        whole-number arithmetic without loss
_strategy    the interface: encode exactly, decode by least squares, exact variances
identity     the cells themselves
blocks       a hierarchy of blocks with optimised level noise
transformed  the sine transform for ranges, the square root for running totals
dense        a matrix found numerically
noises       the noise of each vector, on a lattice that suits it
chosen       the best strategy and noise for an amount
"""

from ._strategy import Bounds, Strategy
from .blocks import Blocks
from .chosen import Chosen, choose
from .dense import Dense
from .identity import Identity
from .transformed import Sine, SquareRoot

__all__ = [
    "Blocks",
    "Bounds",
    "Chosen",
    "Dense",
    "Identity",
    "Sine",
    "SquareRoot",
    "Strategy",
    "choose",
]
