"""The whole distribution of the privacy loss: the tightest price of a list fixed in advance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter, NoBound

from . import convert, picture, pricing, rounding
from ._loss import Facts, Loss
from .approx import Approx, Pure
from .gdp import Gdp
from .pairs import GaussianPair, Pair, Pairs
from .zcdp import Zcdp


@dataclass(frozen=True)
class Profile(Loss):
    """A list of mechanisms, each by the pairs of distributions that dominate it, with its count.

    δ(ε) of the list is computed for the product of the pairs, in each direction by itself; what is
    returned is never below it and at most about 1e-6 above in ε (`contour`, `grid`). The answers to
    earlier mechanisms may choose later *questions*; the mechanisms themselves are fixed in advance:
    a Profile is not a filter.                                                      [ZDW22, Thm 10]

    >>> from deniable.losses.pairs import GaussianPair, LaplacePair, Pairs
    >>> hundred = 100 * Profile.of(Pairs.symmetric(LaplacePair(ratio=0.1)))
    >>> round(hundred.epsilon_at(1e-6), 4)
    4.6927
    >>> (hundred + Profile.of(Pairs.symmetric(GaussianPair(mu=0.5)))).delta_at(5.0) < 1e-5
    True
    """

    counts: tuple[tuple[Pairs, int], ...]

    kind = "profile"
    definition = "a privacy profile: a curve of (ε, δ)"
    adaptive = False

    def __post_init__(self) -> None:
        merged: dict[Pairs, int] = {}
        for pairs, times in self.counts:
            if not isinstance(pairs, Pairs):
                raise BadParameter.of("counts", pairs, must="pairs of distributions with counts")
            count = parameters.whole("times", times, least=0)
            merged[pairs] = merged.get(pairs, 0) + count
        kept = sorted(((p, k) for p, k in merged.items() if k), key=repr)
        object.__setattr__(self, "counts", tuple(kept))

    @classmethod
    def of(cls, pairs: Pairs | Pair, *, times: int = 1) -> Self:
        """One mechanism, `times` over."""
        both = pairs if isinstance(pairs, Pairs) else Pairs.symmetric(pairs)
        return cls(((both, times),))

    @classmethod
    def from_facts(cls, facts: Facts) -> Self:
        """The pairs that the mechanism states."""
        pairs = facts.pairs()
        if not isinstance(pairs, Pairs):
            raise NoBound(
                "no pair of distributions is known to dominate this mechanism",
                why="a loss distribution needs to know what to compare",
                fix="price it in another definition: m.loss(dp.Renyi) or m.loss(dp.Zcdp)",
            )
        return cls.of(pairs)

    def __str__(self) -> str:
        total = sum(times for _, times in self.counts)
        return f"a loss distribution of {total} mechanism{'s' * (total != 1)}"

    # ---- composition

    def _plus(self, other: Self) -> Self:
        return type(self)(self.counts + other.counts)

    def _times(self, times: int) -> Self:
        return type(self)(tuple((pairs, times * count) for pairs, count in self.counts))

    def _within(self, other: Self) -> bool:
        """True where each mechanism here is dominated by one of its own there, or by μ in all."""
        if self.counts == other.counts:
            return True
        mine, theirs = self._gaussian(), other._gaussian()
        if mine is not None and theirs is not None:
            return rounding.within(mine, theirs)
        free = dict(other.counts)
        for pairs, times in self.counts:
            left = times
            for candidate in sorted(free, key=lambda c: c != pairs):
                if left and free[candidate] and candidate.dominates(pairs):
                    used = min(left, free[candidate])
                    free[candidate] -= used
                    left -= used
            if left:
                return False
        return True

    def _group(self, size: int) -> Self:
        return type(self)(tuple((pairs.group(size), count) for pairs, count in self.counts))

    @classmethod
    def sum_of_largest(cls, parts: Sequence[Self], count: int) -> Self:
        """The point-by-point maximum of distributions is not one, so they must be ordered."""
        rest, total = list(parts), cls(())
        for _ in range(count):
            top = next((a for a in rest if all(b <= a for b in rest)), None)
            if top is None:
                raise NoBound(
                    f"no {cls.__name__} bounds these parts: neither is above the other",
                    why="the larger of two loss distributions, point by point, is not a "
                    "distribution",
                    fix="compose them in dp.Renyi or dp.Zcdp, which are taken order by order",
                )
            rest.remove(top)
            total += top
        return total

    # ---- prices

    def _directions(self) -> Iterable[list[tuple[Pair, int]]]:
        remove = _merged((pairs.remove, times) for pairs, times in self.counts)
        add = _merged((pairs.add, times) for pairs, times in self.counts)
        return [remove] if remove == add else [remove, add]

    def _epsilon(self, delta: float) -> float:
        mu = self._gaussian()
        if mu is not None:
            return convert.gdp_to_epsilon(mu, delta)
        epsilon = 0.0
        for pairs in self._directions():
            epsilon = max(epsilon, pricing.epsilon_at(pairs, delta, least=epsilon))
        return epsilon

    def _delta(self, epsilon: float) -> float:
        mu = self._gaussian()
        if mu is not None:
            return convert.gdp_to_delta(mu, epsilon)
        return max(pricing.delta_at(pairs, epsilon) for pairs in self._directions())

    def approx(self, delta: float) -> Approx:
        """The (ε, δ) that holds at this δ."""
        return Approx(self.epsilon_at(delta), delta=delta)

    def _gaussian(self) -> float | None:
        """μ of the whole list, if it is Gaussian throughout: √Σkμ², exact and rounded up once."""
        ticks = 0
        for pairs, times in self.counts:
            if not (isinstance(pairs.remove, GaussianPair) and pairs.add == pairs.remove):
                return None
            ticks += times * rounding.square_ticks(pairs.remove.mu)
        return rounding.from_square_ticks(ticks)

    def _converters(self) -> Mapping[type[Loss], Callable[[], Loss]]:
        converters: dict[type[Loss], Callable[[], Loss]] = {}
        mu = self._gaussian()
        if mu is not None:
            converters[Gdp] = lambda: Gdp(mu)
            converters[Zcdp] = lambda: Zcdp(convert.gdp_to_zcdp(mu))
        worst = max(map(pricing.largest_loss, self._directions()))
        if math.isfinite(worst) and not any(map(pricing.infinite_mass, self._directions())):
            converters[Pure] = lambda: Pure(worst)
        return converters

    # ---- pictures

    def trade_off(self, alphas: ArrayLike) -> NDArray[np.float64]:
        """The least chance β of missing a unit at each chance α of a false alarm; never above it.

        β = sup over ε of max(0, 1 − δ(ε) − e^ε α, e^(−ε)(1 − δ(ε) − α))             [DRS22]
        """
        alpha = np.asarray(alphas, dtype=float)
        if not ((alpha >= 0) & (alpha <= 1)).all():
            raise BadParameter.of("alphas", alphas, must="numbers from 0 to 1")
        far = min(self.epsilon_at(1e-9), 1e3)
        beta = np.zeros_like(alpha)
        for epsilon in np.linspace(0.0, far, 48):
            kept, odds = 1 - self.delta_at(float(epsilon)), math.exp(epsilon)
            beta = np.maximum(beta, np.maximum(kept - odds * alpha, (kept - alpha) / odds))
        return beta

    def distribution(self, *, points: int = 512) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The privacy loss and its probabilities, on a lattice, in the direction of removal."""
        points = parameters.whole("points", points, least=8)
        return picture.picture(next(iter(self._directions())), points=points)

    # ---- records

    def to_dict(self) -> dict[str, object]:
        """The list, pair by pair."""
        steps = [{"times": times} | pairs.to_dict() for pairs, times in self.counts]
        return {"kind": self.kind, "steps": steps}

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> Self:
        steps = record.get("steps")
        if not isinstance(steps, list):
            raise BadParameter.of("steps", steps, must="the list that Profile.to_dict wrote")
        return cls(tuple((Pairs.from_dict(step), step["times"]) for step in steps))


def _merged(pairs: Iterable[tuple[Pair, int]]) -> list[tuple[Pair, int]]:
    """One entry for each pair that differs."""
    counts: dict[Pair, int] = {}
    for pair, times in pairs:
        counts[pair] = counts.get(pair, 0) + times
    return list(counts.items())
