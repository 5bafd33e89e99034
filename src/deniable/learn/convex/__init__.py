"""Private convex optimisation: minimise (1/n)·ΣF(x; row) over a ball, a box or the simplex.

minimizing     minimize, explain, and the steps for a session, given or its own
problems       which steps a minimisation takes, from public facts
exponential    the (regularised) exponential mechanism and its proofs
proximal       its sampler, with a certified distance in total variation
coins          its coins, which look at a few rows
lattice        the sampler's step length, number of steps and lattice, with their bound
grid           the exponential mechanism of pure ε, on a grid
descent        noisy projected gradient descent
stochastic     the same on Poisson samples of the rows
domains        Ball, Box, Simplex
restricted     normal draws restricted to sets
objectives     losses, and how rows are clipped
brought        losses that users bring
minimum        the answer
held           rows that are looked at after the charge
"""

from .domains import Ball, Box, Domain, Simplex
from .exponential import ConvexExponential
from .minimizing import explain, minimize, minimizing
from .minimum import Minimum

__all__ = [
    "Ball",
    "Box",
    "ConvexExponential",
    "Domain",
    "Minimum",
    "Simplex",
    "explain",
    "minimize",
    "minimizing",
]
