"""Count, clipped sum and mean by 100 known groups: time, memory and error, beside peers.

    python -m bench.query                  1 M and 10 M rows, a person's ten rows and single rows
    python -m bench.query 1000000          one size
    python -m bench.query 1000000 quick    without peers
    python -m bench.query 1000000 OpenDP   beside this peer alone

Cold is a whole process; `after start-up` is a question asked after the imports and one tiny
question, in the same process, from opening the file to the answer. Both are CPU seconds, of child
processes too, and the least of several. Errors are over groups and releases, at equal ε. A peer
that cannot run is printed with the reason, and a comparison that we lose is printed as lost (of an
error: by more than a tenth, which so many draws do not do by chance). `twin` compares whole
processes with the same bounding written by hand.
"""

import statistics

from bench._figures import measured as kept

from . import twin
from .measuring import COLD, EPSILON, FOLDER, WARM, exact, run, table
from .systems import EXPLAIN, OPENED, OURS, PEERS, PLAIN, System

MOST_ROWS = 10
SIZES = ("1000000", "10000000")
LARGE = 1_000_000
DUCKDB = System(name="plain DuckDB, no privacy", code=PLAIN, releases=10)
DENIABLE = System(name="deniable", code=OURS, releases=10)
UNITS = {"cold": "CPU s", "mb": "MB", "warm": "CPU s", "count": "rows", "mean": "amount"}
LUCK = {"count": 0.9, "mean": 0.9}
# What we set out to reach: CPU seconds and megabytes.
COLD_SMALL, WARM_LARGE, LARGE_MB, OVER_PLAIN, EXPLAIN_MS = 1.5, 1.2, 250.0, 1.3, 50.0


def main(*arguments):
    """Print a table for each unit and size, then growth, `explain`, and what was aimed at."""
    FOLDER.mkdir(exist_ok=True)
    sizes = [int(each) for each in arguments if each.isdigit()] or [int(each) for each in SIZES]
    words = {each for each in arguments if not each.isdigit()}
    peers = [each for each in PEERS if not words or each.name.split()[0] in words]
    ours = {}
    for person in (True, False):
        for size in sizes:
            ours[person, size] = compared(size, person=person, peers=peers)
    asked = run(DENIABLE, table(sizes[0]), EXPLAIN, person=True)
    print(f"explain: {asked['first'] * 1000:.1f} ms the first time, {asked['least'] * 1000:.1f} ms")
    aims(ours, asked["first"] * 1000)
    twin.main()


def compared(size, *, person, peers):
    """One table; gives our figures, with plain DuckDB's time as `floor`."""
    path = table(size)
    truth = exact(path, most_rows=MOST_ROWS if person else None)
    whom = "ten rows per person" if person else "single rows"
    print(f"{size:,} rows, {whom} protected, ε = {EPSILON:g}")
    print(
        f"  {'':<26}{'cold':>8}{'MB':>7}{'after start-up':>16}{'×DuckDB':>9}"
        f"{'count RMS':>11}{'mean error':>12}{'releases':>10}"
    )
    floor = measured(DUCKDB, path, truth, person=person)
    named = f"{size} {'people' if person else 'rows'}"
    show(DUCKDB, floor, floor, counts=False, whom=named)
    ours = measured(DENIABLE, path, truth, person=person)
    show(DENIABLE, ours, floor, counts=True, whom=named)
    lost = []
    for peer in peers:
        why = "" if person or peer.rows else "not run: it protects people"
        why = why or ("" if peer.large or size <= LARGE else "not run: minutes, and gigabytes")
        try:
            found = None if why else measured(peer, path, truth, person=person)
        except RuntimeError as error:
            why = str(error)
        if why:
            print(f"  {peer.name:<26}  {why}")
            continue
        counts = peer.counts or not person
        show(peer, found, floor, counts=counts, whom=named)
        lost += losses(peer, found, ours, counts=counts, person=person)
    print("".join(f"  lost: {line}\n" for line in lost))
    opened = run(DENIABLE, path, OPENED, person=person, times=DENIABLE.releases)
    return ours | {"turns": opened}


def measured(system, path, truth, *, person):
    """A system's figures: cold and warm CPU seconds, megabytes, errors, number of releases."""
    repeats = {10: 3, 5: 2}.get(system.releases, 1)
    cold = run(system, path, COLD, person=person, repeats=repeats)
    warm = {"cpu": None, "answers": cold["answers"]}
    if system.releases > 1:
        warm = run(system, path, WARM, person=person, times=system.releases)
    answers = [{g: (n, m) for g, n, m in rows} for rows in warm["answers"]]
    squares = [(a[g][0] - n) ** 2 for a in answers for g, (n, _) in truth.items() if g in a]
    errors = [abs(a[g][1] - m) for a in answers for g, (_, m) in truth.items() if g in a]
    return {
        "cold": cold["cpu"],
        "mb": cold["mb"],
        "warm": warm["cpu"],
        "count": statistics.mean(squares) ** 0.5,
        "mean": statistics.median(errors),
        "releases": len(answers),
    }


def show(system, found, floor, *, counts, whom):
    """One line; its figures are noted."""
    warm, ratio, count, mean, releases = "–", "–", "", "", ""
    for what, unit in UNITS.items():
        kept(f"{whom}, {system.name.split()[0]}, {what}", found[what], unit)
    if found["warm"] is not None:
        warm, ratio = f"{found['warm']:.3f}", f"{found['warm'] / floor['warm']:.2f}"
    if system is not DUCKDB:
        count = f"{found['count']:.1f}" if counts else "–"
        mean, releases = f"{found['mean']:.3f}", f"{found['releases']}"
    print(
        f"  {system.name:<26}{found['cold']:>8.2f}{found['mb']:>7.0f}{warm:>16}{ratio:>9}"
        f"{count:>11}{mean:>12}{releases:>10}",
        flush=True,
    )


def losses(peer, found, ours, *, counts, person):
    """Where a peer is better than we are, in words."""
    told = {"cold": "CPU s cold", "mb": "MB", "warm": "CPU s after start-up"}
    told |= {"count": "RMS of a count"} if counts else {}
    told |= {"mean": "error of a mean"}
    note = "" if peer.same_promise or not person else ", without bounding what a person adds"
    return [
        f"{peer.name} has {found[what]:.3g} {named}, we {ours[what]:.3g}{note}"
        for what, named in told.items()
        if found[what] is not None and found[what] < ours[what] * LUCK.get(what, 1.0)
    ]


def aims(ours, explained):
    """What was aimed at, and whether it was reached."""
    small, large = (int(each) for each in SIZES)
    lines = [(f"explain in {EXPLAIN_MS:g} ms", explained, EXPLAIN_MS)]
    if (True, small) in ours:
        lines.append(
            (f"cold with 1 M rows in {COLD_SMALL} s", ours[True, small]["cold"], COLD_SMALL)
        )
    if (True, large) in ours:
        found, turns = ours[True, large], ours[False, large]["turns"]
        both = turns["asked"] + turns["opening"]
        lines += [
            (f"10 M rows after start-up in {WARM_LARGE} s", found["warm"], WARM_LARGE),
            (f"10 M rows in {LARGE_MB:g} MB", found["mb"], LARGE_MB),
            (f"single rows at {OVER_PLAIN} × DuckDB", turns["asked"] / turns["plain"], OVER_PLAIN),
            ("the same with opening the session", both / turns["plain"], OVER_PLAIN),
        ]
    for name, found, aim in lines:
        print(f"{'met' if found <= aim else 'lost'}: {name}: {found:.3g}")
    if (True, small) in ours and (True, large) in ours:
        for person, whom in ((True, "people"), (False, "rows")):
            ratio = ours[person, large]["warm"] / ours[person, small]["warm"]
            print(f"growth from 1 M to 10 M rows, {whom}: {ratio:.1f} × the time after start-up")
