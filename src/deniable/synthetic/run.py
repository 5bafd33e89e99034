"""One run: what was measured so far, the model that fits it, and what may still be spent.

Methods are generators that yield steps to a session. All that they learn they put here at once, so
that a run which ends early keeps what it has paid for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable import progress
from deniable.ledger import Entry
from deniable.mechanisms import Gaussian, Mechanism, Step
from deniable.sensitive import Sensitive
from deniable.workload.split import deviation

from .counting import MOST_KEPT, Hidden
from .domain import Domain
from .inference import (
    Clique,
    Fold,
    Measurement,
    Model,
    Partition,
    Partitions,
    Unfolded,
    by_count,
    by_mass,
    fit,
    junction_tree,
    merged,
    merged_shape,
    noisy_total,
)
from .latest import Latest
from .purse import Noise, Purse

T = TypeVar("T")
Steps = Generator[Any, Any, T]

_FINE: Final = 2.0**-20  # of a row: scores are whole numbers of this
_SAFE: Final = 2**53
_MOST: Final = 2**61  # a count in a score: differences stay below 2⁶³
_FAR: Final = 2.0**200
_STANDS_OUT: Final = 3.0  # standard deviations of its noise


@dataclass(frozen=True)
class View:
    """A marginal as it is counted: cell by cell, or in groups of cells."""

    columns: Clique
    partitions: Partitions | None = None

    def of(self, model: Model) -> NDArray[np.float64]:
        """What a model says about it."""
        return merged(model.marginal(self.columns), self.partitions)


@dataclass(frozen=True, eq=False)
class Scores:
    """How wrong a model is about each of some views: hidden, and computed once."""

    views: Sequence[View]
    value: Sensitive[Any] = field(repr=False)


class Marginals(Protocol):
    """Where hidden marginals come from."""

    def __getitem__(self, clique: Clique, /) -> Hidden: ...


@dataclass(kw_only=True)
class Run:
    """The state of one synthesis; `fixed` are cliques with public zeros, kept in every model.

    With `most_groups`, columns in order are folded into no more than so many groups of cells.
    """

    domain: Domain
    marginals: Marginals | Mapping[Clique, Hidden]
    purse: Purse
    model: Model
    fixed: Sequence[Clique] = ()
    most_groups: int | None = None
    measured: list[Measurement] = field(default_factory=list)
    mechanisms: list[Mechanism] = field(default_factory=list)
    charges: list[Entry] = field(default_factory=list)
    folds: tuple[Fold | None, ...] = ()
    notes: list[str] = field(default_factory=list)
    converged: bool = True
    started: float = field(default_factory=time.monotonic)
    _length: float | None = None
    _seen: list[Measurement] = field(default_factory=list, repr=False)
    _hidden: Latest[View, Hidden] = field(default_factory=lambda: Latest(MOST_KEPT), repr=False)

    def __post_init__(self) -> None:
        self.folds = (None,) * len(self.domain.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many cells each column has in the model."""
        return self.model.tree.sizes

    @property
    def unfolded(self) -> Unfolded:
        """The model of the domain's own cells."""
        return Unfolded(self.model, self.folds)

    @property
    def total(self) -> float:
        """The number of rows, estimated from all measurements."""
        return noisy_total(self.measured)

    def say(self, phase: str, done: float = 0.0) -> None:
        """Show the phase, and about how long it will take if part of it is done."""
        passed = time.monotonic() - self.started
        left = f", about {passed * (1 - done) / done:.0f} s left" if done > 0 else ""
        progress.say(f"synthesis: {phase}{left}")

    def hidden(self, view: View) -> Hidden:
        """The exact counts of a view."""
        alone = View(view.columns)
        whole = self._hidden.get(alone)
        if whole is None:
            whole = self.marginals[view.columns].merged(self._parts_of(view))
            self._hidden.put(alone, whole, size=math.prod(whole.shape))
        if not any(view.partitions or ()):
            return whole
        found = self._hidden.get(view)
        if found is None:
            found = whole.merged(view.partitions)
            self._hidden.put(view, found, size=math.prod(found.shape))
        return found

    def _parts_of(self, view: View) -> Partitions:
        return _parts(self.folds[a] for a in view.columns)

    def _of_cells(self, view: View) -> Partitions:
        """The groups of a view as groups of the domain's cells."""
        first = self._parts_of(view)
        then = view.partitions or (None,) * len(first)
        return tuple(a if b is None else b.after(a) for a, b in zip(first, then, strict=True))

    def size_of(self, view: View) -> int:
        """How many counts a view has."""
        shape = [self.sizes[a] for a in view.columns]
        return math.prod(merged_shape(shape, view.partitions))

    def measure(self, views: Sequence[View], noise: Sequence[Noise]) -> Steps[None]:
        """Noisy counts of some marginals, released together."""
        hidden = [self.hidden(view) for view in views]
        steps = [m.on(h.value) for m, h in zip(noise, hidden, strict=True)]
        drawn = yield from self._paid(steps)
        new = [
            Measurement(
                columns=h.columns,
                counts=np.asarray(answer, dtype=np.float64).reshape(h.shape) * h.worth,
                sigma=deviation(m) * h.worth,
                law="gaussian" if isinstance(m, Gaussian) else "laplace",
                grain=h.worth,
                partitions=self._of_cells(view),
            )
            for answer, view, h, m in zip(drawn, views, hidden, noise, strict=True)
        ]
        seen = [replace(m, partitions=v.partitions) for m, v in zip(new, views, strict=True)]
        self.measured, self._seen, self.converged = self.measured + new, self._seen + seen, False

    def fold(self) -> None:
        """Fold cells of columns that were just measured and hardly stand out from the noise.

        Not those of columns with public zeros: a group would mix what is possible with what is not.
        """
        kept = {a for clique in self.fixed for a in clique}
        folds, seen = list(self.folds), []
        for m in self._seen:
            (a,) = m.columns
            part = None if a in kept else self._groups(m)
            if part is None:
                seen.append(m)
                continue
            folds[a] = Fold.of(part, self.model.marginal((a,)))
            terms = np.bincount(part.group).astype(np.float64)
            seen.append(replace(m, counts=part.sums(m.counts, axis=0), terms=terms))
        parts, old = _parts(folds), self.model
        tree = junction_tree(merged_shape(self.sizes, parts), old.tree.cliques)
        tables = [
            merged(old.marginal(clique), tuple(parts[a] for a in clique)) for clique in tree.cliques
        ]
        model = Model(tree=tree, tables=tuple(tables))
        self.folds, self.model, self._seen, self._hidden = (
            tuple(folds),
            model,
            seen,
            Latest(MOST_KEPT),
        )

    def _groups(self, measured: Measurement) -> Partition | None:
        """The groups of a column's cells that its noisy counts suggest."""
        cells = list(self.domain.cells.values())[measured.columns[0]]
        within = cells.size if cells.ordered else 0
        part = by_count(measured.counts, _STANDS_OUT * measured.sigma, ordered=within)
        if self.most_groups is None or not cells.ordered:
            return part
        mass = self.model.marginal(measured.columns)
        fewer = by_mass(merged(mass, (part,)), self.most_groups, ordered=True)
        return part if fewer is None else fewer.after(part)

    def choose(self, candidates: Mapping[View, tuple[int, float]], amount: float) -> Steps[View]:
        """The marginal that the model gets most wrong, chosen by the exponential mechanism."""
        return (yield from self.chosen(self.scores(candidates), amount))

    def chosen(
        self, scores: Scores, amount: float, among: Sequence[int] | None = None
    ) -> Steps[View]:
        """One of the views, or of those at these places, by the exponential mechanism."""
        value, views = scores.value, scores.views
        moved = value.bound("linf")
        assert moved is not None
        if among is not None:
            places, views = np.array(among), [views[i] for i in among]
            value = value.then(lambda x: x[places], linf=moved, whole=True, shape=len(views))
        mechanism = self.purse.choice(amount, sensitivity=moved)
        (best,) = yield from self._paid([mechanism.on(value)])
        return views[int(best)]

    def scores(self, candidates: Mapping[View, tuple[int, float]]) -> Scores:
        """How wrong the model is about each.

        The score of a candidate with weight w and allowance a is w·(‖counts − model‖₁ − a), a in
        rows. The model is public by now, so one unit moves it by w times what it moves the counts
        in L1. Scores are computed in whole numbers of 2⁻²⁰ rows, so that no rounding adds to that.
        They are then divided by a power of two, known from the noisy total, so that those of large
        tables fit as well, and rounded down: ⌊(s + m)/2ᵏ⌋ − ⌊s/2ᵏ⌋ ≤ ⌈m/2ᵏ⌉.
        """
        names, total = list(candidates), self.total
        farthest = max(w * (4 * total + min(a, _FAR)) for w, a in candidates.values())
        shift = max(0, math.frexp(farthest / _FINE / _SAFE)[1])
        known: dict[Clique, NDArray[np.float64]] = {}
        for view in names:
            if view.columns not in known:
                known[view.columns] = self.model.marginal(view.columns)
        scores = [
            self._score(view, merged(known[view.columns], view.partitions) * total, *each, shift)
            for view, each in candidates.items()
        ]
        return Scores(names, Sensitive.stack(scores).kept())

    def _score(
        self,
        view: View,
        expected: NDArray[np.float64],
        weight: int,
        allowance: float,
        shift: int,
    ) -> Sensitive[Any]:
        hidden = self.hidden(view)
        unit = min(_FINE, hidden.worth)
        factor = round(hidden.worth / unit)
        # Clamped on both sides, so that no difference leaves int64 whatever the noisy total is.
        known = np.minimum(np.rint(expected.ravel() / unit), float(_MOST)).astype(np.int64)
        less = round(min(allowance, _FAR) / unit)

        def score(counts: NDArray[np.int64]) -> int:
            held = np.minimum(counts, _MOST // factor) * factor
            exact = weight * (_distance(held, known) - less)
            return max(-_SAFE, min(exact >> shift, _SAFE))

        moved = -(-weight * factor * math.ceil(hidden.l1) >> shift)
        return hidden.value.then(score, linf=moved, whole=True)

    def _paid(self, steps: list[Step[Any]]) -> Steps[list[Any]]:
        mechanisms = [step.mechanism for step in steps]
        self.purse.pay(*mechanisms)
        drawn: list[Any] = yield steps
        self.mechanisms += mechanisms
        return drawn

    def refit(self, *, steps: int, tolerance: float = 1e-4) -> None:
        """Fit the model to all that was measured, from where it stands."""
        found = fit(
            self.model,
            self._seen,
            also=self.fixed,
            total=self.total,
            steps=steps,
            start=self._length,
            tolerance=tolerance,
        )
        self.model, self._length, self.converged = found.model, found.step, found.converged


def _parts(folds: Iterable[Fold | None]) -> Partitions:
    """The groups of cells that columns are folded into."""
    return tuple(None if fold is None else fold.partition for fold in folds)


def mean_size(noise: Noise) -> float:
    """The mean of |noise|."""
    return noise.sigma * math.sqrt(2 / math.pi) if isinstance(noise, Gaussian) else noise.scale


def _distance(left: NDArray[np.int64], right: NDArray[np.int64]) -> int:
    """Σ|left − right| in Python's integers: in high and low halves, which do not overflow."""
    apart = np.abs(left - right)
    return (int((apart >> 20).sum()) << 20) + int((apart & 0xFFFFF).sum())
