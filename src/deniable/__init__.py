"""deniable: differential privacy, from the noise in one number to a server.

    import deniable as dp

Where things are, in the order of a row's path:

    errors        every error: code, what, why, fix, cost
    parameters    what a public parameter may be
    units         whom we protect
    schema        what is public about a table
    sensitive     values that hide themselves
    sampling      the only place randomness is drawn
    losses        bounds on privacy loss: values with +, *, <=
    mechanisms    one file a mechanism: parameters, privacy facts, sampler, error
    calibration   the noise that meets a loss
    sensitivity   from data to values one unit can move only so far
    release, ledger, session    the one door: charge, compute, draw
    plots         pictures
    audit         is the claim true?

Names are loaded when first used, so that importing deniable is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOMES = {
    "errors": [
        "BadParameter", "BudgetExceeded", "DataFailure", "DeltaTooLarge", "DeniableError",
        "EpsilonTooLarge", "HiddenValue", "LedgerFailure", "MissingBounds", "MissingExtra",
        "MissingRule", "MissingUnit", "MixedLosses", "NoBound", "NotAdaptive", "SeedOutsideTests",
        "SensitivityMismatch", "UnitMismatch", "UnknownKeys", "UnknownName", "UnsupportedQuery",
    ],
    "units": ["Relation", "Unit", "person", "rows"],
    "sensitive": ["Sensitive"],
    "losses": [
        "Approx", "Gdp", "Loss", "Profile", "Pure", "Renyi", "Zcdp", "epsilon", "mu", "parallel", "rho",
    ],
    "mechanisms": [
        "DiscreteGaussian", "DiscreteLaplace", "Exponential", "Gaussian", "Laplace", "Mechanism",
        "RandomizedResponse",
    ],
    "calibration": ["calibrate"],
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME)]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'deniable' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


if TYPE_CHECKING:
    from .calibration import calibrate as calibrate
    from .errors import *  # noqa: F403
    from .losses import Approx as Approx
    from .losses import Gdp as Gdp
    from .losses import Loss as Loss
    from .losses import Profile as Profile
    from .losses import Pure as Pure
    from .losses import Renyi as Renyi
    from .losses import Zcdp as Zcdp
    from .losses import epsilon as epsilon
    from .losses import mu as mu
    from .losses import parallel as parallel
    from .losses import rho as rho
    from .sensitive import Sensitive as Sensitive
    from .units import Relation as Relation
    from .units import Unit as Unit
    from .units import person as person
    from .units import rows as rows
