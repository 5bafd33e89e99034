"""Specimens: right noise, wrong price. Composition, sampling, stopping rules, order of charging."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deniable.losses import textbook
from deniable.losses.amplify import poisson
from deniable.mechanisms import Gaussian, Laplace, RandomizedResponse, Step
from deniable.sampling.public import PublicRandom
from deniable.sensitive import Sensitive

from ._specimen import Batch, Computed, Replayed, Sampled, Specimen, Timed, noisy, releases, session
from .stopping import best_order, one_order

_RNG = PublicRandom(3).generator
_ONCE = Gaussian(sigma=0.25)
_COUNT = Laplace(scale=1.0)
_NOBODY = (0,) * 20_000


def _many(bound: Callable[..., float]) -> tuple[float, float]:
    """The true δ of 500 answers at ε = 1 at the ε that a bound gives for 1e-5."""
    return textbook.kov_delta(1.0, times=500, at=bound(1.0, times=500, delta=1e-5)), 1e-5


def _sampled(rate: float) -> Batch:
    return lambda value, n: _COUNT.release(np.where(_RNG.random(n) < rate, value, 0.0))


def _total(data: list[int]) -> Step[object]:
    return _COUNT.on(Sensitive(lambda: sum(data), l1=1))


def _if_interesting(data: list[int]) -> object:
    door = session()
    return "nothing to tell" if sum(data) < 3 else door.release(_total(data)).value


_SHARE = 0.3
_YES = _SHARE / 2 + 0.25
"""E[yes] = p/2 + ¼ for a share p of yes: a coin for truth, a second coin for the answer."""


def _estimated() -> float:
    yes = round(4000 * _YES)
    reports = np.repeat([1, 0], [yes, 4000 - yes])
    return float(RandomizedResponse.two_coins().estimate(reports).shares[1])


SPECIMENS: tuple[Specimen, ...] = (
    Computed(
        name="advanced composition, as printed",
        wrong_because="2ε√(2k·ln 1/δ) = 214.59 for 500 answers at ε = 1: a term is dropped",
        holds="311.77 for any 500 mechanisms; 258.30 for 500 Laplace answers",
        source="[DRV10; KOV15, Thm 3.3]",
        wrong=lambda: _many(textbook.false_advanced),
        right=lambda: _many(textbook.kov_optimal),
    ),
    Computed(
        name="Rényi accounting stopped at the best order",
        wrong_because="the best order depends on the answers: two steps reach 1.96 δ",
        holds="one order fixed in advance, or a δ shared among orders",
        source="[RRUV16; FZ21]",
        wrong=best_order,
        right=one_order,
    ),
    Sampled(
        name="parallel composition under replacement",
        wrong_because="a person who is replaced is in two parts; the larger ε is charged",
        holds="the sum of the two largest",
        source="[McS09]",
        data=(np.array([5, 3]), np.array([4, 4])),
        wrong=noisy(1.0),
        right=noisy(2.0),
        samples=40_000,
    ),
    Sampled(
        name="amplified, and nothing was sampled",
        wrong_because="the price is that of a sample of one in five; all rows are used",
        holds="the sample is drawn, hidden, and drawn anew for every answer",
        source="[BBG18]",
        claim={"epsilon": poisson(1.0, rate=0.2)[0]},
        wrong=_sampled(1.0),
        right=_sampled(0.2),
    ),
    Sampled(
        name="shuffled batches priced as Poisson samples",
        wrong_because="in an epoch of shuffled batches everyone takes part, exactly once",
        holds="draw Poisson samples, or price the shuffle",
        source="[CGKKMSZ24]",
        claim={"epsilon": 1.0, "delta": (10 * _ONCE.sampled(rate=0.1)).delta_at(1.0)},
        # One epoch of ten batches; one person adds 1 to the batches they are in.
        wrong=lambda value, n: _ONCE.release(np.eye(10)[_RNG.integers(0, 10, n)] * value),
        right=lambda value, n: _ONCE.release((_RNG.random((n, 10)) < 0.1) * value),
        samples=20_000,
    ),
    Replayed(
        name="charged after a look",
        wrong_because="the value is computed first, and charged only if it is worth telling",
        holds="charge, then compute, then draw",
        data=([1, 1], [1, 1, 1]),
        wrong=_if_interesting,
        right=releases(_total),
    ),
    Computed(
        name="randomized response, estimated with ½",
        wrong_because="the share of yes is said to tend to p/2 + ½, so p is estimated as 2(y − ½)",
        holds="it tends to p/2 + ¼: p = 2(y − ¼), with ε = ln 3",
        source="[War65]",
        what="the bias of the estimate",
        wrong=lambda: (abs(2 * (_YES - 0.5) - _SHARE), 1e-9),
        right=lambda: (abs(_estimated() - _SHARE), 1e-9),
    ),
    Timed(
        name="a search that stops when it has found",
        wrong_because="the time tells whether someone at the front is there",
        holds="the same work for all data",
        source="[HPN11]",
        data=(_NOBODY, (1, *_NOBODY[1:])),
        wrong=lambda data: _COUNT.release(int(any(data))),
        right=lambda data: _COUNT.release(min(1, sum(data))),
        samples=1_000,
    ),
)
