"""Constants of any size, wherever one can stand: a question, or a refusal with a caret."""

import itertools

import pytest
from tests.query.front.front_tables import GROUPED, ask

from deniable.errors import DeniableError, UnsupportedQuery
from deniable.query.integers import in_integers

NUMBERS = ["0", "-0.0", "1", "-1", "0.1", "9007199254740993", "4611686018427387904",
           "9223372036854775807", "-9223372036854775808", "1e30", "-1e308",
           "1.7976931348623157e308", "5e-324", "-1e-320", "1e-300", "1e400", "9" * 400,
           "-7.25", "15", "1000000"]  # fmt: skip
# Every operator that takes a constant, and some that may.
PLACES = [
    "ROUND({x}, {a})",
    "CLAMP({x}, {a}, {b})",
    "BIN({x}, {a})",
    "WIDTH_BUCKET({x}, {a}, {b}, 10)",
    "WIDTH_BUCKET({x}, 0, {a}, {b})",
    "LENGTH(SUBSTR(city, {a}, {b}))",
    "LENGTH(LEFT(city, {a}))",
    "{x} * {a} + {b}",
    "{x} / {a} - {b}",
    "{x} % {a} + POWER({x}, {b})",
    "EXP({x} * {a}) / {b}",
    "CASE WHEN {x} < {a} THEN {b} ELSE {x} END",
    "GREATEST({x}, {a}, {b})",
    "EXTRACT(year FROM born + {a})",
    "BIN({a}, {b}) + {x}",
    "WIDTH_BUCKET({a}, {b}, {x}, 3)",
]
AROUND = [
    "SELECT SUM({}) AS s FROM people",
    "SELECT MEDIAN({}) AS m, VARIANCE({}) AS v FROM people",
    "SELECT {} AS k, COUNT(*) AS n FROM people GROUP BY 1",
    "SELECT SUM(CLAMP({}, 0, 1e200)) AS s FROM people",
]


def refusal(sql):
    """None for a question that can be bounded, else why it cannot be."""
    try:
        in_integers(ask(sql, unit=GROUPED, private_keys=True))
    except DeniableError as error:
        return error
    return None


@pytest.mark.parametrize("place", PLACES)
def test_a_constant_of_any_size_is_a_question_or_a_refusal(place):
    pairs = list(itertools.product(NUMBERS, repeat=2))
    for number, (a, b) in enumerate(pairs[PLACES.index(place) % 3 :: 3]):
        made = place.format(x=("age", "wage", "income")[number % 3], a=a, b=b)
        sql = AROUND[number % len(AROUND)].replace("{}", made)
        error = refusal(sql)
        assert error is None or error.snippet is not None or "bounds" in str(error), sql


REFUSED = [
    ("CLAMP(age, 10, 5)", "CLAMP(x, 5, 10)"),
    ("CLAMP(age, 0, -4503599627370496)", "CLAMP(x, -4503599627370496, 0)"),
    ("WIDTH_BUCKET(age, 9007199254740992, 9007199254740993, 5)", "WIDTH_BUCKET(x"),
    ("WIDTH_BUCKET(age, -1e308, 1e308, 5)", "WIDTH_BUCKET(x"),
    ("WIDTH_BUCKET(age, 10, 0, 5)", "WIDTH_BUCKET(x"),
    ("BIN(age, 0)", "BIN(x, 10)"),
    ("ROUND(wage, 16)", "ROUND(x, 2)"),
    ("DAY(born + INTERVAL 999999 WEEK)", "INTERVAL 30 DAY"),
    ("DAY(DATE_TRUNC('hour', born))", "CAST(... AS TIMESTAMP)"),
    ("DAY(DATE_TRUNC('minute', DATE '2020-01-01'))", "CAST(... AS TIMESTAMP)"),
]


@pytest.mark.parametrize(("part", "fix"), REFUSED, ids=lambda text: text[:40])
def test_a_constant_that_makes_a_declaration_false_is_refused_with_a_caret_and_a_fix(part, fix):
    with pytest.raises(UnsupportedQuery) as raised:
        ask(f"SELECT SUM({part}) AS s FROM people")
    assert raised.value.snippet is not None
    assert fix in str(raised.value)
    assert "^" in str(raised.value)
