"""Columns and their cells: places, sizes, and which marginals may be asked for."""

import math
from itertools import combinations

import pytest

import deniable as dp
from deniable.schema.binning import Listed
from deniable.synthetic import domain as module
from deniable.synthetic.domain import MOST_CELLS, Domain, domain_of, workload_of


def of_sizes(*sizes):
    cells = {
        f"c{i}": Listed(type="int", keys=tuple(range(n)), missing=-1) for i, n in enumerate(sizes)
    }
    return Domain(cells=cells)


DOMAIN = of_sizes(2, 3, 5, 7)


def test_columns_are_placed_in_the_order_of_the_domain():
    assert DOMAIN.names == ("c0", "c1", "c2", "c3")
    assert DOMAIN.sizes == (2, 3, 5, 7)
    assert DOMAIN.place("c2") == (2,)
    assert DOMAIN.place(["c3", "c0", "c2"]) == (0, 2, 3)
    assert DOMAIN.place(("c1",)) == (1,)
    assert [DOMAIN.size_of(c) for c in ((), (3,), (0, 1), (1, 2, 3))] == [1, 7, 6, 105]
    assert DOMAIN.called((0, 3)) == "c0 × c3"


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ([], dp.BadParameter, "names of columns"),
        (5, dp.BadParameter, "names of columns"),
        (None, dp.BadParameter, "names of columns"),
        (["c0", "c9"], dp.UnknownName, "c9"),
        ("c", dp.UnknownName, "c"),
        (["c1", "c0", "c1"], dp.BadParameter, "a column twice"),
    ],
)
def test_what_is_not_a_list_of_columns_is_refused(names, error, message):
    with pytest.raises(error, match=message):
        DOMAIN.place(names)


COLUMNS = {
    "age": dp.bounds(0, 99, type="int"),
    "score": dp.bounds(0, 5, type="int", missing=0),
    "sex": dp.keys(["f", "m"]),
    "kept": dp.keys(["f", "m"], missing="f"),
    "gone": dp.bounds(0, 9, type="int", missing="drop"),
    "flag": dp.column("bool"),
}


@pytest.mark.parametrize(
    ("bins", "sizes"),
    [
        (10, (11, 6, 3, 2, 11, 3)),
        ({"age": 5, "gone": 2}, (6, None, 3, 2, 3, 3)),
        ({}, None),
        (None, None),
    ],
)
def test_what_is_missing_has_a_cell_of_its_own_unless_it_counts_as_another(bins, sizes):
    """Ten cells per column, or as many as it has values; bins of one column leave the others."""
    found, usual = domain_of(COLUMNS, bins=bins), domain_of(COLUMNS).sizes
    expected = usual if sizes is None else sizes
    assert found.names == tuple(COLUMNS)
    for size, wanted, other in zip(found.sizes, expected, usual, strict=True):
        assert size == (other if wanted is None else wanted)


@pytest.mark.parametrize(
    ("columns", "bins", "error", "message"),
    [
        ({}, None, dp.BadParameter, "no columns"),
        (COLUMNS, {"sex": 3}, dp.BadParameter, "has a list of values"),
        (COLUMNS, {"flag": 3}, dp.BadParameter, "has a list of values"),
        (COLUMNS, {"other": 3}, dp.UnknownName, "other"),
        ({"x": dp.column("float")}, None, dp.MissingBounds, "`x`: a column needs bounds"),
        ({"x": dp.column("int"), "t": dp.column("text")}, None, dp.MissingBounds, "`x`, `t`"),
        (COLUMNS, {"age": 0}, dp.BadParameter, "`age`: "),
    ],
)
def test_columns_that_cannot_be_divided_are_refused(columns, bins, error, message):
    with pytest.raises(error, match=message):
        domain_of(columns, bins=bins)


def test_only_where_some_columns_can_be_used_are_they_offered():
    with pytest.raises(dp.MissingBounds) as caught:
        domain_of({"x": dp.column("int"), "y": COLUMNS["sex"]})
    assert 'columns=["y"]' in str(caught.value)
    with pytest.raises(dp.MissingBounds) as caught:
        domain_of({"x": dp.column("int")})
    assert "only the columns that have them" not in str(caught.value)


def test_a_column_has_at_most_a_thousand_cells():
    keys = list(range(MOST_CELLS - 1))
    assert domain_of({"x": dp.keys(keys)}).sizes == (MOST_CELLS,)
    with pytest.raises(dp.BadParameter, match="1,001 values"):
        domain_of({"x": dp.keys([*keys, -1])})


@pytest.mark.parametrize("ways", [1, 2, 3, 4])
def test_a_number_asks_for_all_marginals_of_so_many_columns(ways):
    assert workload_of(DOMAIN, ways, largest=210) == list(combinations(range(4), ways))


@pytest.mark.parametrize(
    ("marginals", "found"),
    [
        ([["c1", "c0"]], [(0, 1)]),
        ([["c1", "c0"], ["c0", "c1"], ["c3"]], [(0, 1), (3,)]),
        ((("c2",),), [(2,)]),
    ],
)
def test_marginals_by_name_are_asked_for_once(marginals, found):
    assert workload_of(DOMAIN, marginals, largest=10**6) == found


@pytest.mark.parametrize(
    ("marginals", "message"),
    [
        (5, "at most 4"),
        (0, "marginals must be"),
        (-1, "marginals must be"),
        (True, "a list of lists"),
        ("c0", "a list of lists"),
        (2.0, "a list of lists"),
        (None, "a list of lists"),
        ([], "empty list"),
        (["c0"], "'c0' is not in a list"),
        (["c0", "c1"], "'c0' is not in a list"),
        ([["c0"], "c1"], "'c1' is not in a list"),
    ],
)
def test_what_does_not_say_which_marginals_is_refused(marginals, message):
    with pytest.raises(dp.BadParameter, match=message):
        workload_of(DOMAIN, marginals, largest=10**6)


def test_two_names_may_be_meant_together_or_apart():
    with pytest.raises(dp.BadParameter) as caught:
        workload_of(DOMAIN, ["c0", "c1"], largest=100)
    assert 'marginals=[["c0", "c1"]]   (together)' in str(caught.value)
    with pytest.raises(dp.BadParameter) as caught:
        workload_of(DOMAIN, ["c0"], largest=100)
    assert "together)" not in str(caught.value)


def test_a_marginal_may_have_exactly_the_largest_size():
    assert workload_of(DOMAIN, [["c2", "c3"]], largest=35) == [(2, 3)]
    with pytest.raises(dp.BadParameter, match="c2 × c3 has 35 cells; a marginal has at most 34"):
        workload_of(DOMAIN, [["c2", "c3"]], largest=34)


def test_there_may_be_exactly_so_many_marginals(monkeypatch):
    monkeypatch.setattr(module, "_MOST_ASKED", math.comb(4, 2))
    assert len(workload_of(DOMAIN, 2, largest=100)) == 6
    monkeypatch.setattr(module, "_MOST_ASKED", math.comb(4, 2) - 1)
    with pytest.raises(dp.BadParameter, match="makes 6 marginals; there can be 5"):
        workload_of(DOMAIN, 2, largest=100)
