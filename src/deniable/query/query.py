"""A query: what was asked, checked and bounded. Looking at it is free; releasing it spends."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from deniable import cards, parameters
from deniable.errors import (
    BadParameter,
    BudgetExceeded,
    DeniableError,
    UnknownKeys,
    UnsupportedQuery,
)
from deniable.losses import Approx, Loss, Pure
from deniable.losses.filters import Price
from deniable.mechanisms import Step
from deniable.query.algebra import Question, Scan
from deniable.query.allocate import (
    Allocation,
    allocate,
    emphasis,
    explained,
    least,
    noise_of,
    title,
)
from deniable.query.allocate.allocation import MOST_GROUPS
from deniable.query.answer import answer
from deniable.query.integers import Group, IntegerPlan, in_integers
from deniable.query.public import public_answer
from deniable.query.refuse import paid_before, too_much
from deniable.query.vectors import Vector, vectors
from deniable.release import Plan, Release
from deniable.release.numbers import digits
from deniable.release.plan import Balance, balance
from deniable.schema import Schema
from deniable.sensitive import Sensitive
from deniable.session import Session, budgets

if TYPE_CHECKING:
    from deniable.query.execute import Reading
    from deniable.query.rows import Rows
    from deniable.query.scatter import Written

Within = float | Mapping[str, float]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Query:
    """A question to a session: `.explain` is free, `.release` spends."""

    session: Session = field(repr=False)
    question: Question

    @cached_property
    def integers(self) -> IntegerPlan:
        """The question in whole numbers, with how far one unit moves each."""
        if not self.question.aggregates:
            raise UnsupportedQuery(
                "this query has keys but no aggregate",
                fix="add COUNT(*), or another aggregate",
            )
        from deniable.query.backends.engine import engine_for, tables_of

        engine_for(tables_of(self.question.relation, self.session.tables))  # or it is refused
        return in_integers(self.question)

    @parameters.called("q.explain(spend=dp.epsilon(0.1))")
    def explain(
        self,
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        size: float | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Plan:
        """What an answer would cost, how good it would be, and how it is made. No data are read.

        `spend` is what you would pay; or `within` the ± you want (95 %), by column if there are
        several. `size` is about how many rows a group has, if that is public: averages need it.
        `weights` says how much the squared error of a column matters, 1 where it does not say.
        """
        allocation = self._allocate(spend, within, size, weights)
        cost = self._cost(allocation)
        plan = explained(
            allocation, cost=cost, balance=self._balance(allocation), size=self._size(size)
        )
        notes = (*plan.notes, self._taken(plan))
        return replace(plan, data_version=self.session.version, notes=notes)

    def _taken(self, plan: Plan) -> str:
        """Why a first answer with Gaussian noise leaves less than its cost suggests."""
        left, cost = self.session.left, plan.cost
        if not isinstance(cost, Approx) or not isinstance(plan.left, Approx) or cost.delta == 0:
            return ""
        taken = getattr(left, "epsilon", 0.0) - plan.left.epsilon
        if taken <= 2 * cost.epsilon:
            return ""
        return (
            f"what is left falls by ε {digits(taken, 'up')}, more than the cost: from the first "
            "Gaussian noise on, the budget is counted in Rényi divergence, where one large answer "
            "takes more and many small ones take less"
        )

    @parameters.called("q.release(spend=dp.epsilon(0.1))")
    def release(
        self,
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        size: float | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Release:
        """The answer, with its ±: charged, then computed, then drawn.

        Asked again at the same price, the stored answer is returned, free.
        """
        allocation = self._allocate(spend, within, size, weights)
        try:
            return self._shown(self._released(allocation), allocation)
        except BudgetExceeded as error:
            size = self._size(None)
            raise too_much(self.session, allocation, size=size, spent=error.cost) from None

    def due(
        self,
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        size: float | None = None,
    ) -> Price:
        """What a release would charge at most, in the ledger's units; raises what it would. Free.

        Nothing, if the answer is stored.
        """
        allocation = self._allocate(spend, within, size)
        if allocation.selection is None and not allocation.free:
            self._check_size()
        return self._due(allocation)

    def _due(self, allocation: Allocation) -> Price:
        if allocation.free:
            return Price.zero
        mechanism, session = allocation.mechanism, self.session
        if allocation.selection is not None:
            return session.ledger.price(mechanism)
        found = session.fingerprint(mechanism, question=self._numbers_asked(allocation))
        return session.ledger.due(mechanism, question=found)

    @parameters.called('q.release_to("answer.parquet", spend=dp.epsilon(0.1))')
    def release_to(
        self,
        path: str | os.PathLike[str],
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        size: float | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Written:
        """The answer as Parquet files at a path, for very many groups: Spark only.

        Noise is drawn in the executors, and nothing is collected. One charge pays for the choice of
        keys, where they are private, and for all numbers. Asked again at the same price for the
        same path, the files that are there are the answer, free.
        """
        from deniable.query.scatter import write

        allocation = self._allocate(spend, within, size, weights)
        try:
            return write(self.session, allocation, path=path)
        except BudgetExceeded:
            raise too_much(self.session, allocation, size=self._size(None)) from None

    def vectors(self) -> list[Vector]:
        """What the answer would be made of, exact and hidden: for mechanisms and algorithms.

        One vector for every tally and grouping set, all from one reading of the rows. Free, until a
        session releases something about them. Keys must be public.
        """
        self._check_public()
        self._check_size()
        return vectors(self._reading())

    def rows(self) -> Rows:
        """The bounded rows that the answer would be made of, hidden: for algorithms that learn.

        Each with its keys, what it adds and how much it weighs. Free, until a session releases
        something about them. Keys must be public.
        """
        from deniable.query.rows import RowReading, Rows

        self._check_public()
        return Rows(RowReading(self.integers, tables=self.session.tables))

    def _check_public(self) -> None:
        if self.integers.private_keys:
            raise UnknownKeys.of(*(k.name for k in self.question.keys if k.values is None))

    def _released(self, allocation: Allocation) -> Release:
        if allocation.free:
            return public_answer(self.session, allocation)
        if allocation.selection is None:
            self._check_size()
            groups = tuple(self.integers.public_groups())
            return self._numbers(allocation, groups, self._reading())
        self._check_both(allocation)
        reading = self._reading()  # once for both
        keys = self._keys(allocation, reading)
        shown = keys.value
        assert isinstance(shown, Iterable)
        try:
            numbers = self._numbers(allocation, list(shown)[:MOST_GROUPS], reading)
        except DeniableError as error:
            paid_before(error, keys, "choose groups")
            raise
        # The joint loss has a tighter bound than the sum of the two.
        return replace(numbers.after(keys), loss=self._cost(allocation))

    def _check_both(self, allocation: Allocation) -> None:
        """Before groups are paid for, the numbers must be affordable as well."""
        ledger, selection = self.session.ledger, allocation.selection
        assert selection is not None
        found = self.session.fingerprint(selection, question=self._groups_asked)
        if ledger.due(selection, question=found) != Price.zero:
            ledger.check(ledger.price(allocation.mechanism))

    def _check_size(self) -> None:
        cells = self.integers.cells or 0
        if cells > MOST_GROUPS:
            raise UnsupportedQuery(
                f"this makes {cells:,} groups; at most {MOST_GROUPS:,} can be collected",
                why="every possible group gets an answer, with or without rows",
                fix=(
                    "coarser groups: fewer keys, wider bins, months instead of days",
                    "q.release_to(path, spend=...)    on Spark, where executors write the answer",
                ),
            )

    def __repr__(self) -> str:
        return f"{self.question!r}\n(free: .explain(spend=...); spends: .release(spend=...))"

    def _repr_html_(self) -> str:
        steps, _, prices = repr(self).rpartition("\n")
        asked = " ".join(self.question.text.split())
        return cards.card(asked or "question", cards.lines(steps), cards.facts({"": prices}))

    # ---- what it costs

    def _allocate(
        self,
        spend: Loss | None,
        within: Within | None,
        size: float | None,
        weights: Mapping[str, float] | None = None,
    ) -> Allocation:
        parameters.spend_or_within(spend, within)
        known = self._size(size)
        if spend is not None:
            paid, filter_ = self.session.spending(spend), self.session.ledger.filter
            by = None if weights is None else emphasis(self.integers, weights)
            return allocate(self.integers, spend=paid, filter=filter_, emphasis=by)
        if weights is not None:
            raise BadParameter(
                "within= says how good each column must be, which leaves nothing to weigh",
                fix='within={"n": 100, "age": 2}    or spend= with weights=',
            )
        return self._least(within, size=known)

    def _least(self, within: Within | None, *, size: float | None) -> Allocation:
        """The cheapest noise; pure noise where that does not fit, as into a share in ε."""
        budget, ledger = self.session.budget, self.session.ledger

        def priced_in(kind: Loss) -> Allocation:
            return least(self.integers, within=within, budget=kind, filter=ledger.filter, size=size)

        found = priced_in(budget)
        if isinstance(budget, Approx) and ledger.left_after(self._due(found)) is None:
            return priced_in(Pure(budget.epsilon))
        return found

    def _size(self, size: float | None) -> float | None:
        if size is not None:
            return parameters.positive("size", size)
        return public_size(self.question, self.session.schema)

    def _cost(self, allocation: Allocation) -> Loss:
        if allocation.free:
            return 0 * self.session.budget
        return budgets.alone(allocation.mechanism, budget=self.session.budget)

    def _balance(self, allocation: Allocation) -> Balance:
        ledger = self.session.ledger
        if allocation.free:
            return {"left": ledger.left, "exceeded": None}
        return balance(ledger, ledger.price(allocation.mechanism))

    # ---- charge, compute, draw

    def _keys(self, allocation: Allocation, reading: Reading) -> Release:
        """The groups that may be shown, chosen by how many people are in each."""
        selection, tally = allocation.selection, self.integers.selection
        assert selection is not None
        assert tally is not None

        def people() -> tuple[list[Group], list[int]]:
            found = reading.found().cells
            return list(found.groups), [int(n) for n in found.numbers[tally.name]]

        l1, linf = tally.moves.l1, tally.moves.linf
        counts = Sensitive(people, l1=l1, linf=linf, unit=self.integers.unit, ready=[reading])
        return self.session.release(
            selection.on(counts),
            question=self._groups_asked,
            title=f"groups of {title(self.question)}",
        )

    @property
    def _groups_asked(self) -> str:
        return f"groups of\n{self.asked}"

    def _numbers_asked(self, allocation: Allocation) -> str:
        return f"{self.asked}{allocation.shared}"

    @property
    def asked(self) -> str:
        """The question in words, where long lists are shortened; the hash tells those apart."""
        return f"{self.question!r}\n({self.question.fingerprint})"

    def _numbers(
        self, allocation: Allocation, groups: Sequence[Group], reading: Reading
    ) -> Release:
        steps: list[Step[Any]] = [
            noise.on(reading.vector(part, groups))
            for part, noise in zip(allocation.parts, allocation.noise, strict=True)
        ]
        listed = "" if allocation.selection is None else f"\nof {groups!r}"
        return self.session.release(
            steps,
            question=f"{self._numbers_asked(allocation)}{listed}",
            title=title(self.question),
            present=lambda drawn: answer(allocation, groups, drawn),
        )

    def _reading(self) -> Reading:
        from deniable.query.execute import Reading

        return Reading(self.integers, tables=self.session.tables)

    def _shown(self, release: Release, allocation: Allocation) -> Release:
        """What the analyst wrote stands above the answer; it was stored under what it means."""
        where = release.provenance
        shown = replace(where, question=title(self.question), noise=tuple(noise_of(allocation)))
        return replace(release, provenance=shown)


def public_size(question: Question, schema: Schema | None) -> float | None:
    """The number of rows of an answer's one group, where the schema makes it public."""
    source = question.relation
    if schema is None or question.keys or not isinstance(source, Scan):
        return None
    known = schema.tables.get(source.table, schema) if schema.tables else schema
    return None if known.size is None else float(known.size)
