"""Specimens: noise of the wrong size, of the wrong law, in the wrong digits, or used twice."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.calibration import analytic_gaussian_sigma
from deniable.losses import convert, textbook
from deniable.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from deniable.sampling.public import PublicRandom

from ._specimen import Batch, Computed, Sampled, Specimen, noisy

_RNG = PublicRandom(1).generator


def _gaussian_delta(sigma: float, epsilon: float) -> float:
    return convert.gdp_to_delta(1 / sigma, epsilon)


def _analytic_delta(epsilon: float) -> float:
    """The δ at ε of the analytic Gaussian mechanism for δ = 1e-5."""
    sigma = analytic_gaussian_sigma(epsilon, delta=1e-5, sensitivity=1.0)
    return _gaussian_delta(sigma, epsilon)


def _many(law: type[Laplace | DiscreteLaplace]) -> float:
    """The true δ of 500 discrete answers at the ε that 500 of this law cost."""
    return textbook.kov_delta(1.0, times=500, at=(500 * law(scale=1.0)).epsilon_at(1e-5))


def _discrete_gaussian_delta(sigma: float, epsilon: float) -> float:
    """Σ over the integers of (p(x) − e^ε·p(x − 1))₊, the tails beyond 40σ left out."""
    x = np.arange(-40, 41)
    weights = np.exp(-(x**2) / (2 * sigma**2))
    moved = np.exp(-((x - 1) ** 2) / (2 * sigma**2))
    excess = weights - math.exp(epsilon) * moved
    return float(np.maximum(excess, 0).sum() / weights.sum())


def _passes(epsilon: float, delta: float) -> float:
    """P(loss > ε) of the Gaussian mechanism that is exactly (ε, δ): Φ(μ/2 − ε/μ)."""
    mu = 1 / analytic_gaussian_sigma(epsilon, delta=delta, sensitivity=1.0)
    return math.erfc((epsilon / mu - mu / 2) / math.sqrt(2)) / 2


def _floats(noise: Any) -> Batch:
    return lambda value, n: value + noise(size=n)


SPECIMENS: tuple[Specimen, ...] = (
    Sampled(
        name="scale 10 % too small",
        wrong_because="the noise is 0.9 of what ε = 1 needs",
        holds="scale = Δ/ε",
        source="[DMNS06]",
        wrong=noisy(0.9),
        right=noisy(1.0),
        samples=400_000,
    ),
    Sampled(
        name="half the noise",
        wrong_because="one factor of two is lost: the scale is Δ/2ε",
        holds="scale = Δ/ε",
        source="[DMNS06]",
        wrong=noisy(0.5),
        right=noisy(1.0),
        samples=20_000,
    ),
    Sampled(
        name="L2 sensitivity into Laplace",
        wrong_because="one person moves each of four counts by 1; the noise is sized to √4 = 2",
        holds="Laplace noise needs the L1 sensitivity, 4; Gaussian noise the L2 sensitivity",
        source="[DMNS06]",
        data=(np.zeros(4), np.ones(4)),
        wrong=noisy(2.0),
        right=noisy(4.0),
        samples=60_000,
    ),
    Computed(
        name="classic Gaussian at ε = 20",
        wrong_because="σ = √(2·ln(1.25/δ))/ε is proved for ε < 1 and fails above 8.42",
        holds="the analytic Gaussian mechanism, at any ε",
        source="[BW18]",
        wrong=lambda: (_gaussian_delta(math.sqrt(2 * math.log(1.25 / 1e-5)) / 20, 20.0), 1e-5),
        right=lambda: (_analytic_delta(20.0), 1e-5),
    ),
    Computed(
        name="discrete Laplace priced as continuous",
        wrong_because="500 discrete Laplace answers at ε = 1 are charged the continuous 258.30",
        holds="at Δ = 1 it is randomized response: 311.77 at δ = 1e-5",
        source="[GRS12; KOV15, Thm 3.3]",
        wrong=lambda: (_many(Laplace), 1e-5),
        right=lambda: (_many(DiscreteLaplace), 1e-5),
    ),
    Computed(
        name="discrete Gaussian priced as continuous",
        wrong_because="at σ = 1, ε = 4.25 its true δ is 1.79 times the continuous formula",
        holds="a sum over the integers of its own",
        source="[CKS20]",
        wrong=lambda: (_discrete_gaussian_delta(1.0, 4.25), _gaussian_delta(1.0, 4.25)),
        right=lambda: (
            _discrete_gaussian_delta(1.0, 4.25),
            DiscreteGaussian(sigma=1.0).delta_at(4.25),
        ),
    ),
    Computed(
        name="ratio at most e^ε with probability 1 − δ",
        wrong_because="(ε, δ) is read as a bound on how often the loss passes ε",
        holds="δ bounds the hockey-stick divergence; losses pass ε more often",
        source="[DR14]",
        wrong=lambda: (_passes(1.0, 1e-5), 1e-5),
        right=lambda: (_analytic_delta(1.0), 1e-5),
    ),
    Sampled(
        name="Laplace noise in floating point",
        wrong_because="the last binary digits of x + noise tell x",
        holds="real noise, rounded to a lattice",
        source="[Mir12]",
        wrong=_floats(_RNG.laplace),
        right=noisy(1.0),
    ),
    Sampled(
        name="Gaussian noise in floating point",
        wrong_because="as with Laplace noise, the low bits are those of a sum with x",
        holds="real noise, rounded to a lattice",
        source="[Mir12]",
        claim={"mu": 1.0},
        wrong=_floats(_RNG.normal),
        right=lambda value, n: Gaussian(sigma=1.0).release(np.full(n, value)),
    ),
    Sampled(
        name="one noise for two answers",
        wrong_because="both answers carry the same noise, which their difference removes",
        holds="fresh noise for every number",
        data=(np.zeros(2), np.array([1.0, 0.0])),
        wrong=lambda values, n: values + noisy(2.0)([0.0], n),
        right=noisy(2.0),
        samples=20_000,
    ),
    Sampled(
        name="a repeated question is drawn anew, free",
        wrong_because="ten answers average the noise away, and one was paid for",
        holds="the stored answer is given again, or each drawing is charged",
        wrong=lambda value, n: noisy(1.0)(np.full(10, value), n).sum(axis=1),
        right=noisy(1.0),
        samples=20_000,
    ),
)
