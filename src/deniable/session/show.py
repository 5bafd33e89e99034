"""How a session looks in a terminal and in a notebook: public facts, no rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deniable import cards
from deniable.ledger import Ledger
from deniable.ledger.show import left as ledger_left
from deniable.release.numbers import amount, remaining

from .tables import Table

if TYPE_CHECKING:
    from ._session import Session

_WIDTH = 24
_LARGE = 20.0


def as_text(session: Session) -> str:
    """Tables, privacy unit, budget and ledger, one per line, and a note if the budget is weak."""
    filled = round(_WIDTH * _part(session))
    halts, note = str(session.ledger.halts()), _note(session)
    bar = "▓" * filled + "░" * (_WIDTH - filled)
    return "\n".join(
        [
            f"session on {', '.join(map(_table, session.tables.values()))}",
            f"  protects  {session.unit}",
            f"  spent     {_spent(session)}  {bar}",
            *(f"  {name:<8}  {figure}" for name, figure in left(session).items()),
            f"  ledger    {_ledger(session)}",
            *([f"  failures  {halts}"] if halts else []),
            *([f"  {note}"] if note else []),
        ]
    )


def as_html(session: Session) -> str:
    """A small card with a bar that shows the budget spent."""
    facts = {
        "protects": str(session.unit),
        "spent": _spent(session),
        **left(session),
        "ledger": _ledger(session),
    }
    if note := _note(session):
        facts["note"] = note
    columns = [
        [table.name, name, str(column)]
        for table in session.tables.values()
        for name, column in table.columns.items()
    ]
    return cards.card(
        "session on " + ", ".join(session.tables),
        cards.bar(_part(session)),
        cards.facts(facts),
        cards.folded("columns", cards.table(["table", "column", "public facts"], columns)),
    )


def _note(session: Session) -> str:
    """A warning about a budget so large that it promises almost nothing."""
    epsilon = getattr(session.budget, "epsilon", 0.0)
    if epsilon <= _LARGE:
        return ""
    odds = f"a factor of 10^{epsilon / math.log(10):.0f}"
    note = f"ε = {epsilon:g} lets an observer's odds about one person change by {odds}"
    return f"note[DP112]: {note}; most published deployments stay between 0.1 and 20"


def _table(table: Table) -> str:
    names = list(table.columns)
    shown = ", ".join(names[:6]) + (f", … {len(names) - 6} more" if len(names) > 6 else "")
    return f"{table.name} ({shown})"


def left(session: Session) -> dict[str, str]:
    """The budget left, by purpose; for an asker with a share, what is left of the share."""
    if isinstance(session.ledger, Ledger):
        return ledger_left(session.ledger)
    loss = session.left
    return {"left": remaining(loss, groups=getattr(loss, "delta", 0.0) > 0)}


def ceiling(session: Session) -> str:
    """The limit on spending: the budget, or an asker's share."""
    share = session.share
    if share is None:
        return amount(session.budget)
    return f"{amount(share, 'up')} ({session.asker}'s share)"  # up, as what is spent of it


def _spent(session: Session) -> str:
    return f"{amount(session.spent, 'up')} of {ceiling(session)}"


def _ledger(session: Session) -> str:
    """Where the ledger is stored and, for the curator, how many lines it has."""
    if session.asker is not None:
        return f"{session.ledger.where}, as {session.asker} sees it"
    count = len(session.ledger.entries)
    return f"{session.ledger.where}, {count} {'line' if count == 1 else 'lines'}"


def _part(session: Session) -> float:
    spent, whole = session.spent, session.share or session.budget
    return float(min(1.0, getattr(spent, whole.figure) / getattr(whole, whole.figure)))
