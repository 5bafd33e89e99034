"""The same bounding of people, written by hand in DuckDB's SQL: what privacy itself may cost.

    python -m bench.query.twin

Ten million rows of a Parquet file that PyArrow wrote with 64-bit columns; count, sum and mean of
all rows and of 100 groups, where a person's rows weigh as ten. A twin that reads the rows of groups
once bounds as we do; one that reads them twice is told too, though a file replaced in between, or a
view that samples, breaks its bound. Each is a whole process, in turns, and the least CPU seconds of
several are compared; also without what each takes for a tiny table, which is its start. Then that
start of ours, from an empty interpreter to print.
"""

from .measuring import COLD, FOLDER, run
from .systems import System

ROWS, PART, PEOPLE, TURNS, MOST = 10_000_000, 1_000_000, 100_000, 5, 1.3
TINY, COLD_START = 1_000, 0.6

OURS = """
import deniable as dp
SCHEMA = dp.Schema(columns={"grp": dp.keys(range(100)), "amount": dp.bounds(0, 100, missing=0)})
def ask(path):
    s = dp.open(path, unit=dp.person("user_id", rows=10), budget=dp.epsilon(1), schema=SCHEMA,
        name="t")
    what, end = ("grp, ", " GROUP BY grp") if PERSON else ("", "")
    text = f"SELECT {what}COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS a FROM t{end}"
    found = s.sql(text).release(spend=dp.epsilon(1))
    str(found)
    return [(row.get("grp", 0), row["n"], row["a"]) for row in found.rows()]
"""

TWIN = """
import duckdb
ALL = '''
WITH people AS (
    SELECT user_id, count(*) AS n, sum(least(greatest(coalesce(amount, 0), 0), 100)) AS s
    FROM t WHERE user_id IS NOT NULL GROUP BY user_id)
SELECT 0, sum(n * least(1, 10 / n)), sum(s * least(1, 10 / n)) / sum(n * least(1, 10 / n))
FROM people'''
GROUPS = '''
WITH kept AS READ (
    SELECT user_id, grp, amount FROM t WHERE user_id IS NOT NULL AND grp BETWEEN 0 AND 99),
weights AS (SELECT user_id, least(1, 10 / count(*)) AS w FROM kept GROUP BY user_id)
SELECT grp, sum(w), sum(w * least(greatest(coalesce(amount, 0), 0), 100)) / sum(w)
FROM kept JOIN weights USING (user_id) GROUP BY grp ORDER BY grp'''
def ask(path):
    engine = duckdb.connect()
    engine.execute("SET enable_progress_bar = false")
    engine.execute(f"CREATE VIEW t AS FROM read_parquet('{path}')")
    return engine.execute(GROUPS if PERSON else ALL).fetchall()
"""


def main():
    """Print CPU seconds and megabytes of both, and the ratio."""
    FOLDER.mkdir(exist_ok=True)
    path = table(ROWS)
    codes = {
        "ours": OURS,
        "twin": TWIN.replace("READ", "MATERIALIZED"),
        "twin reading twice": TWIN.replace("READ", "NOT MATERIALIZED"),
    }
    systems = [System(name=name, code=code) for name, code in codes.items()]
    tiny = {s.name: run(s, table(TINY), COLD, person=False, repeats=TURNS)["cpu"] for s in systems}
    print(f"{ROWS:,} rows of {PEOPLE:,} people in Parquet, whole processes: CPU s (MB)")
    for groups in (False, True):
        found = {system.name: [] for system in systems[: 2 + groups]}
        for _ in range(TURNS):
            for system in systems[: 2 + groups]:
                found[system.name].append(run(system, path, COLD, person=groups))
        least = {name: min(each, key=lambda one: one["cpu"]) for name, each in found.items()}
        ours = least.pop("ours")
        for name, one in least.items():
            what = f"{'100 groups' if groups else 'all rows'} at {MOST} × the {name}"
            ratio, beyond = ours["cpu"] / one["cpu"], one["cpu"] - tiny[name]
            told = (
                f"{ours['cpu']:.2f} ({ours['mb']:.0f}), {name} {one['cpu']:.2f} ({one['mb']:.0f})"
            )
            print(f"{verdict(ratio, MOST)}: {what}: {ratio:.2f} × ({told})")
            print(f"      beyond the start: {(ours['cpu'] - tiny['ours']) / beyond:.2f} ×")
    cold = tiny["ours"]
    told = f"{cold:.2f} (twin {tiny['twin']:.2f})"
    print(f"{verdict(cold, COLD_START)}: one tiny question in {COLD_START} s: {told}")


def verdict(found, aim):
    """Whether what was aimed at was reached."""
    return "met" if found <= aim else "lost"


def table(size):
    """Uniform people, skewed groups, amounts of which some are clipped at either end."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = FOLDER / f"rows-{size}-arrow.parquet"
    if path.exists():
        return str(path)
    drawn = np.random.default_rng(42)
    writer = None
    for start in range(0, size, PART):  # what this process holds counts as its children's, too
        some = min(PART, size - start)
        columns = {
            "user_id": drawn.integers(0, PEOPLE, some),
            "grp": np.minimum(99, drawn.exponential(20, some)).astype(np.int64),
            "amount": drawn.exponential(40, some) - 2,
        }
        part = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    writer.close()
    return str(path)


if __name__ == "__main__":
    main()
