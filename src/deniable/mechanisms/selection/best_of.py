"""Private tuning: run a private training a random number of times and keep the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.forms import Form
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.sampling import bernoulli
from deniable.sensitive import Sensitive

Run = Callable[[], tuple[float, object]]
_ORDERS = [1 + 2.0 ** (j / 4) for j in range(-16, 33)]


@dataclass(frozen=True, kw_only=True)
class BestOf(Mechanism):
    """BestOf: repeat a private mechanism K times, K random, and release only the best answer.

    Releases   the (score, answer) of highest score among K runs, K ~ Geometric(stop), K ≥ 1
    Privacy    3ε-DP if one run is ε-DP                                     [LT19; PS22, Cor. 3]
               Rényi: r(α) + 2(1 − 1/α̂)·r(α̂) + 2·ln(1/stop)/α̂ + ln(1/stop)/(α − 1), any α̂ ≥ 1
               [PS22, Thm 2]
    Error      the best of 1/stop runs on average; the scores are the runs' own
    Assumes    each call of the value is one fresh release of `mechanism`, score included
    Numerics   K is drawn exactly and never shown

    Paying once for a *fixed* number of runs is not private: the number must be random and hidden.
    """

    name: ClassVar[str] = "best_of"
    norm: ClassVar[Norm] = "linf"
    of_samples: ClassVar[bool] = False

    mechanism: Mechanism
    stop: float

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise BadParameter.of("mechanism", self.mechanism, must="a dp.Mechanism")
        if not 0 < parameters.probability("stop", self.stop) < 1:
            raise BadParameter.of("stop", self.stop, must="a number between 0 and 1")

    def pure(self) -> float:
        return math.nextafter(3 * self.mechanism.pure(), math.inf)

    def renyi(self, order: float) -> float:
        """Theorem 2 of [PS22] with η = 1, at the best second order α̂ of a grid."""
        runs = math.log(1 / self.stop)
        bound: float = self.mechanism.renyi(order) + self._second + runs / (order - 1)
        return min(bound * (1 + 2.0**-48), super().renyi(order))

    @cached_property
    def _second(self) -> float:
        """The part at α̂, which does not depend on α."""
        runs = math.log(1 / self.stop)
        bounds: list[float] = [
            2 * (1 - 1 / other) * self.mechanism.renyi(other) + 2 * runs / other
            for other in _ORDERS
        ]
        return min(bounds)

    def _check_covers(self, value: Sensitive[Any]) -> None:
        """Nothing to compare: the runs carry their own noise."""

    def reading(self, _form: Form) -> Callable[[Any], Any]:
        """A function to call for each run; what it returns carries its own noise."""
        return lambda value: value

    def draw(self, value: Run) -> tuple[float | None, object]:
        """The best (score, answer) of a random number of runs; what is not finite ranks last.

        Such a run, which may have a NaN for its score or in its answer, counts as (None, None). The
        proof needs one order of all answers: with a NaN that neither wins nor loses, the answer
        would depend on which run came first, and that costs another ε.
        """
        best = _outcome(value())
        while not bernoulli(Fraction(self.stop), 1)[0]:
            run = _outcome(value())
            best = run if _rank(run[0]) > _rank(best[0]) else best
        return best

    def to_dict(self) -> dict[str, object]:
        """With the record of the mechanism that is repeated."""
        return {"mechanism": self.name, "of": self.mechanism.to_dict(), "stop": self.stop}

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> Mechanism:
        inner = record["of"]
        assert isinstance(inner, Mapping)
        return cls(mechanism=Mechanism.from_dict(inner), stop=float(str(record["stop"])))


def _outcome(run: tuple[float, object]) -> tuple[float | None, object]:
    score, answer = run
    return (score, answer) if _finite(score) and _finite(answer) else (None, None)


def _finite(part: object) -> bool:
    if isinstance(part, list | tuple):
        return all(map(_finite, part))
    kind = getattr(getattr(part, "dtype", None), "kind", "f" if isinstance(part, float) else "")
    return kind not in "fc" or not kind or bool(np.isfinite(part).all())  # type: ignore[call-overload]


def _rank(score: float | None) -> tuple[bool, float]:
    """Where a score stands: whatever has none is below everything else."""
    return (False, 0.0) if score is None else (True, float(score))
