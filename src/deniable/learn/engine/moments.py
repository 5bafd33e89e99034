"""Sufficient statistics: noisy second moments, and products of features with a target."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from deniable.mechanisms import Gaussian, Step
from deniable.mechanisms.interactive import Handle

from .budget import Part, listed
from .examples import Held
from .spaces import Floats, up

TARGET: Final = 16
"""Targets are in [−1, 1], in steps of 2⁻¹⁶."""


@dataclass(frozen=True, kw_only=True)
class Moments:
    """Σ x ⊗ x with its noise, and with a target also Σ x·y; in units of features and targets."""

    matrix: Floats
    noise: float
    products: Floats
    products_noise: float


def parts(held: Held, *, share: float, target: bool) -> list[Part]:
    """What is paid for: the second moments, and with a target the products."""
    space = held.space
    first = Part(share=share, l2=up(held.rows * moments_l2(held)), numbers=space.moments_size)
    if not target:
        return [first]
    products = up(held.rows * products_l2(held))
    return [first, Part(share=1 - share, l2=products, numbers=space.dimension)]


def moments_l2(held: Held) -> float:
    """No row adds more to the second moments, in whole numbers."""
    space = held.space
    return space.moments_l2 * space.moment_unit(weighted=held.weighted)


def products_l2(held: Held) -> float:
    """No row adds more to the products: a target of at most 1, times a row."""
    return math.ldexp(held.space.norm, TARGET)


def measured(handle: Handle, held: Held, *, target: bool) -> Generator[Step[Any], Any, Moments]:
    """The noisy moments, by one or two questions."""
    space, unit = held.space, held.space.moment_unit(weighted=held.weighted)
    noisy = yield handle.on(
        held.sum(
            lambda rows: space.moments(rows.x, rows.w),
            l2=moments_l2(held),
            shape=space.moments_size,
        )
    )
    matrix = space.matrix(np.asarray(noisy, dtype=np.float64) / unit)
    products, scale = np.zeros(space.dimension), math.ldexp(space.unit, TARGET)
    if target:
        noisy = yield handle.on(
            held.sum(
                lambda rows: space.total(
                    (some.x, some.taken(some.y.astype(np.float64))) for some in rows.parts(space)
                ),
                l2=products_l2(held),
                shape=space.dimension,
            )
        )
        products = np.asarray(noisy, dtype=np.float64) / scale
    sigmas = [noise.sigma for noise in noises(handle)]
    return Moments(
        matrix=matrix,
        noise=sigmas[0] / unit,
        products=products,
        products_noise=sigmas[-1] / scale if target else 0.0,
    )


def noises(handle: Handle) -> list[Gaussian]:
    """The noises that a fit was charged for, in order."""
    found = listed(handle.mechanism)
    gaussian = [each for each in found if isinstance(each, Gaussian)]
    assert gaussian == found
    return gaussian
