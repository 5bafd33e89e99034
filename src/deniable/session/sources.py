"""From what people have to tables: files, frames, connections, or several by name.

Only column names and types are looked at, never rows: not their number, not the statistics that a
file keeps of itself, not what pandas or a CSV reader would guess from values.
"""

from __future__ import annotations

import csv
import glob
import importlib.util
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from deniable.errors import BadParameter, MissingExtra, UnknownName
from deniable.schema import Schema
from deniable.units import Unit

from . import identity, parquet, postgres
from .tables import Found, Table, check_names, check_unit, connecting, described, no_file, type_of

KINDS: Final = (
    "a path or glob (.csv, .parquet), a pandas, Polars, PyArrow, Spark or Ibis table, a DuckDB, "
    'Postgres or Ibis connection, postgresql://..., or {"people": ..., "visits": ...}'
)


def tables(
    source: object, *, schema: Schema | None, unit: Unit, name: str | None
) -> dict[str, Table]:
    """Every table of a source by name, described from public facts."""
    if isinstance(source, Mapping):
        found = [each for key, part in source.items() for each in _of_mapping(key, part)]
        if name is not None:
            raise BadParameter("tables given by name have their names: name= is for one table")
    else:
        found = _found(source, name, schema)
    wanted = _wanted(found, schema)
    if schema is not None and not schema.tables and len(wanted) > 1:
        schema = replace(schema, size=None)  # that of all tables together is that of none
    known = {each.name: _described(each, schema, unit) for each in wanted}
    check_unit(unit, known)
    return known


def _of_mapping(name: object, part: object) -> list[Found]:
    if not isinstance(name, str) or not name:
        raise BadParameter.of("the name of a table", name, must="text")
    if isinstance(part, Mapping | list | tuple):
        raise BadParameter(
            f"`{name}` is a {type(part).__name__}, not a table",
            fix=f'{{"{name}": pandas.DataFrame(...)}}',
        )
    found = _found(part, name, None)
    if len(found) != 1:
        raise BadParameter(f"`{name}` names a connection with {len(found)} tables; give one table")
    return found


def _wanted(found: list[Found], schema: Schema | None) -> list[Found]:
    """The tables, if the schema fits them; one that it does not mention is kept as it is stored."""
    if schema is None or not schema.tables:
        if schema is not None and schema.columns and len(found) > 1:
            raise BadParameter(
                "the schema describes one table, and the source has several",
                fix='dp.Schema(tables={"people": dp.Schema(columns=...), ...})',
            )
        return found
    by_name = {each.name: each for each in found}
    for name in schema.tables:
        if name not in by_name:
            raise UnknownName.of("table", name, known=by_name)
    return found


def _described(found: Found, schema: Schema | None, unit: Unit) -> Table:
    facts = schema
    if facts is not None and facts.tables:
        facts = facts.tables.get(found.name)
    if unit.column is not None and (facts is None or not facts.public):
        identity.check(found, unit.column)
    if found.kind == "csv":
        return _csv(found, facts)
    return described(found, facts)


def _typed(spelled: Mapping[str, str]) -> dict[str, Any]:
    """The types of columns for `Found`, and which columns cannot identify people."""
    types = {column: type_of(kind) for column, kind in spelled.items()}
    return {"types": types, "doubtful": identity.doubtful(spelled)}


def _found(source: object, name: str | None, schema: Schema | None) -> list[Found]:
    if isinstance(source, str) and source.startswith(("postgresql://", "postgres://")):
        return _postgres_at(source, name, schema)
    if isinstance(source, str | os.PathLike):
        return [_file(os.fspath(source), name)]
    for kind in type(source).__mro__:
        look = _LOOKS.get(kind.__module__.split(".")[0].lstrip("_"))
        if look is not None:
            return look(source, name, schema)
    raise BadParameter(
        f"a {type(source).__name__} is no source of tables",
        fix=KINDS,
        hint="pandas.DataFrame(...)" if isinstance(source, list | tuple) else "",
    )


# ---- files


def _file(text: str, name: str | None) -> Found:
    if "://" in text:
        raise BadParameter(
            "a path must be of this machine",
            fix="open it with DuckDB and give the connection",
        )
    path = Path(text).expanduser().absolute()
    paths = [path] if path.exists() else sorted(map(Path, glob.glob(str(path), recursive=True)))  # noqa: PTH207
    if not paths:
        raise no_file(path)
    kinds = {p.suffix.lower() for p in paths}
    if any(p.is_dir() for p in paths):
        raise BadParameter(f"{text} is a folder", fix=f"{text.rstrip('/')}/*.parquet")
    if len(kinds) > 1 or not kinds <= {".csv", ".parquet"}:
        raise BadParameter(f"{text} is neither .csv nor .parquet", fix=connecting(text) or KINDS)
    called = name or _stem(path)
    if kinds == {".csv"}:
        return Found(name=called, kind="csv", types={}, source=tuple(map(str, paths)))
    return _parquet(called, [str(p) for p in paths])


def _stem(path: Path) -> str:
    """The file's stem; of a glob, what is left of it without the wild parts."""
    plain = re.sub(r"[*?]+|\[[^\]]*\]", "", path.stem).strip("-_. ")
    parents = (re.sub(r"[*?\[\]]+", "", parent.name) for parent in path.parents)
    return plain or next(filter(None, parents), "data")


def _parquet(name: str, paths: list[str]) -> Found:
    spelled = parquet.columns(name, paths)
    typed = _typed(spelled) | {"refused": parquet.nested(spelled)}
    return Found(name=name, kind="parquet", source=tuple(paths), **typed)


def _csv(found: Found, facts: Schema | None) -> Table:
    """A CSV is read as the schema says; its first line only tells where each column is.

    That line could be a row if the file has no header: so nothing of it is ever shown.
    """
    if facts is None or not facts.columns:
        raise BadParameter(
            f"`{found.name}` is a CSV: it needs a schema with types",
            why="what a column holds would have to be guessed from its values",
            fix='schema=dp.Schema(columns={"age": dp.bounds(0, 125), "city": dp.column("text")})',
        )
    assert isinstance(found.source, tuple)
    headers = {_header(path, facts) for path in found.source}
    if len(headers) > 1:
        raise BadParameter(f"the files of `{found.name}` do not have the same first line")
    ((delimiter, header),) = headers
    missing = [column for column in facts.columns if column not in header]
    twice = [c for c in facts.columns if sum(h.lower() == c.lower() for h in header) > 1]
    if missing or twice:
        fault = f"no `{missing[0]}`" if missing else f"`{twice[0]}` more than once"
        raise BadParameter(
            f"the first line of `{found.name}` has {fault}",
            why="the first line of a CSV names its columns, and the schema must use the same names",
        )
    declared = dict.fromkeys(facts.columns)
    table = described(Found(name=found.name, kind="csv", types=declared, source=()), facts)
    return Table(**vars(table) | {"source": found.source, "header": header, "delimiter": delimiter})


def _header(path: str, facts: Schema) -> tuple[str, tuple[str, ...]]:
    """The first line, cut by whichever of the usual separators finds most of the schema's names."""
    try:
        with Path(path).open("rb") as file:  # as bytes: no row is decoded with it
            line = file.readline(1 << 20).splitlines()[0].decode("utf-8-sig")
        cuts = [(mark, tuple(next(csv.reader([line], delimiter=mark), ()))) for mark in ",;\t|"]
    except (OSError, IndexError, UnicodeDecodeError, csv.Error):
        cuts = []
    if not cuts:
        raise BadParameter(f"the first line of {Path(path).name} cannot be read as UTF-8 CSV")
    return max(cuts, key=lambda cut: len(set(cut[1]) & set(facts.columns)))


# ---- frames


def _pandas(frame: Any, name: str | None, _schema: Schema | None) -> list[Found]:
    if not hasattr(frame, "dtypes") or not hasattr(frame, "columns"):
        raise BadParameter("a pandas Series is one column, not a table", fix="series.to_frame()")
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtra.of("PyArrow, by which frames are read,", extra="frames")
    labels = check_names(list(frame.columns), table=name or "data")
    dtypes = {label: str(kind) for label, kind in zip(labels, frame.dtypes, strict=True)}
    typed = _typed(dtypes) | {"types": {n: _pandas_type(dtype) for n, dtype in dtypes.items()}}
    likely = {label: "bool" for label, dtype in dtypes.items() if dtype == "bool"}
    return [Found(name=name or "data", kind="pandas", likely=likely, source=frame, **typed)]


def _pandas_type(dtype: str) -> str | None:
    """What a pandas dtype says that no missing value could have changed.

    One missing value turns whole numbers into floats and truth values into objects; so all NumPy
    numbers count as float, and a NumPy truth value needs the schema's word.
    """
    if re.fullmatch(r"u?int\d+|float\d+", dtype):
        return "float"
    return None if dtype == "bool" else type_of(dtype)


def _polars(frame: Any, name: str | None, _schema: Schema | None) -> list[Found]:
    if not hasattr(frame, "collect_schema"):
        raise BadParameter("a Polars Series is one column, not a table", fix="series.to_frame()")
    typed = _typed({column: str(kind) for column, kind in frame.collect_schema().items()})
    return [Found(name=name or "data", kind="polars", source=frame, **typed)]


def _arrow(table: Any, name: str | None, _schema: Schema | None) -> list[Found]:
    if not hasattr(table, "schema") or hasattr(table, "read_next_batch"):
        raise BadParameter(
            "a PyArrow array or stream is no table that can be asked twice",
            fix="reader.read_all()",
        )
    called = name or "data"
    labels = check_names(list(table.schema.names), table=called)
    typed = _typed({n: str(kind) for n, kind in zip(labels, table.schema.types, strict=True)})
    return [Found(name=called, kind="arrow", source=table, **typed)]


# ---- connections


def _duckdb(source: Any, name: str | None, schema: Schema | None) -> list[Found]:
    if hasattr(source, "columns"):  # a relation: a question that was not run yet
        names = check_names(list(source.columns), table=name or "data")
        typed = _typed({n: str(kind) for n, kind in zip(names, source.types, strict=True)})
        return [Found(name=name or "data", kind="duckdb_relation", source=source, **typed)]
    within = _place(source)
    listing = (
        "SELECT table_name, column_name, data_type FROM information_schema.columns "
        "WHERE table_catalog = ? AND table_schema = ? ORDER BY table_name, ordinal_position"
    )
    shapes: dict[str, dict[str, str]] = {}
    for table, column, kind in source.cursor().execute(listing, within).fetchall():
        shapes.setdefault(table, {})[column] = kind
    return [
        Found(name=t, kind="duckdb", source=source, inner=t, within=within, **_typed(shapes[t]))
        for t in _chosen(list(shapes), name, schema)
    ]


def _place(connection: Any) -> tuple[str, str]:
    """The database and schema that the user is in; a cursor would start in the first ones."""
    import duckdb

    try:
        (found,) = connection.sql("SELECT current_database(), current_schema()").fetchall()
    except duckdb.Error:
        raise BadParameter(
            "this DuckDB connection is busy or closed",
            why="which schema it is in cannot be asked before its last result is fetched",
            fix="connection.fetchall(), and then open it",
        ) from None
    return (str(found[0]), str(found[1]))


def _postgres_at(address: str, name: str | None, schema: Schema | None) -> list[Found]:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra.of("psycopg, which speaks to Postgres,", extra="postgres") from None
    try:
        connection = psycopg.connect(address)
    except psycopg.Error:
        raise BadParameter("no Postgres server answers at that address, or not to you") from None
    with connection:
        return _postgres(connection, name, schema, held=address)


def _postgres(
    source: Any, name: str | None, schema: Schema | None, held: object = None
) -> list[Found]:
    idle = source.info.transaction_status == 0
    shapes: dict[str, dict[str, str]] = {}
    exact: dict[str, dict[str, str]] = {}
    places = set()
    for place, table, column, kind, spelled in source.execute(postgres.LISTING).fetchall():
        places.add(place)
        shapes.setdefault(table, {})[column] = kind
        exact.setdefault(table, {})[column] = spelled
    if idle and not source.autocommit:
        source.rollback()  # leave the connection as it was found
    there = held or postgres.address(source)
    return [
        Found(name=t, kind="postgres", source=there, inner=t, within=tuple(places), **typed)
        for t in _chosen(list(shapes), name, schema)
        for typed in [_typed(shapes[t]) | {"doubtful": identity.doubtful(exact[t])}]
    ]


def _spark(frame: Any, name: str | None, _schema: Schema | None) -> list[Found]:
    from pyspark import __version__ as version

    if not hasattr(frame, "createGlobalTempView") or "DataFrame" not in type(frame).__name__:
        raise BadParameter("this Spark object is no DataFrame", fix='spark.table("people")')
    called = name or "data"
    if frame.isStreaming:
        raise BadParameter(
            f"`{called}` is a stream: its rows change while they are counted",
            fix='frame.writeStream.toTable("people"), then spark.table("people")',
        )
    remote = type(frame).__module__.startswith("pyspark.sql.connect")
    if remote and tuple(map(int, version.split(".")[:2])) < (4, 3):
        raise BadParameter(
            "Spark Connect has sessions that can be had for one question from pyspark 4.3 on",
            fix='pip install "pyspark>=4.3"',
        )
    check_names([column for column, _ in frame.dtypes], table=called)
    return [Found(name=called, kind="spark", source=frame, **_typed(dict(frame.dtypes)))]


def _ibis(source: Any, name: str | None, schema: Schema | None) -> list[Found]:
    """What leads to an engine that we speak is looked at as such; the rest by Ibis's types."""
    from . import ibis_sources as ibis

    if ibis.is_connection(source):
        client = ibis.client(source)
        if client is not None:
            return _of_client(client, name, schema)
        chosen = _chosen(ibis.names(source), name, schema)
        return [each for t in chosen for each in _ibis(ibis.table(source, t), t, None)]
    place, inner = ibis.place(source)
    called = name or ibis.own_name(source)
    if isinstance(place, ibis.Remote):
        spelled = {n: str(kind) for n, kind in source.schema().items() if kind is not None}
        vague = {n: kind for n, kind in _typed(spelled)["doubtful"].items() if not place.types[n]}
        typed: dict[str, Any] = {"types": place.types, "doubtful": vague}
        return [Found(name=called, kind="ibis", source=place, ibis=source, **typed)]
    (found,) = _of_client(place, inner or called, None)
    return [replace(found, name=called, ibis=source)]


def _of_client(place: object, name: str | None, schema: Schema | None) -> list[Found]:
    """A text is an address of Postgres here, however it is written."""
    if isinstance(place, str):
        return _postgres_at(place, name, schema)
    return _found(place, name, schema)


def _chosen(found: list[str], name: str | None, schema: Schema | None) -> list[str]:
    """Which tables of a connection are meant: the one named, those of the schema, or all."""
    if not found:
        raise BadParameter("this connection has no tables")
    wanted = [name] if name is not None else list(schema.tables) if schema is not None else []
    for each in wanted:
        if each not in found:
            raise UnknownName.of("table", each, known=found)
    return wanted or found


_LOOKS: Final[dict[str, Callable[[Any, str | None, Schema | None], list[Found]]]] = {
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _arrow,
    "duckdb": _duckdb,
    "psycopg": _postgres,
    "pyspark": _spark,
    "ibis": _ibis,
}
