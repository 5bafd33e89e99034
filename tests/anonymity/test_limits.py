"""What is learned from tables that are k-anonymous."""

import itertools
import math
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.anonymity import anonymize, generalize, limits
from deniable.errors import BadParameter

WARD = pa.table(
    {
        "zip": ["130**"] * 4 + ["148**"] * 4,
        "ill": ["heart", "heart", "flu", "flu", "cancer", "cancer", "cancer", "cancer"],
    }
)


def test_a_class_of_one_illness_gives_it_away():
    found = limits.homogeneity(WARD, quasi=["zip"], sensitive="ill")
    assert (found.people, found.rows, found.baseline) == (4, 8, 0.5)
    assert limits.homogeneity(WARD, quasi=["zip"], sensitive="ill", confidence=0.5).people == 8


def test_ruling_out_one_illness_gives_the_other_away():
    found = limits.background(WARD, quasi=["zip"], sensitive="ill", ruled_out=1)
    assert found.people == 8
    assert "8 of 8 people" in str(found)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("uvwx")), min_size=1, max_size=25),
    st.integers(0, 3),
    st.sampled_from([1.0, 0.6]),
)
@settings(max_examples=50)
def test_the_most_telling_values_are_ruled_out(rows, known, confidence):
    table = pa.table({"q": [r[0] for r in rows], "s": [r[1] for r in rows]})
    learned = 0
    for q, s in rows:
        mine = [value for group, value in rows if group == q]
        others = sorted(set(mine) - {s})
        best = max(
            mine.count(s) / (len(mine) - sum(map(mine.count, gone)))
            for gone in itertools.combinations(others, min(known, len(others)))
        )
        learned += best >= confidence - 1e-12
    found = limits.background(
        table, quasi=["q"], sensitive="s", ruled_out=known, confidence=confidence
    )
    assert found.people == learned


def test_two_releases_reveal_what_neither_does():
    table = pa.table(
        {
            "age": [20, 20, 30, 30],
            "sex": ["m", "f", "m", "f"],
            "ill": ["flu", "cold", "cold", "ulcer"],
        }
    )
    by_age = generalize(table, levels={"age": 0, "sex": 1}, k=2)
    by_sex = generalize(
        table, levels={"age": 5, "sex": 0}, k=2, hierarchies={"age": lambda _: "abcd*"}
    )
    assert by_age.report.k == by_sex.report.k == 2
    found = limits.composition(by_age, by_sex, quasi=["age", "sex"], sensitive="ill")
    # Men of 20: {flu, cold} and {flu, cold}. Women of 20: {flu, cold} and {cold, ulcer}: cold.
    assert (found.people, found.first, found.second, found.together) == (4, 0, 0, 2)
    assert found.candidates == (2, 2, 1.5)
    assert "both together 2" in str(found)


def test_laying_releases_on_each_other_never_helps_the_people():
    people = dp.load_adult()
    quasi = ["age", "sex", "marital_status", "education"]
    run = {"quasi": quasi, "k": 10, "sensitive": "occupation"}
    first = anonymize(people, **run)
    second = anonymize(people, **run, method="mondrian")
    found = limits.composition(first, second, quasi=quasi, sensitive="occupation")
    assert found.together >= max(found.first, found.second)
    assert found.candidates[2] <= min(found.candidates[:2])
    assert found.people == first.rows.size


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(0, 6), st.integers(1, 3))
@settings(max_examples=60)
def test_minimality_counts_the_deals_that_forced_the_joining(groups, cases, l):
    cases = min(cases, sum(groups))
    person = [g for g, size in enumerate(groups) for _ in range(size)]
    hit, broken = [0] * len(groups), 0
    for chosen in itertools.combinations(range(len(person)), cases):
        dealt = [sum(person[i] == g for i in chosen) for g in range(len(groups))]
        if any(x * l > size for x, size in zip(dealt, groups, strict=True)):
            broken += 1
            hit = [h + x for h, x in zip(hit, dealt, strict=True)]
    if not broken:
        with pytest.raises(BadParameter, match="never need to be merged"):
            limits.minimality(groups, cases=cases, l=l)
        return
    expected = [Fraction(h, broken * size) for h, size in zip(hit, groups, strict=True)]
    assert limits.minimality(groups, cases=cases, l=l) == expected


def test_minimality_beats_what_the_class_admits():
    chances = limits.minimality([3, 40], cases=5, l=3)
    assert chances[0] > Fraction(2, 3) > Fraction(5, 43)
    assert math.isclose(3 * chances[0] + 40 * chances[1], 5)


@pytest.mark.parametrize("wrong", [{"ruled_out": -1}, {"confidence": 0.0}, {"confidence": 1.2}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(BadParameter):
        limits.background(WARD, quasi=["zip"], sensitive="ill", **wrong)
    with pytest.raises(BadParameter):
        limits.minimality([2, 3], cases=6, l=2)


def test_an_empty_table_tells_nothing():
    found = limits.homogeneity(WARD.slice(0, 0), quasi=["zip"], sensitive="ill")
    assert (found.rows, found.people, found.share) == (0, 0, 0)
