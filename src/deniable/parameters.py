"""What a public parameter may be: one check and one message for every mechanism.

Each function returns the value in its canonical Python type or raises BadParameter naming it.
Booleans and text are refused: True is not the number 1 when a privacy parameter is meant.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from numbers import Integral, Rational, Real

from .errors import BadParameter

# A float beyond these cannot be scaled by powers of two without leaving the doubles.
SMALLEST, LARGEST = 2.0**-900, 2.0**900


def real(name: str, value: object, *, must: str = "a finite number") -> float:
    """A finite float."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise BadParameter.of(name, value, must=must)
    try:
        number = float(value)
    except OverflowError:
        raise BadParameter.of(name, value, must=must) from None
    if not math.isfinite(number):
        raise BadParameter.of(name, value, must=must)
    return number


def positive(name: str, value: object) -> float:
    """A number above 0 that is neither absurdly small nor absurdly large."""
    number = real(name, value, must="a number above 0")
    if not number > 0:
        raise BadParameter.of(name, value, must="a number above 0")
    if not SMALLEST <= number <= LARGEST:
        raise BadParameter.of(name, value, must="between 2⁻⁹⁰⁰ and 2⁹⁰⁰")
    return number


def non_negative(name: str, value: object) -> float:
    """A number of at least 0."""
    number = real(name, value, must="a number of at least 0")
    if not number >= 0:
        raise BadParameter.of(name, value, must="a number of at least 0")
    return number


def rational(name: str, value: object) -> Fraction:
    """A positive number, kept exactly."""
    positive(name, value)
    return value_as_fraction(value)


def value_as_fraction(value: object) -> Fraction:
    """The exact value of a finite number that was checked before."""
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    assert isinstance(value, Real)
    return Fraction(float(value))


def probability(name: str, value: object) -> float:
    """A number from 0 to 1."""
    number = real(name, value, must="a number from 0 to 1")
    if not 0 <= number <= 1:
        raise BadParameter.of(name, value, must="a number from 0 to 1")
    return number


def fraction_below_one(name: str, value: object) -> float:
    """A number from 0 up to, but not including, 1: a δ."""
    number = real(name, value, must="a number of at least 0 and below 1")
    if not 0 <= number < 1:
        raise BadParameter.of(name, value, must="a number of at least 0 and below 1")
    return number


def confidence(name: str, value: object) -> float:
    """A number strictly between 0 and 1."""
    number = real(name, value, must="a number between 0 and 1")
    if not 0 < number < 1:
        raise BadParameter.of(name, value, must="a number between 0 and 1")
    return number


def whole(name: str, value: object, *, least: int = 1) -> int:
    """A whole number of at least `least`."""
    must = f"a whole number of at least {least}"
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise BadParameter.of(name, value, must=must)
    return int(value)


def one_of(name: str, value: object, choices: Collection[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise BadParameter.of(name, value, must="one of " + ", ".join(map(repr, choices)))
    return value
