"""The mean of vectors and its ± are those of the reported directions, computed another way."""

import math
from statistics import NormalDist

import numpy as np
import pytest

import deniable as dp
from deniable import local
from deniable.local.reports import as_numbers
from deniable.mechanisms.local.support_response import SupportResponse
from deniable.sampling.public import public_directions


def reported(protocol, reports):
    """The direction that each report names."""
    seeds, codes = as_numbers(reports[:, 5:13]), as_numbers(reports[:, 13:])
    lists = [
        public_directions(seed, protocol.dimension, count=protocol.directions)
        for seed in seeds.tolist()
    ]
    return np.array([each[code] for each, code in zip(lists, codes.tolist(), strict=True)])


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_mean_and_its_error_are_those_of_the_reported_directions(confidence):
    p = local.Vector(dimension=3, epsilon=3.0, norm=2.5)
    truth = np.tile([[2.4, 0.3, -0.4], [2.0, 0.0, 0.0]], (60, 1))
    reports = p.encode_all(truth)
    found = p.server().add(reports).estimate(confidence=confidence)
    directions = reported(p, reports)
    scale = 2.5 / p._length_of_mean(p.randomizer)
    assert found.people == 120
    assert found.mean == pytest.approx(scale * directions.mean(axis=0))
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    spread = np.sqrt((directions.var(axis=0) + 1 / 120) / 120)
    skewed = 2 * max(0, z * z - 1) / 6 / 120
    assert found.error == pytest.approx(scale * (z * spread + skewed))


def test_directions_that_are_not_on_a_list_are_refused():
    p = local.Vector(dimension=3, epsilon=1.0)
    reports = p.encode_all([[0.6, 0.0, 0.8]] * 3)
    last, beyond, negative = (reports.copy() for _ in range(3))
    last[1, 13:] = np.frombuffer((p.directions - 1).to_bytes(2, "little"), np.uint8)
    p.server().add(last)
    beyond[1, 13:] = np.frombuffer(p.directions.to_bytes(2, "little"), np.uint8)
    negative[1, 5:13] = 255
    for bad in (beyond, negative):
        with pytest.raises(dp.DeniableError):
            p.server().add(bad)


def test_vectors_are_shortened_to_their_norm_and_never_lengthened():
    p = local.Vector(dimension=2, epsilon=1.0, norm=2.0)
    given = [[0.0, 0.0], [0.6, 0.8], [1.2, -1.6], [3.0, 4.0], [-1e308, 0.0], [1e-320, 0.0]]
    wanted = [[0.0, 0.0], [0.3, 0.4], [0.6, -0.8], [0.6, 0.8], [-1.0, 0.0], [0.0, 0.0]]
    assert p.numbered(given) == pytest.approx(np.array(wanted), abs=1e-15)


@pytest.mark.parametrize("dimension", [2, 3, 8])
@pytest.mark.parametrize("support", [5, 60, 250])
def test_the_length_of_the_mean_report_is_that_of_directions_drawn_at_random(dimension, support):
    """500 lists of 256; six standard errors, with one seed for all."""
    p = local.Vector(dimension=dimension, epsilon=2.0)
    response = SupportResponse(epsilon=2.0, reports=256, support=support)
    drawn = np.random.default_rng(11).normal(size=(500, 256, dimension))
    along = np.sort(drawn[:, :, 0] / np.linalg.norm(drawn, axis=2), axis=1)[:, ::-1]
    inside = float(response.chance)
    means = inside * along[:, :support].mean(axis=1) + (1 - inside) * along[:, support:].mean(
        axis=1
    )
    found = p._length_of_mean(response)
    error = means.std() / np.sqrt(500)
    assert abs(found - means.mean()) < 6 * error + 1e-4
    assert error < 0.2 * found


@pytest.mark.parametrize(
    ("epsilon", "count"),
    [(0.1, 256), (2.0, 256), (3.0, 512), (5.0, 4096), (9.0, 16384), (50.0, 16384)],
)
def test_there_are_as_many_directions_as_the_cap_needs(epsilon, count):
    """The least power of two of at least 16·e^ε, from 2⁸ to 2¹⁴."""
    assert local.Vector(dimension=3, epsilon=epsilon).directions == count


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_no_other_cap_makes_the_mean_report_noticeably_longer(epsilon):
    p = local.Vector(dimension=4, epsilon=epsilon)
    found, n = p._length_of_mean(p.randomizer), p.directions
    for support in (1, 2, n // 64, n // 16, n // 8, n // 4, n // 3, n // 2, n - 1):
        other = SupportResponse(epsilon=epsilon, reports=n, support=support)
        assert p._length_of_mean(other) <= found * 1.01


@pytest.mark.parametrize(
    "values",
    [[1.0, 2.0], [[1.0]], [[1.0, math.nan]], [[1.0, math.inf]], [["a", "b"]], [[True, False]]],
)
def test_vectors_are_rows_of_finite_numbers(values):
    with pytest.raises(dp.BadParameter, match="vectors of 2 finite numbers"):
        local.Vector(dimension=2, epsilon=1.0).numbered(values)


@pytest.mark.parametrize(
    "wrong", [{"dimension": 1}, {"dimension": 2.5}, {"norm": 0.0}, {"norm": -1}]
)
def test_each_parameter_is_checked(wrong):
    with pytest.raises(dp.BadParameter):
        local.Vector(**({"dimension": 3, "epsilon": 1.0} | wrong))


def test_nobody_reported_has_a_finite_error():
    found = local.Vector(dimension=2, epsilon=1.0).server().estimate()
    assert found.people == 0
    assert np.isfinite(found.error).all()
    assert found.mean.tolist() == [0.0, 0.0]
