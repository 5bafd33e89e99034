"""What may be a ceiling, and what may be spent under it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final

from deniable import fixes
from deniable.errors import BadParameter, BudgetExceeded, DeltaTooLarge, MixedLosses, NotAdaptive
from deniable.fixes import Fix
from deniable.losses import Approx, Loss, Pure
from deniable.losses.rounding import RESOLUTION, shown_down
from deniable.mechanisms import Mechanism
from deniable.mechanisms._priced import Prices

LARGEST_DELTA: Final = 1e-3
_FIX: Final = [
    fixes.amount("budget", "epsilon", 1.0),
    fixes.amount("budget", "epsilon", 1.0, delta=1e-7),
    fixes.amount("budget", "rho", 0.1),
    fixes.amount("budget", "mu", 0.5),
]


def ceiling(budget: object, *, size: int | None) -> Loss:
    """The budget, if it can be a ceiling for analysts who choose as they go."""
    if not isinstance(budget, Loss):
        number = isinstance(budget, int | float) and not isinstance(budget, bool)
        fix = [fixes.amount("budget", "epsilon", budget)] if number else _FIX
        raise BadParameter.of("budget", budget, must="a privacy loss", fix=fix)
    if not budget.adaptive:
        raise NotAdaptive(
            f"a {type(budget).__name__} cannot be a session's budget",
            why="it prices only lists fixed in advance, but queries may depend on earlier answers",
            fix=_FIX,
        )
    if not budget.figure:
        raise BadParameter(f"a {type(budget).__name__} cannot be a session's budget", fix=_FIX)
    _above_nothing("budget", budget)
    if isinstance(budget, Approx):
        _check_delta(budget.delta, size=size)
    return budget


def spend(amount: object, *, budget: Loss, left: Callable[[], Loss] | None = None) -> Loss:
    """An amount to spend in a session of this budget, in a currency that the session counts in.

    Of what is left, an error proposes a tenth where the amount has no worth in that currency.
    """
    if not isinstance(amount, Loss):
        number = isinstance(amount, int | float) and not isinstance(amount, bool)
        fix = fixes.amount("spend", "epsilon", amount if number else 0.1)
        raise BadParameter.of("spend", amount, must="a privacy loss", fix=fix)
    _above_nothing("spend", amount)
    if isinstance(amount, Approx) and isinstance(budget, Approx):
        _check_share(amount, budget)
    if type(amount) is type(budget) or (isinstance(amount, Pure) and isinstance(budget, Approx)):
        return amount
    counts, offered = budget.symbol, amount.symbol
    if counts == offered:
        raise MixedLosses(
            "this session's budget has no δ, so you cannot spend one",
            fix=fixes.amount("spend", "epsilon", amount.figures()["epsilon"]),
        )
    raise MixedLosses(
        f"this session's budget is in {counts}, and you tried to spend {offered}",
        why="losses add up only within one definition of privacy",
        fix=_worth(amount, budget) or _tenth(budget if left is None else left()),
    )


def _check_share(amount: Approx, budget: Approx) -> None:
    """Refuse a δ above the ceiling's: noise that small costs a far larger ε at the ceiling's δ."""
    if amount.delta > budget.delta * (1 + 1e-9):
        raise BudgetExceeded(
            f"the budget's δ is {budget.delta:.3g}, and you tried to spend δ = {amount.delta:.3g}",
            why="δ is the chance that the promise fails, and the budget bounds it for all releases",
            fix=fixes.amount("spend", "epsilon", amount.epsilon, delta=f"{budget.delta / 10:.1g}"),
        )


def alone(mechanism: Mechanism, *, budget: Loss) -> Loss:
    """What one use of a mechanism loses by itself, in the session's definition.

    Under an (ε, δ) ceiling: what has a δ of its own, as the private choice of groups has, loses its
    own ε and δ, as they are charged. Otherwise the tightest known ε at the ceiling's δ is stated;
    the ledger counts in finer units, so that these do not add up to `spent`.
    """
    if not isinstance(budget, Approx):
        return mechanism.loss(type(budget))
    own, delta = mechanism.approx()
    if math.isfinite(own) and 0 < delta <= budget.delta:
        return Approx(own, delta=delta)
    epsilon = mechanism.epsilon_at(budget.delta)
    if mechanism.pure() <= 1.01 * epsilon:  # a δ that buys next to nothing is not worth naming
        return Approx(mechanism.pure(), delta=0.0)
    return Approx(epsilon, delta=budget.delta)


def used(spend: Loss, *mechanisms: Mechanism) -> Loss:
    """Of an amount, what mechanisms that were made for it take: no δ where all of them are pure."""
    pure = sum(each.pure() for each in mechanisms)
    if isinstance(spend, Approx) and pure <= spend.epsilon * (1 + RESOLUTION):
        return Approx(pure, delta=0.0)
    return spend


def prices(budget: Loss) -> Prices[Loss]:
    """What each mechanism loses by itself under this budget, worked out once."""
    return Prices(partial(alone, budget=budget))


def _worth(amount: Loss, budget: Loss) -> Fix | str:
    """What the amount is worth in the session's own currency, where a theorem gives it."""
    if isinstance(budget, Approx):
        return ""
    try:
        converted = amount.to(type(budget))
    except MixedLosses:
        return ""
    return fixes.amount("spend", budget.figure, f"{getattr(converted, budget.figure):.3g}")


def _tenth(left: Loss) -> Fix | str:
    """A tenth of what is left; nothing if that is nothing."""
    figure = getattr(left.share(0.1), left.figure)
    return figure and fixes.amount(
        "spend", left.figure, shown_down(figure), note="a tenth of what is left"
    )


def _above_nothing(name: str, loss: Loss) -> None:
    if loss.figure and getattr(loss, loss.figure) > 0:
        return
    if name == "spend":
        raise BadParameter(
            "spend must be above 0: every answer costs something",
            why="s.left is 0 once the budget is spent",
            fix=(
                fixes.amount("spend", "epsilon", 0.1, note="if s.left is at least that"),
                "repeat an earlier question: its stored answer is free",
            ),
        )
    raise BadParameter(f"{name} must be above 0", fix=fixes.amount(name, "epsilon", 1.0))


def _check_delta(delta: float, *, size: int | None) -> None:
    if size is not None and delta > 1 / size:
        people = f"(the schema says about {size:,} people)"
        raise DeltaTooLarge.at(delta, fix=f"delta={0.1 / size:.0e}    {people}")
    if delta >= LARGEST_DELTA:
        raise DeltaTooLarge.at(delta)
