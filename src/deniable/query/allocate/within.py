"""Ask by ±: the least loss at which every named column errs no more than wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from deniable import parameters
from deniable.calibration import least_loss
from deniable.errors import BadParameter, UnknownName
from deniable.losses import Approx, Gdp, Loss, Pure, Zcdp
from deniable.losses.filters import Filter
from deniable.query.algebra import Column
from deniable.query.bound import IntegerPlan

from .allocation import Allocation, allocate
from .foresight import errors

_RELATIVE: Final = 1e-7


def least(
    plan: IntegerPlan,
    *,
    within: object,
    budget: Loss,
    filter: Filter,  # noqa: A002
    size: float | None,
) -> tuple[Loss, Allocation]:
    """The smallest amount, in the ledger's currency, and how it is spent."""
    amount = _currency(budget)
    start = allocate(plan, spend=amount(1.0), filter=filter)
    wanted = _targets(within, start, size=size)
    emphasis = _emphasis(plan, start, wanted, size=size)

    def at(loss: float) -> Allocation:
        return allocate(plan, spend=amount(loss), filter=filter, emphasis=emphasis)

    spent = least_loss(lambda loss: _Excess(at(loss), wanted, size), within=1.0, relative=_RELATIVE)
    return amount(spent), at(spent)


@dataclass(frozen=True)
class _Excess:
    """How many times too large the worst ± is."""

    allocation: Allocation
    wanted: Mapping[str, float]
    size: float | None

    def error(self, confidence: float = 0.95) -> float:
        told = errors(self.allocation, size=self.size, confidence=confidence)
        # A ± of 0 (whole numbers, little noise) still is one that could be smaller.
        return max((told[name] or 1e-9) / target for name, target in self.wanted.items())


def _currency(budget: Loss) -> Callable[[float], Loss]:
    if isinstance(budget, Approx):
        delta = budget.delta
        return lambda x: Approx(x, delta=delta)
    kinds: dict[type[Loss], Callable[[float], Loss]] = {Pure: Pure, Zcdp: Zcdp, Gdp: Gdp}
    return kinds[type(budget)]


def _targets(within: object, start: Allocation, *, size: float | None) -> dict[str, float]:
    told = errors(start, size=size)
    if isinstance(within, Mapping):
        for name in within:
            if name not in told:
                raise UnknownName.of("column of the answer", str(name), known=told)
        wanted = {str(n): parameters.positive(f"within[{n!r}]", w) for n, w in within.items()}
    else:
        every = parameters.positive("within", within)
        wanted = dict.fromkeys(told, every)
    if not wanted:
        raise BadParameter("within names no column", fix='within={"n": 100}')
    unknown = [name for name in wanted if told[name] is None]
    if unknown:
        raise BadParameter(
            f"the ± of `{unknown[0]}` is not known in advance",
            why="it depends on how many rows a group has, which is private",
            fix=(
                "size=1000 beside within=    about how many rows a group has, if that is public",
                "or spend=dp.epsilon(...), after q.explain(spend=...)",
            ),
        )
    return wanted


def _emphasis(
    plan: IntegerPlan, start: Allocation, wanted: Mapping[str, float], *, size: float | None
) -> dict[str, float]:
    """Tallies whose answers are too coarse matter more, in proportion; others as little as any.

    Noise shrinks with the cube root of the weight (fourth root for Gaussian): the cube of how many
    times too large an error is makes all of them just large enough.
    """
    told = errors(start, size=size)
    named = {o.name: o.expression.name for o in plan.question.outputs if _plain(o.expression)}  # type: ignore[attr-defined]
    needs: dict[str, float] = {}
    for column, target in wanted.items():
        ratio = (told[column] or 1e-9) / target
        parts = plan.parts[named[column]]
        for tally in (parts.count, parts.sum, parts.squares, parts.histogram):
            if tally is not None:
                needs[tally.name] = max(needs.get(tally.name, 0.0), ratio)
    least_need = min(needs.values())
    return {t.name: (needs.get(t.name, least_need) / least_need) ** 3 for t in plan.tallies}


def _plain(expression: object) -> bool:
    return isinstance(expression, Column)
