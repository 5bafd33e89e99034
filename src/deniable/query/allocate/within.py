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

_RELATIVE: Final = 1e-6
_ROUGHLY: Final = 1e-2
_ROUNDS: Final = 4
_UNNAMED: Final = 1 / 8


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

    def at(loss: float, balance: _Balance) -> Allocation:
        weights, fold = balance
        return allocate(plan, spend=amount(loss), filter=filter, emphasis=weights, fold=fold)

    def cost(balance: _Balance, relative: float) -> float:
        def excess(loss: float) -> _Excess:
            return _Excess(at(loss, balance), wanted, size)

        return least_loss(excess, within=1.0, relative=relative)

    wanted = _targets(within, at(1.0, ({}, True)), size=size)
    about = cost(({}, True), _ROUGHLY)
    tried: list[tuple[float, _Balance]] = []
    for fold in (True, False) if len(plan.tallies) > 1 else ():
        balance: _Balance = ({}, fold)
        for _ in range(_ROUNDS):
            found = at(about, balance)
            told = errors(found, size=size, rounded=False)
            ratios = {name: (told[name] or 0.0) / target for name, target in wanted.items()}
            tried.append((max(ratios.values()), balance))
            balance = _balanced(found, ratios, balance)
    _, best = min(tried, key=lambda pair: pair[0], default=(0.0, ({}, True)))
    spent = cost(best, _RELATIVE)
    return amount(spent), at(spent, best)


_Balance = tuple[Mapping[str, float], bool]
"""How much more each aggregate matters, and whether several may be told by one vector."""


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
            why=f"it depends on how many {_unknown(start)}, which is private",
            fix=(
                "size=1000 beside within=    about how many rows a group has, if that is public",
                "or spend=dp.epsilon(...), after q.explain(spend=...)",
            )[_picked(start) :],
        )
    return wanted


def _picked(start: Allocation) -> bool:
    return start.plan.picked and start.selection is not None


def _unknown(start: Allocation) -> str:
    return "groups there are" if _picked(start) else "rows a group has"


def _balanced(found: Allocation, ratios: Mapping[str, float], before: _Balance) -> _Balance:
    """Answers that are too coarse matter more, in proportion; what is not named, little.

    Noise shrinks with the cube root of the weight (fourth root for Gaussian): the cube of how many
    times too large an error is makes all of them just large enough.
    """
    weights, fold = before
    outputs = found.plan.question.outputs
    named = {o.name: o.expression.name for o in outputs if _plain(o.expression)}  # type: ignore[attr-defined]
    made = {
        named[column]: weights.get(named[column], 1.0) * max(ratio, 1e-9) ** 3
        for column, ratio in ratios.items()
    }
    least_weight = min(made.values())
    rest = dict.fromkeys(found.plan.parts, least_weight * _UNNAMED)
    return {name: weight / least_weight for name, weight in (rest | made).items()}, fold


def _plain(expression: object) -> bool:
    return isinstance(expression, Column)
