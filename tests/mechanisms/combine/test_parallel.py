"""Mechanisms on disjoint parts: every figure is the sum of the largest that one unit may meet."""

import math

import numpy as np
import pytest

import deniable as dp
from deniable.mechanisms import Gaussian, Laplace, Parallel, PartitionSelection

PURE = (Laplace(scale=4.0), Laplace(scale=1.0), Laplace(scale=2.0))
SMOOTH = (Gaussian(sigma=4.0), Gaussian(sigma=1.0), Gaussian(sigma=2.0))
KEYS = (PartitionSelection(epsilon=0.5, delta=1e-6), PartitionSelection(epsilon=0.25, delta=1e-3))
UNITS = {
    1: dp.rows(),
    2: dp.rows(relation="replace"),
    3: dp.person("who", rows=9),
}


@pytest.mark.parametrize("met", UNITS)
def test_each_figure_is_the_sum_of_the_largest(met):
    pure, smooth = (Parallel(parts=parts, unit=UNITS[met]) for parts in (PURE, SMOOTH))
    shares = [1.0, 0.5, 0.25][:met]
    assert pure.pure() == sum(shares)
    assert pure.loss(dp.Pure).epsilon == sum(shares)
    squares = sum(share**2 for share in shares)
    assert smooth.zcdp() == pytest.approx(squares / 2)
    assert smooth.gdp() == pytest.approx(math.sqrt(squares))
    assert smooth.renyi(3.0) == pytest.approx(3.0 * squares / 2)
    assert smooth.loss(dp.Zcdp).rho == pytest.approx(squares / 2)


@pytest.mark.parametrize("met", [1, 2])
def test_the_largest_delta_may_be_another_part_s_than_the_largest_epsilon(met):
    both = Parallel(parts=KEYS, unit=UNITS[met])
    epsilon, delta = both.approx()
    assert epsilon == sum([0.5, 0.25][:met])
    assert delta == pytest.approx(sum([1e-3, 1e-6][:met]))


def test_the_error_is_that_of_the_worst_part():
    for whole in (False, True):
        found = Parallel(parts=PURE).shown_error(0.9, whole=whole)
        assert found == Laplace(scale=4.0).error(0.9, whole=whole)


def test_every_part_must_cover_the_value():
    wide = Laplace(scale=1.0, sensitivity=5.0)
    assert Parallel(parts=(wide, wide)).on(dp.Sensitive(lambda: [1, 2], l1=5))
    for parts in ((wide, PURE[0]), (PURE[0], wide)):
        with pytest.raises(dp.SensitivityMismatch):
            Parallel(parts=parts).on(dp.Sensitive(lambda: [1, 2], l1=5))


def test_each_part_reads_and_answers_its_own_value():
    exact = Parallel(parts=tuple(Laplace(scale=1e-6) for _ in range(3)))
    step = exact.on(dp.Sensitive(lambda: (5, np.int8(-3), 0), l1=1, whole=True))
    read = step.mechanism.reading(step.value.form)((5, np.int8(-3), 0))
    assert exact.draw(read) == [5, -3, 0]


@pytest.mark.parametrize("value", [[5, 1], [5, 1, 2, 3], {5, 1, 2}, 5, None], ids=str)
def test_values_are_a_sequence_of_one_a_part(value):
    with pytest.raises(dp.BadParameter, match="3 values"):
        Parallel(parts=PURE).draw(value)


@pytest.mark.parametrize("parts", [(), list(PURE), (1,), (PURE[0], 1), (1, PURE[0]), None], ids=str)
def test_parts_are_a_tuple_of_mechanisms(parts):
    with pytest.raises(dp.BadParameter, match="parts must be"):
        Parallel(parts=parts)


@pytest.mark.parametrize("unit", [None, "rows", 1, dp.Laplace])
def test_the_unit_is_one(unit):
    with pytest.raises(dp.BadParameter, match="unit must be"):
        Parallel(parts=PURE, unit=unit)
