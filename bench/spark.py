"""What a question costs on Spark: stages, tasks, records and bytes shuffled, executors' CPU s.

    python -m bench.spark                    10⁶ rows
    python -m bench.spark 1000000 10000000   these sizes

A cluster of two executors of one core each is started on this machine. Rows are of one tenth as
many persons, in 100 groups; each question is asked for COUNT, SUM and AVG by group, of files as
they are and of a table that is bucketed by person.
"""

import os
import shutil
import sys
import tempfile
from itertools import product
from pathlib import Path

import duckdb
import pyspark
from pyspark.sql import DataFrame, SparkSession

import deniable as dp
from deniable.curator import open as open_curator
from deniable.query.execute import compiled_for, engine_for
from deniable.session.sources import tables

FOLDER = Path(tempfile.gettempdir()) / "deniable-bench"
KNOWN = {"grp": dp.keys(range(100)), "amount": dp.bounds(0, 100, missing=0)}
HIDDEN = {"grp": dp.column("int"), "amount": dp.bounds(0, 100, missing=0)}
ASKED = "SELECT grp, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS a FROM t GROUP BY grp"
QUESTIONS = {
    "rows": (dp.rows(), KNOWN, ASKED),
    "persons": (dp.person("user_id", rows=10), KNOWN, ASKED),
    "persons, private keys": (dp.person("user_id", rows=10, groups=5), HIDDEN, ASKED),
    "persons, a median by group": (
        dp.person("user_id", rows=10),
        KNOWN,
        "SELECT grp, MEDIAN(amount) AS m FROM t GROUP BY grp",
    ),
}
MEASURED = {
    "tasks": "numCompleteTasks",
    "records read": "inputRecords",
    "records shuffled": "shuffleWriteRecords",
    "bytes shuffled": "shuffleWriteBytes",
}


def made(rows: int) -> Path:
    """A folder of Parquet files with that many rows."""
    folder = FOLDER / f"spark-{rows}"
    if not folder.exists():
        folder.mkdir(parents=True)
        duckdb.sql("SET threads = 2")
        for part in range(4):
            duckdb.sql(
                f"COPY (SELECT (hash(i) % {rows // 10})::BIGINT AS user_id, "
                f"(hash(i * 7 + 1) % 100)::INTEGER AS grp, "
                f"(hash(i * 31 + 5) % 10000) / 100.0::DOUBLE AS amount "
                f"FROM range({rows // 4 * part}, {rows // 4 * (part + 1)}) t(i)) "
                f"TO '{folder}/{part}.parquet' (FORMAT parquet)"
            )
    return folder


def started() -> SparkSession:
    """A cluster of two executor processes; it writes where it lives."""
    home = Path(tempfile.mkdtemp(prefix="spark-home-"))
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.name != "work":
            (home / part.name).symlink_to(part)
    os.environ["SPARK_HOME"] = str(home)
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "1024m",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def stages(spark: SparkSession) -> dict[tuple[int, int], dict[str, int]]:
    """What every stage that ran has done so far."""
    store = spark._jsc.sc().statusStore()
    quantiles = getattr(store, "stageList$default$4")()
    found = store.stageList(None, False, False, quantiles, None)
    every = [found.apply(i) for i in range(found.size())]
    return {
        (each.stageId(), each.attemptId()): {
            **{said: getattr(each, name)() for said, name in MEASURED.items()},
            "CPU s": each.executorCpuTime() / 1e9,
        }
        for each in every
        if str(each.status()) == "COMPLETE"
    }


def frames(spark: SparkSession, rows: int) -> dict[str, DataFrame]:
    """The rows in files, and with all rows of a person in one bucket."""
    files = spark.read.parquet(str(made(rows)))
    files.write.bucketBy(4, "user_id").mode("overwrite").saveAsTable("bucketed")
    return {"files": files, "bucketed": spark.table("bucketed")}


def measured(spark: SparkSession, frame: DataFrame, called: str) -> dict[str, float]:
    unit, columns, text = QUESTIONS[called]
    schema = dp.Schema(columns=columns)
    budget = dp.epsilon(9, delta=1e-6)
    session = open_curator(frame, unit=unit, budget=budget, schema=schema, name="t")
    plan = session.sql(text).integers
    needed = list(tables(frame, schema=schema, unit=unit, name="t").values())
    before = stages(spark)
    with engine_for(needed)(needed) as engine:
        asked = compiled_for(plan, engine, secret="secret")
        engine.run([each.text for each in asked])
    ran = [found for key, found in stages(spark).items() if key not in before]
    totals = {name: sum(each[name] for each in ran) for name in ran[0]}
    return {"statements": len(asked), "stages": len(ran)} | totals


def main() -> None:
    sizes = [int(each) for each in sys.argv[1:] if each.isdigit()] or [1_000_000]
    spark = started()
    try:
        for rows in sizes:
            held = sum(path.stat().st_size for path in made(rows).iterdir())
            print(f"{rows:,} rows, {held / rows:.1f} bytes of Parquet a row")
            for (held_as, frame), called in product(frames(spark, rows).items(), QUESTIONS):
                figures = measured(spark, frame, called)
                told = ", ".join(f"{name} {value:,.10g}" for name, value in figures.items())
                print(f"  {held_as}, {called}: {told}", flush=True)
    finally:
        spark.stop()
        shutil.rmtree(os.environ["SPARK_HOME"], ignore_errors=True)


if __name__ == "__main__":
    main()
