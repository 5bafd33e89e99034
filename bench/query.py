"""Count, clipped sum and mean by 100 known groups, at most ten rows a person: time, memory, error.

    python -m bench.query             1 M and 10 M rows, against plain DuckDB and peers
    python -m bench.query 1000000     one size

Every system runs in a process of its own and reports its own CPU seconds and peak memory. A peer is
installed in an environment of its own under the temporary folder, the first time; one that cannot
be installed or run is printed as such.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

FOLDER = Path(tempfile.gettempdir()) / "deniable-bench"
EPSILON = 1.0
GROUPS, MOST_ROWS, HIGH = 100, 10, 100.0

FOOTER = """
import json, resource
usage = resource.getrusage(resource.RUSAGE_SELF)
print("RESULT" + json.dumps({
    "cpu": usage.ru_utime + usage.ru_stime, "mb": usage.ru_maxrss / 1024,
    "rows": [[int(g), float(n), float(m)] for g, n, m in rows]}))
"""

PLAIN = """
import duckdb
rows = duckdb.sql(f"SELECT grp, count(*), avg(least(greatest(amount, 0), 100)) "
                  f"FROM read_parquet('{PATH}') GROUP BY grp ORDER BY grp").fetchall()
"""

OURS = """
import deniable as dp
from deniable.curator import open as open_curator
schema = dp.Schema(columns={"grp": dp.keys(range(100)), "amount": dp.bounds(0, 100, missing=0)})
s = open_curator(PATH, unit=dp.person("user_id", rows=10), budget=dp.epsilon(EPSILON),
                 schema=schema, name="t")
r = s.sql("SELECT grp, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS a FROM t GROUP BY grp")
rows = [(x["grp"], x["n"], x["a"]) for x in r.release(spend=dp.epsilon(EPSILON)).rows()]
"""

OPENDP = """
import opendp.prelude as dp, polars as pl
dp.enable_features("contrib")
context = dp.Context.compositor(
    data=pl.scan_parquet(PATH),
    privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("user_id")),
    privacy_loss=dp.loss_of(epsilon=EPSILON),
    split_evenly_over=1,
    margins=[dp.polars.Margin(max_length=20_000_000),
             dp.polars.Margin(by=["grp"], max_length=20_000_000, max_groups=100)])
keys = pl.LazyFrame({"grp": range(100)}, schema={"grp": pl.Int32})
amount = pl.col("amount").fill_nan(0.0).fill_null(0.0)
query = context.query().truncate_per_group(10).group_by("grp").agg(
    dp.len().alias("n"), amount.dp.sum((0.0, 100.0)).alias("s")).with_keys(keys)
frame = query.release().collect().sort("grp")
rows = [(g, n, min(max(s / max(n, 1), 0.0), 100.0))
        for g, n, s in frame.select("grp", "n", "s").iter_rows()]
"""

DIFFPRIVLIB = """
# Rows, not people: ten rows a person is bought by spending a tenth on each call.
import warnings
warnings.simplefilter("ignore")
import pandas as pd, diffprivlib.tools as tools
table = pd.read_parquet(PATH)
part = EPSILON / 3 / 10
rows = []
for g, own in table.groupby("grp")["amount"]:
    values = own.to_numpy()
    n = tools.count_nonzero(values == values, epsilon=part)
    tools.sum(values, epsilon=part, bounds=(0, 100))
    rows.append((g, n, tools.mean(values, epsilon=part, bounds=(0, 100))))
"""

PIPELINEDP = """
import pandas as pd, pipeline_dp
table = pd.read_parquet(PATH)
data = list(zip(table["user_id"].tolist(), table["grp"].tolist(), table["amount"].tolist()))
budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=1e-12)
engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
params = pipeline_dp.AggregateParams(
    metrics=[pipeline_dp.Metrics.COUNT, pipeline_dp.Metrics.SUM, pipeline_dp.Metrics.MEAN],
    noise_kind=pipeline_dp.NoiseKind.LAPLACE, max_partitions_contributed=10,
    max_contributions_per_partition=1, min_value=0, max_value=100)
extractors = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda r: r[0], partition_extractor=lambda r: r[1],
    value_extractor=lambda r: r[2])
result = engine.aggregate(data, params, extractors, public_partitions=list(range(100)))
budget.compute_budgets()
rows = sorted((g, m.count, m.mean) for g, m in result)
"""

SMARTNOISE = """
import pandas as pd
from snsql import Privacy, from_df
table = pd.read_parquet(PATH)
meta = {"": {"s": {"t": {"max_ids": 10, "row_privacy": False, "sample_max_ids": True,
    "censor_dims": False, "clamp_columns": True,
    "user_id": {"type": "int", "private_id": True}, "grp": {"type": "int"},
    "amount": {"type": "float", "lower": 0, "upper": 100}}}}}
reader = from_df(table, privacy=Privacy(epsilon=EPSILON / 3, delta=1e-9), metadata=meta)
found = reader.execute("SELECT grp, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS a "
                       "FROM s.t GROUP BY grp")
rows = sorted((g, n, a) for g, n, s, a in found[1:])
"""

PEERS = {
    "OpenDP 0.16 (Polars)": (OPENDP, ["opendp[polars]==0.16.0"]),
    "diffprivlib (rows only)": (
        DIFFPRIVLIB,
        ["diffprivlib", "scikit-learn<1.6", "pandas", "pyarrow"],
    ),
    "PipelineDP (local)": (PIPELINEDP, ["pipeline-dp", "pandas", "pyarrow"]),
    "smartnoise-sql": (SMARTNOISE, ["smartnoise-sql", "pyarrow"]),
}
# Their counts estimate something else: all rows of everybody, or one row a person and group.
OTHER_COUNTS = {"diffprivlib (rows only)", "PipelineDP (local)"}
# Pure-Python loops over rows: minutes and gigabytes at 10 M.
SMALL_ONLY = {"PipelineDP (local)", "smartnoise-sql"}


def main(*sizes):
    """Print one table for each size."""
    FOLDER.mkdir(exist_ok=True)
    for size in map(int, sizes or ("1_000_000", "10_000_000")):
        path = table(size)
        truth = exact(path)
        print(
            f"{size:,} rows, 100,000 people, ε = {EPSILON:g}: CPU s, peak MB, and errors by group"
        )
        print(f"  {'':<26}{'CPU s':>8}{'MB':>8}{'×DuckDB':>9}{'count RMS':>11}{'mean error':>12}")
        floor = show("plain DuckDB, no privacy", run(sys.executable, PLAIN, path), truth, None)
        show("deniable", run(sys.executable, OURS, path), truth, floor)
        for name, (code, packages) in PEERS.items():
            if name in SMALL_ONLY and size > 1_000_000:
                print(f"  {name:<26}  not run: minutes at this size")
                continue
            python = environment(name, packages)
            show(
                name, python if isinstance(python, dict) else run(python, code, path), truth, floor
            )


def table(size):
    """Uniform people, skewed groups, amounts of which some are clipped at either end."""
    import duckdb

    path = FOLDER / f"rows-{size}.parquet"
    if not path.exists():
        with duckdb.connect() as engine:
            engine.execute("SET threads = 1; SELECT setseed(0.42)")
            engine.execute(
                "COPY (SELECT (random() * 100000)::INT AS user_id, "
                "least(99, floor(-20 * ln(1 - random())))::INT AS grp, "
                f"-40 * ln(1 - random()) - 2 AS amount FROM range({size})) TO '{path}'"
            )
    return str(path)


def exact(path):
    """Groups with each person's rows weighted down to ten: what bounded answers estimate."""
    import duckdb

    return {
        g: (n, m)
        for g, n, m in duckdb.sql(
            "SELECT grp, sum(w), sum(w * least(greatest(amount, 0), 100)) / sum(w) FROM (SELECT *, "
            f"least(1, {MOST_ROWS} / count(*) OVER (PARTITION BY user_id)) AS w "
            f"FROM read_parquet('{path}')) GROUP BY grp"
        ).fetchall()
    }


def environment(name, packages):
    """A Python with a peer in it, or why there is none."""
    home = FOLDER / "-".join(name.split()[0].lower().split())
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        venv.create(home, with_pip=True, clear=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "-q", *packages],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return {"why": "cannot be installed"}
        (home / "ready").touch()
    return python


def run(python, code, path):
    """One run of a system: its figures, or why there are none."""
    head = f"PATH, EPSILON = {path!r}, {EPSILON!r}\n"
    try:
        done = subprocess.run(
            [python, "-c", head + code + FOOTER],
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
    except subprocess.TimeoutExpired:
        return {"why": "took more than 15 minutes"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    if not lines:
        last = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
        return {"why": f"cannot run: {last[:90]}"}
    return json.loads(lines[0].removeprefix("RESULT"))


def show(name, found, truth, floor):
    """One line; returns the CPU seconds."""
    if "why" in found:
        print(f"  {name:<26}  {found['why']}")
        return None
    rows = {int(g): (n, m) for g, n, m in found["rows"]}
    squares = [(rows[g][0] - n) ** 2 for g, (n, _) in truth.items() if g in rows]
    errors = [abs(rows[g][1] - m) for g, (_, m) in truth.items() if g in rows]
    ratio = f"{found['cpu'] / floor:.1f}" if floor else ""
    told = (f"{statistics.mean(squares) ** 0.5:.1f}", f"{statistics.median(errors):.3f}")
    if floor is None:
        told = ("", "")
    if name in OTHER_COUNTS:
        told = ("–", told[1])
    print(
        f"  {name:<26}{found['cpu']:>8.2f}{found['mb']:>8.0f}{ratio:>9}{told[0]:>11}{told[1]:>12}"
    )
    return found["cpu"]


if __name__ == "__main__":
    main(*sys.argv[1:])
