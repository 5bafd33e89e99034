import dataclasses
import datetime as dt
import math

import pytest
from hypothesis import given, settings
from tests.query.front.trees import COLUMNS, expressions, rows, within

from deniable.query.algebra import (
    OPERATORS,
    Call,
    Column,
    Domain,
    Kind,
    call,
    evaluate,
    literal,
    possible_values,
    ranges,
    walk,
)


def column(name: str) -> Column:
    return Column(name=name, domain=COLUMNS[name])


@settings(max_examples=500)
@given(expressions, rows)
def test_no_expression_fails_and_every_value_is_where_it_was_promised(expression, row):
    for node in walk(expression):
        value = evaluate(node, row)
        assert within(value, node.domain), (node, node.domain, value)


@settings(max_examples=200)
@given(expressions, rows)
def test_no_row_has_a_value_off_the_list_of_possible_ones(expression, row):
    listed = possible_values(expression)
    value = evaluate(expression, row)
    assert listed is None or value is None or value in listed


@settings(max_examples=150)
@given(expressions, rows)
def test_values_are_of_the_kind_that_was_promised(expression, row):
    kinds = {
        Kind.INT: int,
        Kind.FLOAT: float,
        Kind.TEXT: str,
        Kind.BOOL: bool,
        Kind.DATE: dt.date,
        Kind.TIMESTAMP: dt.datetime,
    }
    value = evaluate(expression, row)
    assert value is None or type(value) is kinds[expression.kind]


def test_a_range_that_forgets_a_corner_is_caught(monkeypatch):
    """The property above can fail: a sabotaged product takes only the products of equal ends."""
    x, y = column("small"), column("wide")

    def careless(a: Domain, b: Domain) -> Domain:
        return ranges.ranged(a.low * b.low, a.high * b.high, whole=False, nullable=True)

    sabotaged = dataclasses.replace(OPERATORS["multiply"], result=careless)
    monkeypatch.setitem(OPERATORS, "multiply", sabotaged)
    product = call("multiply", x, y)
    assert not within(evaluate(product, {"small": -5, "wide": 1e10}), product.domain)


@pytest.mark.parametrize(
    ("made", "low", "high", "kind"),
    [
        (call("multiply", column("small"), literal(3)), -15, 36, Kind.INT),
        (call("multiply", column("count"), column("count")), 0.0, 2.0**80, Kind.FLOAT),
        (call("subtract", column("share"), column("small")), -12.0, 6.0, Kind.FLOAT),
        (call("divide", column("share"), literal(4)), 0.0, 0.25, Kind.FLOAT),
        (call("divide", literal(6), column("small")), -6.0, 6.0, Kind.FLOAT),
        (call("abs", column("small")), 0, 12, Kind.INT),
        (call("modulo", column("count"), literal(7)), 0, 6, Kind.INT),
        (call("least", column("any_int"), literal(3)), None, 3, Kind.INT),
        (call("clip", column("any_float"), literal(0), literal(9)), 0.0, 9.0, Kind.FLOAT),
        (call("bin", column("share"), literal(0.25)), 0.0, 1.0, Kind.FLOAT),
        (call("year", column("day")), 1999, 2024, Kind.INT),
        (call("add", column("any_int"), literal(1)), None, None, Kind.FLOAT),
    ],
)
def test_ranges_are_as_tight_as_one_would_find_by_hand(made, low, high, kind):
    assert (made.domain.low, made.domain.high, made.kind) == (low, high, kind)


def test_what_an_operator_means_where_engines_disagree():
    def value(op, *args):
        return evaluate(call(op, *map(literal, args)), {})

    assert value("divide", 7, 2) == 3.5
    assert value("divide", 7, 0) is None
    assert value("modulo", -7, 3) == -1
    assert value("round", 2.5) == 3
    assert value("round", -2.5) == -3
    assert value("round", 2.345, 2) == 2.35
    assert value("floor", -0.5) == -1
    assert value("ln", 0) is None
    assert value("sqrt", -1) is None
    assert value("power", 0, -1) is None
    assert value("power", -8, 0.5) is None
    assert value("exp", 1e6) == math.inf
    assert value("lower", "ÀB") == "Àb"
    assert value("like", "a\nb", "a%b") is True
    assert value("like", "a.b", "a_b") is True
    assert value("like", "axb", "a.b") is False
    assert value("to_int", "12x") is None
    assert value("to_int", 2.5) == 3
    assert value("to_date", "2021-02-29") is None
    assert value("dow", dt.date(2026, 11, 15)) == 0
    assert value("date_trunc", "week", dt.date(2026, 11, 15)) == dt.date(2026, 11, 9)
    assert value("width_bucket", 10, 0, 10, 5) == 6
    assert value("days_between", dt.date(2020, 2, 28), dt.date(2020, 3, 1)) == 2
    assert value("substr", "héllo", 2, 3) == "éll"


def test_missing_in_missing_out_except_where_missing_is_the_question():
    missing = literal(None)
    own = {"and", "or", "is_null", "coalesce", "case", "nullif"}
    assert evaluate(call("and", missing, literal(value=False)), {}) is False
    assert evaluate(call("or", missing, literal(value=True)), {}) is True
    assert evaluate(call("is_null", missing), {}) is True
    assert evaluate(call("coalesce", missing, literal(4)), {}) == 4
    assert evaluate(call("case", missing, literal(1), literal(2)), {}) == 2
    assert evaluate(call("nullif", literal(3), literal(3)), {}) is None
    for name in sorted(set(OPERATORS) - own):
        assert OPERATORS[name].run(*[None] * OPERATORS[name].least) is None


def test_operators_are_about_fifty_and_each_is_in_the_reference_page():
    from pathlib import Path

    page = Path(__file__).parents[3] / "docs" / "reference" / "sql.md"
    text = page.read_text(encoding="utf-8")
    absent = [name for name in OPERATORS if f"`{name}`" not in text]
    assert absent == []
    assert 45 <= len(OPERATORS) <= 70


def test_a_call_knows_its_size_and_refuses_to_double_without_end():
    from deniable.errors import UnsupportedQuery

    def doubled(times: int) -> Call:
        grown = column("small")
        for _ in range(times):
            grown = call("add", grown, grown)
        return grown

    assert doubled(10).size == 2**11 - 1
    with pytest.raises(UnsupportedQuery, match="too large"):
        doubled(40)
