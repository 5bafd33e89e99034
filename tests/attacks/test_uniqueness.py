"""Which columns single people out: against a count by hand, and on Adult."""

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.attacks import selectivity, small_groups, uniqueness

TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(*[st.integers(0, 3)] * width), min_size=1, max_size=30
    )
)  # fmt: skip


def alone(rows, columns):
    seen = Counter(tuple(row[c] for c in columns) for row in rows)
    return {i for i, row in enumerate(rows) if seen[tuple(row[c] for c in columns)] == 1}


@settings(max_examples=60)
@given(TABLES)
def test_unique_and_minimal_people_are_those_counted_by_hand(rows):
    width = len(rows[0])
    table = {f"c{j}": [row[j] for row in rows] for j in range(width)}
    found = uniqueness(table, largest=width)
    assert len(found.combinations) == 2**width - 1
    for size in range(1, width + 1):
        for chosen in combinations(range(width), size):
            each = found.of(*(f"c{j}" for j in chosen))
            mine = alone(rows, chosen)
            parts = [alone(rows, part) for part in combinations(chosen, size - 1) if part]
            assert each.unique == len(mine)
            assert each.minimal == len(mine - set().union(*parts))


@settings(max_examples=30)
@given(TABLES)
def test_the_fewest_columns_needed_are_right_for_everyone(rows):
    width = len(rows[0])
    table = {f"c{j}": [row[j] for row in rows] for j in range(width)}
    needed = uniqueness(table, largest=width).needed
    for person, size in enumerate(needed):
        sizes = [
            len(chosen)
            for k in range(1, width + 1)
            for chosen in combinations(range(width), k)
            if person in alone(rows, chosen)
        ]
        assert size == min(sizes, default=0)


@pytest.fixture(scope="module")
def adult():
    return dp.load_adult("all", identifiers=True)


def test_six_usual_columns_single_out_one_in_seven_of_adult(adult):
    usual = ["age", "education", "race", "sex", "marital_status", "native_country"]
    assert uniqueness(adult, columns=usual, largest=6).best(6).unique == 7_152


def test_the_worst_four_columns_of_adult_are_found(adult):
    some = ["age", "education", "occupation", "hours_per_week", "race", "sex", "relationship"]
    worst = uniqueness(adult, columns=some, largest=4).best(4)
    assert set(worst.columns) == {"age", "education", "occupation", "hours_per_week"}
    assert worst.unique == 15_078


def test_large_domains_take_the_sorting_path_and_agree(adult):
    found = uniqueness(adult, columns=["zip", "fnlwgt", "birth_date"], largest=3)
    assert found.of("zip").unique == selectivity(adult, columns=["zip"]).of("zip").unique
    assert found.of("zip", "fnlwgt", "birth_date").unique == adult.num_rows


def test_the_best_next_column_depends_on_what_is_known(adult):
    cold = selectivity(adult, columns=["age", "sex", "zip"])
    assert cold.best == "zip"
    known = selectivity(adult, known=["zip"], columns=["age", "sex", "race"])
    assert known.best == "age"
    assert known.of("age").unique > known.of("sex").unique > known.of("race").unique


def test_entropy_and_crowd_of_a_fair_coin():
    coin = selectivity({"side": [0, 1] * 50}).of("side")
    assert (coin.distinct, coin.unique, coin.crowd) == (2, 0, 50.0)
    assert coin.bits == pytest.approx(1.0)


def test_missing_values_are_a_value():
    found = uniqueness({"x": [None, None, float("nan"), 1.0]}, largest=1)
    assert found.of("x").unique == 1


def test_a_wrong_column_is_named_with_a_guess(adult):
    with pytest.raises(dp.UnknownName, match="did you mean `age`"):
        uniqueness(adult, columns=["agee"])


def test_it_tells_what_it_found_and_draws_it(adult):
    found = uniqueness(adult, columns=["age", "sex"], largest=2)
    assert "age + sex single out" in found.explain() == str(found)
    assert found.plot().get_xlabel().startswith("people singled out")
    assert selectivity(adult, columns=["age", "sex"]).plot() is not None
    assert "<b>" in found._repr_html_()
    assert isinstance(found.to_dict()["needed"], list)
    assert np.asarray(found.needed).size == adult.num_rows


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 2), st.sampled_from("ab"), st.integers(0, 3)),
        min_size=1,
        max_size=25,
    )
)
@settings(max_examples=40)
def test_with_a_unit_people_are_singled_out_and_not_rows(rows):
    """Against the definition: all rows that share some values of a person are that person's."""
    names = ("who", "x", "y", "z")
    table = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    found = uniqueness(table, largest=3, unit="who")
    assert found.people == len({row[0] for row in rows})
    assert found.columns == ("x", "y", "z")
    for combination in found.combinations:
        places = [names.index(name) for name in combination.columns]
        crowd = defaultdict(set)
        for row in rows:
            crowd[tuple(row[i] for i in places)].add(row[0])
        alone = {next(iter(people)) for people in crowd.values() if len(people) == 1}
        assert combination.unique == len(alone)
        if len(places) == 1:
            column = selectivity(table, columns=combination.columns, unit="who").columns[0]
            assert column.unique == len(alone)
            small = small_groups(table, by=combination.columns, unit="who", below=2)
            assert small.alone == sum(len(people) == 1 for people in crowd.values())


def test_a_unit_that_names_rows_changes_nothing():
    people = dp.load_adult().select(["age", "education", "occupation"]).slice(0, 3000)
    numbered = people.append_column("id", [list(range(people.num_rows))])
    one, two = uniqueness(people), uniqueness(numbered, unit="id")
    assert one.combinations == two.combinations
    assert selectivity(people).columns == selectivity(numbered, unit="id").columns
