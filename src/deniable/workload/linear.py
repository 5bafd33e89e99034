"""What workloads over cells share: choose a strategy, measure it exactly, answer from the fit."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.losses import Loss
from deniable.losses.filters import Filter
from deniable.mechanisms import Step
from deniable.parameters import called
from deniable.progress import Progress
from deniable.sensitive import Sensitive

from .plans import Estimates, WorkloadPlan
from .split import AN_AMOUNT, Noise, Vectors, noise_under
from .strategies import Bounds, Chosen, Strategy, choose
from .strategies.chosen import bounds_of
from .strategies.exact import LARGEST_CELL
from .strategies.noises import Noises
from .tails import LAWS, Law

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
E_co = TypeVar("E_co", covariant=True)
P = TypeVar("P", bound=WorkloadPlan)
C_contra = TypeVar("C_contra", contravariant=True)

_FINE: Final = 12
_LEAST_POWER: Final = -1000  # 2⁻¹⁰⁰⁰ is still a normal float

Asked = Generator[list[Step[Any]], list[Any], E_co]
"""An algorithm for a session: it yields its steps together, and returns estimates."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement(Generic[E_co]):
    """A plan, its steps for a session, and how to read what the session draws for them."""

    plan: WorkloadPlan
    noise: Noises
    steps: list[Step[Any]]
    read: Callable[[Sequence[Any]], E_co]


@dataclass(frozen=True, kw_only=True, eq=False)
class Workload(ABC, Generic[C_contra]):
    """Many queries about the same hidden counts, planned and released together."""

    @abstractmethod
    def plan(self, *, spend: Loss, sensitivity: float = 1.0) -> WorkloadPlan:
        """How an amount would be used, and the errors to expect: free.

        `sensitivity` is how far one unit moves the counts, in L1.
        """

    @abstractmethod
    def measure(
        self, counts: C_contra, *, spend: Loss, filter: Filter | None = None
    ) -> Measurement[Estimates]:
        """The steps for a session, and how to read what it draws."""

    def on(
        self, counts: C_contra, *, spend: Loss, filter: Filter | None = None
    ) -> Asked[Estimates]:
        """An algorithm for a session: `s.run(w.on(counts, spend=...))`.

        Give `filter=s.ledger.filter` where the session's budget has a δ.
        """
        measured = self.measure(counts, spend=spend, filter=filter)

        def asked() -> Asked[Estimates]:
            drawn = yield measured.steps
            return measured.read(drawn)

        return asked()


@dataclass(frozen=True, kw_only=True, eq=False)
class Linear(Workload[Sensitive[Any]]):
    """Linear queries about `cells` counts. How far one unit moves the counts is given in L1."""

    cells: int

    @abstractmethod
    def _strategies(self, law: Law, bounds: Bounds) -> Iterator[Strategy]:
        """The strategies that may answer it, under one law of noise."""

    @abstractmethod
    def mean_square(self, strategy: Strategy, deviations: Sequence[float]) -> float:
        """The mean variance over all queries."""

    @abstractmethod
    def listed(self, strategy: Strategy, deviations: Sequence[float]) -> Floats:
        """The variances of the answers that are listed."""

    def step(self, strategy: Strategy) -> float:
        """The lattice step of the answers: all are multiples of it; 0 if there is none."""
        del strategy
        return 0.0

    @abstractmethod
    def estimates(self, plan: WorkloadPlan, cells: Floats) -> Estimates:
        """What the fitted cells say."""

    def chosen(self, *, spend: Loss, bounds: Bounds, filter: Filter | None = None) -> Chosen:
        """The strategy and noise with the least mean squared error."""
        with Progress(f"planning {self}"):
            return choose(
                lambda law: self._strategies(law, bounds),
                self.mean_square,
                whole=lambda strategy: self.step(strategy) > 0,
                spend=a_loss(spend),
                filter=filter,
            )

    def planned(self, chosen: Chosen, *, spend: Loss) -> WorkloadPlan:
        """What is known of the answers before they are drawn."""
        strategy, deviations = chosen.strategy, chosen.deviations
        listed = np.sqrt(self.listed(strategy, deviations))
        return WorkloadPlan(
            workload=str(self),
            strategy=strategy.name,
            spend=spend,
            rmse=math.sqrt(self.mean_square(strategy, deviations)),
            worst=float(listed.max()),
            deviations=listed,
            law=chosen.law,
            chosen=chosen,
            step=self.step(strategy),
            wider=chosen.noise.wider,
        )

    @called("workload.ranges(1024).plan(spend=dp.epsilon(1.0))")
    def plan(self, *, spend: Loss, sensitivity: float = 1.0) -> WorkloadPlan:
        """The best strategy for an amount, and its errors: free."""
        moved = parameters.positive("sensitivity", sensitivity)
        return self.planned(
            self.chosen(spend=spend, bounds=Bounds(l1=moved, l2=moved)), spend=spend
        )

    @called("workload.ranges(3).release([4, 0, 7], spend=dp.epsilon(1.0))")
    def release(self, counts: ArrayLike, *, spend: Loss, sensitivity: float = 1.0) -> Estimates:
        """Noisy answers to every query, outside any session: you keep the books.

        `counts` are whole numbers, or sums in real numbers, which are rounded to a fine lattice.
        """
        moved = parameters.positive("sensitivity", sensitivity)
        exact, moved, worth = on_lattice(counts, self.cells, moved)
        plan = self.plan(spend=spend, sensitivity=moved)
        assert plan.chosen is not None
        with Progress(f"drawing noise for {self}"):
            found = self.estimates(plan, plan.chosen.draw(exact))
        return found if worth == 1 else found.times(worth)

    def measure(
        self, counts: Sensitive[Any], *, spend: Loss, filter: Filter | None = None
    ) -> Measurement[Estimates]:
        """The steps for a session, and how to read what it draws."""
        bounds = bounds_of(counts, self.cells)
        chosen = self.chosen(spend=spend, bounds=bounds, filter=filter)
        plan = self.planned(chosen, spend=spend)
        return Measurement(
            plan=plan,
            noise=chosen.noise,
            steps=chosen.steps(counts),
            read=lambda drawn: self.estimates(plan, chosen.read(drawn)),
        )


def least_error(
    vectors: Vectors,
    planned: Callable[[Sequence[Noise], Law, Loss], P],
    *,
    spend: Loss,
    filter: Filter | None,
) -> P:
    """Of the plans under each law of noise that an amount buys, the one with the least error."""
    plans = []
    for law in LAWS:
        noise = noise_under(law, vectors(law), spend=spend, filter=filter)
        if noise is not None:
            plans.append(planned(noise, law, spend))
    if not plans:
        raise BadParameter.of("spend", spend, must=AN_AMOUNT)
    return min(plans, key=lambda plan: plan.rmse)


def on_lattice(numbers: ArrayLike, cells: int, moved: float) -> tuple[Integers, float, float]:
    """Whole numbers, how far one unit moves them in L1, and what 1 of them is worth.

    Real numbers x become ⌊x/g + ½⌋ with g a power of two, so that x/g is exact. One unit moves
    those of n cells by at most Δ₁/g + n, and g ≤ Δ₁/(2¹²·n) keeps that within 0.03 % of Δ₁/g.
    """
    found = np.asarray(numbers)
    if found.dtype.kind != "f" or found.shape != (cells,) or not np.isfinite(found).all():
        return whole_counts(found, cells, what="finite numbers"), moved, 1.0
    step = 2.0 ** max(math.frexp(moved)[1] - 1 - cells.bit_length() - _FINE, _LEAST_POWER)
    with np.errstate(over="ignore"):  # what overflows is clipped
        held = np.clip(found / step, -LARGEST_CELL, LARGEST_CELL)
    rounded = np.floor(held + 0.5)
    return rounded.astype(np.int64), moved / step + cells, step


def whole_counts(counts: ArrayLike, cells: int, *, what: str = "whole numbers") -> Integers:
    """The counts as whole numbers, one per cell."""
    found = np.asarray(counts)
    if found.shape != (cells,) or found.dtype.kind not in "iub":
        raise BadParameter(
            f"counts must be {cells:,} {what}, one per cell",
            fix=f"numpy.bincount(places, minlength={cells})",
        )
    return found.astype(np.int64)


def a_loss(spend: object) -> Loss:
    """The amount, if it is a loss."""
    if not isinstance(spend, Loss):
        raise BadParameter.of("spend", spend, must="a privacy loss", fix="spend=dp.epsilon(1.0)")
    return spend
