"""The smallest loss at which every answer meets its ±, by shifting noise between the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from deniable.calibration import least_loss

_RELATIVE: Final = 1e-6
_ROUGHLY: Final = 1e-2
_ROUNDS: Final = 6
_UNNAMED: Final = 1 / 8


@dataclass(frozen=True, kw_only=True)
class Balance:
    """How much more the error of each answer matters, and whether answers may share a vector."""

    weights: Mapping[str, float] = field(default_factory=dict)
    fold: bool = True


Errors: TypeAlias = Callable[[float, Balance], Mapping[str, float]]
"""The ± of every answer that has a target, at a loss and a balance; smaller as the loss grows."""


def cheapest(
    stated: Errors,
    *,
    smooth: Errors,
    wanted: Mapping[str, float],
    others: Sequence[str] = (),
    power: int = 1,
    alone: bool = False,
) -> tuple[float, Balance]:
    """The smallest loss found and its balance.

    `stated` gives each ± as it will be printed, `smooth` before it is rounded to whole numbers;
    errors fall with the loss to the 1/`power`. `others` are answers without a target: they get
    little. `alone`: one vector has all the noise, so that there is nothing to balance. Raises
    BadParameter where every loss, however small, meets the targets.
    """

    def cost(balance: Balance, relative: float) -> float:
        def excess(loss: float) -> _Excess:
            return _Excess(stated(loss, balance), wanted)

        return least_loss(excess, within=1.0, relative=relative)

    tried = [(cost(Balance(), _ROUGHLY), Balance())]
    for fold in () if alone else (True, False):
        loss, balance = tried[0][0], Balance(fold=fold)
        for _ in range(_ROUNDS):
            told = smooth(loss, balance)
            ratios = {name: told[name] / target for name, target in wanted.items()}
            balance = _balanced(balance, ratios, others)
            loss *= max(ratios.values()) ** power
        tried.append((cost(balance, _ROUGHLY), balance))
    _, best = min(tried, key=lambda pair: pair[0])
    return cost(best, _RELATIVE), best


@dataclass(frozen=True)
class _Excess:
    """How many times too large the worst ± is."""

    told: Mapping[str, float]
    wanted: Mapping[str, float]

    def error(self, _confidence: float = 0.95) -> float:  # always stated at 95 %
        # A ± of 0 (whole numbers, little noise) is one that could still be smaller.
        return max((self.told[name] or 1e-9) / target for name, target in self.wanted.items())


def _balanced(before: Balance, ratios: Mapping[str, float], others: Sequence[str]) -> Balance:
    """Answers that are too coarse matter more, in proportion; those without a target, little.

    Noise shrinks with the cube root of the weight (fourth root for Gaussian): the cube of how many
    times too large an error is makes all of them just large enough.
    """
    made = {
        name: before.weights.get(name, 1.0) * max(ratio, 1e-9) ** 3
        for name, ratio in ratios.items()
    }
    least = min(made.values())
    weights = dict.fromkeys(others, _UNNAMED) | {n: w / least for n, w in made.items()}
    return Balance(weights=weights, fold=before.fold)
