"""Weaken one place of a copy of the code at a time, and see whether the tests notice.

The working tree is never touched. A mutant that exceeds the time limit counts as a survivor: on a
busy machine nothing is credited to the clock. Mutants argued equivalent are in equivalents.toml.
"""

import argparse
import collections
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from .weakening import Mutant, mutants

ROOT = Path(__file__).parents[2]
HOME = "src/deniable"
WHOLE = ("tests/query/whole", "tests/query/adversary")
BACK = ("tests/query/back", "tests/query/answer", "tests/query/allocate", *WHOLE)
# What is weakened, and which tests cover it after those of the same name and folder.
COVER = {
    "sampling": ("tests/conformance", "tests/mechanisms"),
    "losses": ("tests/conformance", "tests/mechanisms", "tests/test_calibration.py"),
    "mechanisms": ("tests/conformance", "tests/session", "tests/query/whole"),
    "sensitivity": ("tests/conformance", "tests/mechanisms/frameworks"),
    "session": ("tests/ledger", "tests/statistics", *WHOLE),
    "ledger": ("tests/session", "tests/statistics", "tests/faults"),
    "workload": BACK,
    "query/bound": BACK,
    "query/compile": (*BACK, "tests/query/fuzz"),
    "query/aggregates": BACK,
    "query/allocate": WHOLE,
    "query/answer": WHOLE,
    "query/bind": ("tests/query/front", *BACK),
    "release": ("tests/session", *WHOLE),
    "schema": ("tests/query/front", *BACK),
    "units": ("tests/session", "tests/mechanisms", *BACK),
}
WORDS = {"words", "show", "progress", "card", "frame", "refusals"}  # decide nothing
OUTCOMES = ("killed", "survived", "timed out", "equivalent")


def main() -> int:
    options = _options()
    argued = tomllib.loads((ROOT / "tests/mutants/equivalents.toml").read_text(encoding="utf-8"))
    why = {(e["path"], e["was"], e["now"]): e["why"] for e in argued["mutant"]}
    chosen = choose(options.package or list(COVER), options.seed, options.count)
    results: list[tuple[Mutant, str]] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        scratch = _copied(Path(folder))
        for mutant in chosen:
            begun = time.monotonic()
            shown = difference(mutant)
            if (mutant.path, *changed(mutant)) in why:
                outcome = "equivalent"
            else:
                outcome = "listed" if options.list else tried(mutant, scratch, options.seconds)
            results.append((mutant, outcome))
            where = f"{mutant.path.removeprefix(HOME)[1:]}:{mutant.line}"
            print(f"{outcome:10} {time.monotonic() - begun:5.0f} s  {where:44} {mutant.kind}")
            if outcome not in {"killed", "equivalent"}:
                print(shown, flush=True)
    return 0 if options.list else _score(results)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/mutants", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--package", action="append", choices=sorted(COVER))
    parser.add_argument("--seconds", type=float, default=900, help="time limit of one mutant")
    parser.add_argument("--list", action="store_true", help="show the mutants and run nothing")
    return parser.parse_args()


def choose(packages: list[str], seed: int, count: int) -> list[Mutant]:
    """A package, a kind and a place, each by chance: common kinds do not crowd out rare ones."""
    luck, pool = random.Random(seed), {}
    for package in packages:
        place = ROOT / HOME / package
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
        kinds = collections.defaultdict(list)
        for file in files:
            path = file.relative_to(ROOT).as_posix()
            if file.stem in WORDS:
                continue
            for mutant in mutants(path, file.read_text(encoding="utf-8")):
                kinds[mutant.kind].append(mutant)
        pool[package] = dict(sorted(kinds.items()))
    chosen: dict[Mutant, None] = {}
    while len(chosen) < count and any(pool.values()):
        kinds = pool[luck.choice([name for name in pool if pool[name]])]
        kind = luck.choice(list(kinds))
        chosen[kinds[kind].pop(luck.randrange(len(kinds[kind])))] = None
        if not kinds[kind]:
            del kinds[kind]
    return list(chosen)


def tried(mutant: Mutant, scratch: Path, seconds: float) -> str:
    """Run what covers the module in the scratch copy, up to the first failure."""
    file = scratch / mutant.path
    clean = file.read_text(encoding="utf-8")
    file.write_text(mutant.applied(clean), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += ["--no-header", "--tb=no", "--hypothesis-profile=deniable-ci", "-k", "not spark"]
    command += covering(mutant.path)
    known = {"PYTHONPATH": f"{scratch}/src", "PYTHONDONTWRITEBYTECODE": "1"}
    known["DENIABLE_TESTING"] = "1"
    try:
        done = subprocess.run(
            command, cwd=scratch, env=os.environ | known, timeout=seconds, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "timed out"
    finally:
        file.write_text(clean, encoding="utf-8")
    return "survived" if done.returncode == 0 else "killed"


def covering(path: str) -> list[str]:
    """The test of the same name, then those of its folder, then what depends on the package."""
    inner = Path(path).relative_to(HOME)
    package = max((p for p in COVER if inner.with_suffix("").is_relative_to(p)), key=len)
    near = [f"tests/{inner.parent}/test_{inner.stem.strip('_')}.py", f"tests/test_{inner.name}"]
    folders = [f"tests/{each}" for each in inner.parents if each != Path()]
    places = [p for p in (*near, *folders, *COVER[package]) if (ROOT / p).exists()]
    return list(dict.fromkeys(p for p in places if p != "tests/query"))


def _copied(folder: Path) -> Path:
    for part in ("src", "tests", "docs", "pyproject.toml", "README.md"):
        place = ROOT / part
        skipped = shutil.ignore_patterns("__pycache__", ".hypothesis")
        if place.is_dir():
            shutil.copytree(place, folder / part, ignore=skipped)
        else:
            shutil.copy(place, folder / part)
    return folder


def changed(mutant: Mutant) -> tuple[str, str]:
    """The changed lines as they were and as they are now: how an equivalent is recognised."""
    text = (ROOT / mutant.path).read_text(encoding="utf-8")
    lines = list(difflib.ndiff(text.splitlines(), mutant.applied(text).splitlines()))
    kept = {sign: " ".join(x[2:].strip() for x in lines if x[0] == sign) for sign in "-+"}
    return kept["-"], kept["+"]


def difference(mutant: Mutant) -> str:
    was, now = changed(mutant)
    return f"    - {was}\n    + {now}"


def _score(results: list[tuple[Mutant, str]]) -> int:
    print(f"\n{'package':16}" + "".join(f"{each:>12}" for each in OUTCOMES) + f"{'score':>8}")
    totals = collections.defaultdict(collections.Counter)
    for mutant, outcome in results:
        inner = Path(mutant.path).relative_to(HOME).with_suffix("")
        package = max((p for p in COVER if inner.is_relative_to(p)), key=len)
        totals[package][outcome] += 1
        totals["all"][outcome] += 1
    for package, seen in sorted(totals.items(), key=lambda pair: (pair[0] == "all", pair[0])):
        judged = seen.total() - seen["equivalent"]
        share = f"{100 * seen['killed'] / judged:.0f} %" if judged else "-"
        print(f"{package:16}" + "".join(f"{seen[each]:>12}" for each in OUTCOMES) + f"{share:>8}")
    return int(totals["all"]["survived"] + totals["all"]["timed out"] > 0)


if __name__ == "__main__":
    sys.exit(main())
