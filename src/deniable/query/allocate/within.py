"""Ask by ±: the least loss at which every named column errs no more than wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from deniable import parameters
from deniable.calibration import least_loss
from deniable.errors import BadParameter, UnknownName
from deniable.losses import Approx, Loss, Zcdp
from deniable.losses.filters import Filter
from deniable.query.algebra import Column
from deniable.query.bound import IntegerPlan

from .allocation import Allocation, allocate
from .foresight import errors, largest_error

_RELATIVE: Final = 1e-6
_ROUGHLY: Final = 1e-2
_ROUNDS: Final = 6
_UNNAMED: Final = 1 / 8


def least(
    plan: IntegerPlan,
    *,
    within: object,
    budget: Loss,
    filter: Filter,  # noqa: A002
    size: float | None,
) -> tuple[Loss, Allocation]:
    """The smallest amount found, in the ledger's currency, and how it is spent."""
    amount = _currency(budget)
    if not plan.tallies:
        return 0 * budget, allocate(plan, spend=budget, filter=filter)

    def at(loss: float, balance: _Balance) -> Allocation:
        weights, fold = balance
        return allocate(plan, spend=amount(loss), filter=filter, emphasis=weights, fold=fold)

    def cost(balance: _Balance, relative: float) -> float:
        def excess(loss: float) -> _Excess:
            return _Excess(at(loss, balance), wanted, size)

        try:
            return least_loss(excess, within=1.0, relative=relative)
        except BadParameter:
            raise BadParameter(
                "that ± is met by any loss, however small",
                why="the δ of this session alone buys it" if isinstance(budget, Approx) else "",
                fix="within= a smaller ±, or spend=",
            ) from None

    wanted = _targets(within, at(1.0, _balance(fold=True)), size=size)
    plain = _balance(fold=True)
    tried = [(cost(plain, _ROUGHLY), plain)]
    for fold in (True, False) if len(plan.tallies) > 1 else ():
        loss, balance = tried[0][0], _balance(fold=fold)
        for _ in range(_ROUNDS):
            found = at(loss, balance)
            told = errors(found, size=size, rounded=False)
            ratios = {name: (told[name] or 0.0) / target for name, target in wanted.items()}
            balance = _balanced(found, ratios, balance)
            loss *= max(ratios.values()) ** (2 if isinstance(budget, Zcdp) else 1)
        tried.append((cost(balance, _ROUGHLY), balance))
    _, best = min(tried, key=lambda pair: pair[0])
    spent = cost(best, _RELATIVE)
    return amount(spent), at(spent, best)


_Balance = tuple[Mapping[str, float], bool]
"""How much more each aggregate matters, and whether several may be told by one vector."""


def _balance(*, fold: bool) -> _Balance:
    return {}, fold


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
                "size=1000 beside within=    about how many rows a group has, if that is public",
                "or spend=dp.epsilon(...), after q.explain(spend=...)",
            )[start.of_many :],
        )
    return _that_ask_something(wanted, start.plan)


def _unknown(start: Allocation) -> str:
    return "groups there are" if start.of_many else "rows a group has"


def _that_ask_something(wanted: dict[str, float], plan: IntegerPlan) -> dict[str, float]:
    """Without those that are met whatever is spent: an average lies between its bounds."""
    named = _aggregates(plan)
    largest = {name: largest_error(plan.parts[named[name]]) for name in wanted}
    asking = {name: target for name, target in wanted.items() if target < largest[name]}
    if not asking and not any(largest.values()):
        raise BadParameter(
            f"`{next(iter(largest))}` is public and has no noise: there is no ± to ask for",
            fix='within= of another column, by name: within={"mean": 2}',
        )
    if not asking:
        name, most = next((n, most) for n, most in largest.items() if most)
        raise BadParameter(
            f"within={wanted[name]:g} asks nothing of `{name}`: its ± is never above {most:g}",
            why="it lies between bounds that are public",
            fix=f"within={most / 10:g}",
        )
    return asking


def _aggregates(plan: IntegerPlan) -> dict[str, str]:
    """The columns of the answer that are aggregates as they are, and which."""
    outputs = plan.question.outputs
    return {o.name: o.expression.name for o in outputs if isinstance(o.expression, Column)}


def _balanced(found: Allocation, ratios: Mapping[str, float], before: _Balance) -> _Balance:
    """Answers that are too coarse matter more, in proportion; what is not named, little.

    Noise shrinks with the cube root of the weight (fourth root for Gaussian): the cube of how many
    times too large an error is makes all of them just large enough.
    """
    (weights, fold), named = before, _aggregates(found.plan)
    made = {
        named[column]: weights.get(named[column], 1.0) * max(ratio, 1e-9) ** 3
        for column, ratio in ratios.items()
    }
    least_weight = min(made.values())
    rest = dict.fromkeys(found.plan.parts, least_weight * _UNNAMED)
    return {name: weight / least_weight for name, weight in (rest | made).items()}, fold
