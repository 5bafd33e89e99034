"""Spark's spelling, worked out in Python: patterns, parts of dates, whole steps, stored types."""

import itertools
import re

import pytest

from deniable.query.algebra import Kind
from deniable.query.compile import nodes as sql
from deniable.query.compile.spark import Spark

# Named apart from tests that need a cluster, so that it runs wherever those are left out.
SPARK = Spark()
X, A, B = sql.name("x"), sql.name("a"), sql.name("b")
TEXTS = ["", *(map("".join, itertools.product("ab%", repeat=2))), "a", "b", "aab", "bab", "a\nb"]
TEXTS += ["ab\n", "xabx", "a.b", "A"]


def holds(written, text):
    """What Spark says to the text, from the way the condition is written."""
    call = re.fullmatch(r"(\w+)\(`x`, '(.*)'\)", written, re.DOTALL)
    if call is None:
        return text == re.fullmatch(r"\(`x` = '(.*)'\)", written)[1]
    match call[1]:
        case "STARTSWITH":
            return text.startswith(call[2])
        case "ENDSWITH":
            return text.endswith(call[2])
        case "CONTAINS":
            return call[2] in text
    rule = call[2].replace("\\\\", "\\")
    rule = re.sub(r"\\x\{(\w+)\}", lambda found: re.escape(chr(int(found[1], 16))), rule)
    assert call[1] == "RLIKE"
    assert rule.startswith(r"\A")
    assert rule.endswith(r"\z")
    return re.fullmatch(rule[2:-2], text) is not None


def matches(pattern, text):
    """LIKE, letter by letter."""
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(matches(pattern[1:], text[i:]) for i in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and matches(pattern[1:], text[1:])


PATTERNS = [
    "",
    "ab",
    "ab%",
    "%ab",
    "%ab%",
    "a%b",
    "a_b",
    "%",
    "%%",
    "_",
    "_%",
    "a.b",
    "%%ab",
    "%a%b%",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_means_what_it_means_elsewhere(pattern):
    written = SPARK.write(SPARK.like(X.copy(), pattern))
    for text in TEXTS:
        assert holds(written, text) == matches(pattern, text), (written, text)


@pytest.mark.parametrize(
    ("part", "written"),
    [
        ("dow", "(CAST(DAYOFWEEK(`x`) AS BIGINT) - CAST(1 AS BIGINT))"),
        ("doy", "CAST(DAYOFYEAR(`x`) AS BIGINT)"),
        ("year", "CAST(YEAR(`x`) AS BIGINT)"),
    ],
)
def test_the_week_begins_with_0_and_the_year_with_1(part, written):
    assert SPARK.write(SPARK.part(part, X.copy())) == written


def test_days_are_counted_from_the_start_and_minutes_divided_into_days_and_minutes():
    assert SPARK.write(SPARK.days(A.copy(), B.copy())) == "CAST(DATEDIFF(`b`, `a`) AS BIGINT)"
    later = SPARK.write(SPARK.later(A.copy(), B.copy()))
    assert later == (
        "(`a` + MAKE_DT_INTERVAL(CAST((`b` DIV CAST(1440 AS BIGINT)) AS INT), 0, "
        "CAST((`b` % CAST(1440 AS BIGINT)) AS INT), 0))"
    )


def test_sums_are_wide_and_large_floats_are_whole_already():
    assert SPARK.write(SPARK.summed(X.copy())) == "SUM(CAST(`x` AS DECIMAL(28, 0)))"
    step = SPARK.write(SPARK.step("CEIL", X.copy()))
    assert "ABS(`x`) < CAST('9007199254740992.0' AS DOUBLE)" in step
    assert step.endswith("THEN CAST(CEIL(`x`) AS DOUBLE) ELSE `x` END")


@pytest.mark.parametrize(
    ("spelling", "kind"),
    [
        ("int", Kind.INT), ("bigint", Kind.INT), ("double", Kind.FLOAT), ("boolean", Kind.BOOL),
        ("decimal(10,2)", Kind.FLOAT), ("string", Kind.TEXT), ("char(3)", Kind.TEXT),
        ("date", Kind.DATE), ("timestamp_ntz", Kind.TIMESTAMP), ("array<int>", None),
        ("binary", None), ("interval day", None), ("struct<a:int>", None), ("", None),
    ],
)  # fmt: skip
def test_stored_types_are_known_by_their_whole_name(spelling, kind):
    assert SPARK.stored(spelling) == kind
