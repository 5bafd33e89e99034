"""The only way to the data: charge, compute, draw.

    opening        dp.open: the data, the privacy unit and the budget
    _session       Session: release, run, open, spent, left
    asked          checks of the steps that are requested, and for whom their price is proved
    handles        opened mechanisms: paid once, used many times
    streams        those that count over time, and go on after a restart
    drawing        compute and draw: the lines that touch people's values
    elsewhere      noise drawn in Spark's executors, where an answer is too large to collect
    sources        files, frames and connections as tables: one file per kind
    tables         the public facts about a table
    first_look     the columns of a file that has no schema yet
    identity       which columns can identify people
    budgets        which losses can be a budget, and what can be spent under it
    offers         what still fits into what is left, proposed where something is refused
    show           how a session looks

Nothing else in deniable charges a ledger or computes a private value.
"""

from __future__ import annotations

from deniable.ledger import Failure

from ._session import Session, Steps
from .opening import open
from .tables import Table

__all__ = ["Failure", "Session", "Steps", "Table", "open"]
