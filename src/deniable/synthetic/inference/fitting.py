"""The maximum-entropy distribution that fits noisy marginals best.

Minimise   L(p) = ½·Σ wⱼ·‖N·p_j − yⱼ‖²,   wⱼ = 1/σⱼ²

over distributions p that factorise over the measured cliques, by mirror descent: multiply p by
exp(−a·wⱼ·(N·p_j − yⱼ)) on every measured clique and normalise [MSM19]. Normalising is one
pass over the tree, inwards and outwards. A step is taken if L falls by at least half of what its
gradient promises; else it is tried again at half its length.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .junction import Clique, Tree, junction_tree, ordered
from .model import Model, Table, project, ratio, spread
from .partition import Partitions, merged, unmerged

_FARTHEST: Final = 40.0  # one step changes no probability by more than e⁴⁰
_LONGER, _SHORTER, _LEAST, _WINDOW = 1.5, 0.5, 1e-12, 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement:
    """Noisy counts of the cells of some columns; the noise of each has this standard deviation.

    With `partitions`, of groups of cells. `terms` says how many such counts were added up for each
    number. Counts are multiples of `grain`, and `law` is that of the noise: for intervals only.
    """

    columns: Clique
    counts: Table
    sigma: float
    law: str = "gaussian"
    grain: float = 1.0
    partitions: Partitions | None = None
    terms: Table | None = None

    @property
    def precision(self) -> float:
        """1/σ², and above 0 however large the noise is: weights are divided by their sum."""
        return max((1 / self.sigma) ** 2, sys.float_info.min)


@dataclass(frozen=True, eq=False)
class Fit:
    """The model, the loss that is left, and whether more steps would hardly lower it."""

    model: Model
    loss: float
    step: float
    steps: int
    converged: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class _Target:
    """All that was measured about one clique, in the same groups of cells."""

    clique: Clique
    partitions: Partitions | None
    counts: Table
    weight: Table


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where the factor of a measured clique goes: `inside` another one, or into a table."""

    clique: Clique
    holder: int
    inside: Clique | None


def noisy_total(measured: Sequence[Measurement]) -> float:
    """The number of rows, estimated from all measurements together; at least 1.

    Each adds up to it, with a variance of σ² times its cells: the average by inverse variance.
    """
    weights = [m.precision / m.counts.size for m in measured]
    sums = [float(m.counts.sum()) for m in measured]
    return max(1.0, float(np.average(sums, weights=weights)))


def fit(
    model: Model,
    measured: Sequence[Measurement],
    *,
    total: float,
    steps: int,
    also: Sequence[Clique] = (),
    start: float | None = None,
    tolerance: float = 1e-4,
) -> Fit:
    """Fit to measurements, starting from a model that is known to be near.

    The model's own zeros stay; `also` are the cliques in which they are.
    """
    sizes = model.tree.sizes
    tree = junction_tree(sizes, [*(m.columns for m in measured), *also])
    targets = _targets(tree, measured)
    goal = _Goal(tree, targets, _places(tree, targets), total)
    state = _State(Calibrated.of(tree, model.over(tree).tables), goal)
    length = start or 2.0 / (total * max(float(t.weight.max()) for t in targets))
    lasting, taken, run, done = state.loss, 0, 0, 0
    while done < steps:
        done, run = done + 1, run + 1
        tried = state.stepped(length, keep=(run - 1) / (run + 2))
        if _falls(state, tried, steady=run == 1):
            state, taken = tried, taken + 1
            length *= _LONGER if run == 1 else 1.0
        else:
            length *= _SHORTER if run == 1 else 1.0
            run = 0
        little = lasting - state.loss <= tolerance * abs(lasting)
        if length * state.steepest < _LEAST or (done % _WINDOW == 0 and taken and little):
            return Fit(state.model, state.loss, length, done, converged=True)
        if done % _WINDOW == 0:
            lasting, taken = state.loss, 0
    return Fit(state.model, state.loss, length, done, converged=False)


def _falls(old: _State, new: _State, *, steady: bool) -> bool:
    """Whether the loss fell; of a step without momentum, by half of what its gradient promises."""
    if not steady:
        return new.loss < old.loss
    moves = zip(old.slopes, old.marginals, new.marginals, strict=True)
    promised = old.goal.total * sum(float(np.vdot(g, a - b)) for g, a, b in moves)
    return old.loss - new.loss >= 0.5 * promised


@dataclass(frozen=True, eq=False)
class _Goal:
    """What is fitted: measurements, where they lie in the tree, and the number of rows."""

    tree: Tree
    targets: Sequence[_Target]
    places: Sequence[_Place]
    total: float


class _State:
    """Calibrated tables with what they make of the measured cliques."""

    def __init__(self, held: Calibrated, goal: _Goal, last: Sequence[Table] = ()) -> None:
        self.held, self.goal, self.last = held, goal, last
        tree, targets, total, tables = goal.tree, goal.targets, goal.total, held.tables
        found: dict[Clique, Table] = {}
        for place in goal.places:  # larger ones first
            inside = tree.cliques[place.holder] if place.inside is None else place.inside
            source = tables[place.holder] if place.inside is None else found[place.inside]
            found[place.clique] = project(source, inside, place.clique)
        self.marginals = [merged(found[t.clique], t.partitions) for t in targets]
        misses = [total * p - t.counts for p, t in zip(self.marginals, targets, strict=True)]
        self.slopes = [t.weight * miss for t, miss in zip(targets, misses, strict=True)]
        self.loss = 0.5 * sum(
            float(np.vdot(s, m)) for s, m in zip(self.slopes, misses, strict=True)
        )

    @property
    def model(self) -> Model:
        return Model(tree=self.goal.tree, tables=tuple(self.held.tables))

    @property
    def steepest(self) -> float:
        return max(float(np.abs(slope).max()) for slope in self.slopes)

    def stepped(self, length: float, *, keep: float) -> _State:
        """One step of mirror descent, with a part of the last one."""
        moves = [
            np.maximum(np.minimum(-length * slope, _FARTHEST), -_FARTHEST) for slope in self.slopes
        ]
        if keep > 0 and self.last:
            moves = [new + keep * old for new, old in zip(moves, self.last, strict=True)]
        exponents: dict[Clique, Table] = {}
        for t, move in zip(self.goal.targets, moves, strict=True):
            more = unmerged(move, t.partitions)
            exponents[t.clique] = exponents[t.clique] + more if t.clique in exponents else more
        tree, grown = self.goal.tree, dict[int, Table]()
        with np.errstate(over="ignore", invalid="ignore"):  # such a step is not taken
            for place in reversed(self.goal.places):  # smaller ones first, into larger ones
                exponent, own, at = exponents[place.clique], place.clique, place.holder
                if place.inside is not None:
                    further = spread(exponent, own, place.inside)
                    exponents[place.inside] = exponents[place.inside] + further
                    continue
                factor = spread(np.exp(exponent), own, tree.cliques[at])
                if at in grown:
                    grown[at] *= factor
                else:
                    grown[at] = self.held.tables[at] * factor
            return _State(self.held.grown(tree, grown), self.goal, moves)


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Tables that agree, and what neighbours agree on: the marginal of each edge's separator."""

    tables: Sequence[Table]
    shared: Sequence[Table]

    @staticmethod
    def of(tree: Tree, tables: Sequence[Table]) -> Calibrated:
        """Tables that agree already."""
        shared = [project(tables[e.child], tree.cliques[e.child], e.separator) for e in tree.edges]
        return Calibrated(tables, shared)

    def grown(self, tree: Tree, changed: Mapping[int, Table]) -> Calibrated:
        """Tables that agree again after some were `changed`, which are overwritten.

        Inwards, a clique tells its parent by how much each cell of their separator grew, on average
        by 1: products of many messages stay in range. Outwards, it is told how likely the cell is.
        """
        tables = [changed[i] if i in changed else old.copy() for i, old in enumerate(self.tables)]
        told, shared = list[Table](), list[Table]()
        for edge, was in zip(reversed(tree.edges), reversed(self.shared), strict=True):
            clique, parent = tree.cliques[edge.child], tree.cliques[edge.parent]
            now = project(tables[edge.child], clique, edge.separator)
            message = ratio(now / np.add.reduce(now, axis=None), was)
            tables[edge.parent] *= spread(message, edge.separator, parent)
            told.append(now)
        tables[0] /= tables[0].sum()
        for edge, now in zip(tree.edges, reversed(told), strict=True):
            clique, parent = tree.cliques[edge.child], tree.cliques[edge.parent]
            likely = project(tables[edge.parent], parent, edge.separator)
            tables[edge.child] *= spread(ratio(likely, now), edge.separator, clique)
            shared.append(likely)
        return Calibrated(tables, shared)


def _targets(tree: Tree, measured: Sequence[Measurement]) -> list[_Target]:
    """Measurements of the same cells merged by inverse variance."""
    made: dict[tuple[Clique, Partitions | None], _Target] = {}
    for m in measured:
        clique = ordered(m.columns, tree.sizes)
        axes = [m.columns.index(a) for a in clique]
        counts = m.counts.transpose(axes)
        terms = np.ones(counts.shape) if m.terms is None else m.terms.transpose(axes)
        weight = m.precision / terms
        whole = m.partitions is None or not any(m.partitions)
        parts = None if whole else tuple((m.partitions or ())[i] for i in axes)
        old = made.get((clique, parts))
        if old is not None:
            both = old.weight + weight
            counts = (old.weight * old.counts + weight * counts) / both
            weight = both
        made[clique, parts] = _Target(clique=clique, partitions=parts, counts=counts, weight=weight)
    return list(made.values())


def _places(tree: Tree, targets: Sequence[_Target]) -> list[_Place]:
    """Where each measured clique lies, larger ones first."""
    made: list[_Place] = []
    for clique in sorted({t.clique for t in targets}, key=lambda c: (-len(c), c)):
        holder = tree.holder(clique)
        assert holder is not None, "the tree was made for all of them"
        around = [p.clique for p in made if set(clique) < set(p.clique)]
        inside = min(around, key=lambda c: math.prod(tree.sizes[a] for a in c), default=None)
        made.append(_Place(clique=clique, holder=holder, inside=inside))
    return made
