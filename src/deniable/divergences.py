"""How far apart two distributions are, as differential privacy measures it; exact for finite ones.

    max_divergence      ε-DP bounds it by ε, and (ε, δ)-DP its δ-approximate version   [DR14]
    hockey_stick        (ε, δ)-DP bounds it by δ                                       [BBG18]
    renyi_divergence    Rényi differential privacy bounds it at one order              [Mir17, VH14]
    privacy_loss        ln P/Q of one mechanism at one output                          [DR14]

A distribution is a mapping from outcomes to probabilities, or a list of probabilities. Numbers are
taken as the fractions they are: give `Fraction(1, 3)` where 1/3 is meant. Results are never below
the true value, and above it by less than three units in the last place of a double.

    >>> heads, tails = {"yes": 0.75, "no": 0.25}, {"yes": 0.25, "no": 0.75}
    >>> max_divergence(heads, tails)  # randomized response with two coins: ln 3
    1.0986122886681098
    >>> hockey_stick(heads, tails, epsilon=0.0), round(renyi_divergence(heads, tails, order=2), 6)
    (0.5, 0.847298)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import singledispatch
from itertools import chain
from numbers import Rational, Real
from typing import TypeAlias

from . import parameters
from .errors import BadParameter, NoBound
from .mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    Mechanism,
    RandomizedResponse,
)

Distribution: TypeAlias = "Mapping[object, float | Fraction] | Sequence[float | Fraction]"
_DIGITS = 60
_SPARE = Decimal(10) ** -45
"""More than all rounding errors of a computation with 60 digits."""


def max_divergence(first: Distribution, second: Distribution, *, delta: float = 0.0) -> float:
    """The largest ln(P(S)/Q(S)) over events S; with `delta`, the largest ln((P(S) − δ)/Q(S)).

    It is infinite if an outcome that only `first` can have is likelier than `delta`. For the ε of
    a mechanism take the larger of both directions.

    >>> max_divergence([0.5, 0.5], [0.25, 0.75]) == math.log(2)
    False
    >>> 0 <= max_divergence([0.5, 0.5], [0.25, 0.75]) - math.log(2) < 1e-15
    True
    >>> max_divergence([0.9, 0.1], [1.0, 0.0], delta=0.1)
    0.0
    """
    pairs = _pairs(first, second)
    allowed = Fraction(parameters.fraction_below_one("delta", delta))
    # The best events contain the outcomes of largest ratio: (P − δ)/Q is greatest for one of them.
    ranked = sorted(pairs, key=lambda pair: (pair[1] != 0, -pair[0] / pair[1] if pair[1] else 0))
    best, p, q = Fraction(0), -allowed, Fraction(0)
    for more_p, more_q in ranked:
        p, q = p + more_p, q + more_q
        if p > 0 and q == 0:
            return math.inf
        best = max(best, p / q) if q else best
    return max(0.0, _log_up(best)) if best > 1 else 0.0


def hockey_stick(first: Distribution, second: Distribution, *, epsilon: float) -> float:
    """Σ (p − e^ε·q)₊: the least δ with which `first` is within ε of `second`.

    >>> hockey_stick([0.75, 0.25], [0.25, 0.75], epsilon=0.5)  # ¾ − √e/4
    0.337819682324968
    >>> hockey_stick([1, 0], [0, 1], epsilon=100.0)
    1.0
    """
    power = min(parameters.real("epsilon", epsilon), 700.0)  # δ decreases: beyond, it is not below
    factor = Fraction(1)
    if power:
        with localcontext(prec=_DIGITS, rounding=ROUND_FLOOR):
            factor = Fraction(Decimal(power).exp()) * (1 - Fraction(_SPARE))
    exact = sum((max(Fraction(0), p - factor * q) for p, q in _pairs(first, second)), Fraction(0))
    return min(1.0, _up(exact))


def renyi_divergence(first: Distribution, second: Distribution, *, order: float) -> float:
    """ln(Σ pᵅ·q¹⁻ᵅ)/(α − 1) at any order α above 0.

    At order 1 it is the Kullback–Leibler divergence, at order ∞ the max divergence.

    >>> renyi_divergence([0.5, 0.5], [0.25, 0.75], order=2)  # ln 4/3
    0.28768207245178096
    >>> renyi_divergence([1.0, 0.0], [0.5, 0.5], order=1)  # ln 2
    0.6931471805599454
    """
    if order == math.inf:
        return max_divergence(first, second)
    alpha = parameters.positive("order", order)
    pairs = [(p, q) for p, q in _pairs(first, second) if p]
    if all(p == q for p, q in pairs):
        return 0.0
    if any(q == 0 for _, q in pairs) and alpha >= 1:
        return math.inf
    shared = [(p, q) for p, q in pairs if q]
    if not shared:
        return math.inf
    with localcontext(prec=_DIGITS):
        if alpha == 1:
            total = sum((_decimal(p) * _decimal(p / q).ln() for p, q in shared), Decimal(0))
        else:
            a = Decimal(alpha)
            logs = [a * _decimal(p).ln() + (1 - a) * _decimal(q).ln() for p, q in shared]
            most = max(logs)
            summed = sum(((log - most).exp() for log in logs), Decimal(0))
            total = (most + summed.ln()) / (a - 1)
        slack = _SPARE * (1 + abs(total)) * max(1, 1 / abs(Decimal(alpha) - 1) if alpha != 1 else 1)
        return max(0.0, _up(Fraction(total + slack)))


def privacy_loss(mechanism: Mechanism, output: object, *, first: object, second: object) -> float:
    """ln(P/Q) of an output, P and Q being its likelihoods on the values `first` and `second`.

    The values are what the mechanism is applied to on two neighbouring data sets: numbers or
    vectors for noise, scores for the exponential mechanism, a category for randomized response. For
    real noise it is the loss of the density, before the answer is rounded to its lattice.

    >>> from deniable import Gaussian, Laplace
    >>> privacy_loss(Laplace(scale=1.0), 0.25, first=0, second=1)  # |0.25 − 1| − |0.25 − 0|
    0.5
    >>> privacy_loss(Gaussian(sigma=2.0), -3.0, first=0, second=1)
    0.875
    """
    return _loss(mechanism, output, first, second)


@singledispatch
def _loss(mechanism: Mechanism, output: object, first: object, second: object) -> float:
    del output, first, second
    raise NoBound(
        f"the likelihoods of {type(mechanism).__name__} are not known in closed form",
        why="privacy_loss knows Laplace and Gaussian noise, real and discrete, the exponential "
        "mechanism and randomized response",
        fix="max_divergence(first, second)    if you can list its output probabilities",
    )


@_loss.register(Laplace)
@_loss.register(DiscreteLaplace)
def _(mechanism: Laplace | DiscreteLaplace, output: object, first: object, second: object) -> float:
    return _by_distance(output, first, second, abs, Fraction(mechanism.scale))


@_loss.register(Gaussian)
@_loss.register(DiscreteGaussian)
def _(
    mechanism: Gaussian | DiscreteGaussian, output: object, first: object, second: object
) -> float:
    width = 2 * Fraction(mechanism.sigma) ** 2
    return _by_distance(output, first, second, lambda gap: gap * gap, width)


@_loss.register(Exponential)
def _(mechanism: Exponential, output: object, first: object, second: object) -> float:
    chosen = parameters.whole("output", output, least=0)
    scores = [_numbers(name, value) for name, value in (("first", first), ("second", second))]
    if len(scores[0]) != len(scores[1]) or chosen >= len(scores[0]):
        raise BadParameter("first and second have one score per candidate, and output is one")
    with localcontext(prec=_DIGITS):
        logs = []
        for each in scores:
            parts = [_decimal(score / Fraction(mechanism.scale)) for score in each]
            most = max(parts)
            summed = sum(((part - most).exp() for part in parts), Decimal(0))
            logs.append(parts[chosen] - most - summed.ln())
        found = logs[0] - logs[1]
        return _up(Fraction(found + _SPARE * (1 + abs(found)))) if logs[0] != logs[1] else 0.0


@_loss.register(RandomizedResponse)
def _(mechanism: RandomizedResponse, output: object, first: object, second: object) -> float:
    named = (("output", output), ("first", first), ("second", second))
    said, one, other = (parameters.whole(name, value, least=0) for name, value in named)
    if max(said, one, other) >= mechanism.categories:
        raise BadParameter(f"categories are numbered from 0 to {mechanism.categories - 1}")
    guess = (1 - mechanism.truth) / mechanism.categories
    chances = [guess + mechanism.truth * (said == value) for value in (one, other)]
    return _log_up(chances[0] / chances[1])


def _by_distance(
    output: object,
    first: object,
    second: object,
    distance: Callable[[Fraction], Fraction],
    width: Fraction,
) -> float:
    """Σ (d(y − b) − d(y − a))/width: exact, rounded up once."""
    named = (("output", output), ("first", first), ("second", second))
    y, a, b = (_numbers(name, value) for name, value in named)
    if not len(y) == len(a) == len(b):
        raise BadParameter("output, first and second have the same number of entries")
    terms = (distance(z - v) - distance(z - u) for z, u, v in zip(y, a, b, strict=True))
    return _up(sum(terms, Fraction(0)) / width)


def _numbers(name: str, value: object) -> list[Fraction]:
    entries = value if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    return [_fraction(name, entry) for entry in entries]


def _fraction(name: str, value: object) -> Fraction:
    if not (isinstance(value, Rational) and not isinstance(value, bool)):
        parameters.real(name, value)
    assert isinstance(value, Real)
    return parameters.value_as_fraction(value)


def _pairs(first: Distribution, second: Distribution) -> list[tuple[Fraction, Fraction]]:
    """The two probabilities of each outcome; an outcome that one does not list has 0."""
    p, q = _masses("first", first), _masses("second", second)
    if isinstance(first, Mapping) != isinstance(second, Mapping) or (
        not isinstance(first, Mapping) and len(p) != len(q)
    ):
        raise BadParameter(
            "the two distributions must be about the same outcomes",
            fix='two lists of the same length, or two mappings such as {"yes": 0.75, "no": 0.25}',
        )
    zero = Fraction(0)
    return [(p.get(key, zero), q.get(key, zero)) for key in dict.fromkeys(chain(p, q))]


def _masses(name: str, given: object) -> dict[object, Fraction]:
    if isinstance(given, str) or not isinstance(given, Mapping | Iterable):
        raise BadParameter.of(name, given, must="probabilities: a mapping or a list")
    items = given.items() if isinstance(given, Mapping) else enumerate(given)
    masses = {key: _fraction(name, mass) for key, mass in items}
    missing = abs(sum(masses.values(), Fraction(0)) - 1)
    if any(mass < 0 for mass in masses.values()) or missing > Fraction(1, 2**40):
        raise BadParameter.of(name, given, must="probabilities of at least 0 that add up to 1")
    return masses


def _log_up(ratio: Fraction) -> float:
    """ln of a positive fraction, rounded up."""
    if ratio == 1:
        return 0.0
    with localcontext(prec=_DIGITS):
        log = _decimal(ratio).ln()
        return _up(Fraction(log + _SPARE * (1 + abs(log))))


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def _up(number: Fraction) -> float:
    """The least double that is not below a fraction."""
    try:
        near = float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)
