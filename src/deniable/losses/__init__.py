"""Bounds on privacy loss, as values with `+`, `*` and `<=`; a loss used as a limit is a budget.

    _loss                                   the interface of every loss
    approx · zcdp · gdp · renyi             definitions, all valid in adaptive sessions
    profile                                 the whole loss distribution, for lists fixed in advance
    pairs · contour · pricing · picture     how a profile is computed, and drawn
    convert                                 from one definition to another, a theorem each
    amplify                                 what sampling and shuffling save
    disjoint                                parallel composition over public parts
    filters                                 budgets for adaptive analysts
    textbook                                the composition theorems of the literature, to compare
    rounding                                figures that are never below the truth

There is no accountant: the kind of a loss is the accountant, and composition is `+` and `*`.

    >>> epsilon(1.0) + epsilon(0.5)
    Pure(epsilon=1.5)
    >>> 2 * rho(0.25) <= rho(0.5)
    True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable import parameters
from deniable.loading import on_first_use

from . import convert, rounding
from ._loss import Facts, Loss
from .approx import Approx, Pure, epsilon
from .disjoint import parallel
from .gdp import Gdp
from .renyi import Renyi
from .zcdp import Zcdp

if TYPE_CHECKING:
    from .profile import Profile
else:
    __getattr__, __dir__ = on_first_use(__name__, {"profile": "Profile"})

__all__ = [
    "Approx",
    "Facts",
    "Gdp",
    "Loss",
    "Profile",
    "Pure",
    "Renyi",
    "Zcdp",
    "convert",
    "epsilon",
    "mu",
    "parallel",
    "rho",
    "rounding",
]


@parameters.called("dp.rho(0.1)")
def rho(rho: float) -> Zcdp:
    """ρ of zero-concentrated differential privacy."""
    return Zcdp(parameters.non_negative("rho", rho))


@parameters.called("dp.mu(0.5)")
def mu(mu: float) -> Gdp:
    """μ of Gaussian differential privacy."""
    return Gdp(parameters.non_negative("mu", mu))
