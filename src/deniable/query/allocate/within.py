"""Ask by ±: the least loss at which every named column errs no more than wanted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from deniable import fixes, parameters
from deniable.errors import BadParameter, UnknownName
from deniable.fixes import Fix
from deniable.losses import Approx, Loss, Zcdp
from deniable.losses.filters import Filter
from deniable.query.integers import IntegerPlan
from deniable.workload.cheapest import Balance, cheapest

from .allocation import Allocation, allocate
from .foresight import errors

_ABSURD: Final = 1e6
"""A loss that protects nobody."""
_SIZE = (
    "replace 1000 with the rows per group, if public; if it is too low, you pay more than needed"
)


def least(
    plan: IntegerPlan,
    *,
    within: object,
    budget: Loss,
    filter: Filter,
    size: float | None,
) -> Allocation:
    """How the smallest amount found, of the budget's kind, is spent."""
    amount = _currency(budget)
    if not plan.tallies:
        return allocate(plan, spend=budget, filter=filter)

    def at(loss: float, balance: Balance) -> Allocation:
        weights, fold = balance.weights, balance.fold
        return allocate(plan, spend=amount(loss), filter=filter, emphasis=weights, fold=fold)

    def stated(loss: float, balance: Balance) -> dict[str, float]:
        found = at(loss, balance)
        told = {name: plan.parts[name].error(found, size=size) for name in wanted}
        return {name: error for name, error in told.items() if error is not None}

    def smooth(loss: float, balance: Balance) -> dict[str, float]:
        found = at(loss, balance)
        return {name: plan.parts[name].smooth_error(found, size=size) for name in wanted}

    wanted = _targets(within, at(1.0, Balance()), size=size)
    if min(wanted.values()) < 1:
        _refuse_exact(wanted, stated(_ABSURD, Balance()), stated(_ABSURD**2, Balance()))
    try:
        spent, best = cheapest(
            stated,
            smooth=smooth,
            wanted=wanted,
            others=[name for name in plan.parts if name not in wanted],
            power=2 if isinstance(budget, Zcdp) else 1,
            alone=len(plan.tallies) == 1,
        )
    except BadParameter:
        raise BadParameter(
            "any spend, however small, achieves that ±",
            why="the δ of this session alone buys it" if isinstance(budget, Approx) else "",
            fix="within= a smaller ±, or spend=",
        ) from None
    return at(spent, best)


def _refuse_exact(
    wanted: Mapping[str, float], much: Mapping[str, float], more: Mapping[str, float]
) -> None:
    """Refuse a ± that no loss reaches: one that hardly falls where the loss is a million times."""
    for name, target in wanted.items():
        if target <= much[name] and more[name] > 0.5 * much[name]:
            floor = round(more[name], 3)
            raise BadParameter(
                f"within={target:g} would need the exact `{name}`: its ± is always above {floor:g}",
                why="the answer is rounded to a whole number, which may be off by half",
                fix=fixes.number("within", math.ceil(floor + 0.5)),
            )


def _currency(budget: Loss) -> Callable[[float], Loss]:
    return lambda x: type(budget)(**(budget.figures() | {budget.figure: x}))


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
            why=f"it depends on how many {_unknown(start)}, which is private",
            fix=(
                fixes.number("size", 1000, _SIZE),
                Fix(
                    "spend=dp.epsilon(0.1); s.sql(...).explain(spend=...) shows its ±",
                    command="--spend 0.1; deniable explain shows its ±",
                    lead="or use ",
                ),
            )[start.of_many :],
        )
    return _that_ask_something(wanted, start.plan)


def _unknown(start: Allocation) -> str:
    return "groups there are" if start.of_many else "rows a group has"


def _that_ask_something(wanted: dict[str, float], plan: IntegerPlan) -> dict[str, float]:
    """Targets by aggregate, without those met at any spend: an average lies in its bounds."""
    named = plan.question.plain
    largest = {name: plan.parts[named[name]].largest for name in wanted}
    asking = {name: target for name, target in wanted.items() if target < largest[name]}
    if not asking and not any(largest.values()):
        raise BadParameter(
            f"`{next(iter(largest))}` is public and has no noise: there is no ± to ask for",
            fix='within= of another column, by name: within={"mean": 2}',
        )
    if not asking:
        name, most = next((n, most) for n, most in largest.items() if most)
        raise BadParameter(
            f"within={wanted[name]:g} has no effect: the ± of `{name}` is never above {most:g}",
            why="it lies between bounds that are public",
            fix=f"within={most / 10:g}",
        )
    by_aggregate: dict[str, float] = {}
    for name, target in asking.items():
        by_aggregate[named[name]] = min(target, by_aggregate.get(named[name], target))
    return by_aggregate
