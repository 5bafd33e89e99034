"""Repeated reports: how often the permanent report is kept, and what follows from it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import deniable as dp
from deniable import local

KINDS = ["direct", "hadamard", "projective"]
CASES = [(2.0, 0.2), (2.0, 1.9), (0.5, 1e-6), (8.0, 3.0), (2.0, math.nextafter(2.0, 0))]


def ratio(p, kept):
    """How much likelier a report is for a value that its permanent report supports."""
    b, s, _ = p.design
    inside = p.permanent.randomizer.chance
    blind = (1 - kept) / b
    return (kept * inside / s + blind) / (kept * (1 - inside) / (b - s) + blind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("epsilon", "first"), CASES)
def test_the_permanent_report_is_kept_as_often_as_first_allows(kind, epsilon, first):
    p = local.Repeated(categories=5, epsilon=epsilon, first=first, kind=kind)
    assert 0 < p.kept < 1
    with mp.workdps(60):
        allowed = mp.exp(mp.mpf(first))
        found = ratio(p, p.kept)
        assert mp.mpf(found.numerator) / found.denominator <= allowed
        more = min(Fraction(1), p.kept + Fraction(1, 1 << 48))
        found = ratio(p, more)
        near = mp.mpf(found.numerator) / found.denominator
        assert near > allowed or (more == 1 and near > allowed * (1 - mp.mpf(2) ** -40))


@pytest.mark.parametrize("kind", KINDS)
def test_chances_are_those_of_the_permanent_report_mixed_with_a_uniform_one(kind):
    p = local.Repeated(categories=5, epsilon=2.0, first=1.0, kind=kind)
    b, s, _ = p.design
    for mixed, plain in zip(p.chances, p.permanent.chances, strict=True):
        assert mixed == p.kept * plain + (1 - p.kept) * Fraction(s, b)


@pytest.mark.parametrize(
    "wrong",
    [{"first": 2.0}, {"first": 2.5}, {"first": 0}, {"first": math.nextafter(1e-6, 0)},
     {"first": "1"}, {"kind": "other"}, {"epsilon": -1.0}, {"categories": 1}],
    ids=str,
)  # fmt: skip
def test_each_parameter_is_checked(wrong):
    with pytest.raises(dp.BadParameter):
        local.Repeated(**({"categories": 5, "epsilon": 2.0, "first": 1.0} | wrong))


def test_parameters_are_plain_numbers():
    made = local.Repeated(categories=5, epsilon=2, first=np.float32(1))
    assert [type(made.epsilon), type(made.first)] == [float, float]
    assert local.Repeated(categories=5, epsilon=2.0, first=1e-6).first == 1e-6
