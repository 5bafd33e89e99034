"""From the numbers that were drawn to the table that is shown: rows, order, intervals, notes."""

import datetime as dt
import itertools
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

import deniable as dp
from deniable.mechanisms.keys import PartitionSelection
from deniable.query.aggregates import Derived
from deniable.query.algebra import (
    Aggregate,
    Column,
    Domain,
    Function,
    Key,
    Kind,
    Order,
    Output,
    Question,
    Read,
    Scan,
    call,
    literal,
)
from deniable.query.algebra.meaning import EPOCH
from deniable.query.answer import Table, estimand, tabled
from deniable.release import Summed
from deniable.workload.tails import of_each

X = Read(name="x", source="x", facts=dp.bounds(0.0, 100.0))
CODE = Column(name="code", domain=Domain(kind=Kind.INT, nullable=True))
SELECTION = PartitionSelection(epsilon=1.0, delta=1e-6)


def wider(values, confidence):
    """An interval that tells the confidence it was asked for: half-width 1/(1 − confidence)."""
    half = 1 / (1 - confidence)
    return np.array(values) - half, np.array(values) + half


def derived(values, *, flat=None):
    values = np.array(values, dtype=float)
    return Derived(values=values, whole=False, interval=lambda c: wider(values, c), flat=flat)


def table(columns, *, codes=None, outputs=None, among=1, estimands=None, **asked):
    """Groups with the given codes, and aggregates with the given values."""
    length = len(next(iter(columns.values())).values)
    names = {n: Aggregate(name=n, function=Function.SUM, argument=X.column) for n in columns}
    question = Question(
        unit=dp.rows(),
        relation=Scan(table="t", reads=(X,)),
        keys=(Key(name="code", expression=CODE, values=None),),
        grouping_sets=((0,),),
        aggregates=tuple(names.values()),
        outputs=tuple(
            Output(name=name, expression=made) for name, made in (outputs or {"code": CODE}).items()
        ),
        **asked,
    )
    groups = [(code,) for code in (codes if codes is not None else range(length))]
    given = {"groups": groups, "aggregates": columns, "among": among}
    return Table(question=question, estimands=estimands or {}, **given)


def number(name):
    return Column(name=name, domain=Domain(kind=Kind.FLOAT))


def codes(made):
    return list(made.present()[0]["code"])


CODES = [3, None, 1, None, 2]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_rows_are_sorted_and_missing_values_are_at_the_end_that_was_asked_for(descending, first):
    order = Order(expression=CODE, descending=descending, missing_first=first)
    found = codes(table({"a": derived([0] * 5)}, codes=CODES, order_by=(order,)))
    known = sorted([1, 2, 3], reverse=descending)
    assert found == ([None, None, *known] if first else [*known, None, None])


def test_a_second_order_decides_among_equals():
    by = tuple(Order(expression=number(name)) for name in ("a", "b"))
    columns = {"a": derived([2, 1, 2, 1]), "b": derived([1, 2, 0, 1])}
    assert codes(table(columns, order_by=by)) == [3, 1, 2, 0]


@pytest.mark.parametrize(
    ("limit", "offset"), [*itertools.product([None, 0, 1, 2, 3, 9], [0, 1, 2, 7])]
)
def test_limit_and_offset_cut_the_sorted_rows(limit, offset):
    order = Order(expression=CODE, descending=True)
    made = table({"a": derived([0] * 4)}, order_by=(order,), limit=limit, offset=offset)
    assert codes(made) == [3, 2, 1, 0][offset:][:limit]


def test_only_what_is_surely_true_passes_having():
    by = call("gt", CODE, literal(1))
    assert codes(table({"a": derived([0] * 5)}, codes=CODES, having=by)) == [3, 2]


def test_columns_without_noise_are_keys_and_the_others_answers():
    outputs = {"code": CODE, "twice": call("add", CODE, CODE), "a": number("a")}
    outputs["sum"] = call("add", CODE, number("a"))
    keys, answers = table({"a": derived([5, 7])}, outputs=outputs).present()
    assert keys == {"code": (0, 1), "twice": (0, 2)}
    assert {name: each.cells for name, each in answers.items()} == {"a": (5, 7), "sum": (5, 8)}


@pytest.mark.parametrize("among", [1, 40])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_an_aggregate_has_its_own_interval_for_all_groups_at_once(confidence, among):
    outputs = {"a": number("a")}
    _, answers = table({"a": derived([5, 7])}, outputs=outputs, among=among).present()
    low, high = wider([5, 7], of_each(confidence, among))
    assert answers["a"].intervals(confidence) == tuple(zip(low, high, strict=True))


def test_intervals_belong_to_the_rows_that_are_shown():
    order = Order(expression=number("a"), descending=True)
    made = table(
        {"a": derived([1, 30, 200])}, outputs={"a": number("a")}, order_by=(order,), limit=2
    )
    _, answers = made.present()
    assert [(low + high) / 2 for low, high in answers["a"].intervals(0.5)] == [200, 30]


def test_noise_that_is_the_same_for_all_rows_is_told_at_any_confidence():
    flat = Summed(law="gaussian", scales=(3.0,))
    made = table({"a": derived([5, 7], flat=flat)}, outputs={"a": number("a")})
    assert made.present()[1]["a"].spread is flat


@pytest.mark.parametrize("among", [1, 40])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_an_expression_lies_between_its_ends_while_all_its_aggregates_do(confidence, among):
    """With k aggregates each of them misses with a k-th of what the confidence leaves."""
    columns = {"a": derived([5, 7]), "b": derived([1, 2]), "c": derived([0, 0])}
    total = call("add", call("add", number("a"), number("b")), number("c"))
    outputs = {"two": call("subtract", number("a"), number("b")), "three": total, "n": CODE}
    outputs["keyed"] = call("add", call("multiply", number("a"), literal(2.0)), CODE)
    _, answers = table(columns, outputs=outputs, among=among).present()
    for name, many, values in (("two", 2, (4, 5)), ("three", 3, (6, 9)), ("keyed", 2, (10, 15))):
        each = of_each(1 - (1 - confidence) / (1 if name == "keyed" else many), among)
        half = many / (1 - each)
        for found, value in zip(answers[name].intervals(confidence), values, strict=True):
            assert found == pytest.approx((value - half, value + half), rel=1e-9)


def test_an_expression_without_ends_has_no_interval():
    made = call("divide", literal(1.0), number("a"))
    _, answers = table({"a": derived([0, 1])}, outputs={"r": made}).present()
    assert answers["r"].spread is None


def test_an_expression_that_is_not_a_number_has_no_interval():
    made = call("gt", number("a"), literal(1.0))
    _, answers = table({"a": derived([0, 5])}, outputs={"r": made}).present()
    assert answers["r"].cells == (False, True)
    assert answers["r"].spread is None


@pytest.mark.parametrize(
    ("op", "start"),
    [("add_days", EPOCH), ("add_minutes", dt.datetime(1970, 1, 1))],  # noqa: DTZ001
)
def test_only_days_and_minutes_since_1970_have_the_interval_of_their_number(op, start):
    whole = call("to_int", number("a"))
    shifted = call("to_int", call("add", number("a"), literal(1.0)))
    later = EPOCH + dt.timedelta(days=9)
    outputs = {"when": call(op, literal(EPOCH), whole), "later": call(op, literal(later), whole)}
    outputs |= {"shifted": call(op, literal(EPOCH), shifted)}
    _, answers = table({"a": derived([5.0])}, outputs=outputs).present()
    assert answers["when"].intervals(0.5)[0][1] - start == (
        dt.timedelta(days=7) if op == "add_days" else dt.timedelta(minutes=7)
    )
    assert answers["later"].spread is None
    assert answers["shifted"].spread is None


@pytest.mark.parametrize(("rows", "few"), [(2_000, False), (2_001, True)])
def test_many_rows_have_intervals_at_fewer_confidences(rows, few):
    _, answers = table({"a": derived([0.0] * rows)}, outputs={"a": number("a")}).present()
    found = sorted(answers["a"].spread.intervals)
    assert found == ([0.9, 0.95, 0.99] if few else [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])


def test_an_answer_tells_what_each_of_its_aggregates_estimates_once():
    estimands = {"a": "of a", "b": "of b", "c": "of a"}
    columns = {name: derived([1]) for name in "abc"}
    total = call("add", call("add", number("a"), number("b")), number("c"))
    outputs = {"sum": total, "b": number("b")}
    _, answers = table(columns, outputs=outputs, estimands=estimands).present()
    assert (answers["sum"].estimand, answers["b"].estimand) == ("of a; of b", "of b")


@pytest.mark.parametrize("rows", [2, 3])
def test_of_very_many_rows_only_expressions_go_without_an_interval(rows, monkeypatch):
    monkeypatch.setattr("deniable.query.answer._MOST_ENCLOSED", 2)
    outputs = {"a": number("a"), "twice": call("add", number("a"), number("a"))}
    _, answers = table({"a": derived([5.0] * rows)}, outputs=outputs).present()
    assert answers["a"].spread is not None
    assert (answers["twice"].spread is None) == (rows > 2)


def test_an_aggregate_is_asked_for_all_confidences_at_once_where_that_is_quicker():
    values, asked = np.array([5.0, 7.0]), []

    def ends(confidences):
        asked.append(confidences)
        return wider(values, confidences)

    column = Derived(values=values, whole=False, interval=None, table=ends)
    _, answers = table({"a": column}, outputs={"a": number("a")}).present()
    assert len(asked) == 1
    assert answers["a"].intervals(0.95)[1] == pytest.approx((7 - 20, 7 + 20))


@pytest.mark.parametrize("op", ["abs", "floor"])
def test_functions_of_one_and_of_three_numbers_have_intervals(op):
    outputs = {"one": call(op, number("a"))}
    outputs["three"] = call("clip", number("a"), literal(-1.0), literal(30.0))
    _, answers = table({"a": derived([9.0])}, outputs=outputs).present()
    assert answers["one"].intervals(0.5) == ((7.0, 11.0),)
    assert answers["three"].intervals(0.95)[0] == pytest.approx((-1.0, 29.0))


@pytest.mark.parametrize("made", [call("sign", number("a")), call("floor", number("a"))])
def test_a_day_that_is_not_an_aggregate_itself_has_no_interval(made):
    if made.kind is not Kind.INT:
        made = call("to_int", made)
    outputs = {"day": call("add_days", literal(EPOCH), made)}
    _, answers = table({"a": derived([9.0])}, outputs=outputs).present()
    assert answers["day"].spread is None


# ---- the aggregates, and what each of them is said to estimate


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
        return Aggregate(name="a", function=self.function, argument=X.column)

    def derive(self, allocation, noisy):
        self.seen.append((allocation.among, {name: each.tolist() for name, each in noisy.items()}))


def plan(*, weight=1, rows=1, parts=None, groups=None):
    return SimpleNamespace(
        question=SimpleNamespace(aggregates=(), keys=(), relation=Scan(table="t")),
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
    assert ("chosen by" in made.estimands["a"]) == (among > 1)
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
        assert note == f"a person with more than {most} counts as {most}"


@pytest.mark.parametrize(("groups", "said"), [(1, "1 group counts"), (3, "3 groups counts")])
def test_people_in_more_groups_are_said_to_count_in_few(groups, said):
    note = estimand(Allocated(plan(weight=2, groups=groups)), Estimating(Function.PERSONS))
    assert note == f"a person in more than {said} in only {groups}"


def test_all_that_an_answer_is_not_quite_is_said_in_order():
    allocated = Allocated(plan(weight=2, rows=2), selection=SELECTION, among=12)
    found = estimand(allocated, Estimating(rows=1234, estimand="values are held")).split("; ")
    assert len(found) == 6
    assert "1,234" in found[0]
    people = next(n for n in range(999) if SELECTION.probability(n) >= 0.5)
    assert f"about {people} people" in found[1]
    assert found[3] == "values are held"
    assert found[4].startswith("chosen by")
    assert "all 12 groups" in found[5]
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
