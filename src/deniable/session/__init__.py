"""The one door: charge, compute, draw.

    opening      dp.open: whom to protect, how much may be learnt, of what
    _session     Session: release, run, open, spent, left
    asked        the steps that are asked for, checked
    handles      mechanisms that were opened: paid once, asked many times
    neighbours   for whom a mechanism's price is proved
    drawing      compute and draw: the lines that touch people's values
    sources      files, frames and connections as tables: one file per kind
    tables       what is known of a table
    budgets      what may be a ceiling, what may be spent under it
    progress     one line on a terminal after two seconds
    show         how a session looks

Nothing else in deniable charges a ledger or computes a private value.
"""

from __future__ import annotations

from deniable.ledger import Failure

from ._session import Session, Steps
from .opening import open  # noqa: A004  (dp.open is the promised name)
from .tables import Table

__all__ = ["Failure", "Session", "Steps", "Table", "open"]
