"""Shares of noise: what is counted on is what honest parties add, whoever leaves or talks."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable.mechanisms import Skellam, SkellamL2, SkellamShares
from deniable.mechanisms.numbers.skellam_shares import _saturated_once

NOISE = Skellam(variance=30.0)


@pytest.mark.parametrize(
    ("parties", "dropouts", "colluding", "honest"),
    [(1, 0, 0, 1), (7, 0, 0, 7), (7, 2, 0, 5), (7, 0, 3, 4), (7, 2, 3, 2), (7, 3, 3, 1)],
)
@pytest.mark.parametrize("noise", [NOISE, SkellamL2(variance=30.0)], ids=lambda m: m.name)
def test_the_shares_that_are_counted_on_add_up_to_the_noise(
    noise, parties, dropouts, colluding, honest
):
    m = SkellamShares(of=noise, parties=parties, dropouts=dropouts, colluding=colluding)
    assert (m.honest, m.priced_as) == (honest, noise)
    assert type(m.share) is type(noise)
    assert honest * Fraction(m.share.variance) >= 30
    assert m.share.variance == pytest.approx(30 / honest, rel=1e-15)
    everything = parties * Fraction(m.share.variance)
    assert Fraction(m._noise_of_all.variance) >= everything
    assert m._noise_of_all.variance == pytest.approx(float(everything), rel=1e-12)
    assert m.error(0.9, coordinates=3) == m._noise_of_all.error(0.9, coordinates=3)


BAD = [
    *[{"of": bad} for bad in (dp.Laplace(scale=1.0), dp.Gaussian(sigma=1.0), None, 30.0)],
    *[{"parties": bad} for bad in (0, 1.5, True)],
    *[{name: bad} for name in ("dropouts", "colluding") for bad in (-1, 0.5, 4)],
    {"dropouts": 2, "colluding": 2},
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_parties_whose_noise_cannot_be_counted_on_are_refused(bad):
    with pytest.raises(dp.BadParameter):
        SkellamShares(**({"of": NOISE, "parties": 4} | bad))


def test_numbers_of_parties_are_plain():
    many = {"parties": np.int64(5), "dropouts": np.int8(1), "colluding": np.int64(2)}
    made = SkellamShares(of=NOISE, **many)
    assert {type(getattr(made, name)) for name in many} == {int}


def test_more_noise_than_can_be_drawn_is_refused():
    """2²² in all; a share of half the parties is counted on, so that all have twice the noise."""
    most = Skellam(variance=2.0**20)
    assert SkellamShares(of=most, parties=6, dropouts=4).honest == 2
    for dropouts in (3, 4):
        SkellamShares(of=most, parties=8, dropouts=dropouts)
    for parties, dropouts in ((8, 6), (10, 8), (5, 4)):
        with pytest.raises(dp.BadParameter, match="adds up to more than"):
            SkellamShares(of=most, parties=parties, dropouts=dropouts)
    with pytest.raises(dp.BadParameter, match="adds up to more than"):
        SkellamShares(of=most, parties=8, dropouts=6, colluding=1)


def test_the_bound_is_checked_in_the_norm_of_the_noise():
    shares = SkellamShares(of=SkellamL2(variance=30.0), parties=3)
    rows = {"shape": (3, 2), "whole": True}
    assert shares.on(dp.Sensitive(lambda: None, l2=1, **rows))
    with pytest.raises(dp.SensitivityMismatch):
        shares.on(dp.Sensitive(lambda: None, l2=2, **rows))
    with pytest.raises(dp.SensitivityMismatch):
        SkellamShares(of=NOISE, parties=3).on(dp.Sensitive(lambda: None, l2=1, **rows))
    for shape in (None, 2, (4, 2)):
        with pytest.raises(dp.BadParameter, match="3 rows"):
            shares.on(dp.Sensitive(lambda: None, l2=1, shape=shape, whole=True))


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)], ids=str)
def test_an_answer_has_the_shape_of_a_row(shape):
    answer = SkellamShares(of=NOISE, parties=4).release(np.full((4, *shape), 10**6))
    assert np.shape(answer) == shape
    assert isinstance(answer, np.ndarray if shape else int)
    assert np.abs(np.asarray(answer) - 4 * 10**6).max() < 10**5  # 18,000 deviations
    for wrong in (np.zeros((3, *shape), dtype=int), np.zeros((4, *shape))):
        with pytest.raises(dp.BadParameter, match="4 rows"):
            SkellamShares(of=NOISE, parties=4).release(wrong)


ENDS = [0, 1, -1, 2**31, 2**32 - 1, -(2**32), 2**62, 2**63 - 1, -(2**63), -(2**62) - 7]


@pytest.mark.parametrize("turned", range(len(ENDS)))
@pytest.mark.parametrize("many", [1, 2, 3, 9])
def test_a_sum_is_exact_and_held_once(turned, many):
    """Not row by row: a row at an end would lose half of its noise."""
    start = ENDS[turned:] + ENDS[:turned]
    for picked in (start[:many], [start[0]] * many):
        rows = [np.array([n, -5], dtype=np.int64) for n in picked]
        held = max(-(2**63), min(sum(picked), 2**63 - 1))
        found = _saturated_once(rows, like=np.zeros(2, dtype=np.int64))
        assert found.tolist() == [held, -5 * many]
        assert found.dtype == np.int64


@pytest.mark.parametrize("parties", [3, 7, 11])
def test_the_noise_of_all_is_rounded_up(parties):
    for tenths in range(1, 60):
        m = SkellamShares(of=Skellam(variance=tenths / 10), parties=parties, colluding=1)
        assert Fraction(m._noise_of_all.variance) >= parties * Fraction(m.share.variance)


def test_the_largest_variance_is_two_to_the_22():
    assert SkellamShares(of=Skellam(variance=2.0**22 * (1 - 2.0**-50)), parties=1).honest == 1
    limit = Skellam(variance=2.0**22 * (1 - 2.0**-40))
    assert SkellamShares(of=limit, parties=3).honest == 3
    with pytest.raises(dp.BadParameter):
        SkellamShares(of=Skellam(variance=math.nextafter(2.0**22, 0.0)), parties=3)


@pytest.mark.parametrize("order", [1.5, 2.0, 16.0])
@pytest.mark.parametrize("noise", [NOISE, SkellamL2(variance=30.0)], ids=lambda m: m.name)
def test_a_divergence_is_that_of_its_order(noise, order):
    assert noise.renyi(order) == pytest.approx(order * noise.renyi(8.0) / 8, rel=0.2)
    assert SkellamL2(variance=30.0).renyi(order) == pytest.approx(order / 60, rel=0.2)
