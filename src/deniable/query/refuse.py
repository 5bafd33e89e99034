"""Errors for a budget that does not suffice, and what it would still buy."""

from __future__ import annotations

from dataclasses import replace

from deniable import fixes
from deniable.errors import NOTHING_SPENT, BadParameter, BudgetExceeded, DeniableError
from deniable.fixes import Fix
from deniable.ledger import Ledger
from deniable.ledger.show import instead, is_spent, shares
from deniable.losses import Approx, Loss, Pure
from deniable.losses.rounding import within
from deniable.query.algebra import Scan, walk
from deniable.query.allocate import Allocation, allocate
from deniable.query.allocate.foresight import errors
from deniable.release import Release
from deniable.release.numbers import amount, probability, remaining, shown_error
from deniable.session import Session, budgets, offers


def too_much(
    session: Session, allocation: Allocation, *, size: float | None, spent: str = NOTHING_SPENT
) -> BudgetExceeded:
    """What it would cost, what is left, and what that would still buy.

    Where the ledger is closed for another reason than its budget, that is the error.
    """
    session.ledger.check_known()
    left, groups = session.left, allocation.selection is not None
    share = session.share
    cost = budgets.alone(allocation.mechanism, budget=session.budget)
    if isinstance(cost, Approx) and isinstance(left, Approx) and groups:
        delta = session.ledger.price(allocation.mechanism).delta
        if not within(delta, left.delta):
            rest = replace(left, epsilon=min(left.epsilon, cost.epsilon))
            offer = _offer(session, allocation, rest, "groups then need more people", size=size)
            fix = instead(left) if share is None else "ask the curator for a share with more delta"
            short = _short_of_delta(session, allocation, delta, left.delta, fix=fix, spent=spent)
            return _with(short, offer)
    rests = [_without_delta(left), left] if groups else [_without_delta(left)]
    found = (_offer(session, allocation, rest, "what is left", size=size) for rest in rests)
    offer = next((each for each in found if each is not None), None)
    still = "nothing" if is_spent(left) else remaining(left, groups=groups)
    if share is not None:
        error = BudgetExceeded(
            f"this would cost {amount(cost, 'up')}, and {still} is left of your share",
            why=f"{amount(share, 'down')} was reserved for {session.asker}",
            fix="ask the curator for a larger share",
            cost=spent,
        )
    else:
        total = f"the total budget for all releases is {amount(session.budget)}"
        error = BudgetExceeded(
            f"this would cost {amount(cost, 'up')}, and {still} is left",
            why=total + _reserved(session),
            fix=instead(left),
            cost=spent,
        )
    return _with(error, offer)


def _with(error: BudgetExceeded, offer: Fix | None) -> BudgetExceeded:
    if offer is not None:
        error.offer(offer)
    return error


def _reserved(session: Session) -> str:
    """For the curator, who has reserved a part of the budget for others."""
    kept = shares(session.ledger) if isinstance(session.ledger, Ledger) else ""
    return f"; reserved as shares: {kept}" if kept else ""


def paid_before(error: DeniableError, release: Release, what: str) -> None:
    """Let an error say also what was paid for before it came."""
    if not release.free:
        spent = f"{amount(release.loss, 'up')} was spent to {what}"
        more = ", and nothing more" if error.cost == NOTHING_SPENT else f"; {error.cost}"
        error.cost = spent + more


def _short_of_delta(
    session: Session, allocation: Allocation, delta: float, left: float, *, fix: str, spent: str
) -> BudgetExceeded:
    """Groups also cost δ, and no ε makes up for that."""
    question = allocation.plan.question
    private = [key.name for key in question.keys if key.values is None]
    tables = [each.table for each in walk(question.relation) if isinstance(each, Scan)]
    table = tables[0] if len(tables) == 1 else "TABLE"
    among = table if len(session.tables) > 1 else ""
    return BudgetExceeded(
        f"private group selection would cost δ {probability(delta, 'up')}, "
        f"and δ {probability(left, 'down')} is left for that",
        why="a part of the budget's δ covers all such selections together",
        fix=[fixes.keys(*private, note="public keys need no δ", table=table, among=among), fix],
        cost=spent,
    )


def _offer(
    session: Session, allocation: Allocation, rest: Loss, why: str, *, size: float | None
) -> Fix | None:
    """A spend that still fits, as one types it, and the ± it buys; None where nothing fits."""
    plan, ledger = allocation.plan, session.ledger
    try:
        if isinstance(rest, Approx):  # choosing groups takes a quarter of a δ
            rest = replace(rest, delta=4 * rest.delta)
        typed = session.spending(offers.typed(rest))
        found = allocate(plan, spend=typed, filter=ledger.filter)
    except BadParameter:  # nothing is left
        return None
    if ledger.left_after(ledger.price(found.mechanism)) is None:
        return None
    known = errors(found, size=size).items()
    good = ", ".join(f"{n} ± {shown_error(e)}" for n, e in known if e is not None)
    return offers.written(typed, why + (good and f": {good}"))


def _without_delta(left: Loss) -> Loss:
    """Groups that are chosen privately then take their usual part of the δ kept for them."""
    return Pure(left.epsilon) if isinstance(left, Approx) else left
