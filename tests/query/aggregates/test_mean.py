"""Averages of noisy sums: the estimate, its ± in advance, and its interval."""

import math

import numpy as np
import pytest

import deniable as dp
from deniable.query.algebra import Function
from deniable.workload.tails import reach

from .deriving import asked, noisy

COUNTS = [1000.0, 500.0, -4.0, 0.2, 1e6]
SUMS = [20.0, -1e5, 1.0, 0.1, 1e9]


@pytest.mark.parametrize(
    ("ends", "kind"), [((-3.0, 9.0), "float"), ((5, 8), "int"), ((5.0, 5.5), "float")]
)
def test_an_average_is_the_centre_and_the_ratio_of_noisy_sums_within_its_bounds(ends, kind):
    allocation, mean = asked(Function.AVG, ends=ends, kind=kind)
    given = noisy(**{mean.count.name: COUNTS, mean.sum.name: SUMS})
    found = mean.derive(allocation, given)
    sums = mean.sums(allocation, given)
    centre, low, high = mean.sum.centre, *map(float, ends)
    plain = [min(max(centre + s / max(n, 1), low), high) for n, s in zip(COUNTS, SUMS, strict=True)]
    drowned = sums.drowned(0.95)
    assert set(drowned.tolist()) == {False, True}
    wanted = np.where(drowned, (low + high) / 2, plain)
    assert found.values.tolist() == pytest.approx(wanted.tolist())
    for confidence in (0.5, 0.95, 0.999):
        first, last = found.interval(confidence)
        ends_of = sums.mean_interval(confidence)
        step = 0.0 if kind == "int" else mean.sum.lattice.width / 2
        assert first.tolist() == np.clip(centre + ends_of[0] - step, low, high).tolist()
        assert last.tolist() == np.clip(centre + ends_of[1] + step, low, high).tolist()
        assert (first >= low).all()
        assert (last <= high).all()
        assert (first <= last).all()


def test_an_interval_is_wider_by_half_a_step_of_the_lattice():
    allocation, mean = asked(Function.AVG, ends=(0.0, 3.0))
    given = noisy(**{mean.count.name: [1e9], mean.sum.name: [0.0]})
    low, high = mean.derive(allocation, given).interval(0.5)
    inner = mean.sums(allocation, given).mean_interval(0.5)
    width = mean.sum.lattice.width
    assert high[0] - low[0] == pytest.approx(inner[1][0] - inner[0][0] + width, rel=1e-6)


@pytest.mark.parametrize("size", [None, 0.5, 10.0, 1e6])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_error_in_advance_is_that_of_the_worst_mean_over_the_size(size, confidence):
    allocation, mean = asked(Function.AVG, ends=(-3.0, 9.0))
    found = mean.error(allocation, size=size, confidence=confidence)
    if size is None:
        assert found is None
        return
    worst = max(
        reach(allocation.law, tuple(map(abs, allocation.errors((mean.sum, 1.0), (mean.count, w)))),
              confidence=confidence)
        for w in (6.0, -6.0)
    )  # fmt: skip
    assert mean.width == 6.0
    assert mean.largest == 12.0
    assert found == pytest.approx(min(12.0, worst / size))


def test_a_public_number_of_rows_takes_the_place_of_a_count():
    unit = dp.rows(relation="replace")
    allocation, mean = asked(Function.AVG, unit=unit, size=400)
    assert mean.tallies == (mean.sum,)
    found = mean.derive(allocation, noisy(**{mean.sum.name: [800.0]}))
    assert found.values.tolist() == [pytest.approx(mean.sum.centre + 2.0)]
    assert mean.error(allocation, size=None) == mean.error(allocation, size=5.0)
    assert not math.isnan(found.interval(0.95)[0][0])


def test_the_forms_of_an_error_weigh_the_count_by_half_the_width():
    _, mean = asked(Function.AVG)
    found = [[(t.name, f) for t, f in form] for form in mean.forms()]
    assert found == [
        [(mean.sum.name, 1.0), (mean.count.name, 0.5)],
        [(mean.sum.name, 1.0), (mean.count.name, -0.5)],
    ]


@pytest.mark.parametrize("power", [1, 20, 31, 40])
@pytest.mark.parametrize("kind", ["float", "int"])
def test_only_whole_numbers_on_a_lattice_of_whole_numbers_are_not_rounded(power, kind):
    """2³¹ is where the lattice of real numbers has steps of 1: they are rounded to them."""
    ends = (-(2**power), 2**power) if kind == "int" else (-(2.0**power), 2.0**power)
    allocation, mean = asked(Function.AVG, ends=ends, kind=kind)
    given = noisy(**{mean.count.name: [1e12], mean.sum.name: [1e12]})
    first, last = mean.sums(allocation, given).mean_interval(0.95)
    low, high = mean.derive(allocation, given).interval(0.95)
    width = mean.sum.lattice.width
    wider = 0.0 if kind == "int" and width == 1 else width / 2
    low, high = low - mean.sum.centre, high - mean.sum.centre
    inside = np.abs(low) < 2.0**power
    assert inside.all()
    assert low == pytest.approx(first - wider, rel=1e-12)
    assert high == pytest.approx(last + wider, rel=1e-12)
