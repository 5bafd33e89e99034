"""What a specimen is: a wrong mechanism beside its right twin, and how it is refuted.

Wrong mechanisms and right ones are made of the same few parts: `noisy` and `one_by_one` for answers
that are drawn many times, `session`, `releases` and `laplace` for programs that are replayed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable.audit.blackbox import audit
from deniable.audit.replays import replay
from deniable.ledger import open_ledger
from deniable.losses import Loss, rho
from deniable.mechanisms import Laplace, Step
from deniable.sensitive import Sensitive
from deniable.session import Session
from deniable.units import Unit, rows

Floats = NDArray[np.float64]
Batch = Callable[[Any, int], Any]
Claim = dict[str, float | Loss]
SURE = 1 - 1e-9
"""Confidence of every black-box audit here: 100 of them accuse wrongly with chance below 1e-7."""


def noisy(scale: float) -> Batch:
    """Exact Laplace noise on a number, or on each entry of a vector."""
    return lambda value, n: np.asarray(
        Laplace(scale=scale).release(np.broadcast_to(value, (n, *np.shape(value))))
    )


def one_by_one(release: Callable[[Any], object]) -> Batch:
    """A mechanism that answers once per call."""
    return lambda value, n: np.array([release(value) for _ in range(n)])


def session(unit: Unit | None = None) -> Session:
    """A door to data that come by Sensitive: no tables."""
    budget = rho(1e4)  # of no interest here, and every mechanism used has a ρ
    ledger = open_ledger(None, budget=budget, unit=unit or rows(), name="specimens")
    return Session(tables={}, schema=None, ledger=ledger)


def releases(step: Callable[[Any], Step[Any]], unit: Unit | None = None) -> Callable[[Any], object]:
    """A program of one release."""
    return lambda data: session(unit).release(step(data))


def laplace(
    compute: Callable[[], object], *, sensitivity: float, counts: int | None = None
) -> Step[object]:
    """A value, or so many counts, with Laplace noise, ε = 1."""
    mechanism = Laplace.calibrate(epsilon=1.0, sensitivity=sensitivity)
    whole = counts is not None
    return mechanism.on(Sensitive(compute, l1=sensitivity, whole=whole, shape=counts))


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Whether a claim was refuted, and how, in words."""

    refuted: bool
    words: str
    witness: object = field(repr=False)

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, kw_only=True)
class Specimen(ABC):
    """A wrong mechanism, its right twin, and the auditor that tells them apart."""

    auditor: ClassVar[str]

    name: str
    wrong_because: str
    """What is wrong, in a sentence."""
    holds: str
    """What holds instead."""
    source: str = ""
    """Where the mistake or its correction is described."""
    wrong: Callable[..., Any] = field(repr=False)
    right: Callable[..., Any] = field(repr=False)

    def judge_wrong(self) -> Finding:
        """What the auditor finds about the wrong one."""
        return self._judged(self.wrong)

    def judge_right(self) -> Finding:
        """What the same auditor finds about its twin."""
        return self._judged(self.right)

    @abstractmethod
    def _judged(self, mechanism: Callable[..., Any]) -> Finding:
        """What the auditor finds about one of the two."""


@dataclass(frozen=True, kw_only=True)
class Sampled(Specimen):
    """Refuted by asking many times: `wrong(data, n)` and `right(data, n)` give n answers each."""

    auditor: ClassVar[str] = "black box"

    data: tuple[Any, Any] = (0.0, 1.0)
    claim: Claim = field(default_factory=lambda: {"epsilon": 1.0})
    right_claim: Claim | None = None
    """The twin's claim, where it is the claim that differs."""
    samples: int = 100_000
    right_samples: int | None = None

    def judge_right(self) -> Finding:
        claim, samples = self.right_claim or self.claim, self.right_samples or self.samples
        # The twin in the place of the wrong one, with its own claim.
        return replace(self, wrong=self.right, claim=claim, samples=samples).judge_wrong()

    def _judged(self, mechanism: Callable[..., Any]) -> Finding:
        return self._audited(None, batch=mechanism)

    def _audited(self, f: Callable[..., Any] | None, **how: Any) -> Finding:
        options = {**self.claim, **how, "samples": self.samples, "confidence": SURE}
        verdict = audit(f, *self.data, **options)
        return Finding(refuted=verdict.violated, words=str(verdict), witness=verdict)


@dataclass(frozen=True, kw_only=True)
class Timed(Sampled):
    """Refuted by a stopwatch: `wrong(data)` and `right(data)` give one answer."""

    auditor: ClassVar[str] = "black box with a clock"

    def _judged(self, mechanism: Callable[..., Any]) -> Finding:
        return self._audited(mechanism, timing=True)


@dataclass(frozen=True, kw_only=True)
class Replayed(Specimen):
    """Refuted by two runs on neighbouring data with the noise frozen."""

    auditor: ClassVar[str] = "replay"

    data: tuple[Any, Any] = field(repr=False)

    def _judged(self, mechanism: Callable[..., Any]) -> Finding:
        found = replay(mechanism, *self.data)
        return Finding(refuted=not found.ok, words=str(found), witness=found)


@dataclass(frozen=True, kw_only=True)
class Computed(Specimen):
    """Refuted by arithmetic: each side gives (what is true, what is claimed as its upper limit)."""

    auditor: ClassVar[str] = "arithmetic"

    what: str = "δ"

    def _judged(self, mechanism: Callable[..., Any]) -> Finding:
        truth, claimed = mechanism()
        words = f"{self.what} is {truth:.6g}; at most {claimed:.6g} is claimed"
        # Exact values are right to 1e-9 or so; no specimen is decided by less.
        refuted = truth > claimed + 1e-9 * abs(claimed)
        return Finding(refuted=refuted, words=words, witness=truth)
