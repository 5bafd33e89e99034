"""Noise on whole numbers and on finer lattices: the same price, and its true variance."""

import math

import numpy as np
import pytest

import deniable as dp
from deniable import workload
from deniable.errors import BadParameter
from deniable.workload.split import Vector
from deniable.workload.strategies.exact import HELD
from deniable.workload.strategies.noises import Noises

SCALES = [1e-4, 0.1, 0.3, 0.5, 1.0, 1.9, 2.1, 40.0]


def laws(scale):
    """The mass of each whole number beyond 0, from the tail of the real law."""
    ends = np.arange(4000) + 0.5
    with np.errstate(under="ignore"):
        laplace = np.exp(-ends / scale) / 2
    normal = np.array([math.erfc(e / (scale * math.sqrt(2))) / 2 for e in ends])
    return [(dp.Laplace(scale=scale), laplace), (dp.Gaussian(sigma=scale), normal)]


@pytest.mark.parametrize("scale", SCALES)
def test_the_variance_of_rounded_noise_is_that_of_its_law(scale):
    for noise, tail in laws(scale):
        masses = tail[:-1] - tail[1:]
        wanted = 2 * (masses * np.arange(1, len(tail)) ** 2).sum()
        assert noise.rounded_variance == pytest.approx(wanted, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("scale", [*SCALES, 1e-9, 1e9])
def test_a_finer_lattice_costs_the_same_to_the_last_bit(scale, whole):
    given = (dp.Laplace(scale=scale, sensitivity=3.0), dp.Gaussian(sigma=scale, sensitivity=0.7))
    found = Noises.of(given, whole=whole)
    assert [each.pure() for each in found.noise] == [each.pure() for each in given]
    assert found.noise[1].gdp() == given[1].gdp()
    assert found.multiples == (1, 1) or not whole
    if not whole and scale > 1e-3:
        assert min(found.noise[0].scale, found.noise[1].sigma) >= 1024
        plain = [math.sqrt(2) * scale, scale]
        assert found.deviations == pytest.approx(plain, rel=1e-6)
        assert 1 < found.wider < 1.001


def test_steps_and_releases_multiply_what_they_measure_and_hold_it():
    noises = Noises.of([dp.Laplace(scale=0.1)], whole=False)
    (multiple,) = noises.multiples
    counts = np.array([5, -(2**62), 2**62, 0])
    hidden = dp.Sensitive(lambda: counts, l1=1, whole=True, shape=4)
    (step,) = noises.steps([(hidden, np.negative, Vector(l1=1.0, l2=1.0), 4)])
    assert step.value.bound("l1") == multiple
    (found,) = noises.draw([counts])
    most = HELD // multiple
    assert np.abs(found - [5, -most, most, 0]).max() < 10
    assert noises.read([[multiple, 0]])[0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "asked",
    [
        workload.ranges(4),
        workload.prefixes(4),
        workload.matrix([[1.0, 2.0], [3.0, 4.0]]),
        workload.groupings(4, {"half": [0, 0, 1, 1]}),
        workload.marginals({"a": 2, "b": 2}, ways=1),
        workload.stream(steps=4),
        workload.stream(),
    ],
    ids=str,
)
def test_noise_of_any_width_is_planned_or_refused(asked):
    """Where its variance would be no number, that is said before anything else."""
    tiny = [10.0**-k for k in (20, 100, 125, 150, 160, 200, 260)]
    for spend in [*map(dp.epsilon, tiny), *map(dp.mu, tiny)]:
        try:
            plan = asked.plan(spend=spend)
        except BadParameter:
            assert getattr(spend, "epsilon", 0) < 1e-100
            continue
        assert math.isfinite(plan.worst)
        assert np.isfinite(plan.errors).all()
