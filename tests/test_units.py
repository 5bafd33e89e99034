"""Whom we protect, said once."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp

UNITS = st.one_of(
    st.builds(dp.rows, relation=st.sampled_from(["add_remove", "replace"])),
    st.builds(
        dp.person,
        st.text(min_size=1),
        rows=st.integers(1, 10**9),
        groups=st.none() | st.integers(1, 10**6),
        relation=st.sampled_from(["add_remove", "replace"]),
    ),
)


@given(UNITS)
def test_a_unit_survives_its_record_and_its_repr(unit: dp.Unit):
    assert dp.Unit.from_dict(unit.to_dict()) == unit
    assert eval(repr(unit), {"person": dp.person, "rows": dp.rows}) == unit


def test_neighbours_differ_by_adding_or_removing_unless_said_otherwise():
    assert dp.rows().relation is dp.Relation.ADD_REMOVE
    assert dp.rows(relation="replace") != dp.rows()


def test_it_reads_aloud():
    assert str(dp.person("user_id", rows=10, groups=3)) == (
        "any one person (user_id; counted as at most 10 rows in 3 groups), added or removed"
    )


def test_one_row_and_one_group_are_singular():
    assert str(dp.person("user_id", rows=1, groups=1)) == (
        "any one person (user_id; counted as at most 1 row in 1 group), added or removed"
    )


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "10", None])
def test_rows_is_a_promise_that_must_be_made(rows: object):
    with pytest.raises(dp.BadParameter, match="rows must be"):
        dp.person("user_id", rows=rows)


@pytest.mark.parametrize("column", ["", None, 3])
def test_a_person_is_told_apart_by_a_column(column: object):
    with pytest.raises(dp.BadParameter, match="column"):
        dp.person(column, rows=1)


def test_a_relation_is_one_of_two():
    with pytest.raises(dp.BadParameter, match="'add_remove', 'replace'"):
        dp.rows(relation="bounded")


def test_an_unknown_field_in_a_record_is_refused():
    with pytest.raises(dp.BadParameter, match="no field 'rowz'"):
        dp.Unit.from_dict({"column": "id", "rows": 1, "rowz": 2})


def test_a_unit_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        dp.rows().rows = 2


def test_neighbours_differ_in_one_contribution_or_in_two():
    assert (dp.rows().sides, dp.rows(relation="replace").sides) == (1, 2)
    assert dp.person("id", rows=3).sides == 1
    assert "removing all rows of one person" in dp.person("id", rows=3).neighbours
    assert "number of units is public" in dp.rows(relation="replace").neighbours
