"""deniable: differential privacy, from noise on a single number to a shared budget ledger.

    import deniable as dp

    dp.open(data, unit=..., budget=...)    a session: it charges the budget, then answers
    dp.epsilon(1.0), dp.rho(0.5)           a privacy loss, to spend or as a budget
    dp.person("user_id", rows=10)          the privacy unit: which rows belong to one person
    dp.Laplace.calibrate(epsilon=0.5)      noise for a single number

The documentation is in docs/; start with docs/tutorials/first-answer.md. The modules, from small
parts to whole programs:

    loading       packages that import their names on first use
    fixes         suggested fixes as values, written in Python, SQL, Ibis or a shell
    cards         small boxes of HTML, for notebooks
    records       JSON for people and programs to read
    snippets      a line of the user's code with a caret under the fault
    errors        every error: code, what, why, fix, cost
    parameters    checks of public parameters
    progress      one line on a terminal for work that takes longer than two seconds
    units         privacy units and neighbouring tables
    schema        what is public about a table
    forms         the declared form of a private value, which it is converted to
    sensitive     private values that cannot be read, compared or stored
    sampling      the only place where randomness is drawn
    losses        bounds on privacy loss: values with +, *, <=
    mechanisms    one file per mechanism: parameters, privacy facts, sampler, error
    calibration   the noise that meets a loss
    divergences   divergences of two given distributions; the privacy loss at one output
    sensitivity   statistics of bounded sensitivity
    workload      noise for many counts and sums released together
    release, ledger, session    the only way to the data: charge, compute, draw
    plots         charts
    query, statistics, curator    query in SQL, with DataFrames, or in one line
    secure        secure sums: masks, shares, noise shares, encrypted sums
    learn         machine learning and private convex optimisation
    local         each person randomizes their own answer before it is sent
    synthetic     private synthetic tables
    anonymity     k-anonymity, ℓ-diversity, t-closeness
    attacks       attacks on published data
    audit         audits of privacy claims
    data          small bundled data sets
    server        a curator's server with pages, and its client
    cli           the command line

Names are loaded on first use, so that importing deniable is fast.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .loading import on_first_use

__version__ = "0.1.0"

# When NumPy is imported, OpenBLAS starts a thread per core, and each spins for 2²⁶ cycles before it
# sleeps: 0.1 CPU seconds per core, as much as importing NumPy itself. 2²⁰ cycles serve as well.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")

_HOMES = {
    "errors": [
        "AskerStopped", "BadParameter", "BudgetExceeded", "DataFailure", "DeltaTooLarge",
        "DeniableError", "HiddenValue", "LedgerFailure", "MessageRejected", "MissingBounds",
        "MissingExtra", "MissingRule", "MissingUnit", "MixedLosses", "NoBound", "NotAdaptive",
        "NotReady", "SeedOutsideTests", "SensitivityMismatch", "UnitMismatch", "UnknownKeys",
        "UnknownName", "UnsupportedQuery",
    ],
    "units": ["Relation", "Unit", "person", "rows"],
    "schema": ["Schema", "bounds", "column", "keys"],
    "sensitive": ["Sensitive"],
    "losses": [
        "Approx", "Gdp", "Loss", "Profile", "Pure", "Renyi", "Zcdp", "epsilon", "mu",
        "parallel", "rho",
    ],
    "mechanisms": [
        "AboveThreshold", "DiscreteGaussian", "DiscreteLaplace", "Exponential", "Gaussian",
        "Laplace", "Mechanism", "NoisyMax", "PermuteAndFlip", "RandomizedResponse",
        "Skellam", "SkellamL2", "SparseVector",
    ],
    "calibration": ["calibrate"],
    "data": ["load_adult"],
    "release": ["Plan", "Release"],
    "curator": ["Curator", "Session", "open"],
    "server": ["connect"],
}  # fmt: skip

__all__ = ["__version__", *sorted(name for names in _HOMES.values() for name in names)]  # noqa: PLE0604  (all are names)

if TYPE_CHECKING:
    from .calibration import calibrate as calibrate
    from .curator import Curator as Curator
    from .curator import Session as Session
    from .curator import open as open
    from .data import load_adult as load_adult
    from .errors import AskerStopped as AskerStopped
    from .errors import BadParameter as BadParameter
    from .errors import BudgetExceeded as BudgetExceeded
    from .errors import DataFailure as DataFailure
    from .errors import DeltaTooLarge as DeltaTooLarge
    from .errors import DeniableError as DeniableError
    from .errors import HiddenValue as HiddenValue
    from .errors import LedgerFailure as LedgerFailure
    from .errors import MessageRejected as MessageRejected
    from .errors import MissingBounds as MissingBounds
    from .errors import MissingExtra as MissingExtra
    from .errors import MissingRule as MissingRule
    from .errors import MissingUnit as MissingUnit
    from .errors import MixedLosses as MixedLosses
    from .errors import NoBound as NoBound
    from .errors import NotAdaptive as NotAdaptive
    from .errors import NotReady as NotReady
    from .errors import SeedOutsideTests as SeedOutsideTests
    from .errors import SensitivityMismatch as SensitivityMismatch
    from .errors import UnitMismatch as UnitMismatch
    from .errors import UnknownKeys as UnknownKeys
    from .errors import UnknownName as UnknownName
    from .errors import UnsupportedQuery as UnsupportedQuery
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
    from .mechanisms import AboveThreshold as AboveThreshold
    from .mechanisms import DiscreteGaussian as DiscreteGaussian
    from .mechanisms import DiscreteLaplace as DiscreteLaplace
    from .mechanisms import Exponential as Exponential
    from .mechanisms import Gaussian as Gaussian
    from .mechanisms import Laplace as Laplace
    from .mechanisms import Mechanism as Mechanism
    from .mechanisms import NoisyMax as NoisyMax
    from .mechanisms import PermuteAndFlip as PermuteAndFlip
    from .mechanisms import RandomizedResponse as RandomizedResponse
    from .mechanisms import Skellam as Skellam
    from .mechanisms import SkellamL2 as SkellamL2
    from .mechanisms import SparseVector as SparseVector
    from .release import Plan as Plan
    from .release import Release as Release
    from .schema import Schema as Schema
    from .schema import bounds as bounds
    from .schema import column as column
    from .schema import keys as keys
    from .sensitive import Sensitive as Sensitive
    from .server import connect as connect
    from .units import Relation as Relation
    from .units import Unit as Unit
    from .units import person as person
    from .units import rows as rows
else:
    __getattr__, __dir__ = on_first_use(
        __name__, {module: " ".join(names) for module, names in _HOMES.items()}
    )
