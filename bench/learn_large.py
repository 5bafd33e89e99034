"""Learning from ten million rows: CPU seconds and memory of one fit through a session.

    python -m bench.learn_large                   10⁷ rows × 20 features in Parquet, by DuckDB
    python -m bench.learn_large 1000000           so many rows
    python -m bench.learn_large 1000000 spark     the same fit on a Spark of two executors

CPU time is that of this process and of its children; of Spark, the driver's and the executors'.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import deniable as dp
from deniable.learn import LogisticRegression

WIDE = 20
FOLDER = Path(tempfile.gettempdir()) / "deniable-bench"
NAMES = [f"x{i}" for i in range(WIDE)]
FACTS = {**{name: dp.bounds(-1, 1) for name in NAMES}, "y": dp.keys([0, 1])}


def made(rows):
    """A Parquet file with that many rows, which a logistic model explains."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"learn-{rows}.parquet"
    if path.exists():
        return path
    random = np.random.default_rng(0)
    theta, writer = random.normal(size=WIDE), None
    for start in range(0, rows, 10**6):
        X = random.uniform(-1, 1, (min(10**6, rows - start), WIDE))
        y = (X @ theta + random.logistic(size=len(X)) > 0).astype(np.int64)
        part = pa.table({**dict(zip(NAMES, X.T, strict=True)), "y": y})
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    writer.close()
    return path


def used():
    """CPU seconds of this process and of its children that have ended, and the most memory."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in found), max(
        each.ru_maxrss for each in found
    )


def fitted(source):
    session = dp.open(
        source, unit=dp.rows(), budget=dp.mu(1.0), schema=dp.Schema(columns=FACTS), name="data"
    )
    return session.fit(LogisticRegression(), target="y", spend=dp.mu(0.5))


def main():
    """One line."""
    rows = next((int(each) for each in sys.argv[1:] if each.isdigit()), 10_000_000)
    path = made(rows)
    before, wall = used()[0], time.monotonic()
    if "spark" in sys.argv:
        from bench.spark import stages, started

        spark = started()
        model = fitted(spark.read.parquet(str(path)))
        took = sum(each["CPU s"] for each in stages(spark).values())
        where = f"Spark, {took:.0f} CPU s of the executors' Java"
        spark.stop()
    else:
        model, where = fitted(str(path)), "DuckDB"
    cpu, most = used()
    test = pq.ParquetFile(path).read_row_group(0).slice(0, 100_000)
    print(
        f"{rows:,} rows × {WIDE}, {where}: {cpu - before:.0f} CPU s here, "
        f"{time.monotonic() - wall:.0f} s, {most / 2**20:.2f} GB, accuracy "
        f"{model.score(test, test['y'].to_pylist()):.4f}"
    )


if __name__ == "__main__":
    main()
