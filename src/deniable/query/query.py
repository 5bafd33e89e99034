"""A query: what was asked, checked and bounded. Looking at it is free; releasing it spends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter, BudgetExceeded
from deniable.losses import Loss
from deniable.mechanisms import Step
from deniable.query.algebra import Question
from deniable.query.allocate import Allocation, allocate, explained, least
from deniable.query.allocate.foresight import public_size
from deniable.query.answer import answer
from deniable.query.bound import Cells, Group, IntegerPlan, bound
from deniable.release import Plan, Release
from deniable.sensitive import Sensitive
from deniable.session import Session, budgets

Within = float | Mapping[str, float]

_INT64: Final = np.iinfo(np.int64)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Query:
    """A question to a session: `.explain` is free, `.release` spends."""

    session: Session = field(repr=False)
    question: Question

    @cached_property
    def plan(self) -> IntegerPlan:
        """The question in whole numbers, with how far one unit moves each."""
        return bound(self.question)

    def explain(
        self,
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        size: float | None = None,
    ) -> Plan:
        """What an answer would cost, how good it would be, and how it is made. No data are read.

        `spend` is what you would pay; or `within` the ± you want (95 %), by column if there are
        several. `size` is about how many rows a group has, if that is public: averages need it.
        """
        allocation = self._allocate(spend, within, size)
        cost = self._cost(allocation)
        return explained(
            allocation, cost=cost, left=self._left_after(allocation), size=self._size(size)
        )

    def release(
        self,
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        size: float | None = None,
        asker: str | None = None,
    ) -> Release:
        """The answer, with its ±: charged, then computed, then drawn.

        Asked again at the same price, the stored answer is returned, free.
        """
        allocation = self._allocate(spend, within, size)
        if allocation.selection is None:
            groups = tuple(self.plan.public_groups())
            return self._shown(self._numbers(allocation, groups, asker=asker))
        self._afford(allocation)
        keys = self._keys(allocation, asker=asker)
        numbers = self._numbers(allocation, tuple(keys.value), asker=asker)  # type: ignore[arg-type]
        free = numbers.free and keys.free
        return self._shown(
            replace(
                numbers,
                loss=self._cost(allocation),
                mechanisms=(*keys.mechanisms, *numbers.mechanisms),
                free=free,
            )
        )

    def __repr__(self) -> str:
        return f"{self.question!r}\n(free: .explain(spend=...); spends: .release(spend=...))"

    # ---- what it costs

    def _allocate(
        self, spend: Loss | None, within: Within | None, size: float | None
    ) -> Allocation:
        if (spend is None) == (within is None):
            raise BadParameter(
                "say what you would spend, or which ± you want"
                if spend is None
                else "spend= and within= are two ways to say the same thing: give one",
                fix="spend=dp.epsilon(0.1)    or within=100, a ± with 95 %",
            )
        known, filter_ = self._size(size), self.session.ledger.filter
        if spend is not None:
            paid = self.session.spending(spend)
            return allocate(self.plan, spend=paid, filter=filter_)
        _, found = least(
            self.plan, within=within, budget=self.session.budget, filter=filter_, size=known
        )
        return found

    def _size(self, size: float | None) -> float | None:
        if size is not None:
            return parameters.positive("size", size)
        return public_size(self.question, self.session.schema)

    def _cost(self, allocation: Allocation) -> Loss:
        return budgets.alone(allocation.mechanism, budget=self.session.budget)

    def _left_after(self, allocation: Allocation) -> Loss | None:
        ledger = self.session.ledger
        total = ledger.head().total + ledger.price(allocation.mechanism)
        return ledger.filter.left(total) if ledger.filter.admits(total) else None

    def _afford(self, allocation: Allocation) -> None:
        """Keys are paid for before numbers: refuse at once what would end half-way."""
        if self._left_after(allocation) is None:
            raise BudgetExceeded(
                f"this would pass the ceiling of {self.session.budget}",
                why=f"it costs {self._cost(allocation)}, and {self.session.left} is left",
                fix="ask for less: a smaller spend, or a wider ±",
            )

    # ---- charge, compute, draw

    def _keys(self, allocation: Allocation, *, asker: str | None) -> Release:
        """The groups that may be shown, chosen by how many people are in each."""
        plan, selection = self.plan, allocation.selection
        assert selection is not None
        assert plan.selection is not None
        tally = plan.selection

        def people() -> tuple[list[Group], list[int]]:
            found = self._execute()
            return list(found.groups), [int(n) for n in found.numbers[tally.name]]

        moves = tally.moves
        counts = Sensitive(people, l1=moves.l1, linf=moves.linf, unit=plan.unit)
        return self.session.release(
            selection.on(counts),
            question=f"groups of\n{self.question!r}",
            table=self._tables,
            asker=asker,
        )

    def _numbers(
        self, allocation: Allocation, groups: Sequence[Group], *, asker: str | None
    ) -> Release:
        once = _Once(lambda: _aligned(self._execute(), groups, allocation))
        steps = [
            _step(noise, part.vector.l1, part.vector.l2, once.reader(i), self.plan)
            for i, (part, noise) in enumerate(zip(allocation.parts, allocation.noise, strict=True))
        ]
        listed = "" if allocation.selection is None else f"\nof {groups!r}"
        return self.session.release(
            steps,
            question=f"{self.question!r}{listed}",
            table=self._tables,
            asker=asker,
            present=lambda drawn: answer(allocation, groups, drawn),
        )

    def _execute(self) -> Cells:
        from deniable.query.execute import execute

        return execute(self.plan, tables=self.session.tables)

    @property
    def _tables(self) -> str:
        return ", ".join(self.session.tables)

    def _shown(self, release: Release) -> Release:
        """What the analyst wrote stands above the answer; it was stored under what it means."""
        text = self.question.text or repr(self.question)
        return replace(release, provenance=replace(release.provenance, question=text))


class _Once:
    """The engine is asked once, when the first step is computed; the last step forgets."""

    def __init__(self, compute: Callable[[], list[np.ndarray[Any, Any]]]) -> None:
        self._compute = compute
        self._found: dict[int, np.ndarray[Any, Any]] = {}

    def reader(self, place: int) -> Callable[[], np.ndarray[Any, Any]]:
        """The computation of one step."""

        def read() -> np.ndarray[Any, Any]:
            if place not in self._found:
                self._found = dict(enumerate(self._compute()))
            return self._found.pop(place)

        return read


def _step(
    noise: Any,
    l1: float,
    l2: float,
    compute: Callable[[], np.ndarray[Any, Any]],
    plan: IntegerPlan,
) -> Step[Any]:
    step: Step[Any] = noise.on(Sensitive(compute, l1=l1, l2=l2, unit=plan.unit))
    return step


def _aligned(
    cells: Cells, groups: Sequence[Group], allocation: Allocation
) -> list[np.ndarray[Any, Any]]:
    """One vector a tally, for the groups asked about in their order; what was not found is 0.

    Wide sums are held at the ends of 64 bits, which never moves two values apart.
    """
    place = {group: i for i, group in enumerate(cells.groups)}
    order = [place.get(group, -1) for group in groups]
    vectors = []
    for part in allocation.parts:
        if part.tree is not None:
            found = _taken(cells.histograms[part.tally.name], order)
            vectors.append(part.tree.sums(found))
        else:
            wide = np.clip(cells.numbers[part.tally.name], _INT64.min, _INT64.max)
            vectors.append(_taken(wide.astype(np.int64), order))
    return vectors


def _taken(found: np.ndarray[Any, Any], order: list[int]) -> np.ndarray[Any, Any]:
    padded = np.concatenate([found, np.zeros((1, *found.shape[1:]), dtype=np.int64)])
    return padded[order]
