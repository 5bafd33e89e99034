"""Rows without consent are never counted: a public rule, applied before people are bounded."""

import pandas as pd
import pytest

import deniable as dp

FRAME = pd.DataFrame(
    {
        "id": [1, 1, 2, 2, 3, 3, 4],
        "age": [10, 20, 30, 40, 50, 60, 70],
        "city": ["a", "b", "a", "b", "a", "b", "a"],
        "agreed": pd.array([True, False, True, True, False, False, None], dtype="boolean"),
    }
)
FACTS = {
    "id": dp.column("int"),
    "age": dp.bounds(0, 100, type="int"),
    "city": dp.keys(["a", "b"]),
    "agreed": dp.column("bool"),
}
QUESTIONS = [
    "SELECT COUNT(*) AS n FROM data",
    "SELECT SUM(age) AS n FROM data",
    "SELECT city, COUNT(*) AS n FROM data GROUP BY city",
    "SELECT COUNT(*) AS n FROM data WHERE NOT agreed OR agreed IS NULL",
    "SELECT COUNT(*) AS n FROM (SELECT * FROM data WHERE age > 15) t",
    "SELECT COUNT(*) AS n FROM data d1 JOIN data d2 ON d1.id = d2.id",
    "SELECT COUNT(*) AS n FROM (SELECT age FROM data UNION ALL SELECT age FROM data) t",
    "SELECT COUNT(DISTINCT id) AS n FROM data",
    "WITH t AS (SELECT id, COUNT(*) AS k FROM data GROUP BY id) SELECT SUM(k) AS n FROM t",
]


def opened(frame, *, consent="agreed"):
    schema = dp.Schema(columns=FACTS, consent=consent)
    unit = dp.person("id", rows=4, groups=2)
    return dp.open(frame, unit=unit, schema=schema, budget=dp.epsilon(1e9))


def answers(session, sql):
    try:
        release = session.sql(sql).release(spend=dp.epsilon(1e6))
    except dp.DeniableError as error:
        return type(error)
    return [round(row["n"], 1) for row in release.rows()]


@pytest.mark.parametrize("sql", QUESTIONS)
def test_an_answer_is_that_of_the_table_without_those_rows(sql):
    kept = FRAME[FRAME["agreed"].fillna(value=False)]
    assert answers(opened(FRAME), sql) == answers(opened(kept), sql)


@pytest.mark.parametrize("sql", QUESTIONS[:3])
def test_the_rule_makes_a_difference(sql):
    assert answers(opened(FRAME), sql) != answers(opened(FRAME, consent=None), sql)


def test_statistics_and_ibis_keep_the_rule_too():
    s = opened(FRAME)
    assert round(s.count(spend=dp.epsilon(1e6)).value) == 3
    import ibis
    import pyarrow as pa

    table = ibis.memtable(pa.Table.from_pandas(FRAME, preserve_index=False))
    schema = dp.Schema(columns=FACTS, consent="agreed")
    with dp.open(
        table, unit=dp.person("id", rows=4), schema=schema, budget=dp.epsilon(1e9), name="data"
    ) as mine:
        released = mine.query(table.count().name("n")).release(spend=dp.epsilon(1e6))
        assert round(released.value) == 3


def test_people_are_bounded_after_the_rule():
    """Two of a person's rows, one without consent, and a bound of one: the other counts in full."""
    schema = dp.Schema(columns=FACTS, consent="agreed")
    s = dp.open(FRAME[:2], unit=dp.person("id", rows=1), schema=schema, budget=dp.epsilon(1e9))
    assert round(s.count(spend=dp.epsilon(1e6)).value) == 1


def test_consent_is_a_stated_column_of_truth_values_and_survives_toml(tmp_path):
    for wrong in ("nothing", "age"):
        with pytest.raises(dp.BadParameter, match="consent"):
            dp.Schema(columns=FACTS, consent=wrong)
    with pytest.raises(dp.BadParameter, match="consent"):
        dp.Schema(columns=FACTS, consent="agreed", public=True)
    schema = dp.Schema(columns=FACTS, consent="agreed")
    schema.to_toml(tmp_path / "s.toml")
    assert dp.Schema.from_toml(tmp_path / "s.toml") == schema


CODES = [1, 2, 9, 0, -1, None, 1]  # yes, no, not asked: a survey's own
STORED = ["Int8", "Int64", "UInt16", "int64", "Float64", "float32", "object", "decimal", "string"]


def coded(dtype):
    import decimal

    codes = CODES if dtype[0].isupper() or dtype == "object" else [c or 0 for c in CODES]
    if dtype == "UInt16":
        codes = [None if c is None else c % 7 for c in codes]
    if dtype == "decimal":
        return pd.Series([decimal.Decimal(c) for c in codes])
    if dtype == "string":
        return pd.Series(["true", "no", "2", "9", None, "", "true"], dtype="string")
    return pd.Series(codes, dtype=dtype)


@pytest.mark.parametrize("dtype", STORED)
@pytest.mark.parametrize("place", ["frame", "parquet", "duckdb", "csv"])
def test_a_stored_code_other_than_one_is_never_consent(dtype, place, tmp_path):
    """However consent is stored: refused when the table is opened, or yes alone counts."""
    import duckdb

    frame = FRAME.assign(agreed=coded(dtype))
    source = frame
    if place == "parquet":
        frame.to_parquet(source := tmp_path / "data.parquet")
    elif place == "csv":
        frame.to_csv(source := tmp_path / "data.csv", index=False)
    elif place == "duckdb":
        source = duckdb.connect()
        source.execute("CREATE TABLE data AS SELECT * FROM frame")
    schema = dp.Schema(columns=FACTS, consent="agreed")
    try:
        s = dp.open(
            source if place != "duckdb" else {"data": source.table("data")},
            unit=dp.person("id", rows=4),
            schema=schema,
            budget=dp.epsilon(1e9),
        )
    except dp.BadParameter as error:
        assert "consent" in error.what  # noqa: PT017  either way is right
        return
    table = next(iter(s.tables))
    n = s.sql(f'SELECT SUM(age) AS n FROM "{table}"').release(spend=dp.epsilon(1e6)).value
    assert round(n) in (0, 80)  # the first row and the last, or none is understood


@pytest.mark.parametrize(
    "column", [dp.column("bool", missing=True), dp.keys([True, False], missing=True)]
)
def test_a_missing_value_is_never_consent(column):
    with pytest.raises(dp.BadParameter, match="consent"):
        dp.Schema(columns=FACTS | {"agreed": column}, consent="agreed")
