"""What is aggregated, each once, and which columns lack bounds or a rule."""
# ruff: noqa: DTZ001  (timestamps have no time zone here)

import datetime as dt

import pytest

import deniable as dp
from deniable.errors import MissingBounds, MissingRule, UnsupportedQuery
from deniable.query.algebra import Function, Kind, Read, call, evaluate, literal
from deniable.query.bind.aggregates import Aggregates, Asked, check_bounds, check_rule, summable
from deniable.query.bind.scope import Names
from deniable.snippets import Snippet

DAY, LATER = dt.date(2024, 1, 1), dt.date(2024, 12, 31)
NOON, NIGHT = dt.datetime(2024, 1, 1, 12), dt.datetime(2024, 12, 31)
FACTS = {
    "id": dp.column("int"),
    "x": dp.bounds(0, 9, type="int"),
    "wide": dp.column("float", missing="drop"),
    "loose": dp.column("float"),
    "sure": dp.bounds(0, 9, type="int", missing=0),
    "rate": dp.bounds(0.0, 9.0),
    "text": dp.column("text", missing="drop"),
    "agreed": dp.column("bool", missing="drop"),
    "doubted": dp.column("bool"),
    "day": dp.bounds(DAY, LATER, type="date"),
    "moment": dp.bounds(NOON, NIGHT, type="timestamp"),
    "any_day": dp.column("date", missing="drop"),
    "any_moment": dp.column("timestamp", missing="drop"),
}
COLUMN = {n: Read(name=n, source=n, facts=each).column for n, each in FACTS.items()}
SNIPPET = Snippet(text="SELECT SUM(x)", start=7, end=13)


def names(*, without=()):
    origin = {name: ("people", name) for name in FACTS if name not in without}
    return Names(origin=origin, persons={"id"})


def aggregates():
    return Aggregates(Names(), origins=names())


def asked(function, name=None, **given):
    argument = None if name is None else (lambda: COLUMN[name])
    return Asked(function=function, argument=argument, what=f"{function.name}({name})", **given)


def made(*questions, **given):
    book = aggregates()
    found = [book.column(each, **given) for each in questions]
    return book.made, found


# ---- what is aggregated


@pytest.mark.parametrize(
    ("function", "name", "person", "really", "argument"),
    [
        (Function.COUNT, None, False, Function.COUNT, None),
        (Function.COUNT, "x", False, Function.COUNT, "x"),
        (Function.COUNT, "sure", False, Function.COUNT, None),
        (Function.COUNT, "id", True, Function.COUNT, None),
        (Function.DISTINCT, "id", True, Function.PERSONS, None),
        (Function.DISTINCT, "x", False, Function.DISTINCT, "x"),
        (Function.DISTINCT, "text", False, Function.DISTINCT, "text"),
        (Function.SUM, "x", False, Function.SUM, "x"),
        (Function.SUM, "x", True, Function.SUM, "x"),
        (Function.MAX, "x", False, Function.MAX, "x"),
    ],
)
def test_persons_are_counted_as_such_and_values_only_where_they_may_be_missing(
    function, name, person, really, argument
):
    (one,), (column,) = made(asked(function, name, person=person))
    assert (one.function, one.argument) == (really, COLUMN.get(argument))
    assert column == one.column


def test_an_id_without_a_stated_type_is_counted_and_never_read():
    def read():
        raise LookupError("no stated type")

    given = {"argument": read, "person": True}
    for function in (Function.COUNT, Function.DISTINCT):
        made(Asked(function=function, **given))
    with pytest.raises(LookupError):
        made(Asked(function=Function.SUM, **given))


def test_truth_values_are_added_up_as_0_and_1():
    (one,), _ = made(asked(Function.SUM, "agreed"))
    assert one.argument == call("to_int", COLUMN["agreed"])
    with pytest.raises(MissingRule, match="doubted"):
        made(asked(Function.SUM, "doubted"))


def test_the_same_aggregate_is_computed_once_under_its_first_name():
    book = aggregates()
    total = asked(Function.SUM, "x")
    first = book.column(total, wish="total")
    assert first.name == "total"
    assert book.column(total, wish="other") == first
    rest = asked(Function.SUM, "x", where=call("gt", COLUMN["x"], literal(1)))
    assert book.column(rest).name != first.name
    assert len(book.made) == 2
    assert all(each.name for each in book.made)


@pytest.mark.parametrize("name", ["day", "moment"])
def test_the_least_moment_is_that_of_days_or_minutes_and_a_moment_again(name):
    (one,), (column,) = made(asked(Function.MIN, name))
    value = LATER if name == "day" else NIGHT
    number = evaluate(one.argument, {name: value})
    since = dt.datetime.combine(LATER, dt.time()) - dt.datetime(1970, 1, 1)
    assert number == (since.days if name == "day" else since.days * 1440)
    assert (one.moment, column.kind) == (COLUMN[name], Kind(FACTS[name].type))
    assert evaluate(column, {one.name: float(number)}) == value


@pytest.mark.parametrize("function", [Function.SUM, Function.AVG])
@pytest.mark.parametrize("name", ["day", "moment", "text"])
def test_only_numbers_are_added_up(function, name):
    with pytest.raises(UnsupportedQuery, match="needs numbers"):
        made(asked(function, name))


@pytest.mark.parametrize("function", [Function.SUM, Function.AVG])
def test_only_numbers_with_bounds_are_added_up(function):
    with pytest.raises(MissingBounds, match="one person's wide could be anything"):
        made(asked(function, "wide"))
    with pytest.raises(MissingBounds):
        summable(COLUMN["wide"], what="SUM(wide)", names=names(), snippet=None)


def test_a_moment_needs_bounds_and_a_rule_as_a_number_does():
    for name in ("any_day", "any_moment"):
        with pytest.raises(MissingBounds, match=f"one person's {name} could be anything"):
            made(asked(Function.MIN, name))
    unruled = COLUMN["day"].domain.but(ruled=False)
    column = type(COLUMN["day"])(name="day", domain=unruled)
    with pytest.raises(MissingRule, match="day"):
        made(Asked(function=Function.MIN, argument=lambda: column))


# ---- histograms


@pytest.mark.parametrize(
    ("bins", "labels"),
    [
        ((0.0, 1.0, 9.0), ["h [0, 1)", "h [1, 9]"]),
        ((0.0, 9.0), ["h [0, 9]"]),
        ((3,), ["h [0, 4)", "h [4, 7)", "h [7, 10]"]),
    ],
)
def test_a_histogram_has_a_number_for_each_bin_and_the_last_holds_its_end(bins, labels):
    book = aggregates()
    found = book.histogram(asked(Function.HISTOGRAM, "x", bins=bins), name="h")
    assert [label for label, _ in found] == labels
    assert [each.bin for each in book.made] == [*range(len(labels))]
    assert [column for _, column in found] == [each.column for each in book.made]


def test_without_bins_there_are_ten():
    assert len(aggregates().histogram(asked(Function.HISTOGRAM, "x"), name="h")) == 10


def test_a_histogram_is_no_part_of_an_expression():
    with pytest.raises(UnsupportedQuery, match="several columns"):
        made(asked(Function.HISTOGRAM, "x"))


# ---- bounds and rules


def lacking(argument, *, snippet=None, without=()):
    with pytest.raises(MissingBounds) as caught:
        check_bounds(argument, what="SUM(...)", names=names(without=without), snippet=snippet)
    return caught.value


def test_bounds_are_lacking_where_a_column_that_has_a_range_has_none():
    check_bounds(COLUMN["x"], what="SUM(x)", names=names(), snippet=None)
    length = call("length", COLUMN["text"])
    mixed = call("multiply", call("multiply", length, COLUMN["x"]), COLUMN["wide"])
    assert "one person's wide could be anything" in str(lacking(mixed))
    for name in ("any_day", "any_moment"):
        assert f"one person's {name} could be anything" in str(lacking(COLUMN[name]))
    assert "none can be derived" in str(lacking(length))
    assert "none can be derived" in str(lacking(COLUMN["wide"], without=["wide"]))


def test_an_id_has_no_plausible_bounds():
    assert "is not a statistic" in str(lacking(COLUMN["id"]))


def test_half_a_range_lacks_the_other_half():
    quotient = call("divide", COLUMN["x"], COLUMN["rate"])
    assert "CLAMP(..., LOW, HIGH)" in str(lacking(call("negate", quotient), snippet=SNIPPET))
    half = lacking(call("abs", quotient), snippet=SNIPPET)
    assert "LEAST(..., HIGH)" in str(half)


def test_what_is_wrong_is_shown_where_it_stands_if_it_was_written():
    assert lacking(COLUMN["wide"]).snippet is None
    shown = lacking(COLUMN["wide"], snippet=SNIPPET).snippet
    assert (shown.text, shown.start, shown.end) == (SNIPPET.text, SNIPPET.start, SNIPPET.end)
    assert shown.note == "`wide` has no bounds in the schema of `people`"


def test_a_rule_is_lacking_where_a_value_may_be_missing_and_nobody_said_what_that_counts_as():
    loose, ruled = COLUMN["loose"], COLUMN["x"]
    for fine in (ruled, COLUMN["sure"], call("coalesce", loose, literal(0.0))):
        check_rule(fine, names=names(), snippet=None)
    for argument in (loose, call("add", ruled, loose), call("add", loose, ruled)):
        with pytest.raises(MissingRule, match="`loose` may contain") as caught:
            check_rule(argument, names=names(), snippet=SNIPPET)
        assert caught.value.snippet is SNIPPET
    with pytest.raises(MissingRule, match="the schema of `the table`"):
        check_rule(loose, names=Names(), snippet=None)


@pytest.mark.parametrize(
    ("what", "fix"),
    [
        ("SUM(text)", "SUM(CAST(text AS DOUBLE))"),
        ("COVAR_POP(text, x)", "COVAR_POP(CAST(... AS DOUBLE))"),
        ("sum", "CAST(... AS DOUBLE)"),
    ],
)
def test_text_may_be_cast_to_numbers(what, fix):
    with pytest.raises(UnsupportedQuery) as caught:
        summable(COLUMN["text"], what=what, names=names(), snippet=SNIPPET)
    assert fix in str(caught.value)


def test_a_column_without_numbers_can_be_counted_by():
    both = call("concat", COLUMN["text"], call("to_text", COLUMN["x"]))
    for argument, proposed in ((COLUMN["text"], True), (both, False)):
        with pytest.raises(UnsupportedQuery) as caught:
            summable(argument, what="sum", names=names(), snippet=None)
        assert ('s.count(by="text"' in str(caught.value)) == proposed
