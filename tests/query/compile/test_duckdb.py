"""DuckDB's spelling, worked out by DuckDB itself: nothing fails, and other values are missing."""

import datetime as dt

import duckdb
import pytest

from deniable.query.algebra import Kind
from deniable.query.compile import nodes as sql
from deniable.query.compile.duckdb import _LONGEST_ENUM, DuckDB, _shortest

ENGINE = DuckDB()


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect() as connection:
        yield connection


def found(engine, node, *values, kind):
    """What a piece of SQL makes of values of a column x of this type."""
    rows = ", ".join(f"(CAST({value} AS {kind}))" for value in values)
    query = f"SELECT {ENGINE.write(node)} FROM (VALUES {rows}) AS t(x)"
    return [row[0] for row in engine.execute(query).fetchall()]


X = sql.name("x")
NARROW = {
    "TINYINT": (-128, 127), "UTINYINT": (0, 255), "SMALLINT": (-(2**15), 2**15 - 1),
    "USMALLINT": (0, 2**16 - 1), "INTEGER": (-(2**31), 2**31 - 1), "UINTEGER": (0, 2**32 - 1),
}  # fmt: skip


@pytest.mark.parametrize("kind", NARROW)
def test_the_shortest_type_that_holds_both_ends_is_taken(engine, kind):
    low, high = NARROW[kind]
    assert _shortest(low, high) == kind
    assert found(engine, ENGINE.narrow(X.copy(), low, high), low, high, kind="BIGINT") == [
        low,
        high,
    ]
    for wider in ((low - 1, high), (low, high + 1)):
        assert _shortest(*wider) != kind
    written = ENGINE.write(ENGINE.narrow(X.copy(), low, high))
    assert kind in written


@pytest.mark.parametrize("ends", [(-1, 2**32 - 1), (-(2**31) - 1, 0), (0, 2**32), (0, 2**63 - 1)])
def test_what_no_shorter_type_holds_stays_as_it_is(ends):
    assert ENGINE.write(ENGINE.narrow(X.copy(), *ends)) == ENGINE.write(X.copy())


def test_of_listed_values_others_are_missing(engine):
    texts = ENGINE.coded(X.copy(), ["a", "it's", "a"])
    given = ["'a'", "'it''s'", "'b'", "NULL"]
    assert found(engine, texts, *given, kind="VARCHAR") == ["a", "it's", None, None]
    numbers = ENGINE.coded(X.copy(), [3, 200])
    assert found(engine, numbers, 3, 200, 70000, kind="BIGINT") == [3, 200, None]
    numbers = ENGINE.coded(X.copy(), [200, -5])
    assert found(engine, numbers, -5, 200, 70000, kind="BIGINT") == [-5, 200, None]
    for values in (["a", 1], [1.5], [True, False], [2**40]):
        assert ENGINE.write(ENGINE.coded(X.copy(), values)) == ENGINE.write(X.copy())


def test_a_list_that_is_too_long_for_a_statement_is_not_written_into_it():
    for length, listed in ((_LONGEST_ENUM - 2, True), (_LONGEST_ENUM - 1, False)):
        written = ENGINE.write(ENGINE.coded(X.copy(), ["a" * length]))  # and two quotes
        assert ("ENUM" in written) == listed


@pytest.mark.parametrize("kind", ["UBIGINT", "HUGEINT", "UHUGEINT"])
def test_whole_numbers_beyond_64_bits_are_missing(engine, kind):
    values = [7, 2**63 - 1, 2**63]
    assert found(engine, ENGINE.narrowed(X.copy(), kind), *values, kind=kind) == [
        7,
        2**63 - 1,
        None,
    ]


def test_shorter_ones_are_cast(engine):
    assert "TRY_CAST" not in ENGINE.write(ENGINE.narrowed(X.copy(), "INTEGER"))
    assert found(engine, ENGINE.narrowed(X.copy(), "INTEGER"), 7, kind="INTEGER") == [7]


@pytest.mark.parametrize(
    "kind", ["DECIMAL(4,2)", "DECIMAL(18,3)", "DECIMAL(19,3)", "DECIMAL(38,0)"]
)
def test_decimals_become_floats_and_all_their_digits_are_kept(engine, kind):
    node = ENGINE.as_float(X.copy(), kind)
    guarded = "BETWEEN" in ENGINE.write(node.copy())
    assert guarded == (int(kind[8:].split(",")[0]) > 18)
    assert found(engine, node, 99, -12, "NULL", kind=kind) == [99.0, -12.0, None]


@pytest.mark.parametrize("kind", ["DECIMAL(4,2)", "DECIMAL(3,0)"])
def test_a_decimal_has_as_many_digits_as_its_type(engine, kind):
    most = {"DECIMAL(4,2)": "99.99", "DECIMAL(3,0)": "999"}[kind]
    node = ENGINE.stored_without_nan(X.copy(), kind)
    held = found(engine, node, f"'{most}'", f"'-{most}'", 0, kind=kind)
    assert [str(each) for each in held][:2] == [most, f"-{most}"]


def test_nan_is_missing_and_all_other_floats_stay(engine):
    node = ENGINE.stored_without_nan(X.copy(), "DOUBLE")
    values = ["'nan'", "'inf'", "1.5", "NULL"]
    assert found(engine, node, *values, kind="DOUBLE") == [None, float("inf"), 1.5, None]


def test_times_of_day_end_with_the_day(engine):
    node = ENGINE.possible(X.copy(), "TIME")
    assert found(engine, node, "'23:59:59'", "'00:00:00'", kind="TIME") == [
        dt.time(23, 59, 59), dt.time(0),
    ]  # fmt: skip
    assert ENGINE.write(ENGINE.possible(X.copy(), "DATE")) == ENGINE.write(X.copy())


def test_days_are_counted_from_the_start_and_weeks_from_sunday(engine):
    start = sql.typed(sql.text("2026-11-01"), "DATE")
    assert found(engine, ENGINE.days(start, X.copy()), "'2026-11-18'", kind="DATE") == [17]
    assert found(engine, ENGINE.part("dow", X.copy()), "'2026-11-15'", kind="DATE") == [0]
    assert found(engine, ENGINE.part("doy", X.copy()), "'2026-01-01'", kind="DATE") == [1]
    later = ENGINE.shifted(X.copy(), ENGINE.whole(3))
    assert found(engine, later, "'2026-11-18'", kind="DATE") == [dt.date(2026, 11, 21)]
    later = ENGINE.later(X.copy(), ENGINE.whole(90))
    assert found(engine, later, "'2026-11-18 23:00:00'", kind="TIMESTAMP") == [
        dt.datetime(2026, 11, 19, 0, 30)  # noqa: DTZ001
    ]


def test_moments_of_other_units_are_tried(engine):
    for spelling in ("TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_S"):
        node = ENGINE.as_moment(X.copy(), spelling)
        assert found(engine, node, "'2026-11-18 01:02:03'", kind=spelling) == [
            dt.datetime(2026, 11, 18, 1, 2, 3)  # noqa: DTZ001
        ]
        assert ("TRY_CAST" in ENGINE.write(node)) == (spelling != "TIMESTAMP")


@pytest.mark.parametrize(
    ("spelling", "kind"),
    [
        ("BIGINT", Kind.INT), ("UHUGEINT", Kind.INT), ("DOUBLE", Kind.FLOAT), ("UUID", Kind.TEXT),
        ("DECIMAL(18,3)", Kind.FLOAT), ("ENUM('a')", Kind.TEXT), ("TIMESTAMP_NS", Kind.TIMESTAMP),
        ("DATE", Kind.DATE), ("BOOLEAN", Kind.BOOL), ("BIGINT[]", None), ("BLOB", None),
    ],
)  # fmt: skip
def test_stored_types_are_known_by_their_whole_name(spelling, kind):
    assert ENGINE.stored(spelling) == kind
