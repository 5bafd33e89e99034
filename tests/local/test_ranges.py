"""Ranges: each number in its cell, quantiles where the mass is, a ± that holds on any shape.

Each statistical test alarms falsely with probability below 1e-8.
"""

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import goodness

from deniable import local
from deniable.errors import BadParameter


@given(
    low=st.floats(-1e6, 1e6), width=st.floats(1e-3, 1e6), cells=st.integers(2, 300), at=st.data()
)
def test_a_number_is_in_the_cell_between_whose_edges_it_lies(low, width, cells, at):
    p = local.Ranges(epsilon=1.0, low=low, high=low + width, cells=cells)
    edges = p.server().estimate().edges
    place = at.draw(st.integers(0, cells - 1))
    inside = at.draw(st.floats(edges[place], edges[place + 1], exclude_max=True))
    for value in (edges[place], inside, np.nextafter(edges[place + 1], -np.inf)):
        assert p.numbered([value])[0, -1] == place
    assert p.numbered([edges[-1], 1e300])[:, -1].tolist() == [cells - 1] * 2
    assert p.numbered([-1e300, np.nextafter(edges[0], -np.inf)])[:, -1].tolist() == [0, 0]


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [2.0, 6.0])
@pytest.mark.parametrize("spots", [(200,), (0,), (255,), (20, 200)])
def test_a_quantile_is_where_the_people_are(spots, epsilon):
    # 20,000 people: half of them is more than 10 standard deviations of any sum of cells.
    p = local.Ranges(epsilon=epsilon, low=0, high=256, cells=256)
    values = np.repeat(spots, 20_000 // len(spots)) + 0.5
    found = p.server().add(p.encode_all(values)).estimate()
    for i, spot in enumerate(spots):
        edge, low, high = found.quantile((i + 0.5) / len(spots))
        assert edge in (spot, spot + 1)
        assert low <= spot < spot + 1 <= high
        assert high - low < 20


@pytest.mark.parametrize(("cells", "branching"), [(16, 4), (13, 3), (8, 2)])
def test_the_error_uses_the_weights_of_least_squares(cells, branching):
    p = local.Ranges(epsilon=1.0, low=0, high=1, cells=cells, branching=branching)
    found = p.server().add(p.encode_all(np.linspace(0, 1, 500))).estimate()
    weights = p.tree.agreed(np.eye(p.tree.nodes)).T  # cells × nodes
    weights -= weights.mean(axis=0)
    for first, last in [(0, 1), (2, 7), (0, cells - 1), (5, cells)]:
        each = np.split(weights[first:last].sum(axis=0), np.cumsum(p.tree.sizes)[:-1])
        pairs = zip(found.levels, each, strict=True)
        variance = sum(level.variance_of_sum(w) for level, w in pairs)
        _, error = found.count(found.edges[first], found.edges[last])
        assert error == pytest.approx(1.959964 * np.sqrt(variance), rel=1e-6)


@pytest.mark.parametrize(
    ("low", "high", "cells"), [(0, 1, 4), (100_000, 100_001, 4), (1e15, 1e15 + 1, 4), (0, 1, 300)]
)
def test_edges_are_named_apart(low, high, cells):
    p = local.Ranges(epsilon=1.0, low=low, high=high, cells=cells)
    found = p.server().add(p.encode_all([low, high] * 20)).estimate()
    assert len(set(found.labels)) == cells + 1
    pairs = zip(found.labels, found.edges, strict=True)
    assert all(math.isclose(float(a), b, rel_tol=1e-5) for a, b in pairs)
    ends = re.search(r"within (\S+) to (\S+) \(", repr(found)).groups()
    assert set(ends) <= set(found.labels)  # which of them is a matter of chance


@pytest.mark.parametrize("far", [2.0, 1e9, 1e17, 1e308, math.inf])
def test_a_range_beyond_the_bounds_ends_at_them(far):
    p = local.Ranges(epsilon=4.0, low=-1, high=1, cells=8)
    found = p.server().add(p.encode_all([0.5] * 300)).estimate()
    assert found.count(-far, far) == found.count(-1, 1)
    assert found.count(-far, 0.25) == found.count(-1, 0.25)
    assert found.count(0.25, far) == found.count(0.25, 1)
    assert found.count(far, far) == (0.0, 0.0)


@pytest.mark.parametrize("cells", [4, 255, 256, 257, 300])
def test_few_edges_have_their_own_error_and_many_the_largest(cells):
    p = local.Ranges(epsilon=1.0, low=0, high=1, cells=cells)
    found = p.server().add(p.encode_all(np.linspace(0, 1, 500))).estimate()
    own = np.array([found._reach(0, i) for i in range(0, cells + 1, max(1, cells // 30))])
    reaches = found._reaches
    if cells <= 256:
        assert (reaches[:: max(1, cells // 30)] == own).all()
        assert reaches[0] == reaches[-1] == 0.0
    else:
        assert reaches.min() >= own.max()
        assert reaches.max() <= 1.5 * own.max()


SHAPES = {
    "all in one cell": np.eye(64)[0],
    "geometric": np.append(0.5 ** np.arange(1, 64), 0.5**63),
    "many zeros": np.append(0.6, np.full(63, 0.4 / 63)),
}


@pytest.mark.statistical
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("epsilon", [1.0, 3.0, 6.0])
def test_the_error_of_a_count_holds_on_skewed_data(shape, epsilon):
    """False alarms: below 1e-9 per range by the binomial tail at 93 % (asymptotic intervals)."""
    p = local.Ranges(epsilon=epsilon, low=0, high=64, cells=64)
    true = np.floor(4000 * SHAPES[shape])
    values = np.repeat(np.arange(64) + 0.5, true.astype(int))
    ranges = [(0, 1), (1, 4), (4, 8), (0, 32), (7, 35), (8, 64)]
    hits = np.zeros(len(ranges), dtype=int)
    for _ in range(30):
        found = p.server().add(p.encode_all(values)).estimate()
        for i, (low, high) in enumerate(ranges):
            count, error = found.count(low, high)
            hits[i] += abs(count - true[low:high].sum()) <= error
    assert min(goodness.covered(int(each), 30, 0.93) for each in hits) > 1e-9


def test_many_cells_have_quantiles_with_an_error_that_is_large_enough():
    p = local.Ranges(epsilon=1.0, low=0, high=1, cells=4096)
    found = p.server().add(p.encode_all(np.linspace(0, 1, 2000) ** 2)).estimate()
    exact = np.array([found._reach(0, i) for i in range(0, 4097, 13)])
    assert exact.max() <= found._reaches.min() < 1.1 * exact.max()


_FEW = local.Ranges(epsilon=1.0, low=0, high=6, cells=6)
_FOUND = _FEW.server().add(_FEW.encode_all(np.linspace(0, 6, 300))).estimate()


@given(
    cells=st.lists(st.integers(-60, 90), min_size=6, max_size=6),
    missing=st.integers(-40, 40),
    q=st.floats(0.001, 0.999),
)
def test_a_quantile_is_the_nearer_end_of_the_first_cell_whose_counts_reach_it(cells, missing, q):
    """Also where estimated counts are negative, and where they add up to less than all people."""
    people = max(1, sum(cells) + missing)
    found = replace(_FOUND, cells=np.array(cells, dtype=float), people=people)
    below = [0.0, *itertools.accumulate(map(float, cells))]
    rising, wanted = list(itertools.accumulate(below, max)), q * people
    upper = next((i for i in range(1, 7) if rising[i] >= wanted), 6)
    near = upper - (wanted - rising[upper - 1] <= rising[upper] - wanted)
    reach = [found._reach(0, i) for i in range(7)]
    ends = [near] + [
        end
        for i in range(6)
        if below[i] - reach[i] <= wanted <= below[i + 1] + reach[i + 1]
        for end in (i, i + 1)
    ]
    low, high = (min(ends[1:]), max(ends[1:])) if ends[1:] else (near, near)
    assert found.quantile(q) == tuple(found.edges[[near, low, high]])


@pytest.mark.parametrize("values", [["a"], [math.nan], [math.inf], [[1.0]], [True], [None], 1.0])
def test_what_are_not_finite_numbers_one_per_person_is_refused(values):
    p = local.Ranges(epsilon=1.0, low=0.0, high=8.0, cells=8)
    with pytest.raises(BadParameter, match="finite numbers"):
        p.numbered(values)
