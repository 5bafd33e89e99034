"""A table beside its population, against definitions and against a census that we hold."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.anonymity import anonymize, generalize, in_population, population_uniqueness, ranges
from deniable.errors import BadParameter

SIX = ["sex", "age", "race", "marital_status", "education", "native_country"]
cells = st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 2))


def table(rows):
    return pa.table({"x": pa.array([r[0] for r in rows], pa.string()), "y": [r[1] for r in rows]})


@given(st.lists(cells, min_size=1, max_size=20), st.lists(cells, max_size=20))
@settings(max_examples=25)
def test_k_map_and_presence_are_what_their_definitions_say(inside, outside):
    everyone = Counter([*inside, *outside])
    some = Counter(inside)
    found = in_population(table(inside), table([*inside, *outside]), quasi=["x", "y"])
    assert found.k_map == min(everyone[cell] for cell in some)
    shares = [some[cell] / n for cell, n in everyone.items()]
    assert found.presence == (min(shares), max(shares))
    alone = [cell for cell, n in some.items() if n == 1]
    assert (found.alone, found.unique) == (len(alone), sum(everyone[c] == 1 for c in alone))


def test_a_table_that_is_not_part_of_the_population_is_refused():
    with pytest.raises(BadParameter, match="does not have"):
        in_population(table([("a", 1), ("a", 1)]), table([("a", 1)]), quasi=["x", "y"])


def test_a_generalised_table_is_compared_with_the_population_generalised_alike():
    people = dp.load_adult().select(["age", "sex"])
    ladders = {"age": ranges(5, 10, 20, 40)}
    done = anonymize(people.slice(0, 2000), quasi=["age", "sex"], k=5, hierarchies=ladders)
    everyone = generalize(people, levels=done.report.levels, hierarchies=ladders)
    found = in_population(done.frame, everyone.frame, quasi=["age", "sex"])
    assert found.k_map >= done.report.k >= 5


@pytest.mark.parametrize(("fraction", "off"), [(0.05, 0.25), (0.2, 0.1), (0.5, 0.05)])
def test_pitman_estimates_how_many_are_unique_among_all_of_adult(fraction, off):
    """The sample is drawn by a fixed seed, and the truth counted; the estimate is not random.

    No theorem bounds either estimate: the tolerances are about twice the errors seen on Adult.
    Zayatz's is 40 % high for a small sample and 1 % low for half of the population.
    """
    people = dp.load_adult(split="all")
    rows = np.random.default_rng(1).permutation(people.num_rows)
    sample = people.take(rows[: int(fraction * people.num_rows)])
    truth = in_population(sample, people, quasi=SIX).unique
    found = population_uniqueness(sample, quasi=SIX, fraction=fraction)
    assert found.rows == pytest.approx(truth, rel=off)
    zayatz = population_uniqueness(sample, quasi=SIX, fraction=fraction, model="zayatz")
    assert 0.97 * truth <= zayatz.rows <= 1.6 * truth


def test_a_census_is_its_own_population():
    people = dp.load_adult()
    found = population_uniqueness(people, quasi=SIX, fraction=1.0)
    assert found.rows == found.alone == in_population(people, people, quasi=SIX).unique


@pytest.mark.parametrize("options", [{"fraction": 0.0}, {"fraction": 2}, {"model": "benford"}])
def test_wrong_parameters_are_refused(options):
    with pytest.raises(BadParameter):
        population_uniqueness(dp.load_adult(), quasi=["age"], **({"fraction": 0.1} | options))
