"""All k-way marginals of a table at once: optimal noise, and tables that agree with each other.

Write P = I − J/n for the deviation of a column's counts from their mean. A marginal over the set B
is made of residuals: for each A ⊆ B, P along the columns of A, and the mean along those of B ∖ A.
Residuals of different sets are orthogonal, so noise can be given to each separately, once, and
every marginal that contains a residual uses the same one: they agree exactly [XHZK23].

With Gaussian noise of variance s² per cell on the residual of A (n_i values in column i),

    a cell of marginal B has variance  Σ_{A⊆B} s_A²·p_A·Π_{j∈B∖A} 1/n_j²,   p_A = Π (n_i − 1)/n_i
    and the loss is                    μ² = Σ p_A/s_A²

so the best s_A² has a closed form. What gets noise is Π n_i·P, which has whole entries: a matrix of
whole numbers times whole counts, exact, with longest column √Π n_i·(n_i − 1).

With Laplace noise the marginals themselves get noise, and each residual is the mean of what they
say about it, weighted by precision; errors of different residuals are uncorrelated, so that this is
least squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter, UnknownName
from deniable.losses import Loss
from deniable.losses.filters import Filter
from deniable.parameters import called
from deniable.sensitive import Sensitive

from .linear import Measurement, Workload, least_error
from .plans import Estimates, WorkloadPlan
from .split import Noise, Vector
from .strategies import Bounds
from .strategies.noises import Noises
from .tails import Law

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Set = tuple[str, ...]
MOST_CELLS: Final = 2**24


@dataclass(frozen=True, kw_only=True, eq=False)
class Marginals(Workload[Mapping[Set, Sensitive[Any]]]):
    """Tables of counts over sets of columns, each set as important as any other."""

    sizes: Mapping[str, int]
    sets: tuple[Set, ...]

    def __str__(self) -> str:
        cells = sum(map(self.cells, self.sets))
        return f"{len(self.sets):,} marginals of {len(self.sizes)} columns, {cells:,} cells"

    def cells(self, columns: Iterable[str]) -> int:
        """How many cells the marginal of these columns has."""
        return math.prod(self.sizes[c] for c in columns)

    def shape(self, columns: Iterable[str]) -> tuple[int, ...]:
        """How many values each of these columns has."""
        return tuple(self.sizes[c] for c in columns)

    @cached_property
    def residuals(self) -> tuple[Set, ...]:
        """All subsets of the sets, small ones first; a column of one value has no residual."""
        found = {
            part
            for columns in self.sets
            for k in range(len(columns) + 1)
            for part in combinations(columns, k)
            if all(self.sizes[c] > 1 for c in part)
        }
        return tuple(sorted(found, key=lambda part: (len(part), part)))

    @cached_property
    def _inside(self) -> dict[Set, tuple[Set, ...]]:
        """For every set, its residuals."""
        known = set(self.residuals)
        return {
            columns: tuple(
                part
                for k in range(len(columns) + 1)
                for part in combinations(columns, k)
                if part in known
            )
            for columns in self.sets
        }

    def _source(self, part: Set) -> Set:
        """The smallest marginal that contains a residual."""
        inside = [columns for columns in self.sets if part in self._inside[columns]]
        return min(inside, key=self.cells)

    def _p(self, part: Iterable[str]) -> float:
        return math.prod((self.sizes[c] - 1) / self.sizes[c] for c in part)

    def _others(self, columns: Set, part: Set) -> int:
        return self.cells(c for c in columns if c not in part)

    # ---- noise

    def _vectors(self, law: Law, bounds: Bounds) -> list[Vector]:
        if law == "laplace":
            return [Vector(l1=bounds.l1, l2=bounds.l2) for _ in self.sets]
        weights = dict.fromkeys(self.residuals, 0.0)
        for columns in self.sets:
            for part in self._inside[columns]:
                weights[part] += self._p(part) / self._others(columns, part) ** 2
        vectors = []
        for part in self.residuals:
            longest = math.prod(self.sizes[c] * (self.sizes[c] - 1) for c in part)
            l1 = bounds.l1 * math.prod(2 * (self.sizes[c] - 1) for c in part)
            share = math.sqrt(self._p(part) * weights[part])
            root = math.isqrt(longest)
            exact = bounds.l1 * root  # rounded up where the root is not a whole number
            l2 = exact if root * root == longest else bounds.l1 * math.sqrt(longest) * (1 + 1e-12)
            vectors.append(Vector(l1=l1, l2=l2, weight=share**2))
        return vectors

    def _variances(self, noise: Noises) -> dict[Set, float]:
        """s² of every residual."""
        each = [s**2 for s in noise.deviations]
        if noise.law == "gaussian":
            parts = zip(self.residuals, each, strict=True)
            return {part: v / self.cells(part) ** 2 for part, v in parts}
        precision = dict.fromkeys(self.residuals, 0.0)
        for columns, v in zip(self.sets, each, strict=True):
            for part in self._inside[columns]:
                precision[part] += 1 / (v * self._others(columns, part))
        return {part: 1 / total for part, total in precision.items()}

    def _planned(self, drawn: Sequence[Noise], law: Law, spend: Loss) -> MarginalsPlan:
        alone = law == "laplace" and len(self.sets) == 1  # its cells are answers themselves
        noise = Noises.of(drawn, whole=alone)
        variances = self._variances(noise)
        tables = {
            columns: sum(
                variances[part] * self._p(part) / self._others(columns, part) ** 2
                for part in self._inside[columns]
            )
            for columns in self.sets
        }
        sizes = [self.cells(columns) for columns in self.sets]
        return MarginalsPlan(
            workload=str(self),
            strategy="residuals" if law == "gaussian" else "the marginals",
            spend=spend,
            rmse=math.sqrt(sum(tables.values()) / len(tables)),
            worst=math.sqrt(max(tables.values())),
            deviations=np.sqrt(np.repeat(list(tables.values()), sizes)),
            law=law,
            step=1.0 if alone else 0.0,
            wider=noise.wider,
            noise=noise,
            tables={columns: math.sqrt(v) for columns, v in tables.items()},
        )

    def _best(self, spend: Loss, bounds: Bounds, filter_: Filter | None) -> MarginalsPlan:
        return least_error(
            partial(self._vectors, bounds=bounds), self._planned, spend=spend, filter=filter_
        )

    # ---- what is measured

    def residual(self, counts: Integers, *, columns: Set, part: Set) -> Integers:
        """Π n_i·P along the columns of a part, summed over the others: exact whole numbers."""
        most = 2**62 // (counts.size * 2 ** len(part))
        table = np.clip(counts, -most, most).reshape(self.shape(columns))
        away = tuple(i for i, c in enumerate(columns) if c not in part)
        table = table.sum(axis=away)
        for axis, column in enumerate(part):
            table = self.sizes[column] * table - table.sum(axis=axis, keepdims=True)
        return np.asarray(table, dtype=np.int64).reshape(-1)

    def _steps(self, law: Law) -> list[tuple[Set, Any, int]]:
        """For each noisy vector: the marginal it is computed from, how, and its length."""
        if law == "laplace":
            return [(columns, np.ravel, self.cells(columns)) for columns in self.sets]
        sources = [(self._source(part), part) for part in self.residuals]
        return [
            (columns, partial(self.residual, columns=columns, part=part), self.cells(part))
            for columns, part in sources
        ]

    def _read(self, plan: MarginalsPlan, drawn: Sequence[Floats]) -> MarginalEstimates:
        found = self._agreed(plan, drawn)
        tables = {columns: self._table(columns, found) for columns in self.sets}
        return MarginalEstimates(
            values=np.concatenate([table.reshape(-1) for table in tables.values()]),
            deviations=plan.deviations,
            plan=plan,
            labels=self._labels(),
            tables=tables,
        )

    def _agreed(self, plan: MarginalsPlan, noisy: Sequence[Floats]) -> dict[Set, Floats]:
        if plan.law == "gaussian":
            parts = zip(self.residuals, noisy, strict=True)
            return {
                part: _centred(y.reshape(self.shape(part))) / self.cells(part) for part, y in parts
            }
        found = {part: np.zeros(self.shape(part)) for part in self.residuals}
        variances = self._variances(plan.noise)
        each = [s**2 for s in plan.noise.deviations]
        for columns, y, v in zip(self.sets, noisy, each, strict=True):
            table = y.reshape(self.shape(columns))
            for part in self._inside[columns]:
                away = tuple(i for i, c in enumerate(columns) if c not in part)
                weight = variances[part] / (v * self._others(columns, part))
                found[part] += weight * _centred(table.sum(axis=away))
        return found

    def _table(self, columns: Set, found: Mapping[Set, Floats]) -> Floats:
        table = np.zeros(self.shape(columns))
        for part in self._inside[columns]:
            shape = [self.sizes[c] if c in part else 1 for c in columns]
            table += found[part].reshape(shape) / self._others(columns, part)
        return table

    def _labels(self) -> dict[str, NDArray[Any]]:
        columns: dict[str, list[NDArray[Any]]] = {name: [] for name in self.sizes}
        for chosen in self.sets:
            places = np.indices(self.shape(chosen)).reshape(len(chosen), -1)
            for name, parts in columns.items():
                own = places[chosen.index(name)] if name in chosen else np.full(places.shape[1], -1)
                parts.append(own)
        return {name: np.concatenate(parts) for name, parts in columns.items()}

    # ---- use

    def plan(self, *, spend: Loss, sensitivity: float = 1.0) -> MarginalsPlan:
        """The noise for an amount, and the error of a cell of each marginal: free."""
        moved = parameters.positive("sensitivity", sensitivity)
        return self._best(spend, Bounds(l1=moved, l2=moved), None)

    def release(
        self, counts: ArrayLike, *, spend: Loss, sensitivity: float = 1.0
    ) -> MarginalEstimates:
        """All marginals of a table of counts (an axis per column), outside any session."""
        table = np.asarray(counts)
        if table.shape != self.shape(self.sizes) or table.dtype.kind not in "iub":
            raise BadParameter(f"counts must be whole numbers of shape {self.shape(self.sizes)}")
        plan = self.plan(spend=spend, sensitivity=sensitivity)
        names = list(self.sizes)  # sets list their columns in this order
        sums = {
            columns: np.asarray(
                table.sum(axis=tuple(i for i, c in enumerate(names) if c not in columns)),
                dtype=np.int64,
            )
            for columns in self.sets
        }
        exact = (make(sums[columns]) for columns, make, _ in self._steps(plan.law))
        return self._read(plan, plan.noise.draw(exact))

    def measure(
        self, counts: Mapping[Set, Sensitive[Any]], *, spend: Loss, filter: Filter | None = None
    ) -> Measurement[MarginalEstimates]:
        """The steps for a session; `counts` are the exact marginals, flat, by their columns."""
        known = [counts[columns] for columns in self.sets]
        l1, l2 = (max(each.bound(norm) or math.inf for each in known) for norm in ("l1", "l2"))
        bounds = Bounds(l1=l1, l2=l2)
        plan = self._best(spend, bounds, filter)
        vectors = self._vectors(plan.law, bounds)
        parts = zip(vectors, self._steps(plan.law), strict=True)
        steps = plan.noise.steps(
            (counts[columns], make, vector, length) for vector, (columns, make, length) in parts
        )
        return Measurement(
            plan=plan,
            noise=plan.noise,
            steps=steps,
            read=lambda drawn: self._read(plan, plan.noise.read(drawn)),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginalsPlan(WorkloadPlan):
    """The noise, and the standard deviation of a cell of each marginal."""

    noise: Noises = field(repr=False)
    tables: Mapping[Set, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MarginalEstimates(Estimates):
    """Noisy marginals: `tables` by their columns; sums over a column agree between them."""

    tables: Mapping[Set, Floats] = field(repr=False)

    def names(self) -> dict[str, list[object]]:
        """The values of the columns of each cell; None for columns that its table does not have."""
        found = super().names()
        return {name: [None if i == -1 else i for i in own] for name, own in found.items()}


def _centred(table: Floats) -> Floats:
    """P along every axis."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


@called('workload.marginals({"sex": 2, "race": 5}, ways=2)')
def marginals(
    sizes: Mapping[str, int], *, ways: int | None = None, sets: Sequence[Sequence[str]] = ()
) -> Marginals:
    """All marginals of `ways` columns, or those of chosen sets; `sizes` counts values by column.

    >>> import deniable as dp
    >>> w = marginals({"sex": 2, "race": 5, "income": 2}, ways=2)
    >>> plan = w.plan(spend=dp.mu(1.0))
    >>> plan.strategy, {"/".join(k): round(v, 2) for k, v in plan.tables.items()}
    ('residuals', {'sex/race': 1.36, 'sex/income': 1.51, 'race/income': 1.36})
    """
    if not isinstance(sizes, Mapping):
        must = "the number of values by column"
        raise BadParameter.of("sizes", sizes, must=must, fix='{"sex": 2, "race": 5}')
    found = {str(name): parameters.whole(f"sizes[{name!r}]", n) for name, n in sizes.items()}
    if not found:
        raise BadParameter("marginals need at least one column", fix='{"sex": 2, "race": 5}')
    if (ways is None) == (not sets):
        raise BadParameter("give either ways= or sets=", fix="ways=2")
    if ways is not None:
        count = min(parameters.whole("ways", ways), len(found))
        chosen = list(combinations(found, count))
    else:
        chosen = [tuple(map(str, each)) for each in sets]
    for each in chosen:
        for name in each:
            if name not in found:
                raise UnknownName.of("column", name, known=found)
        if len(set(each)) < len(each):
            raise BadParameter("a set names a column twice")
    order = list(found)
    ordered = dict.fromkeys(tuple(sorted(each, key=order.index)) for each in chosen)
    made = Marginals(sizes=found, sets=tuple(ordered))
    if sum(map(made.cells, made.sets)) > MOST_CELLS:
        raise BadParameter(f"these marginals have more than {MOST_CELLS:,} cells", fix="ways=2")
    return made
