"""The record of what was released: append-only, hash-chained, durable, and never overspent.

opening      open_ledger: in memory, in a SQLite file, in Postgres
ledger       Ledger: charge, share, answer, recall; the one arbiter of spending
stops        how a line is written; the lines that stop an asker after a failure
account      the part of a ledger that one asker sees
books        what a ledger says: spent, left, entries, head, verify
chain        does a line follow from the one before?
trust        what must be proved of lines, and of what all add up to, before a decision rests on it
answers      stored answers, one asker of a question at a time, and how far streams have come
header       the first line: ceiling, filter, unit
halts        who is stopped after a failure, what the curator is told, and names of askers
entry        what a line holds and how it is hashed
stores       places for lines: memory, SQLite, Postgres
whole        the check of a whole ledger: every charge is priced again
export       write the lines to a file, never over a database
show         how a ledger looks in a terminal and in a notebook
"""

from .account import Account
from .chain import Head
from .entry import Entry, Standing
from .halts import Failure, Failures, Halts
from .ledger import Ledger
from .opening import open_ledger

__all__ = [
    "Account",
    "Entry",
    "Failure",
    "Failures",
    "Halts",
    "Head",
    "Ledger",
    "Standing",
    "open_ledger",
]
