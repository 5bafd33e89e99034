"""Puts rows into an engine, and questions to it."""

import dataclasses
import itertools
from types import MappingProxyType

import pyarrow as pa
from tests.query.executing import execute

from deniable.query.algebra import Project, Read, Scan
from deniable.query.backends import engine_for
from deniable.query.compile import Relations
from deniable.query.integers import in_integers
from deniable.schema import Column
from deniable.session.sources.arrow_tables import ArrowTable
from deniable.session.sources.postgres_tables import PostgresTable
from deniable.session.sources.spark_frames import SparkFrame
from deniable.session.tables import Table

_numbers = itertools.count()

ARROW = {
    "int": pa.int64(),
    "float": pa.float64(),
    "text": pa.string(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
_POSTGRES = {
    "int": "bigint",
    "float": "double precision",
    "text": "text",
    "bool": "boolean",
    "date": "date",
    "timestamp": "timestamp",
}


@dataclasses.dataclass(frozen=True)
class Holding:
    """One engine; `place` is its address or session."""

    kind: str
    place: object = None

    def table(self, name, rows, facts, types=None):
        """A table with these rows (dictionaries); `types` says how columns are stored."""
        types = types or {column: fact.type for column, fact in facts.items()}
        fields = [pa.field(column, ARROW[kind]) for column, kind in types.items()]
        columns = {c: [row.get(c) for row in rows] for c in types}
        arrow = pa.table(
            {f.name: pa.array(columns[f.name], f.type) for f in fields}, schema=pa.schema(fields)
        )
        source = ArrowTable(held=arrow)
        if self.kind == "postgres":
            source = PostgresTable(held=self.place, inner=_into_postgres(self.place, types, rows))
        elif self.kind == "spark":
            source = SparkFrame(held=_into_spark(self.place, arrow))
        known = MappingProxyType({c: f for c, f in facts.items() if isinstance(f, Column)})
        return Table(name=name, columns=known, source=source)

    def values(self, table, named):
        """The values of expressions, row by row, in the order of the column `i`."""
        scan = scan_of(table)
        order = next(c for c in scan.columns if c.name == "i")
        relation = Project(source=scan, named=(("i", order), *named))
        with engine_for([table])([table]) as engine:
            made = Relations(engine.dialect, engine.stored()).rows(relation)
            (found,) = engine.run([engine.dialect.write(made.select)])
        return [row[1:] for row in sorted(found, key=lambda row: row[0])]


def scan_of(table, person=None):
    reads = tuple(Read(name=c, source=c, facts=f) for c, f in table.columns.items() if c != person)
    who = None if person is None else Read(name=f"{person} id", source=person)
    return Scan(table=table.name, reads=reads, id=who)


def cells_of(question, tables, **options):
    plan = in_integers(question, **options)
    return plan, execute(plan, tables={table.name: table for table in tables})


def _into_postgres(address, types, rows):
    import psycopg

    name = f"hostile_{next(_numbers)}"
    columns = ", ".join(f'"{c}" {_POSTGRES[kind]}' for c, kind in types.items())
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'CREATE TABLE "{name}" ({columns})')
        with connection.cursor().copy(f'COPY "{name}" FROM STDIN') as copy:
            for row in rows:
                copy.write_row([row.get(c) for c in types])
    return name


def _into_spark(session, arrow):
    """Through a file: rows that are given directly are made in the driver."""
    import tempfile

    import pyarrow.parquet as pq

    path = f"{tempfile.mkdtemp(prefix='spark-')}/rows.parquet"
    pq.write_table(arrow, path)
    return session.read.parquet(path)
