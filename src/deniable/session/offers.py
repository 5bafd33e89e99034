"""What still fits into what is left of a budget: a fix that is accepted when it is pasted.

Where an amount is spent, a smaller amount; where a mechanism is released, one with more noise.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from deniable import fixes
from deniable.errors import BudgetExceeded, DeniableError
from deniable.fixes import Fix
from deniable.ledger import Account
from deniable.losses import Approx, Loss, Pure
from deniable.losses.filters import ApproxFilter, Price
from deniable.mechanisms import Mechanism
from deniable.release.numbers import digits, probability

if TYPE_CHECKING:
    from ._session import Session

_FURTHER: Final = 2.0
"""How many powers of ten below the first guess an amount is looked for."""
_DIALS: Final = {"epsilon": -1, "scale": 1, "sigma": 1}
"""The parameters that alone decide how much noise there is: less of the first, more of others."""
_HALVINGS: Final = 8
"""So often: what is offered is within 2 % of the most that fits."""


@contextmanager
def offering(session: Session, spend: Loss, due: Callable[[Loss], Price]) -> Iterator[None]:
    """Let a refusal propose the most that fits, of the kind that was to be spent.

    `due` is what an amount would be charged at most, in the ledger's units; it is asked only after
    a refusal, and may refuse an amount itself.
    """
    try:
        yield
    except BudgetExceeded as error:
        found = fitting(session, spend, due)
        if found is not None:
            error.offer(written(found, "what is left"))
        raise


def fitting(session: Session, spend: Loss, due: Callable[[Loss], Price]) -> Loss | None:
    """The most that fits into what is left, in the few digits in which it is typed; else None."""
    ledger = session.ledger

    def fits(amount: Loss) -> bool:
        try:
            return ledger.left_after(due(session.spending(amount))) is not None
        except DeniableError:  # too little for any noise, or a δ that is not left
            return False

    if not _is_open(session):
        return None
    left = session.left
    found = (_largest(each, left, fits) for each in _kinds(session, spend, left))
    return next((each for each in found if each is not None), None)


def _is_open(session: Session) -> bool:
    """Whether anything at all may be charged: else only others have shares, or lines are unknown.

    What a ledger fails at is the error that is being raised already.
    """
    try:
        session.ledger.check_known()
        return bool(getattr(session.left, session.budget.figure) > 0)
    except DeniableError:
        return False


def _kinds(session: Session, spend: Loss, left: Loss) -> Iterator[Loss]:
    """The amount; with all the δ that is left for blocks, if it has more; and without a δ.

    Once one of a session's two sums is full, only noise that is counted in the other still fits.
    """
    yield spend
    rule = session.ledger.filter
    if isinstance(rule, ApproxFilter) and isinstance(spend, Approx) and isinstance(left, Approx):
        delta = float(probability(left.delta * rule.budget.delta / (rule.reserve or 1), "down"))
        if 0 < delta < spend.delta:
            yield replace(spend, delta=delta)
        yield Pure(spend.epsilon)


def _largest(spend: Loss, left: Loss, fits: Callable[[Loss], bool]) -> Loss | None:
    """By halving what lies between too much and a little, from what is left as a first guess."""
    wanted, rest = getattr(spend, spend.figure), getattr(left, left.figure)
    if not rest > 0:
        return None
    guess = min(math.log10(rest / wanted), 0.0)
    low, high = guess - _FURTHER, 0.0
    if fits(few := typed(spend, 10**guess)):
        if not isinstance(left, Approx):  # nothing above it can fit
            return few
        low = guess
    elif not fits(typed(spend, 10**low)):
        return None
    else:
        high = guess
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(typed(spend, 10**middle)) else (low, middle)
    return typed(spend, 10**low)


@contextmanager
def softening(
    session: Session, mechanism: Mechanism, *, delta: float | None = None
) -> Iterator[None]:
    """Let a refusal propose the same mechanism with as much more noise as it takes."""
    try:
        yield
    except BudgetExceeded as error:
        found = _softer(session, mechanism, delta)
        if found is not None:
            error.offer(Fix(f"dp.{found!r}", note="what is left"))
        raise


def check_share(session: Session, mechanism: Mechanism) -> None:
    """Refuse what an asker's share cannot pay for, before anything is made ready for it.

    A stored answer needs nothing made ready: the kind of refusal would show that there is one.
    """
    if isinstance(session.ledger, Account):
        with softening(session, mechanism):
            session.ledger.check(session.ledger.price(mechanism))


def _softer(session: Session, mechanism: Mechanism, delta: float | None) -> Mechanism | None:
    """The least change of its one dial that fits; None for lists and where there is no dial."""
    dial = next((name for name in _DIALS if hasattr(mechanism, name)), "")
    exported = getattr(sys.modules["deniable"], type(mechanism).__name__, None)
    if not dial or exported is not type(mechanism):
        return None
    sign = _DIALS[dial]

    def turned(tens: float) -> Mechanism:
        figure = getattr(mechanism, dial) * 10 ** (sign * tens)
        shown = digits(figure, "up" if sign > 0 else "down").replace(",", "")
        return replace(mechanism, **{dial: float(shown)})

    def fits(tens: float) -> bool:
        ledger = session.ledger
        try:
            return ledger.left_after(ledger.price(turned(tens), delta=delta)) is not None
        except DeniableError:
            return False

    low, high = 0.0, _FURTHER
    if not (_is_open(session) and fits(high)):
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return turned(high)


def typed(loss: Loss, factor: float = 1.0) -> Loss:
    """So much of it as one would type it, in few digits, rounded down; a δ stays as it is."""
    figures = {
        name: float(probability(figure, "down"))
        if name == "delta"
        else float(digits(figure * factor, "down").replace(",", ""))
        for name, figure in loss.figures().items()
    }
    return type(loss)(**figures)


def written(loss: Loss, note: str) -> Fix:
    """The amount as a fix."""
    (name, figure), *deltas = loss.figures().items()
    delta = next((probability(each) for _, each in deltas if each), None)
    return fixes.amount("spend", name, digits(figure).replace(",", ""), delta=delta, note=note)
