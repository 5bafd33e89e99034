"""Exact Gaussian noise on the integers: the discrete law, and the real law rounded to a lattice.

Neither is an approximation. Float64 only ever decides what it can decide with a proved margin; the
rest, about one draw in a million, is settled in exact arithmetic with further digits of the same
random numbers. How the work is done depends on σ and the number of draws alone:

    discrete, few draws      rejection from a staircase of coin tosses: no table, any σ    laws
    discrete, σ < 64         one look-up in an alias table of the law itself, kept per σ   table
    discrete, σ ≥ 64         a staircase over the normal density: one table for all σ      steps
    rounded, any σ           the same staircase
"""

from .laws import discrete_gaussian, rounded_gaussian

__all__ = ["discrete_gaussian", "rounded_gaussian"]
