"""Runs a system in a process of its own, with its own packages, and reads what it used."""

import json
import subprocess
import sys
import tempfile
import venv
from os import environ
from pathlib import Path

FOLDER = Path(tempfile.gettempdir()) / "deniable-bench"
EPSILON = 1.0
LONGEST = 1200.0

HEAD = """
import json, os, resource, time
def descendants():
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{entry}/stat").read().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append((int(entry), fields))
        except OSError:
            pass
    found, queue = [], [os.getpid()]
    while queue:
        below = parents.get(queue.pop(), [])
        found += below
        queue += [pid for pid, _ in below]
    return found
def spent():
    # CPU seconds of this process and of all it started: some do their work in a JVM.
    done = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = sum(int(f) for _, fields in descendants() for f in fields[11:15])
    return time.process_time() + done.ru_utime + done.ru_stime + ticks / os.sysconf("SC_CLK_TCK")
def peak():
    total = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for pid, _ in descendants():
        try:
            lines = open(f"/proc/{pid}/status").read().splitlines()
            total += sum(int(line.split()[1]) / 1024 for line in lines if "VmHWM" in line)
        except OSError:
            pass
    return total
def plain(rows):
    return [[int(row[0]), float(row[1]), float(row[2])] for row in rows]
"""

COLD = """
answers = [plain(ask(PATH))]
print("RESULT" + json.dumps({"cpu": spent(), "mb": peak(), "answers": answers}))
"""

WARM = """
ask(TINY)
answers, times = [], []
for _ in range(TIMES):
    before = spent()
    answers.append(plain(ask(PATH)))
    times.append(spent() - before)
print("RESULT" + json.dumps({"cpu": min(times), "answers": answers}))
"""


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


def exact(path, *, most_rows):
    """Count and mean of each group, a person's rows weighted down to so many, or all alike."""
    import duckdb

    weight = "1"
    if most_rows is not None:
        weight = f"least(1, {most_rows} / count(*) OVER (PARTITION BY user_id))"
    return {
        g: (n, m)
        for g, n, m in duckdb.sql(
            "SELECT grp, sum(w), sum(w * least(greatest(amount, 0), 100)) / sum(w) "
            f"FROM (SELECT *, {weight} AS w FROM read_parquet('{path}')) GROUP BY grp"
        ).fetchall()
    }


def environment(system):
    """A Python that has the system; raises with the reason if there is none."""
    if not system.packages:
        return sys.executable
    home = FOLDER / system.name.split()[0].lower()
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        venv.create(home, with_pip=True, clear=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "-q", *system.packages],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError("cannot be installed: " + _last(done.stderr))
        (home / "ready").touch()
    return python


def run(system, path, ending, *, person, repeats=1, times=1):
    """What `ending` prints about a system; the run that took the least CPU seconds of several.

    Packages are installed as bytecode; what is not installed is compiled beforehand, too.
    """
    head = f"PATH, TINY, TIMES = {path!r}, {table(1000)!r}, {times}\n"
    head += f"PERSON, EPSILON = {person}, {EPSILON!r}\n" + HEAD
    command = [environment(system), "-c", head + system.code + ending]
    found = [_once(command) for _ in range(repeats)]
    return min(found, key=lambda each: each.get("cpu", 0.0))


def _once(command):
    known = {k: v for k, v in environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    cache = (
        {"PYTHONPYCACHEPREFIX": str(FOLDER / "bytecode")} if command[0] == sys.executable else {}
    )
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
            cwd=FOLDER,
            env=known | cache,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"took more than {LONGEST / 60:.0f} minutes") from None
    _, told, result = done.stdout.rpartition("RESULT")
    if not told:
        raise RuntimeError(f"ended with {done.returncode} and no answer: {_last(done.stderr)}")
    return json.loads(result)


def _last(text):
    return (text.strip().splitlines() or ["it said nothing"])[-1][:100]
