"""Answers at the mechanisms' own noise are covered as often as they say; alarms at 1e-8 each."""

import numpy as np
import pyarrow as pa
import pytest
from tests import goodness

import deniable as dp
from deniable.curator import open as open_curator
from deniable.query.answer import answer
from deniable.query.integers import Cells


def many_groups(
    sql, spend, sizes=500, groups=4000, budget=None, values=lambda n: np.arange(n) % 10
):
    """A query over many groups of known content: each group's values are 0, 1, …, 9 in turn."""
    schema = dp.Schema(
        columns={"g": dp.keys(range(groups)), "x": dp.bounds(0, 9, type="int", missing=0)}
    )
    table = pa.table({"g": pa.array([0]), "x": pa.array([0])})
    session = open_curator(table, unit=dp.rows(), budget=budget or dp.epsilon(9), schema=schema)
    allocation = session.sql(sql)._allocate(spend, None, None)
    values, numbers, histograms = values(sizes) * 1, {}, {}
    for tally in allocation.plan.tallies:
        if tally.bins is not None:
            bins = np.bincount(values, minlength=tally.bins.count)
            histograms[tally.name] = np.tile(bins, (groups, 1))
            continue
        each = {"count": values * 0 + 1, "sum": values - tally.centre}[tally.measure.value]
        numbers[tally.name] = np.full(groups, int(each.sum()), dtype=object)
    cells = Cells(groups=(), numbers=numbers, histograms=histograms)
    vectors = [part.numbers(cells) for part in allocation.parts]
    drawn = [m.draw(v) for m, v in zip(allocation.noise, vectors, strict=True)]
    return answer(allocation, [(i,) for i in range(groups)], drawn)[1]


ALARM = 1e-8


def inside(noisy, truth, confidence=0.95):
    """How many intervals hold the truth, and how many there are."""
    pairs = noisy.intervals(confidence)
    return sum(low <= truth <= high for low, high in pairs), len(pairs)


def enough(noisy, truth):
    """Not fewer than 95 % of the intervals hold the truth."""
    return goodness.covered(*inside(noisy, truth), 0.95) > ALARM


def just(noisy, truth):
    """Neither fewer nor more than 95 % do."""
    return goodness.count(*inside(noisy, truth), 0.95) > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("spend", [dp.epsilon(0.05), dp.epsilon(0.6)], ids=str)
def test_counts_sums_and_averages_are_covered_as_often_as_is_said(spend):
    """Of 4,000 groups; whole counts with little noise are covered more often."""
    sql = "SELECT g, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a FROM data GROUP BY g"
    found = many_groups(sql, spend)
    for name, truth in {"n": 500, "s": 2250, "a": 4.5}.items():
        assert enough(found[name], truth), name
        assert just(found[name], truth) or spend.epsilon > 0.1, name
        assert inside(found[name], truth)[0] <= 0.995 * 4000, name


@pytest.mark.statistical
def test_gaussian_answers_are_covered_as_often_as_is_said():
    sql = "SELECT g, COUNT(*) AS n, AVG(x) AS a FROM data GROUP BY g"
    found = many_groups(sql, dp.mu(0.1), budget=dp.mu(1))
    assert just(found["n"], 500)
    assert just(found["a"], 4.5)


@pytest.mark.statistical
def test_quantiles_are_covered_at_least_as_often_as_is_said():
    sql = "SELECT g, MEDIAN(x) AS m, QUANTILE(x, 0.1) AS q FROM data GROUP BY g"
    found = many_groups(sql, dp.epsilon(0.1), sizes=505)
    assert enough(found["m"], 4)
    assert enough(found["q"], 1)
    right = sum(cell in (3, 4, 5) for cell in found["m"].cells) / 4000
    assert right > 0.6


@pytest.mark.statistical
def test_coverage_that_is_too_low_would_be_seen():
    found = many_groups("SELECT g, COUNT(*) AS n FROM data GROUP BY g", dp.epsilon(0.05))
    assert not enough(found["n"], 500 + 60)


@pytest.mark.statistical
@pytest.mark.parametrize("clause", ["ORDER BY n DESC LIMIT 9", "HAVING COUNT(*) > 540"])
def test_groups_picked_by_their_noise_are_covered(clause):
    """All at once, at 95 % confidence, each of 100 times.

    More than 540 has each of 300 groups with a chance of about 0.1, one of them but for 1e-12.
    """
    sql = f"SELECT g, COUNT(*) AS n, AVG(x) AS a FROM data GROUP BY g {clause}"
    good = {"n": 0, "a": 0}
    for _ in range(100):
        found = many_groups(sql, dp.epsilon(0.05), groups=300)
        assert 1 <= len(found["n"].cells) < 300
        for name, truth in {"n": 500, "a": 4.5}.items():
            held, asked = inside(found[name], truth)
            good[name] += held == asked
    assert goodness.covered(min(good.values()), 100, 0.95) > ALARM
    assert "noisy values; the ± holds for all 300 groups at once" in found["n"].estimand


@pytest.mark.statistical
@pytest.mark.parametrize("spend", [dp.epsilon(4), dp.epsilon(6)], ids=str)
def test_averages_are_covered_where_noise_is_smaller_than_a_step_of_the_column(spend):
    """Of ones and zeros."""
    sql = "SELECT g, AVG(CASE WHEN x > 4 THEN 1 ELSE 0 END) AS a FROM data GROUP BY g"
    found = many_groups(sql, spend, sizes=20, values=lambda n: np.arange(n) % 10 > 4)
    assert just(found["a"], 0.5)


@pytest.mark.statistical
def test_an_average_drowned_in_noise_is_told_as_the_middle_of_its_bounds():
    """But for one in twenty, where noise looks like an answer."""
    found = many_groups("SELECT g, AVG(x) AS a FROM data GROUP BY g", dp.epsilon(0.001), groups=400)
    told = zip(found["a"].cells, found["a"].errors(0.95), strict=True)
    assert goodness.covered(sum(pair == (4.5, 4.5) for pair in told), 400, 0.95) > ALARM
