"""Weaken one place of a copy of the code at a time, and see whether the tests notice.

The working tree is never touched. Each mutant first meets the nearest tests for a short time; those
left then meet wider rounds, and at last all. A failure counts only if the same test passes on the
clean copy, and running out of time counts as surviving: on a busy machine nothing is credited to
the clock. Mutants argued equivalent are in equivalents.toml.
"""

import argparse
import collections
import difflib
import random
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from .covering import COVER, HOME, ROOT, covering, naming, package
from .scratch import COLLECTING, Scratch
from .weakening import Mutant, mutants

# Files and folders that decide neither privacy nor an accounted ±: words, and what is made of
# released numbers (a model fitted to noisy marginals, pictures), or shown to the curator alone.
WORDS = {"words", "show", "progress", "card", "frame", "refusals", "pictures"}
AFTERWARDS = {"inference", "evaluation", "effects", "specimens"}
ELSEWHERE = {"_bootstrapped"}  # runs in an environment of its own, which no test sets up
# Which tests of a path and line; for how many seconds per mutant; slow ones as well?
ROUNDS = (
    (naming, 60, True),
    (lambda *place: covering(*place)[:4], 60, False),
    (lambda *place: covering(*place)[4:16], 240, False),
    (covering, 1200, True),
)
OUTCOMES = ("killed", "survived", "timed out", "equivalent")


def main() -> int:
    options = _options()
    packages = options.package or list(COVER)
    chosen = choose(packages, options.seed, options.count, at=options.at, of=options.kind)
    chosen = chosen[options.skip :]
    why = argued()
    outcome = {m: "equivalent" if (m.path, *changed(m)) in why else "listed" for m in chosen}
    if options.list:
        for mutant in chosen:
            print(f"{where(mutant)}\n{difference(mutant)}")
        return 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        scratch = Scratch(Path(folder))
        for tests, seconds, slow in ROUNDS[: options.rounds]:
            todo = [m for m in chosen if outcome[m] not in {"killed", "equivalent"}]
            while todo:
                by = {}
                for mutant in todo:
                    begun = time.monotonic()
                    near = tests(mutant.path, mutant.line)
                    outcome[mutant], by[mutant] = scratch.tried(mutant, near, seconds, slow=slow)
                    _tell(mutant, outcome[mutant], time.monotonic() - begun, by[mutant])
                doubted = scratch.doubt({*by.values()} - {"", COLLECTING})
                todo = [m for m in todo if by[m] in doubted]
    for test in sorted(scratch.broken):
        print(f"fails without any mutant, so it killed none: {test}")
    return _score(outcome)


def _tell(mutant: Mutant, outcome: str, seconds: float, by: str) -> None:
    print(f"{outcome:10} {seconds:5.0f} s  {where(mutant)}")
    print(f"    by {by}" if by else difference(mutant), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/mutants", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--skip", type=int, default=0, help="leave out the first so many")
    parser.add_argument("--package", action="append", choices=sorted(COVER))
    parser.add_argument("--at", action="append", help="only places such as losses/amplify.py:136")
    parser.add_argument("--kind", action="append", help="only kinds such as 'off by one'")
    parser.add_argument("--rounds", type=int, default=len(ROUNDS), help="stop after so many")
    parser.add_argument("--list", action="store_true", help="show the mutants and run nothing")
    return parser.parse_args()


def choose(
    packages: list[str],
    seed: int,
    count: int,
    *,
    at: list[str] | None = None,
    of: list[str] | None = None,
) -> list[Mutant]:
    """A package, a kind and a place, each by chance: common kinds do not crowd out rare ones."""
    luck, pool, skipped = random.Random(seed), {}, WORDS | AFTERWARDS | ELSEWHERE
    for name in packages:
        place = ROOT / HOME / name
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
        kinds = collections.defaultdict(list)
        for file in files:
            path = file.relative_to(ROOT).as_posix()
            if skipped & {*file.relative_to(place.parent).with_suffix("").parts}:
                continue
            for mutant in mutants(path, file.read_text(encoding="utf-8")):
                named = {_place(mutant), _place(mutant).partition(":")[0]}
                if (not at or named & set(at)) and (not of or mutant.kind in of):
                    kinds[mutant.kind].append(mutant)
        pool[name] = dict(sorted(kinds.items()))
    chosen: dict[Mutant, None] = {}
    while len(chosen) < count and any(pool.values()):
        kinds = pool[luck.choice([name for name in pool if pool[name]])]
        kind = luck.choice(list(kinds))
        chosen[kinds[kind].pop(luck.randrange(len(kinds[kind])))] = None
        if not kinds[kind]:
            del kinds[kind]
    return list(chosen)


def argued() -> dict[tuple[str, str, str], str]:
    """Why a mutant is equivalent, by its file and the changed lines."""
    listed = tomllib.loads((ROOT / "tests/mutants/equivalents.toml").read_text(encoding="utf-8"))
    return {(e["path"], e["was"], e["now"]): e["why"] for e in listed["mutant"]}


def changed(mutant: Mutant) -> tuple[str, str]:
    """The changed lines as they were and as they are now: how an equivalent is recognised."""
    text = (ROOT / mutant.path).read_text(encoding="utf-8")
    lines = list(difflib.ndiff(text.splitlines(), mutant.applied(text).splitlines()))
    kept = {sign: " ".join(x[2:].strip() for x in lines if x[0] == sign) for sign in "-+"}
    return kept["-"], kept["+"]


def difference(mutant: Mutant) -> str:
    was, now = changed(mutant)
    return f"    - {was}\n    + {now}"


def where(mutant: Mutant) -> str:
    return f"{_place(mutant):44} {mutant.kind}"


def _place(mutant: Mutant) -> str:
    return f"{mutant.path.removeprefix(HOME)[1:]}:{mutant.line}"


def _score(outcomes: dict[Mutant, str]) -> int:
    print(f"\n{'package':16}" + "".join(f"{each:>12}" for each in OUTCOMES) + f"{'score':>8}")
    totals = collections.defaultdict(collections.Counter)
    for mutant, outcome in outcomes.items():
        for row in (package(mutant.path), "all"):
            totals[row][outcome] += 1
    for row, seen in sorted(totals.items(), key=lambda pair: (pair[0] == "all", pair[0])):
        judged = seen.total() - seen["equivalent"]
        share = f"{100 * seen['killed'] / judged:.0f} %" if judged else "-"
        print(f"{row:16}" + "".join(f"{seen[each]:>12}" for each in OUTCOMES) + f"{share:>8}")
    return int(totals["all"]["survived"] + totals["all"]["timed out"] > 0)


if __name__ == "__main__":
    sys.exit(main())
