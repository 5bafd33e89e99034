"""Split a loss over vectors of whole numbers that are released together.

Every vector gets noise of its own scale. Losses of independent noise add (Σ Δⱼ/bⱼ for Laplace,
Σ (Δⱼ/σⱼ)² for Gaussian), so any split of the loss is sound; which one is best depends
on how errors are weighed. With wⱼ for how much the squared error of vector j matters, in units of
what one unit can move it,

    Laplace     Σ wⱼ/εⱼ²  subject to Σ εⱼ = ε     is least at εⱼ ∝ wⱼ^⅓
    Gaussian    Σ wⱼ/μⱼ²  subject to Σ μⱼ² = μ²   is least at μⱼ² ∝ wⱼ^½

Where both kinds of noise are allowed, the one with the smaller weighted error is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

from deniable.calibration import calibrate
from deniable.losses import Approx, Gdp, Loss, Pure, Zcdp
from deniable.losses.filters import ApproxFilter, Filter
from deniable.mechanisms import Gaussian, Laplace, Mechanism, QuantileSearch
from deniable.mechanisms.combine import Composed

from .search import usual_reach
from .tails import Law, factor

Noise = Laplace | Gaussian | QuantileSearch
AN_AMOUNT: Final = "an amount of ε, (ε, δ), ρ or μ above 0"
"""What a spend must be, to buy noise of some law."""

_LAPLACE_95: Final = factor("laplace", 0.95) * math.sqrt(2)
# A rank read off a tree errs about 2.4 times as much as one count of a level, by whose number the
# weight of a tree is multiplied; that of a search is multiplied by 3.
_OF_ONE_COUNT: Final = 2.4 * 3
_GAUSSIAN_95: Final = factor("gaussian", 0.95)


@dataclass(frozen=True, kw_only=True)
class Vector:
    """Whole numbers that get noise of one scale: how far one unit moves them, how much they matter.

    `l1` and `l2` are bounds in those norms, never below the truth. With a `share` they are counts
    of cells, searched for the quantile of that share.
    """

    l1: float
    l2: float
    weight: float = 1.0
    share: float | None = None


Vectors: TypeAlias = Callable[[Law], Sequence[Vector]]
"""The vectors under a law of noise: how a histogram is cut into a tree depends on it."""


def noise_for(
    vectors: Vectors,
    *,
    spend: Loss,
    filter: Filter | None = None,
) -> tuple[Noise, ...]:
    """The best noise for vectors released together, one mechanism each, losing at most `spend`.

    `filter` is that of the ledger that will be charged: under an (ε, δ) ceiling Gaussian noise is
    added up at one Rényi order, and an amount within the ceiling must also fit there.
    """
    laplace = _laplace(vectors("laplace"), spend)
    if isinstance(spend, Pure) and laplace is not None:
        return laplace  # ε alone buys no normal noise
    gaussian = _gaussian(vectors("gaussian"), spend, filter)
    if laplace is None or gaussian is None:
        only = laplace or gaussian
        assert only is not None, "every currency of a session buys one kind of noise"
        return only
    better = _badness(vectors("laplace"), laplace) <= _badness(vectors("gaussian"), gaussian)
    return laplace if better else gaussian


def noise_under(
    law: Law,
    vectors: Sequence[Vector],
    *,
    spend: Loss,
    filter: Filter | None = None,
) -> tuple[Noise, ...] | None:
    """The same under one law of noise; None where that currency does not buy it."""
    return _laplace(vectors, spend) if law == "laplace" else _gaussian(vectors, spend, filter)


def law_of(noise: Sequence[Noise]) -> Law:
    """The law of a list of noises, which is one for all."""
    return "gaussian" if any(isinstance(m, Gaussian) for m in noise) else "laplace"


def spread_of(noise: Noise) -> float:
    """b of Laplace noise, σ of Gaussian noise."""
    assert not isinstance(noise, QuantileSearch)
    return noise.scale if isinstance(noise, Laplace) else noise.sigma


def deviation(noise: Noise) -> float:
    """The standard deviation of one number's noise."""
    return spread_of(noise) * (math.sqrt(2) if isinstance(noise, Laplace) else 1.0)


def scaled(noise: Sequence[Noise], factor: float) -> tuple[Noise, ...]:
    """The same noise, wider by a factor."""
    return tuple(_wider(m, factor) for m in noise)


def _wider(noise: Noise, factor: float) -> Noise:
    match noise:
        case Laplace():
            return Laplace(scale=noise.scale * factor, sensitivity=noise.sensitivity)
        case Gaussian():
            return Gaussian(sigma=noise.sigma * factor, sensitivity=noise.sensitivity)
    return replace(noise, epsilon=noise.epsilon / factor)


def together(noise: Sequence[Noise]) -> Mechanism:
    """All of them as one mechanism: what is charged."""
    return noise[0] if len(noise) == 1 else Composed.of(*((m, 1) for m in noise))


def _badness(vectors: Sequence[Vector], noise: Sequence[Noise]) -> float:
    """Σ w·(±/Δ₁)²: errors at 95 %, in units of what one unit can move."""
    try:
        return sum(v.weight * (_reach(m) / v.l1) ** 2 for v, m in zip(vectors, noise, strict=True))
    except OverflowError:
        return math.inf


def _reach(noise: Noise) -> float:
    match noise:
        case Laplace():
            return noise.scale * _LAPLACE_95
        case Gaussian():
            return noise.sigma * _GAUSSIAN_95
    return usual_reach(noise) / _OF_ONE_COUNT


# ---- Laplace


def _laplace(vectors: Sequence[Vector], spend: Loss) -> tuple[Noise, ...] | None:
    shares = _shares(vectors, 1 / 3)

    def noise(epsilon: float) -> tuple[Noise, ...]:
        parts = zip(vectors, shares, strict=True)
        return tuple(_laplace_noise(v, epsilon * s) for v, s in parts)

    if isinstance(spend, Pure | Approx):
        if not spend.epsilon > 0:
            return None
        return _met(noise(spend.epsilon), lambda plan: plan.pure() <= spend.epsilon)
    if isinstance(spend, Zcdp):
        least = calibrate(lambda s: together(noise(1 / s)), to=spend)
        return noise(1 / least)
    return None


def _laplace_noise(vector: Vector, epsilon: float) -> Noise:
    if vector.share is None:
        return Laplace.calibrate(epsilon=epsilon, sensitivity=vector.l1)
    return QuantileSearch(epsilon=epsilon, share=vector.share, sensitivity=vector.l1)


# ---- Gaussian


def _gaussian(
    vectors: Sequence[Vector], spend: Loss, filter_: Filter | None
) -> tuple[Noise, ...] | None:
    shares = _shares(vectors, 1 / 2)
    mu = Gaussian.mu_within(spend)
    if mu is None:
        return None
    if isinstance(filter_, ApproxFilter):
        mu = min(mu, math.sqrt(2 * filter_.divergence / filter_.order))
    if not mu > 0:
        return None
    parts = zip(vectors, shares, strict=True)
    start = tuple(Gaussian.calibrate(mu=mu * math.sqrt(s), sensitivity=v.l2) for v, s in parts)
    return _met(start, lambda plan: _within(plan, spend, filter_))


def _within(plan: Mechanism, spend: Loss, filter_: Filter | None) -> bool:
    if isinstance(filter_, ApproxFilter) and plan.renyi(filter_.order) > filter_.divergence:
        return False
    match spend:
        case Gdp():
            return plan.gdp() <= spend.mu
        case Zcdp():
            return plan.zcdp() <= spend.rho
        case Approx():
            return plan.delta_at(spend.epsilon) <= spend.delta
    raise AssertionError(type(spend))


# ---- exact shares


def _shares(vectors: Sequence[Vector], power: float) -> list[float]:
    """Shares of the loss, each a whole multiple of 2⁻²⁰, adding up to 1 exactly."""
    wanted = [Fraction(v.weight**power) for v in vectors]
    total = sum(wanted)
    parts = [max(1, math.floor(w / total * 2**20)) for w in wanted]
    parts[max(range(len(parts)), key=parts.__getitem__)] += 2**20 - sum(parts)
    return [part / 2**20 for part in parts]


def _met(start: tuple[Noise, ...], meets: Callable[[Mechanism], bool]) -> tuple[Noise, ...]:
    """Formulas end within a few roundings of what is asked: widen until it is met."""
    noise, step = start, 2.0**-52
    while not meets(together(noise)):
        noise, step = scaled(noise, 1 + step), 2 * step
    return noise
