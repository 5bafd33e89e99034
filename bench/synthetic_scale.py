"""Synthetic data of large tables: CPU seconds of all threads and processes, and peak memory.

    python -m bench synthetic_scale               10⁷ rows × 15 columns, and 10⁵ rows × 100 columns
    python -m bench.synthetic_scale rows 1000000  other sizes
    python -m bench.synthetic_scale columns 20000 tree
    python -m bench.synthetic_scale spark 1000000

The rows are those of the Adult data drawn again at random, in a Parquet file; the columns are a
mixture of whole and real numbers, text and dates, with missing values, in groups of five that
depend on each other. Spark has two executors of one core each on this machine.
"""

import datetime as dt
import os
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

import duckdb

import deniable as dp

from .synthetic import DELTA, facts

FOLDER = Path(tempfile.gettempdir()) / "deniable-bench"
SPEND = dp.epsilon(1.0, delta=DELTA)


def main():
    """Print the figures that take minutes."""
    rows()
    columns()


def rows(count=10_000_000):
    """A tree of 15 columns in DuckDB."""
    adult = dp.load_adult(split="all")
    made(f"rows-{count}", drawn_again(adult, count), adult=adult)
    schema = dp.Schema(columns={name: facts(adult, name) for name in adult.column_names})
    run(str(FOLDER / f"rows-{count}.parquet"), schema, "tree", bins=32)


def drawn_again(adult, count):
    size = adult.num_rows
    return (
        f"SELECT a.* EXCLUDE r FROM (SELECT hash(i) % {size} AS k FROM range({count}) t(i)) "
        "JOIN (SELECT *, row_number() OVER () - 1 AS r FROM adult) a ON a.r = k"
    )


def columns(count=100_000, methods=("tree", "adaptive")):
    """A hundred mixed columns."""
    kinds = [kind(k) for k in range(100)]
    text = ", ".join(f"{expression} AS {name}" for name, expression, _ in kinds)
    made(f"columns-{count}", f"SELECT {text} FROM range({count}) t(i)")
    schema = dp.Schema(columns={name: known for name, _, known in kinds})
    for method in methods:
        run(str(FOLDER / f"columns-{count}.parquet"), schema, method)


def kind(k):
    """Name, SQL and facts of a column."""
    level = f"((hash(i * 31 + {k // 5}) % 997) + (hash(i * 17 + {k}) % 300))"
    day = dt.date(2020, 1, 1)
    value, known = [
        (f"({level} % 1000)::INTEGER", dp.bounds(0, 999, type="int")),
        (f"{level} / 13.0", dp.bounds(0.0, 100.0)),
        (f"'v' || ({level} // 100)", dp.keys([f"v{j}" for j in range(13)])),
        (f"DATE '{day}' + ({level})::INTEGER", dp.bounds(day, dt.date(2023, 12, 31), type="date")),
    ][k % 4]
    return f"c{k}", f"CASE WHEN hash(i * 3 + {k}) % 20 > 0 THEN {value} END", known


def made(name, query, **tables):
    """A Parquet file with the rows of a query."""
    path = FOLDER / f"{name}.parquet"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = duckdb.connect()
        for table, held in tables.items():
            connection.register(table, held)
        connection.execute(f"COPY ({query}) TO '{path}'")
    return path


def run(source, schema, method, **options):
    s = dp.open(source, unit=dp.rows(), budget=SPEND, schema=schema, name="t")
    start = time.process_time()
    y = s.synthesize(list(schema.columns), spend=SPEND, method=method, **options)
    cpu = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{y.total:,.0f} rows × {len(schema.columns)} columns, {method}: {cpu:.1f} CPU s, "
        f"peak {peak:.2f} GB, {len(y.measured)} marginals measured",
        flush=True,
    )


def spark(count=1_000_000):
    """A tree of 15 columns, counted in the executors."""
    from .spark import stages, started

    adult = dp.load_adult(split="all")
    path = made(f"rows-{count}", drawn_again(adult, count), adult=adult)
    schema = dp.Schema(columns={name: facts(adult, name) for name in adult.column_names})
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = started()
    try:
        frame = session.read.parquet(str(path)).repartition(4)
        run(frame, schema, "tree", bins=32)
        ran = stages(session).values()
        print(f"  Spark: {len(ran)} stages, {sum(s['CPU s'] for s in ran):.1f} CPU s in JVM tasks")
    finally:
        session.stop()
        shutil.rmtree(os.environ["SPARK_HOME"], ignore_errors=True)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"  all processes of the cluster: {children.ru_utime + children.ru_stime:.1f} CPU s")


if __name__ == "__main__":
    what, *given = sys.argv[1:] or [""]
    numbers = [int(each) for each in given if each.isdigit()]
    methods = [each for each in given if not each.isdigit()]
    if what == "columns":
        columns(*numbers, **({"methods": methods} if methods else {}))
    elif what in ("rows", "spark"):
        {"rows": rows, "spark": spark}[what](*numbers)
    else:
        main()
