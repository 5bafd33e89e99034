"""Prices compared coordinate by coordinate, and the names by which mechanisms are looked up."""

import math
from dataclasses import replace

import pytest

from deniable.ledger.entry import fits, names, together
from deniable.losses.filters import Price

MOST = Price(epsilon=1.0, delta=1e-6, rho=0.5, mu_squared=2.0, renyi=(1.0, 2.0, 4.0))
COORDINATES = ["epsilon", "delta", "rho", "mu_squared"]


def test_a_price_fits_in_itself_and_nothing_fits_in_anything():
    assert fits(MOST, MOST)
    assert fits(Price.zero, MOST)
    assert fits(Price.zero, Price.zero)


@pytest.mark.parametrize("coordinate", COORDINATES)
@pytest.mark.parametrize(("factor", "slack", "fitting"), [
    (1.001, 0.0, False), (1.001, 1e-2, True), (1.02, 1e-2, False), (0.5, 0.0, True),
    (math.inf, 0.0, False),
])  # fmt: skip
def test_every_coordinate_counts(coordinate, factor, slack, fitting):
    price = replace(MOST, **{coordinate: factor * getattr(MOST, coordinate)})
    assert fits(price, MOST, slack=slack) == fitting


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(("factor", "slack", "fitting"), [
    (1.001, 0.0, False), (1.001, 1e-2, True), (1.02, 1e-2, False), (0.5, 0.0, True),
])  # fmt: skip
def test_every_order_of_a_curve_counts(place, factor, slack, fitting):
    curve = [*MOST.renyi]
    curve[place] *= factor
    assert fits(replace(MOST, renyi=tuple(curve)), MOST, slack=slack) == fitting


def test_a_curve_that_is_absent_is_nothing_at_every_order():
    bare = replace(MOST, renyi=())
    assert fits(bare, MOST)
    assert not fits(MOST, bare)
    assert fits(replace(MOST, renyi=(0.0, 0.0, 0.0)), bare)
    assert not fits(replace(MOST, renyi=(0.0, 0.0, 1.0)), bare)


def test_mechanisms_are_named_however_deep_they_are():
    record = {"mechanism": "composed", "parts": [[{"mechanism": "laplace", "scale": 1.0}, 2]]}
    assert names(record) == {"composed", "laplace"}
    assert names([record, {"mechanism": "gaussian"}]) == {"composed", "laplace", "gaussian"}
    assert names({"mechanism": 5, "inner": {"mechanism": "x"}}) == {"x"}
    assert names("laplace") == names(None) == set()
    assert together([record, {"mechanism": "gaussian"}]) == "composed,gaussian,laplace"
    assert together([]) is None
