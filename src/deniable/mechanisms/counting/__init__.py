"""Mechanisms that count over time: a running total after every step.

binary_tree      noisy sums over stretches of 1, 2, 4, … steps
toeplitz         the square root of the running sum
square_root      the same with its columns and rows evened out, for a known number of steps
unbounded        a square root that falls faster, for as long as it takes
open_ended       Toeplitz counters in epochs that double in length
open_ended_tree  binary trees in epochs that double in length
_stream          what all counters share
_factored        what counters by a factor of the running sum share
_epochs          what counters in epochs share
_online          Toeplitz products, one output at a time
_places          a smooth function of the steps, computed at some of them
"""

from .binary_tree import BinaryTreeCounter
from .open_ended import OpenEndedCounter
from .open_ended_tree import OpenEndedTreeCounter
from .square_root import SquareRootCounter
from .toeplitz import ToeplitzCounter
from .unbounded import UnboundedCounter

__all__ = [
    "BinaryTreeCounter",
    "OpenEndedCounter",
    "OpenEndedTreeCounter",
    "SquareRootCounter",
    "ToeplitzCounter",
    "UnboundedCounter",
]
