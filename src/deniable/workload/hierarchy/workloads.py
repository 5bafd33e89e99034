"""Hierarchies as workloads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters
from deniable.errors import BadParameter
from deniable.losses import Loss
from deniable.losses.filters import Filter
from deniable.parameters import called
from deniable.progress import Progress
from deniable.sensitive import Sensitive
from deniable.workload.linear import Measurement, Workload, least_error, whole_counts
from deniable.workload.plans import Estimates, WorkloadPlan
from deniable.workload.split import Noise, Vector
from deniable.workload.strategies import Bounds
from deniable.workload.strategies.chosen import bounds_of
from deniable.workload.strategies.exact import grouped_sums
from deniable.workload.strategies.noises import Noises
from deniable.workload.tails import Law

from .fit import Fit
from .nesting import Chain, Floats, Integers, parents_of
from .shares import balanced
from .whole import whole


@dataclass(frozen=True, kw_only=True, eq=False)
class Hierarchy(Workload[Sensitive[Any]]):
    """The count of every group of every level; levels are groupings of the same leaves.

    `names` and `codes` go from the leaves (0, …, n − 1) to the coarsest level.
    """

    names: tuple[str, ...]
    codes: tuple[Integers, ...] = field(repr=False)
    sizes: tuple[int, ...]
    numbers: tuple[Integers, ...] = field(repr=False)
    """What the groups of each level were called; those without leaves are not counted."""

    def __str__(self) -> str:
        levels = ", ".join(f"{n:,} {name}" for name, n in zip(self.names, self.sizes, strict=True))
        return f"a hierarchy of {levels}"

    @cached_property
    def nested(self) -> tuple[int, ...]:
        """The longest list of levels that nest, finest first; the others cut across them."""
        longest: list[tuple[int, ...]] = [(0,)]
        for level in range(1, len(self.codes)):
            under = [kept for kept in longest if self._parents(kept[-1], level) is not None]
            longest.append((*max(under, key=len), level))
        return max(longest, key=len)

    def _parents(self, fine: int, coarse: int) -> Integers | None:
        sizes = self.sizes[fine], self.sizes[coarse]
        return parents_of(self.codes[fine], self.codes[coarse], sizes)

    @cached_property
    def chain(self) -> Chain:
        """The levels that nest."""
        links = [self._parents(a, b) for a, b in zip(self.nested, self.nested[1:], strict=False)]
        return Chain(
            sizes=tuple(self.sizes[i] for i in self.nested),
            parents=tuple(link for link in links if link is not None),
        )

    # ---- noise

    def _vectors(self, law: Law, bounds: Bounds) -> list[Vector]:
        power = 3 if law == "laplace" else 2
        shares = [1 / len(self.sizes)] * len(self.sizes)
        nested = balanced(self.chain.sizes, law)
        for level, share in zip(self.nested, nested, strict=True):
            shares[level] = share * len(nested) / len(self.sizes)
        return [
            Vector(l1=bounds.l1, l2=bounds.l1 if i else bounds.l2, weight=share**power)
            for i, share in enumerate(shares)
        ]

    def _best(self, spend: Loss, bounds: Bounds, filter_: Filter | None) -> HierarchyPlan:
        with Progress(f"planning {self}"):
            return least_error(
                partial(self._vectors, bounds=bounds), self._planned, spend=spend, filter=filter_
            )

    def _planned(self, drawn: Sequence[Noise], law: Law, spend: Loss) -> HierarchyPlan:
        alone = len(self.sizes) == 1  # the leaves are answers themselves
        noise = Noises.of(drawn, whole=alone)
        _, spread = self._fit([np.zeros(n) for n in self.sizes], noise.deviations)
        deviations = np.sqrt(np.concatenate(spread))
        means = [float(np.mean(v)) for v in spread]
        return HierarchyPlan(
            workload=str(self),
            strategy="hierarchy",
            spend=spend,
            rmse=math.sqrt(sum(means) / len(means)),
            worst=float(deviations.max()),
            deviations=deviations,
            law=law,
            step=1.0 if alone else 0.0,
            wider=noise.wider,
            noise=noise,
            levels={name: math.sqrt(m) for name, m in zip(self.names, means, strict=True)},
        )

    def _fit(
        self, noisy: Sequence[Floats], deviations: Sequence[float]
    ) -> tuple[list[Floats], list[Floats]]:
        fit = Fit(codes=self.codes, sizes=self.sizes, chain=self.chain, nested=self.nested)
        return fit(noisy, [s**2 for s in deviations])

    # ---- use

    def plan(self, *, spend: Loss, sensitivity: float = 1.0) -> HierarchyPlan:
        """The noise for an amount, and the errors after the counts were made to agree: free.

        `rmse` counts every level alike; `levels` has the error of each.
        """
        moved = parameters.positive("sensitivity", sensitivity)
        return self._best(spend, Bounds(l1=moved, l2=moved), None)

    def release(
        self, counts: ArrayLike, *, spend: Loss, sensitivity: float = 1.0
    ) -> HierarchyEstimates:
        """Counts of all groups that add up, outside any session: you keep the books."""
        leaves = whole_counts(counts, self.sizes[0])
        plan = self.plan(spend=spend, sensitivity=sensitivity)
        with Progress(f"drawing noise for {self}"):
            exact = (self._counted(leaves, level) for level in range(len(self.sizes)))
            return self._read(plan, plan.noise.draw(exact))

    def measure(
        self, counts: Sensitive[Any], *, spend: Loss, filter: Filter | None = None
    ) -> Measurement[HierarchyEstimates]:
        """The steps for a session, and how to read what it draws."""
        bounds = bounds_of(counts, self.sizes[0])
        plan = self._best(spend, bounds, filter)
        steps = plan.noise.steps(
            (counts, partial(self._counted, level=level), vector, self.sizes[level])
            for level, vector in enumerate(self._vectors(plan.law, bounds))
        )
        return Measurement(
            plan=plan,
            noise=plan.noise,
            steps=steps,
            read=lambda drawn: self._read(plan, plan.noise.read(drawn)),
        )

    def _counted(self, leaves: Integers, level: int) -> Integers:
        """The exact counts of one level, clipped to ±2⁶²."""
        return grouped_sums(leaves, self.codes[level], self.sizes[level])

    def _read(self, plan: HierarchyPlan, noisy: Sequence[Floats]) -> HierarchyEstimates:
        values, _ = self._fit(noisy, plan.noise.deviations)
        level = np.repeat(np.array(self.names, dtype=object), self.sizes)
        group = np.concatenate(self.numbers)
        return HierarchyEstimates(
            values=np.concatenate(values),
            deviations=plan.deviations,
            plan=plan,
            labels={"level": level, "group": group},
            of=self,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class HierarchyPlan(WorkloadPlan):
    """The noise of each level, and the root mean squared error of each after the fit."""

    noise: Noises = field(repr=False)
    levels: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HierarchyEstimates(Estimates):
    """Counts of all groups, level after level: unbiased, and sums of the same leaves."""

    of: Hierarchy = field(repr=False)

    @property
    def levels(self) -> dict[str, Floats]:
        """The estimates of each level."""
        parts = np.split(self.values, np.cumsum(self.of.sizes)[:-1])
        return dict(zip(self.of.names, parts, strict=True))

    @cached_property
    def whole(self) -> dict[str, Integers]:
        """Non-negative whole numbers for every level; each group is the sum of its leaves.

        Levels that nest are rounded from the top down. A level that cuts across them is added up
        from the leaves, so it adds up as well, but is further from its own estimates: `approximate`
        names such levels. The ± holds for `values`, not for these.
        """
        of = self.of
        parts = list(self.levels.values())
        leaves = whole(of.chain, [parts[i] for i in of.nested])[0]
        sums = [
            grouped_sums(leaves, codes, size)
            for codes, size in zip(of.codes, of.sizes, strict=True)
        ]
        return dict(zip(of.names, sums, strict=True))

    @property
    def approximate(self) -> tuple[str, ...]:
        """Levels whose whole numbers are sums of leaves only, because they do not nest."""
        return tuple(n for i, n in enumerate(self.of.names) if i not in self.of.nested)


@called('workload.groupings(4, {"half": [0, 0, 1, 1]})')
def groupings(leaves: int, levels: Mapping[str, ArrayLike]) -> Hierarchy:
    """Groupings of so many leaves, each given by the number of every leaf's group.

    The leaves themselves and their total are always counted, too. Levels need not nest, and a group
    without leaves is left out.

    >>> import deniable as dp
    >>> w = groupings(4, {"half": [0, 0, 1, 1], "parity": [0, 1, 0, 1]})
    >>> print(w)
    a hierarchy of 4 leaf, 2 half, 2 parity, 1 total
    >>> w.plan(spend=dp.epsilon(1.0)).levels.keys()
    dict_keys(['leaf', 'half', 'parity', 'total'])
    """
    count = parameters.whole("leaves", leaves)
    found = {str(name): _codes(str(name), codes, count) for name, codes in levels.items()}
    if {"leaf", "total"} & set(found):
        raise BadParameter("a level cannot be called leaf or total: these are always there")
    ordered = sorted(found.items(), key=lambda item: -len(np.unique(item[1])))
    every = [("leaf", np.arange(count)), *ordered, ("total", np.zeros(count, dtype=np.int64))]
    if count == 1 and not ordered:
        every = every[:1]
    pairs = [np.unique(codes, return_inverse=True) for _, codes in every]
    return Hierarchy(
        names=tuple(name for name, _ in every),
        codes=tuple(codes for _, codes in pairs),
        sizes=tuple(len(numbers) for numbers, _ in pairs),
        numbers=tuple(numbers for numbers, _ in pairs),
    )


@called("workload.tree([-1, 0, 0, 1, 1, 2])")
def tree(parents: ArrayLike) -> Hierarchy:
    """A tree given by the parent of every node, −1 for the root; all leaves are equally deep.

    Counts are those of the leaves, in the order of their nodes; levels are called by their depth.

    >>> w = tree([-1, 0, 0, 1, 1, 2])
    >>> w.sizes, w.names
    ((3, 2, 1), ('leaf', 'depth 1', 'total'))
    """
    parent = _parents_given(parents)
    depth = np.zeros(len(parent), dtype=np.int64)
    up = parent.copy()
    while (up >= 0).any():
        depth += up >= 0
        if depth.max() > len(parent):
            raise BadParameter("the parents form a circle, not a tree")
        up = np.where(up >= 0, parent[up], -1)
    leaves = np.setdiff1d(np.arange(len(parent)), parent)
    if len(set(depth[leaves].tolist())) > 1:
        raise BadParameter(
            "the leaves of the tree are not equally deep",
            fix="give a leaf that ends early a chain of single children",
        )
    levels, at = {}, leaves
    for level in range(int(depth[leaves[0]]) - 1, 0, -1):
        at = parent[at]
        _, levels[f"depth {level}"] = np.unique(at, return_inverse=True)
    return groupings(len(leaves), levels)


def _parents_given(parents: ArrayLike) -> Integers:
    found = np.asarray(parents)
    fits = found.ndim == 1 and found.size and found.dtype.kind in "iu"
    if not fits or found.min() < -1 or found.max() >= len(found) or (found == -1).sum() != 1:
        raise BadParameter(
            "parents must be the number of every node's parent, −1 for a single root",
            fix="workload.tree([-1, 0, 0, 1, 1, 2])",
        )
    return found.astype(np.int64)


def _codes(name: str, codes: ArrayLike, leaves: int) -> Integers:
    found = np.asarray(codes)
    if found.shape != (leaves,) or found.dtype.kind not in "iu" or found.min() < 0:
        raise BadParameter(
            f"`{name}` must have a number from 0 for each of the {leaves:,} leaves",
            fix="pandas.factorize(labels)[0]",
        )
    if found.max() >= leaves:
        raise BadParameter(f"`{name}` has more groups than there are leaves")
    return found.astype(np.int64)
