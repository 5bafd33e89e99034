"""The mean of vectors and its ± are those of the reported directions, computed another way."""

from statistics import NormalDist

import numpy as np
import pytest

import deniable as dp
from deniable import local
from deniable.local.reports import as_numbers
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
