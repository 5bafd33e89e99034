"""Sources: held, not read; decided from names and declared types alone."""

import datetime as dt
import sys
from dataclasses import replace
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dp
from deniable.errors import BadParameter, MissingUnit, UnknownName
from deniable.schema import Schema, bounds, column, keys
from deniable.session import sources
from deniable.session.sources.arrow_tables import ArrowTable
from deniable.session.sources.source import Source, outline
from deniable.session.tables import type_of

FACTS = Schema(columns={"age": bounds(0, 125), "city": keys(["Oslo", "Bergen"])})
ARROW = pa.table({"age": [40, None], "city": ["Oslo", "Nowhere"], "id": ["a", "b"]})


def tables(source, schema=None, unit=None, name=None):
    return sources.tables(source, schema=schema, unit=unit or dp.rows(), name=name)


def only(source, schema=None, unit=None, name=None):
    (table,) = tables(source, schema, unit, name).values()
    return table


# ---- one table, many homes


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(ARROW, path)
    return path


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,age,city,secret\n1,40,Oslo,x\n2,not a number,Bergen,y\n")
    return path


def test_a_file_is_called_by_its_stem_and_a_frame_data(parquet):
    assert only(parquet).name == "people"
    assert only(str(parquet)).name == "people"
    assert only(ARROW).name == "data"
    assert only(ARROW, name="visits").name == "visits"


@pytest.mark.parametrize(
    "source",
    [ARROW, ARROW.to_pandas(), pl.from_arrow(ARROW), pl.from_arrow(ARROW).lazy()],
    ids=["arrow", "pandas", "polars", "lazy polars"],
)
def test_every_frame_gives_the_same_names(source):
    table = only(source, FACTS)
    assert list(table.columns) == ["age", "city", "id"]
    assert table.columns["age"] == bounds(0, 125)
    assert table.columns["id"].type == "text"


def test_types_come_from_how_a_column_is_stored_unless_the_schema_says_otherwise():
    assert only(ARROW).columns["age"].type == "int"
    assert only(ARROW, Schema(columns={"age": column("text")})).columns["age"].type == "text"


def test_duckdb_connections_and_relations(parquet):
    engine = duckdb.connect()
    engine.execute("CREATE TABLE people (id INTEGER, age DOUBLE)")
    engine.execute("CREATE TABLE visits (id INTEGER, seen TIMESTAMP, tags VARCHAR[])")
    found = tables(engine)
    assert {name: list(t.columns) for name, t in found.items()} == {
        "people": ["id", "age"],
        "visits": ["id", "seen"],
    }
    assert found["visits"].unread == ("tags",)
    assert list(tables(engine, name="visits")) == ["visits"]
    assert list(tables(engine, Schema(tables={"people": Schema()}))) == ["people"]
    assert only(engine.sql("SELECT * FROM people")).columns["age"].type == "float"


def test_ibis_tables_and_connections_are_known_by_the_types_they_state():
    ibis = pytest.importorskip("ibis")
    kinds = {"age": pl.Int64, "when": pl.Datetime("ms"), "tags": pl.List(pl.String)}
    connection = ibis.polars.connect({"people": pl.DataFrame(schema=kinds)})
    people = connection.table("people")
    named = [(connection, "people"), (people, "people"), (people.filter(people.age > 3), "data")]
    for source, name in named:
        table = only(source)
        assert (table.name, table.source.kind) == (name, "ibis")
        assert {n: c.type for n, c in table.columns.items()} == {"age": "int", "when": "timestamp"}


def test_several_tables_by_name(parquet):
    found = tables({"people": parquet, "visits": ARROW})
    assert [(t.name, t.source.kind) for t in found.values()] == [
        ("people", "parquet"),
        ("visits", "arrow"),
    ]


def test_a_glob_is_one_table(tmp_path):
    for month in (1, 2):
        pq.write_table(ARROW, tmp_path / f"visits-{month}.parquet")
    table = only(tmp_path / "visits-*.parquet")
    assert table.name == "visits"
    assert len(table.source.held) == 2
    assert only(tmp_path / "*.parquet").name == tmp_path.name


# ---- CSV


def test_a_csv_is_read_as_the_schema_says(csv):
    table = only(csv, FACTS)
    assert list(table.columns) == ["age", "city"]
    assert table.source.header == ("id", "age", "city", "secret")


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_other_separators_are_found_by_the_names_in_the_first_line(tmp_path, mark):
    path = tmp_path / "people.csv"
    path.write_text(f"\ufeffage{mark}city\n40{mark}Oslo\n", encoding="utf-8")
    assert only(path, FACTS).source.delimiter == mark


def test_a_csv_without_a_schema_is_refused_with_the_fix(csv):
    for facts in (None, dp.Schema(), dp.Schema(size=4)):
        with pytest.raises(BadParameter, match="needs a schema with types"):
            only(csv, facts)


def test_a_csv_without_a_header_never_shows_its_first_row(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("39,SecretTown\n40,Oslo\n")
    with pytest.raises(BadParameter) as caught:
        only(path, FACTS)
    assert "`age`" in str(caught.value)
    assert "SecretTown" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [b"", b"age,city,AGE\n", b"\xff\xfe\x00", b"city\n"],
    ids=["empty", "twice", "bad", "one"],
)
def test_a_csv_that_does_not_fit_is_refused(tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    with pytest.raises(BadParameter, match="first line"):
        only(path, FACTS)


def test_csv_files_of_one_glob_must_agree(tmp_path):
    (tmp_path / "a1.csv").write_text("age,city\n")
    (tmp_path / "a2.csv").write_text("city,age\n")
    with pytest.raises(BadParameter, match="same first line"):
        only(tmp_path / "a*.csv", FACTS)


# ---- nothing is read


def test_rows_are_never_touched_when_a_session_opens(monkeypatch, csv):
    def refuse(*_, **__):
        raise AssertionError("rows were read")

    frame = ARROW.to_pandas()
    for name in ("__len__", "iterrows", "itertuples", "to_numpy", "head", "isna", "describe"):
        monkeypatch.setattr(pd.DataFrame, name, refuse)
    only(frame, FACTS)
    monkeypatch.setattr(pl.LazyFrame, "collect", refuse)
    only(pl.LazyFrame({"age": [1], "city": ["Oslo"]}), FACTS)


def test_what_a_table_is_does_not_depend_on_its_rows():
    """The same declared types, whatever the values: missing, mixed, none at all."""
    odd = [
        pd.DataFrame({"x": [1, 2]}),
        pd.DataFrame({"x": [1, None]}),
        pd.DataFrame({"x": [1.5]}),
        pd.DataFrame({"x": np.array([], dtype="int64")}),
    ]
    assert {only(frame).columns["x"].type for frame in odd} == {"float"}
    texts = [
        pd.DataFrame({"x": ["a"]}),
        pd.DataFrame({"x": pd.Series(["a", 1, None, [2]], dtype=object)}),
        pd.DataFrame({"x": pd.Series(["a"], dtype="category")}),
        pd.DataFrame({"x": pd.Series([], dtype=object)}),
    ]
    assert {only(frame).columns["x"].type for frame in texts} == {"text"}


def test_a_pandas_truth_value_needs_the_word_of_the_schema():
    """One missing value would have made it an object: its dtype is a function of rows."""
    frame = pd.DataFrame({"married": [True, False]})
    table = only(frame)
    assert table.unread == ("married",)
    with pytest.raises(BadParameter) as caught:
        table.column("married")
    assert 'schema=dp.Schema(columns={"married": dp.column("bool")})' in caught.value.fix
    assert caught.value.fixes[0].command == "deniable set data.married --type bool"
    assert (
        only(frame, Schema(columns={"married": column("bool")})).columns["married"].type == "bool"
    )


def test_the_rows_are_not_in_the_description():
    frame = pd.DataFrame({"name": ["Secret Person"]})
    assert "Secret Person" not in repr(only(frame))


# ---- mistakes

FRAME = pd.DataFrame({"age": [1], "city": ["Oslo"]})


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("nowhere.parquet", "there is no file"),
        ("nowhere-*.parquet", "there is no file"),
        ("s3://bucket/people.parquet", "this machine"),
        (pd.concat([FRAME, FRAME], axis=1), "two columns named `age` and `age`"),
        (pd.DataFrame({"Age": [1], "age": [1]}), "SQL ignores case"),
        (pd.DataFrame([[1, 2]]), "names that are text"),
        (pd.DataFrame({("a", "b"): [1]}), "names that are text"),
        (pd.DataFrame(), "no columns"),
        (pl.DataFrame(), "no columns"),
        (pa.table({}), "no columns"),
        (pa.table([[1], [2]], names=["a", "a"]), "two columns"),
        (FRAME["age"], "to_frame"),
        (pl.Series([1]), "to_frame"),
        (pa.array([1]), "is not a table"),
        (ARROW.to_reader(), "is not a table: it cannot be read twice"),
        ([1, 2, 3], "cannot open"),
        (None, "cannot open"),
        (np.zeros((2, 2)), "cannot open"),
        ({"age": [1, 2]}, "not a table"),
        ({1: ARROW}, "name of a table"),
    ],
)
def test_a_mistaken_source_is_refused_with_a_reason(source, says):
    with pytest.raises(BadParameter) as caught:
        tables(source)
    assert says in str(caught.value)


def test_a_connection_without_tables_is_refused():
    with duckdb.connect() as engine, pytest.raises(BadParameter, match="no tables"):
        tables(engine)


def test_a_folder_or_another_kind_of_file_is_refused_with_the_fix(tmp_path):
    with pytest.raises(BadParameter, match=r"\*\.parquet"):
        tables(tmp_path)
    (tmp_path / "people.xlsx").write_text("")
    with pytest.raises(BadParameter, match="neither"):
        tables(tmp_path / "people.xlsx")
    (tmp_path / "broken.parquet").write_text("Secret Person")
    with pytest.raises(BadParameter, match="cannot be read as Parquet") as caught:
        tables(tmp_path / "broken.parquet")
    assert "Secret Person" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_parquet_column_that_is_there_twice_is_refused(tmp_path):
    pq.write_table(pa.table([[1], [2]], names=["age", "age"]), tmp_path / "people.parquet")
    with pytest.raises(BadParameter, match="two columns"):
        tables(tmp_path / "people.parquet")


def test_nested_parquet_columns_wait_for_the_schema(tmp_path):
    nested = pa.table({"age": [1], "visit": [{"age": 1, "at": [1]}]})
    pq.write_table(nested, tmp_path / "people.parquet")
    assert only(tmp_path / "people.parquet").unread == ("visit",)


def test_folder_names_are_no_columns(tmp_path):
    for year in (2020, 2021):
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(ARROW, tmp_path / f"year={year}" / "part.parquet")
    assert list(only(tmp_path / "*" / "part.parquet").columns) == ["age", "city", "id"]


def test_parquet_files_of_one_glob_must_agree(tmp_path):
    pq.write_table(ARROW, tmp_path / "a1.parquet")
    pq.write_table(ARROW.select(["age"]), tmp_path / "a2.parquet")
    with pytest.raises(BadParameter, match="same columns"):
        tables(tmp_path / "a*.parquet")


def test_a_schema_that_speaks_of_another_table_is_refused():
    with pytest.raises(UnknownName, match="did you mean `age`"):
        only(ARROW, Schema(columns={"agee": bounds(0, 1)}))
    with pytest.raises(UnknownName, match="no table"):
        only(ARROW, Schema(tables={"people": Schema()}))
    with pytest.raises(BadParameter, match="several"):
        tables({"a": ARROW, "b": ARROW}, FACTS)
    with pytest.raises(BadParameter, match="name="):
        tables({"a": ARROW}, name="b")
    engine = duckdb.connect()
    engine.execute("CREATE TABLE people (id INTEGER)")
    with pytest.raises(UnknownName, match="did you mean `people`"):
        tables(engine, name="peopel")


def test_every_private_table_says_whose_its_rows_are():
    unit = dp.person("id", rows=2)
    assert only(ARROW, unit=unit).name == "data"
    with pytest.raises(MissingUnit) as caught:
        only(ARROW, unit=dp.person("idd", rows=2))
    assert 'dp.person("id"' in caught.value.fix
    cities = pa.table({"city": ["Oslo"], "county": ["Oslo"]})
    with pytest.raises(MissingUnit, match="cities"):
        tables({"people": ARROW, "cities": cities}, unit=unit)
    public = Schema(tables={"people": Schema(), "cities": Schema(public=True)})
    assert tables({"people": ARROW, "cities": cities}, public, unit)["cities"].public


def test_a_column_is_found_or_its_name_is_guessed():
    with pytest.raises(UnknownName, match="did you mean `city`"):
        only(ARROW).column("cty")
    assert only(ARROW, FACTS).column("age") == bounds(0, 125)


@pytest.mark.parametrize(
    ("spelling", "kind"),
    [
        ("int64", "int"), ("UInt8", "int"), ("BIGINT", "int"), ("!int32", "int"), ("Int64", "int"),
        ("double", "float"), ("DECIMAL(10,2)", "float"), ("decimal128(5, 2)", "float"),
        ("Float64", "float"), ("double[pyarrow]", "float"),
        ("VARCHAR", "text"), ("large_string", "text"), ("String", "text"), ("Enum(['a'])", "text"),
        ("Enum(categories=['a'])", "text"), ("Categorical", "text"), ("ENUM('a', 'b')", "text"),
        ("dictionary<values=string, indices=int32, ordered=0>", "text"),
        ("boolean", "bool"), ("bool", "bool"),
        ("date32[day]", "date"), ("DATE", "date"),
        ("timestamp[us, tz=UTC]", "timestamp"), ("TIMESTAMP WITH TIME ZONE", "timestamp"),
        ("Datetime(time_unit='us', time_zone=None)", "timestamp"), ("datetime64[ns]", "timestamp"),
        ("timestamp('UTC')", "timestamp"), ("timestamp[ns][pyarrow]", "timestamp"),
        ("INTEGER[]", None), ("TIMESTAMP[]", None), ("list<item: int64>", None),
        ("struct<a: int64>", None), ("Duration(time_unit='us')", None), ("timedelta64[ns]", None),
        ("binary", None), ("complex128", None), ("time64[us]", None), ("TIME", None),
        ("STRUCT(a INTEGER)", None), ("interval", None), ("period[M]", None), ("Object", "text"),
    ],
)  # fmt: skip
def test_every_engines_words_for_types_are_understood(spelling, kind):
    assert type_of(spelling) == kind


def test_dates_are_dates_everywhere():
    day = dt.date(2020, 1, 1)
    assert only(pa.table({"d": [day]})).columns["d"].type == "date"
    assert only(pl.DataFrame({"d": [day]})).columns["d"].type == "date"


# ---- a kind of one's own


class Listed(list):
    """Rows that some other package holds."""


class ListedRows(Source):
    kind = "listed"

    def only(self, columns):
        return replace(self, held=[{c: row[c] for c in columns or ["age"]} for row in self.held])

    def none(self):
        return ArrowTable(held=pa.schema([("age", pa.int64())]).empty_table())

    def rows(self):
        return pa.Table.from_pylist(self.held)


def look(given, name, _schema):
    return [outline(ListedRows(held=given), name, [("age", "int64"), ("name", "string")])]


def test_a_new_kind_is_one_file_and_one_line(monkeypatch):
    monkeypatch.setitem(sources._HOMES, Listed.__module__.split(".")[0], "listed_rows")
    home = SimpleNamespace(look=look)
    monkeypatch.setitem(sys.modules, "deniable.session.sources.listed_rows", home)
    rows = Listed([{"age": 40, "name": "a"}, {"age": 50, "name": "b"}])
    session = dp.open(rows, unit=dp.rows(), budget=dp.epsilon(10**6))
    assert session.tables["data"].columns["age"].type == "int"
    answer = session.sql("SELECT COUNT(*) AS n FROM data").release(spend=dp.epsilon(1000))
    assert answer.value == 2  # but with probability e⁻⁵⁰⁰
