"""Checking and anonymizing the Adult data: ours and the peers', in one run.

Seconds are CPU seconds, ours with all threads and the least of five, coding of the columns and
building of the result included. Peers run in interpreters of their own, since they cannot be
installed together: name them in DENIABLE_PEERS, separated by colons (default: this one).

python -m bench anonymity
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import deniable as dp
from bench._adult import LADDERS, NINE, SIX
from deniable.anonymity import anonymize, check, generalize
from deniable.anonymity.hierarchies import ladder
from deniable.anonymity.tables import encoded

PEERS = Path(__file__).with_name("_anonymity_peers.py")


def main():
    """Print the tables."""
    people = complete(dp.load_adult(split="all"), rows=30_162)
    with tempfile.TemporaryDirectory() as folder:
        hand_over(people, Path(folder))
        checks(people, peer(folder, "pycanon"))
        for limit in (0, 5):
            full_domain(people, limit, peer(folder, f"anjana {limit}"))
        local(people, peer(folder, "anonypy"))
    searches(people)
    scaling()
    print("ARX, sdcMicro: not run here (Java, R)")


def complete(table, *, rows):
    """People without missing values: the usual 30,162, which no peer refuses."""
    mask = [
        all(v is not None for v in row)
        for row in zip(*(c.to_pylist() for c in table.columns), strict=True)
    ]
    return table.filter(pa.array(mask)).slice(0, rows)


def checks(people, theirs):
    print("k, ℓ, t of the table (six quasi-identifiers)      seconds      over ours")
    runs = {
        "k": (lambda: check(people, quasi=SIX), lambda r: r.k),
        "l": (lambda: check(people, quasi=SIX, sensitive="occupation"), lambda r: r.l),
        "t": (lambda: check(people, quasi=SIX, sensitive="occupation"), lambda r: r.t),
    }
    total = [0.0, 0.0]
    for name, (run, value) in runs.items():
        seconds, found = least(run)
        line("ours", name, seconds, note=f"{value(found):.6g}")
        total[0] += seconds
        if theirs and "failed" not in theirs:
            taken, other = theirs[name]
            total[1] += taken
            line("pycanon", name, taken, seconds, note=f"{other:.6g}")
    both, _ = least(lambda: check(people, quasi=SIX, sensitive=["occupation"]))
    if total[1]:
        taken = sum(theirs[name][0] for name in "klt")
        line("pycanon", "k, ℓ and t, which we take in one pass", taken, both)
    missing("pycanon", theirs)


def full_domain(people, limit, theirs):
    print(f"\nk = 5 by full-domain generalisation, {limit} % suppressed at most")
    seconds, done = least(
        lambda: anonymize(people, quasi=SIX, k=5, hierarchies=LADDERS, suppression=limit / 100)
    )
    line(
        "ours",
        "optimal",
        seconds,
        note=f"ncp {done.report.loss:.4f}, rows {done.report.measured.rows:,}",
    )
    if theirs and "failed" not in theirs:
        levels = dict(zip(SIX, theirs["levels"], strict=True))
        lost = generalize(people, levels=levels, k=5, hierarchies=LADDERS).report.loss
        note = f"ncp {lost:.4f}, rows {theirs['rows']:,}"
        line("anjana", "greedy", theirs["seconds"], seconds, note=note)
    missing("anjana", theirs)


def local(people, theirs):
    print("\nk = 5 by local recoding")
    taken = {}
    for strict, name in ((True, "strict"), (False, "relaxed")):
        taken[name], done = least(
            lambda strict=strict: anonymize(
                people, quasi=SIX, k=5, method="mondrian", strict=strict
            )
        )
        line("ours", name, taken[name], note=f"ncp {done.report.loss:.4f}")
    if theirs and "failed" not in theirs:
        note = f"ncp {theirs['ncp']:.4f}"
        line("anonypy", "strict", theirs["seconds"], taken["strict"], note=note)
    missing("anonypy", theirs)


def searches(people):
    print("\nOptimal search, k = 5")
    for quasi in (SIX, NINE):
        for limit in (0.0, 0.05, 1.0):
            seconds, done = least(
                lambda quasi=quasi, limit=limit: anonymize(
                    people, quasi=quasi, k=5, hierarchies=LADDERS, suppression=limit
                ),
                times=3,
            )
            report = done.report
            note = f"{report.counted} of {report.nodes:,} nodes counted, ncp {report.loss:.4f}"
            line("ours", f"{len(quasi)} columns, {limit:.0%} suppressed", seconds, note=note)


def scaling():
    print("\nA check of many rows (Adult, repeated): wall time; CPU time of all threads")
    adult = dp.load_adult(split="all")
    for rows in (10**6, 10**7):
        big = pa.concat_tables([adult] * (rows // adult.num_rows + 1)).slice(0, rows)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "big.parquet"
            pyarrow.parquet.write_table(big, path)
            for kind, table in (("PyArrow", big), ("Parquet", path)):
                for sensitive, what in ((None, "k"), ("occupation", "k, ℓ, t")):
                    wall, cpu = (
                        least(
                            lambda t=table, s=sensitive: check(t, quasi=SIX, sensitive=s),
                            times=2,
                            clock=clock,
                        )[0]
                        for clock in (time.perf_counter, time.process_time)
                    )
                    line("ours", f"{rows:,} rows, {kind}, {what}", wall, note=f"{cpu:.2f} s CPU")


def hand_over(people, folder):
    pyarrow.csv.write_csv(people, folder / "adult.csv")
    written = {}
    for name in SIX:
        column = encoded(people, name)
        rungs = ladder(LADDERS[name], column)
        written[name] = [
            [labels[code] for code in where]
            for labels, where in zip(rungs.labels, rungs.maps, strict=True)
        ]
    (folder / "ladders.json").write_text(json.dumps(written))


def peer(folder, task):
    """The first interpreter's answer that is not a failure."""
    answer = None
    for python in os.environ.get("DENIABLE_PEERS", sys.executable).split(":"):
        command = [python, str(PEERS), str(folder), task]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = [text for text in done.stdout.split("\n") if text.startswith("{")]
        if said:
            answer = json.loads(said[-1])[task]
            if "failed" not in answer:
                return answer
    return answer


def least(run, times=5, clock=time.process_time):
    taken = []
    for _ in range(times):
        start = clock()
        out = run()
        taken.append(clock() - start)
    return min(taken), out


def line(who, what, seconds, ours=None, note=""):
    ratio = f"{seconds / ours:10,.0f} ×" if ours else " " * 12
    print(f"  {who:<9}{what:<38}{seconds:9.3f} s {ratio}   {note}")


def missing(who, answer):
    if answer is None:
        print(f"  {who:<9}not measured (no interpreter in DENIABLE_PEERS ran it)")
    elif "failed" in answer:
        print(f"  {who:<9}not measured ({answer['failed']})")
