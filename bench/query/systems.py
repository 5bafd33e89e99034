"""Each system's answer to the same question, as text that its own Python runs.

Every text defines `ask(path)`, which gives rows of (group, count, mean); PERSON says whether ten
rows of a person are protected together, or single rows. Imports are part of starting up.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class System:
    """One peer: what it is called, its text, its packages, how often it is asked."""

    name: str
    code: str
    packages: tuple[str, ...] = ()
    releases: int = 5
    """How many answers errors are taken from; 1: only the cold process is measured."""
    large: bool = True
    """Whether ten million rows are bearable."""
    rows: bool = True
    """Whether single rows can be protected."""
    counts: bool = True
    """Whether its counts of people's rows estimate the same as ours: at most ten a person."""
    same_promise: bool = True
    """Whether it bounds what a person contributes."""
    environment: dict[str, str] = field(default_factory=dict)


PLAIN = """
import duckdb
engine = duckdb.connect()
engine.execute("SET enable_progress_bar = false")
def ask(path):
    clipped = "least(greatest(amount, 0), 100)"
    return engine.execute(
        f"SELECT grp, count(*), avg({clipped}), sum({clipped}) FROM read_parquet('{path}') "
        "GROUP BY grp ORDER BY grp").fetchall()
"""

OURS = """
import deniable as dp
SCHEMA = dp.Schema(columns={"grp": dp.keys(range(100)), "amount": dp.bounds(0, 100, missing=0)})
UNIT = dp.person("user_id", rows=10) if PERSON else dp.rows()
QUESTION = "SELECT grp, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS a FROM t GROUP BY grp"
def session(path):
    return dp.open(path, unit=UNIT, budget=dp.epsilon(EPSILON), schema=SCHEMA, name="t")
def ask(path):
    found = session(path).sql(QUESTION).release(spend=dp.epsilon(EPSILON))
    return [(row["grp"], row["n"], row["a"]) for row in found.rows()]
"""

EXPLAIN = """
query = session(PATH).sql(QUESTION)
times = []
for i in range(9):
    before = time.process_time()
    query.explain(spend=dp.epsilon(EPSILON / (2 + i)))
    times.append(time.process_time() - before)
print("RESULT" + json.dumps({"first": times[0], "least": min(times)}))
"""

# In turns with plain DuckDB, whose `ask` takes the place of ours, so that both have the same luck.
OPENED = (
    PLAIN
    + """
def timed(work):
    before = time.process_time()
    work()
    return time.process_time() - before
theirs, ours, opening = [], [], []
for path in [TINY] + [PATH] * TIMES:
    theirs.append(timed(lambda: ask(path)))
    opening.append(timed(lambda: session(path)))
    held = session(path)
    ours.append(timed(lambda: held.sql(QUESTION).release(spend=dp.epsilon(EPSILON)).rows()))
least = [min(times[1:]) for times in (theirs, ours, opening)]
print("RESULT" + json.dumps(dict(zip(("plain", "asked", "opening"), least))))
"""
)

OPENDP = """
import opendp.prelude as dp, polars as pl
dp.enable_features("contrib")
def ask(path):
    identifier = {"identifier": pl.col("user_id")} if PERSON else {}
    context = dp.Context.compositor(
        data=pl.scan_parquet(path), privacy_unit=dp.unit_of(contributions=1, **identifier),
        privacy_loss=dp.loss_of(epsilon=EPSILON), split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=20_000_000),
                 dp.polars.Margin(by=["grp"], max_length=20_000_000, max_groups=100)])
    keys = pl.LazyFrame({"grp": range(100)}, schema={"grp": pl.Int32})
    amount = pl.col("amount").fill_nan(0.0).fill_null(0.0)
    table = context.query()
    table = table.truncate_per_group(10) if PERSON else table
    query = table.group_by("grp").agg(
        dp.len().alias("n"), amount.dp.sum((0.0, 100.0)).alias("s")).with_keys(keys)
    frame = query.release().collect().sort("grp")
    return [(g, n, min(max(s / max(n, 1), 0.0), 100.0))
            for g, n, s in frame.select("grp", "n", "s").iter_rows()]
"""

DIFFPRIVLIB = """
# It protects rows. Ten rows a person are bought by a tenth of the ε; nobody holds them to ten.
import warnings
warnings.simplefilter("ignore")
import pandas as pd, diffprivlib.tools as tools
def ask(path):
    part = EPSILON / 3 / (10 if PERSON else 1)
    rows = []
    for g, own in pd.read_parquet(path).groupby("grp")["amount"]:
        values = own.to_numpy()
        n = tools.count_nonzero(values == values, epsilon=part)
        tools.sum(values, epsilon=part, bounds=(0, 100))
        rows.append((g, n, tools.mean(values, epsilon=part, bounds=(0, 100))))
    return rows
"""

PIPELINEDP = """
import pandas as pd, pipeline_dp
def ask(path):
    table = pd.read_parquet(path)
    data = list(zip(table["user_id"].tolist(), table["grp"].tolist(), table["amount"].tolist()))
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=1e-12)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    metrics = pipeline_dp.Metrics
    params = pipeline_dp.AggregateParams(
        metrics=[metrics.COUNT, metrics.SUM, metrics.MEAN],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE, max_partitions_contributed=10,
        max_contributions_per_partition=1, min_value=0, max_value=100)
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda r: r[0], partition_extractor=lambda r: r[1],
        value_extractor=lambda r: r[2])
    result = engine.aggregate(data, params, extractors, public_partitions=list(range(100)))
    budget.compute_budgets()
    return sorted((g, m.count, m.mean) for g, m in result)
"""

SMARTNOISE = """
import pandas as pd
from snsql import Privacy, from_df
QUESTION = "SELECT grp, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS a FROM s.t GROUP BY grp"
def ask(path):
    table = pd.read_parquet(path)
    meta = {"": {"s": {"t": {
        "max_ids": 10 if PERSON else 1, "row_privacy": not PERSON, "sample_max_ids": PERSON,
        "censor_dims": False, "clamp_columns": True,
        "user_id": {"type": "int", "private_id": PERSON}, "grp": {"type": "int"},
        "amount": {"type": "float", "lower": 0, "upper": 100}}}}}
    # Its ε is a column's: spend on each so much that it says that all together cost ours.
    tried = from_df(table[:9], privacy=Privacy(epsilon=1.0, delta=1e-9), metadata=meta)
    price, _ = tried.get_privacy_cost(QUESTION)
    reader = from_df(table, privacy=Privacy(epsilon=EPSILON / price, delta=1e-9), metadata=meta)
    return sorted((g, n, a) for g, n, s, a in reader.execute(QUESTION)[1:])
"""

TUMULT = """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID, KeySet, MaxRowsPerID, PureDPBudget, QueryBuilder, Session)
spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", "4")
    .config("spark.driver.extraJavaOptions", "-Dio.netty.tryReflectionSetAccessible=true")
    .getOrCreate())
def ask(path):
    half = PureDPBudget(EPSILON / 2)
    frame = spark.read.parquet(path).selectExpr("user_id", "grp", "coalesce(amount, 0) AS amount")
    session = Session.from_dataframe(
        privacy_budget=PureDPBudget(EPSILON), source_id="t", dataframe=frame,
        protected_change=AddRowsWithID("user_id"))
    by = KeySet.from_dict({"grp": list(range(100))})
    table = QueryBuilder("t").enforce(MaxRowsPerID(10)).groupby(by)
    answers = [table.count(name="a"), table.sum("amount", 0, 100, name="a")]
    counts, sums = ({row["grp"]: row["a"] for row in session.evaluate(each, half).collect()}
                    for each in answers)
    return [(g, n, min(max(sums[g] / max(n, 1), 0.0), 100.0)) for g, n in counts.items()]
"""

PEERS = (
    System(name="OpenDP 0.16 (Polars)", code=OPENDP, packages=("opendp[polars]==0.16.0",)),
    System(
        name="diffprivlib",
        code=DIFFPRIVLIB,
        packages=("diffprivlib", "scikit-learn<1.6", "pandas", "pyarrow"),
        counts=False,
        same_promise=False,
    ),
    System(
        name="PipelineDP (local)",
        code=PIPELINEDP,
        packages=("pipeline-dp", "pandas", "pyarrow"),
        releases=2,
        large=False,
        rows=False,
        counts=False,
    ),
    System(
        name="smartnoise-sql",
        code=SMARTNOISE,
        packages=("smartnoise-sql", "pyarrow"),
        releases=3,
        large=False,
    ),
    System(
        name="Tumult Analytics",
        code=TUMULT,
        packages=("tmlt.analytics",),
        releases=1,
        large=False,
        rows=False,
    ),
)
