"""The search finds what trying every generalisation finds."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.anonymity.reference import losses, publish

from deniable.anonymity import Demands, anonymize, ranges, single, tree
from deniable.anonymity.methods import lattice
from deniable.anonymity.methods.loss import LOSSES
from deniable.errors import BadParameter

QUASI = ["age", "job", "sex"]
JOBS = {"office": ["clerk", "boss"], "field": ["farmer", "hunter"]}
CLIMB = {
    "age": lambda v: [*ranges(2, 4)(v), "*"],
    "job": lambda v: [*tree(JOBS)[v], "*"],
    "sex": single(),
}
SHAPE = [4, 3, 2]

person = st.fixed_dictionaries(
    {
        "age": st.integers(0, 7),
        "job": st.sampled_from(["clerk", "boss", "farmer", "hunter"]),
        "sex": st.sampled_from("mf"),
        "s": st.sampled_from([0, 0, 0, 1, 2]),
    }
)
demands = st.one_of(
    st.builds(Demands, k=st.integers(1, 5)),
    st.builds(Demands, k=st.integers(1, 3), l=st.integers(1, 3)),
    st.builds(Demands, k=st.just(1), l=st.just(1.7), diversity=st.just("entropy")),
    st.builds(Demands, k=st.just(2), l=st.just(2), diversity=st.just("recursive"), c=st.just(2.5)),
    st.builds(Demands, k=st.just(2), t=st.sampled_from([0.1, 0.3])),
)


def exhaustive(people, asked, limit, loss):
    """The least loss over all nodes; None if no node will do."""
    best = None
    for levels in itertools.product(*map(range, SHAPE)):
        rows = [
            row
            | {
                n: [row[n], *CLIMB[n](row[n])][level]
                for n, level in zip(QUASI, levels, strict=True)
            }
            for row in people
        ]
        kept = publish(rows, QUASI, "s", asked, ordered=True)
        if len(rows) - len(kept) <= limit * len(rows) + 1e-9:
            found = losses(rows, kept, QUASI, people, CLIMB, levels)[loss]
            best = found if best is None else min(best, found)
    return best


@given(
    st.lists(person, min_size=1, max_size=25),
    demands,
    st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    st.sampled_from(LOSSES),
)
@settings(max_examples=100)
def test_the_optimum_is_that_of_an_exhaustive_search(people, asked, limit, loss):
    people = [row | {"id": i} for i, row in enumerate(people)]
    best = exhaustive(people, asked, limit, loss)
    ask = {"k": asked.k, "l": asked.l, "t": asked.t, "diversity": asked.diversity, "c": asked.c}
    run = {"quasi": QUASI, "hierarchies": CLIMB, "sensitive": "s", "suppression": limit}
    table = pa.Table.from_pylist(people)
    if best is None:
        with pytest.raises(BadParameter, match="no generalisation meets"):
            anonymize(table, **ask, **run, loss=loss)
        return
    report = anonymize(table, **ask, **run, loss=loss).report
    assert report.losses[loss] == pytest.approx(best, abs=1e-9)
    assert report.suppressed <= limit * len(people) + 1e-9


def test_a_greedy_rule_would_be_caught(monkeypatch):
    """Taking the first node that will do, as simpler searches do, is not optimal."""
    rng = np.random.default_rng(5)
    jobs = ["clerk", "boss", "farmer", "hunter"]
    people = [
        {"id": i, "age": int(age), "job": jobs[job], "sex": "mf"[i % 2], "s": 0}
        for i, (age, job) in enumerate(
            zip(rng.integers(8, size=25), rng.integers(4, size=25), strict=True)
        )
    ]
    best = exhaustive(people, Demands(k=3), 0.1, "ncp")
    settle = lattice._Search.settle

    def hasty(self, levels):
        settle(self, levels)
        if self.best is not None:
            self._open[...] = False

    monkeypatch.setattr(lattice._Search, "settle", hasty)
    run = {"quasi": QUASI, "hierarchies": CLIMB, "k": 3, "suppression": 0.1}
    hurried = anonymize(pa.Table.from_pylist(people), **run).report
    assert hurried.loss > best + 1e-6


def test_a_step_that_changes_nothing_is_not_taken():
    """Everyone is a clerk: calling them * loses nothing by any measure, and is still not done."""
    table = pa.Table.from_pylist([{"age": a, "job": "clerk"} for a in (0, 0, 0, 4, 4, 4)])
    run = {"quasi": ["age", "job"], "hierarchies": {n: CLIMB[n] for n in ("age", "job")}, "k": 3}
    for loss in LOSSES:
        assert anonymize(table, **run, loss=loss).report.levels == {"age": 0, "job": 0}


def test_suppression_makes_the_loss_fall_on_the_way_up():
    """Why a feasible node does not settle the coarser ones when rows may be left out."""
    rows = [{"age": 0, "job": "clerk"}] * 6 + [{"age": a, "job": "clerk"} for a in (4, 5, 6, 7)]
    table = pa.Table.from_pylist(rows)
    run = {"quasi": ["age", "job"], "hierarchies": {n: CLIMB[n] for n in ("age", "job")}, "k": 4}
    done = anonymize(table, **run, suppression=0.4).report
    assert done.levels == {"age": 2, "job": 0}
    assert done.suppressed == 0


def test_few_nodes_are_counted():
    rng = np.random.default_rng(2)
    table = pa.table({name: rng.integers(0, 64, 3_000) for name in "abcd"})
    ladders = {name: ranges(2, 4, 8, 16, 32) for name in "abcd"}
    report = anonymize(table, quasi=list("abcd"), k=5, hierarchies=ladders).report
    assert report.nodes == 7**4
    assert report.counted < 200


def test_a_lattice_too_large_to_hold_is_refused_before_it_is_built():
    ladders = {name: ranges(*(2**i for i in range(1, 12))) for name in "abcdefgh"}
    table = pa.table({name: [1, 2] for name in "abcdefgh"})
    with pytest.raises(BadParameter, match="generalisations to choose from"):
        anonymize(table, quasi=list("abcdefgh"), k=2, hierarchies=ladders)


def test_more_open_nodes_than_are_looked_at_change_nothing(monkeypatch):
    rng = np.random.default_rng(3)
    table = pa.table({name: rng.integers(0, 16, 500) for name in "abc"})
    ladders = {name: ranges(2, 4, 8) for name in "abc"}
    run = {"quasi": list("abc"), "k": 4, "hierarchies": ladders, "suppression": 0.1}
    best = anonymize(table, **run).report.loss
    monkeypatch.setattr(lattice, "_LOOKED_AT", 8)
    monkeypatch.setattr(lattice, "_KEPT", 100)
    assert anonymize(table, **run).report.loss == pytest.approx(best, abs=1e-12)
