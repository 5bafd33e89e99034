"""Specimens: right noise, wrong price. Composition, sampling, stopping rules, order of charging."""

from __future__ import annotations

import numpy as np

from deniable.losses import textbook
from deniable.losses.amplify import poisson
from deniable.mechanisms import Gaussian, Laplace, RandomizedResponse
from deniable.sampling.public import PublicRandom
from deniable.sensitive import Sensitive

from ._specimen import Batch, Computed, Replayed, Sampled, Specimen, Timed
from .stopping import best_order, one_order
from .sums import session

_RNG = PublicRandom(3).generator


def specimens() -> list[Specimen]:
    """All of this file."""
    return [*_composition(), *_sampling(), *_order_of_charging(), _biased(), _slow()]


def _composition() -> list[Specimen]:
    claimed = textbook.false_advanced(1.0, times=500, delta=1e-5)
    true = textbook.kov_optimal(1.0, times=500, delta=1e-5)

    def cells(scale: float) -> Batch:
        return lambda counts, n: Laplace(scale=scale).release(np.tile(counts, (n, 1)))

    return [
        Computed(
            name="advanced composition, as printed",
            wrong_because="2ε√(2k·ln 1/δ) = 214.59 for 500 answers at ε = 1: a term is dropped",
            holds="311.77 for any 500 mechanisms; 258.30 for 500 Laplace answers",
            source="[DRV10; KOV15, Thm 3.3]",
            wrong=lambda: (textbook.kov_delta(1.0, times=500, at=claimed), 1e-5),
            right=lambda: (textbook.kov_delta(1.0, times=500, at=true), 1e-5),
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
            first=np.array([5, 3]),
            second=np.array([4, 4]),
            claim={"epsilon": 1.0},
            wrong=cells(1.0),
            right=cells(2.0),
            samples=40_000,
        ),
    ]


def _sampling() -> list[Specimen]:
    def sampled(rate: float) -> Batch:
        def batch(value: float, n: int) -> object:
            chosen = np.where(_RNG.random(n) < rate, value, 0.0)
            return Laplace(scale=1.0).release(chosen)

        return batch

    return [
        Sampled(
            name="amplified, and nothing was sampled",
            wrong_because="the price is that of a sample of one in five; all rows are used",
            holds="the sample is drawn, hidden, and drawn anew for every answer",
            source="[BBG18]",
            first=0.0,
            second=1.0,
            claim={"epsilon": poisson(1.0, rate=0.2)[0]},
            wrong=sampled(1.0),
            right=sampled(0.2),
        ),
        _batches(),
    ]


def _batches() -> Specimen:
    """One epoch of ten batches; one person adds 1 to the batches they are in."""
    once = Gaussian(sigma=0.25)
    plan = 10 * once.sampled(rate=0.1)

    def shuffled(value: float, n: int) -> object:
        inside = np.eye(10)[_RNG.integers(0, 10, n)]
        return once.release(inside * value)

    def drawn(value: float, n: int) -> object:
        inside = _RNG.random((n, 10)) < 0.1
        return once.release(inside * value)

    return Sampled(
        name="shuffled batches priced as Poisson samples",
        wrong_because="in an epoch of shuffled batches everyone takes part, exactly once",
        holds="draw Poisson samples, or price the shuffle",
        source="[CGKKMSZ24]",
        first=0.0,
        second=1.0,
        claim={"epsilon": 1.0, "delta": plan.delta_at(1.0)},
        wrong=shuffled,
        right=drawn,
        samples=20_000,
    )


def _order_of_charging() -> list[Specimen]:
    def if_interesting(data: list[int]) -> object:
        door = session()
        if sum(data) < 3:
            return "nothing to tell"
        return door.release(Laplace(scale=1.0).on(Sensitive(lambda: sum(data), l1=1))).value

    def first_of_all(data: list[int]) -> object:
        step = Laplace(scale=1.0).on(Sensitive(lambda: sum(data), l1=1))
        return session().release(step).value

    return [
        Replayed(
            name="charged after a look",
            wrong_because="the value is computed first, and charged only if it is worth telling",
            holds="charge, then compute, then draw",
            first=[1, 1],
            second=[1, 1, 1],
            wrong=if_interesting,
            right=first_of_all,
        ),
    ]


def _biased() -> Specimen:
    """A share p of yes; a coin for truth, a second coin for the answer: E[yes] = p/2 + ¼."""
    share = 0.3
    expected = share / 2 + 0.25
    survey = RandomizedResponse.two_coins()

    def ours() -> float:
        people = 4000
        reports = np.repeat([1, 0], [round(expected * people), people - round(expected * people)])
        return float(survey.estimate(reports).shares[1])

    return Computed(
        name="randomized response, estimated with ½",
        wrong_because="the share of yes is said to tend to p/2 + ½, so p is estimated as 2(y − ½)",
        holds="it tends to p/2 + ¼: p = 2(y − ¼), with ε = ln 3",
        source="[War65]",
        what="the bias of the estimate",
        wrong=lambda: (abs(2 * (expected - 0.5) - share), 1e-9),
        right=lambda: (abs(ours() - share), 1e-9),
    )


def _slow() -> Specimen:
    def answered(found: int) -> object:
        return Laplace(scale=1.0).release(found)

    nobody = (0,) * 20_000
    return Timed(
        name="a search that stops when it has found",
        wrong_because="the time tells whether someone at the front is there",
        holds="the same work for all data",
        source="[HPN11]",
        first=nobody,
        second=(1, *nobody[1:]),
        claim={"epsilon": 1.0},
        wrong=lambda data: answered(int(any(data))),
        right=lambda data: answered(min(1, sum(data))),
        samples=1_000,
    )
