"""From the numbers that were drawn to aggregates, and what each of them is said to estimate."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

import deniable as dp
from deniable.mechanisms.keys import PartitionSelection
from deniable.query.algebra import Aggregate, Column, Domain, Function, Kind
from deniable.query.answer.answering import estimand, tabled

X = Column(name="x", domain=Domain(kind=Kind.FLOAT, low=0.0, high=9.0))
SELECTION = PartitionSelection(epsilon=1.0, delta=1e-6)


@dataclass(frozen=True)
class Allocated:
    """What answering reads of an allocation."""

    plan: object
    parts: tuple = ()
    selection: object = None
    among: int = 1
    of_many: bool = False


@dataclass(frozen=True)
class Part:
    name: str

    def read(self, numbers):
        return {self.name: np.asarray(numbers, dtype=float)}


@dataclass
class Estimating:
    """An aggregate that keeps what it is derived from."""

    function: Function = Function.SUM
    rows: int | None = None
    estimand: str = ""
    seen: list = field(default_factory=list)

    @property
    def aggregate(self):
        return Aggregate(name="a", function=self.function, argument=X)

    def derive(self, allocation, noisy):
        self.seen.append((allocation.among, {name: each.tolist() for name, each in noisy.items()}))


def plan(*, weight=1, rows=1, parts=None, groups=None):
    return SimpleNamespace(
        question=None,
        single=weight == 1,
        rows=rows,
        parts=parts or {},
        groups_of=lambda _: groups,
    )


def test_an_aggregate_is_derived_from_all_that_was_drawn():
    each = Estimating()
    allocated = Allocated(plan(parts={"a": each}), parts=(Part("t0"), Part("t1")))
    tabled(allocated, [()], [[1], [2]])
    assert each.seen == [(1, {"t0": [1.0], "t1": [2.0]})]


@pytest.mark.parametrize(("found", "among"), [(0, 1), (1, 1), (5, 5)])
def test_where_noise_picks_among_private_groups_intervals_hold_for_all_that_were_found(
    found, among
):
    groups = [(i,) for i in range(found)]
    each = Estimating()
    allocated = Allocated(plan(parts={"a": each}), of_many=True)
    made = tabled(allocated, groups, [])
    assert (made.among, each.seen) == (among, [(among, {})])
    assert ("picked" in made.estimands["a"]) == (among > 1)
    assert tabled(Allocated(allocated.plan, among=9), groups, []).among == 9


@pytest.mark.parametrize("function", [Function.SUM, Function.PERSONS])
@pytest.mark.parametrize("weight", [1, 2**20])
@pytest.mark.parametrize("rows", [1, 3])
def test_people_with_more_rows_are_said_to_count_as_the_limit(function, weight, rows):
    note = estimand(Allocated(plan(weight=weight, rows=rows)), Estimating(function=function))
    if weight == 1 or function is Function.PERSONS:
        assert note == ""
    else:
        most = "1 row" if rows == 1 else "3 rows"
        assert note == f"a person with more than {most} counts as {rows}"


@pytest.mark.parametrize(("groups", "said"), [(1, "1 group counts"), (3, "3 groups counts")])
def test_people_in_more_groups_are_said_to_count_in_few(groups, said):
    note = estimand(Allocated(plan(weight=2, groups=groups)), Estimating(Function.PERSONS))
    assert note == f"a person in more than {said} in only {groups}"


def test_all_that_an_answer_is_not_quite_is_said_in_order():
    allocated = Allocated(plan(weight=2, rows=2), selection=SELECTION, among=12)
    found = estimand(allocated, Estimating(rows=1234, estimand="values are held")).split("; ")
    assert len(found) == 5
    assert "1,234" in found[0]
    people = next(n for n in range(999) if SELECTION.probability(n) >= 0.5)
    assert f"about {people} people" in found[1]
    assert found[3] == "values are held"
    assert "all 12 groups" in found[4]
    assert estimand(Allocated(plan()), Estimating()) == ""


def test_the_largest_of_many_private_groups_are_covered_at_once():
    """The ± of picked groups is that of all groups that were found: wider with each of them."""
    import pyarrow as pa

    schema = dp.Schema(columns={"k": dp.column("text"), "x": dp.bounds(0, 10)})
    wide = []
    for many in (2, 40):
        held = pa.table({"k": [f"k{i}" for i in range(many)] * 400, "x": [1.0] * many * 400})
        budget = dp.epsilon(9, delta=1e-6)
        session = dp.open(held, unit=dp.rows(), budget=budget, schema=schema, name="t")
        sql = "SELECT k, COUNT(*) AS n FROM t GROUP BY k ORDER BY n DESC LIMIT 1"
        released = session.sql(sql).release(spend=dp.epsilon(1))
        wide.append(released.answers["n"].errors(0.95)[0])
    assert wide[0] < wide[1]
