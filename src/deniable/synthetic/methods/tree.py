"""A tree of pairs: fast, and robust at every budget                                    [MMS21].

A quarter of the spend measures every column. A quarter chooses pairs: of those that join two parts
of the tree, the one that the columns by themselves get most wrong. The other half measures them.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final

from deniable.synthetic.inference import Clique
from deniable.synthetic.run import Run, Steps, View

from .fixed import STEPS, equal_noise

SHARE: Final = 0.25
"""Of the whole, what measures columns by themselves, and again what chooses pairs."""


def tree(run: Run, pairs: list[Clique]) -> Steps[None]:
    """Measure all columns, choose pairs that make a tree (or several), measure them, and fit."""
    columns = [View((a,)) for a in range(len(run.domain.sizes))]
    share = SHARE * run.purse.left
    run.say("measuring columns")
    yield from run.measure(columns, equal_noise(run, columns, share))
    run.refit(steps=STEPS)
    run.fold()
    part = list(range(len(columns)))
    chosen: list[View] = []
    rounds = len(columns) - parts_of(len(columns), pairs)
    scores = run.scores({View(pair): (1, 0.0) for pair in pairs}) if pairs else None
    for count in range(rounds):
        assert scores is not None, "parts of one column have no pairs"
        run.say(f"choosing pairs, {count + 1} of {rounds}")
        joining = [i for i, (a, b) in enumerate(pairs) if part[a] != part[b]]
        found = yield from run.chosen(scores, share / rounds, among=joining)
        chosen.append(found)
        gone, kept = (part[a] for a in found.columns)
        part = [kept if each == gone else each for each in part]
    if chosen:
        run.say("measuring pairs")
        yield from run.measure(chosen, equal_noise(run, chosen, run.purse.left))
        run.say("fitting the model")
        run.refit(steps=STEPS, tolerance=1e-5)


def parts_of(columns: int, pairs: list[Clique]) -> int:
    """How many parts remain when all these pairs are joined."""
    part = list(range(columns))
    for a, b in pairs:
        part = [part[b] if each == part[a] else each for each in part]
    return len(set(part))


def pairs_within(sizes: tuple[int, ...], largest: int) -> list[Clique]:
    """All pairs of columns with at most so many cells."""
    every = combinations(range(len(sizes)), 2)
    return [(a, b) for a, b in every if sizes[a] * sizes[b] <= largest]
