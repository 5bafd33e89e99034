"""Select, measure, fit, again and again: the marginal that the model gets most wrong  [MMSM22].

A marginal is worth measuring where the model errs by more than the noise would. So a candidate's
score is its error less the error expected of the measurement itself, weighted by how much of the
workload it is about. When a measurement taught the model less than its noise, what is left is
spent in fewer, more precise rounds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from deniable.sampling.public import PublicRandom
from deniable.synthetic.inference import Clique, Model, Partition, by_mass, growing
from deniable.synthetic.run import Run, Steps, View, mean_size

from .fixed import equal_noise

CHOOSING: Final = 0.1
"""Of a round, the share that pays for the choice."""
COLUMNS: Final = 0.1
"""Of the whole, the share that measures columns by themselves."""
FEWER: Final = 4
"""How many times more a round may cost after one that taught nothing."""
GROUPS: Final = (16, 8, 4)
"""In how many groups of cells per column a marginal may also be counted."""
FINER: Final = 0.7
"""A coarser view has at most this share of the counts of the one before."""
COMPARED: Final = 600
"""Up to so many candidates are compared in every round."""
TURN: Final = 200
"""Of more than that, so many in each round, and others in the next."""
_LITTLE: Final = 1e-3
_HEAVIEST: Final = 1_000
_STEPS: Final = 120


def adaptive(run: Run, workload: Sequence[Clique], *, cells: int) -> Steps[None]:
    """Measure columns, then what the model gets most wrong, until all is spent.

    `cells` is how large the model may become, with much to spend: see `cells_for`. That is reached
    only as the spend is used up.
    """
    cells = cells_for(run.purse.rho, cells)
    columns = [View((a,)) for a in range(len(run.domain.sizes))]
    weights = candidates_of(workload)
    rounds = rounds_for(run.purse.rho, len(columns))
    amount = run.purse.total / rounds
    run.say("measuring columns")
    yield from run.measure(columns, equal_noise(run, columns, COLUMNS * run.purse.total))
    run.refit(steps=_STEPS)
    run.fold()
    known: dict[Clique, int] = {}
    groups: dict[bytes, Partition] = {}
    turns = taking_turns(weights)
    while run.purse.left > 1e-9 * run.purse.total:
        amount = run.purse.left if run.purse.left < 2 * amount else amount
        done = run.purse.spent / run.purse.total
        run.say(f"round {len(run.measured) - len(columns) + 1}, {done:.0%} spent", done)
        limit = cells * (run.purse.spent + amount) / run.purse.total
        fitting = _fitting(run, next(turns), limit, known)
        before = run.model
        view, size = yield from _round(run, fitting, amount, groups)
        run.refit(steps=_STEPS)
        if _moved(run, before, view) <= size and not run.converged:
            run.refit(steps=4 * _STEPS)  # a fit that is not finished has not learnt nothing
        if _moved(run, before, view) <= size:
            amount *= FEWER
    run.refit(steps=8 * _STEPS, tolerance=1e-5)


def _moved(run: Run, before: Model, view: View) -> float:
    """By how many rows the model changed its mind about a marginal."""
    return float(np.abs(view.of(run.model) - view.of(before)).sum()) * run.total


def _round(
    run: Run, weights: Mapping[Clique, int], amount: float, groups: dict[bytes, Partition]
) -> Steps[tuple[View, float]]:
    """Choose and measure one marginal; also the size of the error that noise adds to it."""
    measuring = amount * (1 - CHOOSING)
    sample = run.marginals[next(iter(weights))]
    noise = run.purse.noise(measuring, l1=sample.l1, l2=sample.l2)
    each = mean_size(noise) * sample.worth
    scored = _views(run, weights, each, groups)
    view = yield from run.choose(scored, amount - measuring)
    left = min(run.purse.left, measuring)
    yield from run.measure([view], equal_noise(run, [view], left))
    return view, scored[view][1]


def _views(
    run: Run, weights: Mapping[Clique, int], noise: float, groups: dict[bytes, Partition]
) -> dict[View, tuple[int, float]]:
    """Each marginal cell by cell and in groups of cells; its weight, and what noise adds to it.

    Groups are those that the model believes equally heavy. A view is left out if it has hardly
    fewer counts than the one before, or if its noise would be as large as the table. `groups` keeps
    those of earlier rounds: most come again, and what was counted in them need not be added up.
    """
    sizes, total = run.sizes, run.total
    cells = list(run.domain.cells.values())
    masses = [run.model.marginal((a,)) for a in range(len(sizes))]

    def cut(column: int, most: int) -> Partition | None:
        made = by_mass(masses[column], most, ordered=cells[column].ordered)
        return made if made is None else groups.setdefault(made.group.tobytes(), made)

    columns = range(len(sizes))
    levels: list[list[Partition | None]] = [[None] * len(sizes)]
    levels += [[cut(a, most) for a in columns] for most in GROUPS]
    counts = [
        [n if p is None else p.count for n, p in zip(sizes, each, strict=True)] for each in levels
    ]
    found = {}
    for clique, weight in weights.items():
        last = math.inf
        for parts, counted in zip(levels if len(clique) > 1 else levels[:1], counts, strict=False):
            size = math.prod(counted[a] for a in clique)
            if size <= FINER * last and (noise * size <= total or len(clique) == 1):
                view = View(clique, tuple(parts[a] for a in clique))
                found[view] = weight, noise * size
                last = size
    return found


def taking_turns(weights: Mapping[Clique, int]) -> Iterator[dict[Clique, int]]:
    """The candidates of one round after the other: all, or in turn as many as can be compared.

    Their order is shuffled by public coins, so whose turn it is says nothing about the rows.
    Columns by themselves are always there: one can be measured however large the model is.
    """
    columns = [c for c in weights if len(c) == 1]
    others = [c for c in weights if len(c) > 1]
    order = PublicRandom(0).generator.permutation(len(others))
    place = 0
    while True:
        turn = others
        if len(others) > COMPARED:
            turn = [others[i] for i in np.take(order, range(place, place + TURN), mode="wrap")]
            place += TURN
        yield {c: weights[c] for c in columns + turn}


def rounds_for(rho: float, columns: int) -> float:
    """In how many equal rounds to spend: more where there is more to spend."""
    return columns * max(2.5, 16.0 * math.sqrt(min(1.0, rho)))


def cells_for(rho: float, most: int) -> int:
    """How large the model may become: what a larger one could show is lost in more noise."""
    return max(1, round(most * min(1.0, 2 * math.cbrt(max(rho, _LITTLE)))))


def candidates_of(workload: Sequence[Clique]) -> dict[Clique, int]:
    """Every part of the workload, weighted by how many of its columns are about this one's."""
    closure = {
        part
        for clique in workload
        for ways in range(1, len(clique) + 1)
        for part in combinations(clique, ways)
    }
    asked = Counter(a for clique in workload for a in clique)
    raw = {c: sum(asked[a] for a in c) for c in sorted(closure)}
    most = max(raw.values())
    return {c: math.ceil(_HEAVIEST * w / most) for c, w in raw.items()}  # at least 1


def _fitting(
    run: Run, weights: Mapping[Clique, int], limit: float, known: dict[Clique, int]
) -> dict[Clique, int]:
    """Candidates that leave the model within its limit; columns by themselves always do.

    `known` remembers how large a candidate would make it: that hardly ever becomes smaller.
    """
    tree = run.model.tree
    grown = growing(run.sizes, [*(m.columns for m in run.measured), *run.fixed])
    found = {}
    for clique, weight in weights.items():
        inside = len(clique) == 1 or tree.holder(clique) is not None
        if not inside and known.get(clique, 0) <= limit:
            known[clique] = grown(clique)
        if inside or known[clique] <= limit:
            found[clique] = weight
    return found
