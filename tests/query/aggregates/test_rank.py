"""Quantiles, MIN and MAX: from noisy counts of cells to values and their ends."""

import math

import numpy as np
import pytest

import deniable as dp
from deniable.losses import Pure, Zcdp
from deniable.mechanisms import QuantileSearch
from deniable.query.algebra import Function
from deniable.workload import SearchResult
from deniable.workload.search import usual_reach
from deniable.workload.split import deviation
from deniable.workload.tails import factor
from deniable.workload.trees import Tree

from .deriving import asked, noisy

PERSON = dp.person("u", rows=2)
COUNTS = np.array([[0.0, 3, -2, 400, 900, 1, 500, 2, 0, 1], [700.0, 0, 0, 0, 0, 0, 0, 0, 0, 700]])
KINDS = {"int": (0, 9), "float": (0.0, 20.0)}


def read_off(function, q, *, kind="int", unit=None, **given):
    """A rank of ten cells, which are too few to search: each count gets noise."""
    allocation, part = asked(
        function, q=q, ends=KINDS[kind], kind=kind, unit=unit, bins=10, **given
    )
    assert isinstance(allocation.part_of(part.histogram).tree, Tree)
    return allocation, part


def reach_of(allocation, part, confidence):
    """By how much Σ of counts below an edge, less q times all of them, errs at the worst edge.

    By least squares on all released counts, which err alike: leaves have the covariance (AᵀA)⁻¹.
    """
    q, tree = part.q, allocation.part_of(part.histogram).tree
    leaves = Tree(cells=tree.sizes[-1], branching=tree.branching)
    released = leaves.sums(np.eye(leaves.cells, dtype=np.int64)).T
    covariance = np.linalg.inv(released.T @ released)[:10, :10]
    edges = [np.where(np.arange(10) < k, 1 - q, -q) for k in range(11)]
    most = max(c @ covariance @ c for c in edges)
    one = deviation(allocation.of(part.histogram))
    return factor(allocation.law, confidence) * math.sqrt(most) * one


CASES = [
    (Function.MIN, None, 0.0),
    (Function.MAX, None, 1.0),
    (Function.QUANTILE, 0.0, 0.0),
    (Function.QUANTILE, 0.5, 0.5),
    (Function.QUANTILE, 0.2, 0.2),
    (Function.QUANTILE, 1.0, 1.0),
]


@pytest.mark.parametrize(("function", "asked_for", "q"), CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_rank_is_where_counts_pass_its_share_and_an_extreme_where_they_leave_the_noise(
    function, asked_for, q, kind
):
    allocation, part = read_off(function, asked_for, kind=kind)
    assert part.q == q
    found = part.derive(allocation, noisy(**{part.histogram.name: COUNTS}))
    margin = {0.0: 1, 1.0: -1}.get(q, 0) * reach_of(allocation, part, 0.95)
    guesses = []
    for row in COUNTS:
        below = np.cumsum(row) - q * row.sum()
        guesses.append(min(int((below < margin).sum()), 9))
    wanted = [float(g) if kind == "int" else 2.0 * g + 1 for g in guesses]
    assert found.values.tolist() == wanted
    assert found.whole == (kind == "int")
    for confidence in (0.5, 0.95):
        far = reach_of(allocation, part, confidence)
        low, high = found.interval(confidence)
        for i, row in enumerate(COUNTS):
            edges = np.concatenate([[0.0], np.cumsum(row)]) - q * row.sum()
            open_ = [c for c in range(10) if edges[c] <= far and edges[c + 1] >= -far]
            cells = [*open_, guesses[i]]
            ends = (min(cells), max(cells))
            if kind == "float":
                ends = (2.0 * ends[0], 2.0 * ends[1] + 2)
            assert (low[i], high[i]) == ends


def test_an_extreme_among_noise_is_not_the_first_count_above_zero():
    """Three rows in the second cell are noise, four hundred in the fourth are not."""
    allocation, part = read_off(Function.MIN, None)
    assert 3 < reach_of(allocation, part, 0.95) < 400
    found = part.derive(allocation, noisy(**{part.histogram.name: COUNTS[:1]}))
    assert found.values.tolist() == [3.0]


@pytest.mark.parametrize("unit", [dp.rows(), PERSON], ids=["rows", "person"])
@pytest.mark.parametrize("budget", [None, Zcdp(9.0)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("q", [0.0, 0.3])
def test_a_rank_errs_by_what_the_counts_do_in_rows(unit, budget, q):
    spend = Zcdp(0.1) if budget else Pure(0.5)
    allocation, part = read_off(Function.QUANTILE, q, unit=unit, budget=budget, spend=spend)
    assert allocation.law == ("gaussian" if budget else "laplace")
    unit_of = float(part.histogram.unit)
    assert unit_of == (1.0 if unit.column is None else 2.0**-20)
    for confidence in (0.5, 0.95):
        wanted = unit_of * reach_of(allocation, part, confidence)
        assert part.rank_error(allocation, confidence=confidence) == pytest.approx(wanted)
    assert part.rank_error(allocation) == part.rank_error(allocation, confidence=0.95)
    assert part.error(allocation, size=100.0) is None


def searched(**given):
    allocation, part = asked(Function.QUANTILE, q=0.3, ends=(0.0, 256.0), bins=256, **given)
    noise = allocation.of(part.histogram)
    assert isinstance(noise, QuantileSearch)
    return allocation, part, noise


@pytest.mark.parametrize("unit", [dp.rows(), PERSON], ids=["rows", "person"])
def test_a_searched_rank_errs_as_the_search_says_in_rows(unit):
    allocation, part, noise = searched(unit=unit)
    for confidence in (0.5, 0.95):
        wanted = float(part.histogram.unit) * usual_reach(noise, confidence=confidence)
        assert part.rank_error(allocation, confidence=confidence) == wanted


def test_a_searched_quantile_is_the_middle_of_its_cell_between_ends_of_possible_ones():
    allocation, part, noise = searched()
    tree = allocation.part_of(part.histogram).tree
    numbers = np.zeros((3, tree.nodes))
    numbers[:, 0] = 7, 0, 255
    numbers[:, 2:] = 1.0
    given = {part.histogram.name: numbers}
    found = part.derive(allocation, noisy(**given))
    assert found.values.tolist() == [7.5, 0.5, 255.5]
    result = SearchResult(search=tree, numbers=numbers, noise=noise)
    for confidence in (0.5, 0.95):
        first, last = result.possible(confidence)
        low, high = found.interval(confidence)
        assert (low.tolist(), high.tolist()) == (first.tolist(), (last + 1.0).tolist())


def test_the_note_tells_the_rank_at_the_size_that_is_known_or_at_a_few():
    allocation, part = read_off(Function.QUANTILE, 0.3, spend=Pure(0.002))
    rank = part.rank_error(allocation)
    assert 1_000 < rank < 10_000
    told = part.note(allocation, None)
    assert "any value in a group of 1,000 rows or fewer, " in told
    assert told.count(" % of ") == told.count(" % of 10,000 rows") == 1
    assert f"{100 * rank / 10_000:.3g}"[:2] in told
    lost = part.note(allocation, 10.0)
    assert lost.endswith("(95 % confidence): any value in a group of 10 rows or fewer")
    assert " % of " not in lost


def test_extremes_are_said_to_be_those_that_stand_out():
    for function, q, _ in CASES:
        _, part = read_off(function, q)
        said = "reached by enough rows to be distinguished from noise" in part.estimand
        assert said == (function is not Function.QUANTILE)
        assert ("the largest value" in part.estimand) == (function is Function.MAX)
        assert ("the smallest value" in part.estimand) == (function is Function.MIN)
        assert "clipped to [0, 9]" in part.estimand
    assert [[t is part.histogram for t, _ in form] for form in part.forms()] == [[True]]
    assert [factor for ((_, factor),) in part.forms()] == [1.0]
