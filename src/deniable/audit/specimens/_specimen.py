"""What a specimen is: a wrong mechanism beside its right twin, and how it is refuted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from deniable.audit.blackbox import audit
from deniable.audit.replays import replay
from deniable.losses import Loss

Batch = Callable[[Any, int], Any]
Claim = dict[str, float | Loss]
SURE = 1 - 1e-9
"""Confidence of every black-box audit here: 100 of them accuse wrongly with chance below 1e-7."""


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

    @abstractmethod
    def judge_wrong(self) -> Finding:
        """What the auditor finds about the wrong one."""

    @abstractmethod
    def judge_right(self) -> Finding:
        """What the same auditor finds about its twin."""


@dataclass(frozen=True, kw_only=True)
class Sampled(Specimen):
    """Refuted by asking many times: `wrong(data, n)` and `right(data, n)` give n answers each."""

    auditor: ClassVar[str] = "black box"

    first: Any
    second: Any
    claim: Claim
    wrong: Batch | None = field(repr=False)
    right: Batch | None = field(repr=False)
    right_claim: Claim | None = None
    """The twin's claim, where it is the claim that differs."""
    samples: int = 100_000
    right_samples: int | None = None

    def judge_wrong(self) -> Finding:
        """An audit of the wrong one."""
        return self._judged(self.wrong, self.claim, self.samples)

    def judge_right(self) -> Finding:
        """An audit of its twin."""
        claim = self.claim if self.right_claim is None else self.right_claim
        return self._judged(self.right, claim, self.right_samples or self.samples)

    def _judged(self, batch: Batch | None, claim: Claim, samples: int) -> Finding:
        options: dict[str, Any] = {**claim, "samples": samples, "confidence": SURE}
        verdict = audit(None, self.first, self.second, batch=batch, **options)
        return Finding(refuted=verdict.violated, words=str(verdict), witness=verdict)


@dataclass(frozen=True, kw_only=True)
class Timed(Specimen):
    """Refuted by a stopwatch: `wrong(data)` and `right(data)` give one answer."""

    auditor: ClassVar[str] = "black box with a clock"

    first: Any
    second: Any
    claim: Claim
    wrong: Callable[[Any], object] = field(repr=False)
    right: Callable[[Any], object] = field(repr=False)
    samples: int

    def judge_wrong(self) -> Finding:
        """A timed audit of the wrong one."""
        return self._judged(self.wrong)

    def judge_right(self) -> Finding:
        """A timed audit of its twin."""
        return self._judged(self.right)

    def _judged(self, f: Callable[[Any], object]) -> Finding:
        options: dict[str, Any] = {**self.claim, "samples": self.samples, "confidence": SURE}
        verdict = audit(f, self.first, self.second, timing=True, **options)
        return Finding(refuted=verdict.violated, words=str(verdict), witness=verdict)


@dataclass(frozen=True, kw_only=True)
class Replayed(Specimen):
    """Refuted by two runs on neighbouring data with the noise frozen."""

    auditor: ClassVar[str] = "replay"

    first: Any = field(repr=False)
    second: Any = field(repr=False)
    wrong: Callable[[Any], object] = field(repr=False)
    right: Callable[[Any], object] = field(repr=False)

    def judge_wrong(self) -> Finding:
        """A replay of the wrong one."""
        return self._judged(self.wrong)

    def judge_right(self) -> Finding:
        """A replay of its twin."""
        return self._judged(self.right)

    def _judged(self, program: Callable[[Any], object]) -> Finding:
        found = replay(program, self.first, self.second)
        return Finding(refuted=not found.ok, words=str(found), witness=found)


@dataclass(frozen=True, kw_only=True)
class Computed(Specimen):
    """Refuted by arithmetic: each side gives (what is true, what is claimed as its upper limit)."""

    auditor: ClassVar[str] = "arithmetic"

    wrong: Callable[[], tuple[float, float]] = field(repr=False)
    right: Callable[[], tuple[float, float]] = field(repr=False)
    what: str = "δ"

    def judge_wrong(self) -> Finding:
        """The wrong formula against an exact value."""
        return self._judged(self.wrong)

    def judge_right(self) -> Finding:
        """The right formula against the same."""
        return self._judged(self.right)

    def _judged(self, figures: Callable[[], tuple[float, float]]) -> Finding:
        truth, claimed = figures()
        words = f"{self.what} is {truth:.6g}; at most {claimed:.6g} is claimed"
        # Exact values are right to 1e-9 or so; no specimen is decided by less.
        refuted = truth > claimed + 1e-9 * abs(claimed)
        return Finding(refuted=refuted, words=words, witness=truth)
