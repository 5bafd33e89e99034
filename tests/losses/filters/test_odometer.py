"""A reading that holds whenever one looks."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses.filters.adversary import COINS

import deniable as dp
from deniable.losses._loss import Stated
from deniable.losses.filters import Odometer, Price


def test_an_odometer_reads_the_pure_sum_while_that_is_least():
    odometer = Odometer.opened(delta=1e-6)
    assert odometer.reading(odometer.block(0.05)).epsilon == 0.05
    assert odometer.reading(odometer.block(100.0)).epsilon == 100.0


def test_an_odometer_climbs_its_ladder_and_splits_its_delta():
    odometer = Odometer.opened(delta=1e-6)
    assert odometer.delta == 1e-6
    assert sum(rung.budget.delta - rung.reserve for rung in odometer.rungs) == pytest.approx(
        0.75e-6
    )
    one = odometer.price(Stated(mu=0.01))
    readings = [odometer.reading(k * one) for k in (1, 10, 100, 1000, 10_000)]
    epsilons = [reading.epsilon for reading in readings]
    assert epsilons == sorted(epsilons)
    for k, epsilon in zip((1, 10, 100, 1000, 10_000), epsilons, strict=True):
        assert epsilon >= dp.Gdp(0.01 * math.sqrt(k)).epsilon_at(1e-6)
    assert odometer.reading(10**9 * one) is None
    assert odometer.reading(odometer.block(0.1, 1e-6)) is None  # more δ than blocks may take


def test_an_odometer_survives_its_record():
    odometer = Odometer.opened(delta=1e-6, rungs=3)
    assert Odometer.from_dict(json.loads(json.dumps(odometer.to_dict()))) == odometer
    with pytest.raises(dp.BadParameter):
        Odometer.from_dict({"odometer": [], "delta": 1e-6})


@given(data=st.data())
@settings(max_examples=40)
def test_no_moment_of_looking_breaks_the_odometer(data):
    """The analyst stops when they like; what they then read costs δ over all transcripts."""
    odometer = Odometer.opened(delta=1e-3, rungs=4, blocks=0.0)
    excess = 0.0

    def walk(history, total, p, q):
        nonlocal excess
        coin = data.draw(st.none() | COINS, label=str(history)) if len(history) < 3 else None
        if coin is None:
            excess += max(0.0, p - math.exp(odometer.reading(total).epsilon) * q)
            return
        for side, (a, b) in enumerate(coin.outcomes()):
            walk((*history, side), total + odometer.price(coin), p * a, q * b)

    walk((), Price.zero, 1.0, 1.0)
    assert excess <= 1e-3
