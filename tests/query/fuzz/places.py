"""Where hostile tables are put: each engine and each kind of file, to open sessions and to ask."""

import dataclasses
import functools
import itertools
from types import MappingProxyType

from sqlglot import exp

import deniable as dp
from deniable import session as core
from deniable.curator import Curator
from deniable.query import execute as running
from deniable.query.backends.engine import engine_for, tables_of
from deniable.query.compile import nodes as sql
from deniable.query.compile import statements
from deniable.session.sources.arrow_tables import ArrowTable
from deniable.session.sources.csv_files import CsvFiles
from deniable.session.sources.duckdb_tables import DuckDBTable
from deniable.session.sources.parquet_files import ParquetFiles
from deniable.session.sources.postgres_tables import PostgresTable
from deniable.session.sources.spark_frames import SparkFrame

from .hostile import EMPTY, SCHEMA

SECRET = "the same for all"


class Place:
    """One kind of source; data sets are written to it once, when they are first needed."""

    def __init__(self, kind, *, source=None, folder=None):
        self.kind, self.source, self.folder = kind, source, folder
        self._held, self._numbers = {}, itertools.count()

    def __call__(self, data, *, unit, budget):
        """A session over a data set."""
        return Curator(**parts(data, unit, budget, tables=self.tables(data, unit)))

    def tables(self, data, unit):
        """The tables as a session knows them, by name."""
        if id(data) not in self._held:
            number = next(self._numbers)
            stored = {
                name: _PUT[self.kind](self, f"w{number}_{name}", table)
                for name, table in data.tables.items()
            }
            self._held[id(data)] = stored, data  # data is kept, so that its id stays its own
        stored, _ = self._held[id(data)]
        known = parts(data, unit, dp.epsilon(1))["tables"]
        return {name: dataclasses.replace(t, source=stored[name]) for name, t in known.items()}

    def asked(self, plan, worlds):
        """For each data set, what each statement of a plan finds; the hash is keyed alike.

        Data sets whose columns are stored alike share one statement but for what is after FROM.
        """
        found = {}
        for ids in dict.fromkeys(world.ids for world in worlds):
            alike = [world for world in worlds if world.ids == ids]
            found |= dict(zip(map(id, alike), self._asked(plan, alike), strict=True))
        return [found[id(world)] for world in worlds]

    def _asked(self, plan, worlds):
        relation, unit = plan.question.relation, plan.question.unit
        held = [tables_of(relation, self.tables(world, unit)) for world in worlds]
        with engine_for(held[0])(held[0]) as engine:
            stored = engine.stored()
            write = engine.dialect.write
            asked = statements(plan, dialect=engine.dialect, tables=stored, secret=SECRET)
            texts = []
            for tables in held:
                new = {write(stored[t.name].source): write(self._source(engine, t)) for t in tables}
                texts.append([_replaced(each.text, new) for each in asked])
            found = self._run(engine, texts)
        return [list(zip(asked, rows, strict=True)) for rows in found]

    def _source(self, engine, table):
        if self.kind == "spark":  # where every session of the cluster sees it
            return exp.table_(table.source.inner, db="global_temp", quoted=True)
        if self.kind == "postgres":
            return sql.table(table.source.inner)
        return engine._described(table)[0]

    def _run(self, engine, texts):
        """All data sets in one state; on Spark, where a statement is dear, in one statement."""
        if self.kind != "spark":
            flat = iter(engine.run([text for each in texts for text in each]))
            return [list(itertools.islice(flat, len(each))) for each in texts]
        united = [
            " UNION ALL ".join(f"SELECT {w} AS w, * FROM ({t})" for w, t in enumerate(column))
            for column in zip(*texts, strict=True)
        ]
        found = engine.run(united)
        return [[[r[1:] for r in rows if r[0] == w] for rows in found] for w in range(len(texts))]


def _replaced(text, new):
    for old, fresh in new.items():
        text = text.replace(old, fresh)
    return text


def cells(plan, found):
    """What was found as {tally: {group or (group, bin): whole number}}, without zeros."""
    read = running._cells(plan, found)
    made = {
        name: {group: n for group, n in zip(read.groups, column, strict=True) if n}
        for name, column in read.numbers.items()
    }
    for name, table in read.histograms.items():
        spots = zip(*table.nonzero(), strict=True)
        made[name] = {(read.groups[row], bin_): int(table[row, bin_]) for row, bin_ in spots}
    return made


# ---- sessions


def opened(data, *, unit, budget):
    """A session over the tables as they are: Arrow in memory."""
    return Curator(**parts(data, unit, budget))


class Unreadable:
    """A source that fails the test whenever it is looked at."""

    def __getattr__(self, name):
        raise AssertionError(f"the data were touched: {name}")


def blind(*, unit, budget):
    """A session whose data nobody can read."""
    known = parts(EMPTY, unit, budget)["tables"]
    source = ArrowTable(held=Unreadable())
    tables = {n: dataclasses.replace(t, source=source) for n, t in known.items()}
    return Curator(**parts(EMPTY, unit, budget, tables=tables))


def parts(data, unit, budget, *, tables=None):
    """What a session is made of; in its ledger nothing was spent."""
    known, schema = _known(data.ids, unit)
    fresh = core.open(EMPTY.tables, unit=unit, budget=budget, schema=SCHEMA).ledger
    held = {
        n: dataclasses.replace(t, source=ArrowTable(held=data.tables[n])) for n, t in known.items()
    }
    return {"tables": MappingProxyType(tables or held), "schema": schema, "ledger": fresh}


@functools.cache
def _known(ids, unit):
    from .hostile import Data

    found = core.open(Data(ids=ids, data=()).tables, unit=unit, budget=dp.epsilon(1), schema=SCHEMA)
    return found.tables, found.schema


# ---- writing tables


def _duckdb(place, name, table):
    place.source.register("given", table)
    place.source.execute(f'CREATE TABLE "{name}" AS FROM given')
    place.source.unregister("given")
    return DuckDBTable(held=place.source, inner=name)


_POSTGRES = {"int64": "bigint", "double": "double precision", "string": "text", "bool": "boolean"}
_POSTGRES |= {"date32[day]": "date", "timestamp[us]": "timestamp"}


def _postgres(place, name, table):
    import psycopg

    listed = ", ".join(f"{_quoted(f.name)} {_POSTGRES[str(f.type)]}" for f in table.schema)
    with psycopg.connect(place.source, autocommit=True) as connection:
        connection.execute(f'CREATE TABLE "{name}" ({listed})')
        with connection.cursor().copy(f'COPY "{name}" FROM STDIN') as copy:
            for row in table.to_pylist():
                copy.write_row(list(row.values()))
    return PostgresTable(held=place.source, inner=name)


def _parquet(place, name, table):
    import pyarrow.parquet as pq

    path = place.folder / f"{name}.parquet"
    pq.write_table(table, path, row_group_size=7)
    return ParquetFiles(held=(str(path),))


def _csv(place, name, table):
    """Missing is nothing between separators; all else stands in quotes."""
    path = place.folder / f"{name}.csv"
    lines = [table.column_names, *(row.values() for row in table.to_pylist())]
    text = "".join(",".join(_cell(v) for v in line) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8", newline="")
    return CsvFiles(held=(str(path),), header=tuple(table.column_names))


def _cell(value):
    return "" if value is None or value != value else _quoted(str(value))


def _quoted(text):
    return '"' + text.replace('"', '""') + '"'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Viewed(SparkFrame):
    """A frame that every session of the cluster sees by a name."""

    inner: str


def _spark(place, name, table):
    """Through a file: rows that are given directly are made in the driver."""
    import pyarrow.parquet as pq

    path = place.folder / f"{name}.parquet"
    pq.write_table(table, path)
    frame = place.source.read.parquet(str(path))
    frame.createOrReplaceGlobalTempView(name)
    return Viewed(held=frame, inner=name)


_PUT = {"duckdb": _duckdb, "postgres": _postgres, "parquet": _parquet, "csv": _csv, "spark": _spark}
