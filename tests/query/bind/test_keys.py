"""What can be grouped by, and what makes the groups of other columns public or few."""

import datetime as dt

import pytest

import deniable as dp
from deniable.errors import UnknownKeys, UnsupportedQuery
from deniable.query.algebra import Read, call, literal
from deniable.query.bind.keys import group_key
from deniable.query.bind.scope import Asking, Binding, Names

FACTS = {
    "sex": dp.keys(["f", "m"]),
    "city": dp.column("text"),
    "age": dp.bounds(0, 9, type="int"),
    "code": dp.column("int"),
    "wage": dp.bounds(0.0, 9.0),
    "pay": dp.column("float"),
    "born": dp.column("date"),
    "seen": dp.column("timestamp"),
    "day": dp.bounds(dt.date(2024, 1, 1), dt.date(2024, 1, 3), type="date"),
}
COLUMN = {n: Read(name=n, source=n, facts=each).column for n, each in FACTS.items()}
UNITS = {
    "rows": dp.rows(),
    "person": dp.person("u", rows=9),
    "capped": dp.person("u", rows=9, groups=3),
}


def key(expression, *, unit="person", private=False, origin=True, label="", binding=None):
    held = {name: ("people", name) for name in FACTS} if origin else {}
    asking = Asking(tables={}, unit=UNITS[unit], private_keys=private, names=Names(origin=held))
    given = {"asked": "GROUP BY k", "binding": binding, "label": label}
    return group_key(expression, asking, name="k", **given)


def refused(expression, **given):
    with pytest.raises(UnknownKeys) as caught:
        key(expression, **given)
    return caught.value


def test_values_on_a_public_list_are_keys():
    assert key(COLUMN["sex"]).values == ("f", "m")
    assert key(COLUMN["age"]).values == tuple(range(10))
    assert key(COLUMN["day"]).values[-1] == dt.date(2024, 1, 3)


def test_nothing_is_grouped_by_a_person_a_constant_or_what_is_always_missing():
    binding = Binding(table="t", name="sex", expression=COLUMN["sex"], person=True)
    with pytest.raises(UnsupportedQuery, match="GROUP BY k would make one group per person"):
        key(COLUMN["sex"], binding=binding)
    key(COLUMN["sex"], binding=Binding(table="t", name="sex", expression=COLUMN["sex"]))
    with pytest.raises(UnsupportedQuery, match="a constant makes no groups"):
        key(literal(3))
    with pytest.raises(UnsupportedQuery, match="`k` is always missing"):
        key(call("nullif", COLUMN["sex"], COLUMN["sex"]))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("private", [False, True])
def test_other_groups_are_chosen_privately_where_there_is_a_delta_and_a_limit(unit, private):
    if private and unit != "person":
        assert key(COLUMN["city"], unit=unit, private=private).values is None
        with pytest.raises(UnsupportedQuery, match="`k` is a real number"):
            key(COLUMN["pay"], unit=unit, private=private)
        return
    error = refused(COLUMN["city"], unit=unit, private=private)
    said = str(error)
    assert ("budget=dp.epsilon(1.0, delta=1e-7)" in said) == (not private)
    assert ("groups=3" in said) == (unit == "person")
    assert ("counts in only 3" in said) == (unit == "person")
    assert ("s.contributions(by=" in said) == (unit == "person")
    shell = [fix.command for fix in error.fixes if "small groups" in fix.lead]
    assert ("groups = 3 in the schema" in shell[0]) == (unit == "person")
    assert ("--budget 3,1e-7" in shell[0]) == (not private)


def test_how_many_groups_to_allow_can_be_asked_of_a_column_alone():
    assert "s.contributions" in str(refused(COLUMN["city"]))
    assert "s.contributions" not in str(refused(call("lower", COLUMN["city"])))


@pytest.mark.parametrize(("label", "said"), [("", "`k`"), ("lower(city)", "`lower(city)`")])
def test_a_key_is_called_by_its_label_or_its_name(label, said):
    assert f"the list of values of {said} is" in str(refused(COLUMN["city"], label=label))


def fixes(expression, **given):
    """What would make the groups public: in Python and in the shell."""
    found = [fix for fix in refused(expression, **given).fixes if "small groups" not in fix.lead]
    return " | ".join(f"{fix.lead}{fix.python} | {fix.command}" for fix in found)


@pytest.mark.parametrize("name", ["city", "code"])
def test_a_column_is_given_a_list(name):
    said = fixes(COLUMN[name])
    assert said.startswith("schema=dp.Schema(columns={")
    values = "1,2,3" if name == "code" else "A,B,C"
    assert said.endswith(f"deniable set people.{name} --keys {values}")
    assert "replace these values" in refused(COLUMN[name]).hint


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("private", [False, True])
def test_a_real_number_has_no_list_and_is_grouped_in_bins(unit, private):
    with pytest.raises(UnsupportedQuery, match="`k` is a real number") as caught:
        key(COLUMN["pay"], unit=unit, private=private)
    assert "bin(k, 10)" in caught.value.fix
    assert "keys" not in caught.value.fix


def test_days_and_what_is_computed_of_numbers_and_moments_are_given_bounds():
    """Then their values are a public list; without a table to say so, something else has one."""
    floor = call("floor", COLUMN["pay"])
    hour = call("date_trunc", literal("day"), COLUMN["seen"])
    mixed = call("add", call("floor", COLUMN["wage"]), call("floor", COLUMN["pay"]))
    cases = [(COLUMN["born"], "born"), (floor, "pay"), (hour, "seen"), (mixed, "pay")]
    for expression, name in cases:
        said = fixes(expression)
        assert f"people.{name}" in said, name
        assert "bounds" in said
        assert "spend" not in said
        assert "public list" not in said
    for expression in (floor, hour, call("lower", COLUMN["city"])):
        assert "group by something with a public list" in fixes(expression, origin=False)
    assert "FLOOR(...)" in fixes(call("lower", COLUMN["city"]))


def test_a_moment_is_grouped_by_its_day():
    assert "date_trunc('day', seen)" in fixes(COLUMN["seen"])
