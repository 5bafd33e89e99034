"""What a line must prove before a decision rests on it: its bytes, its columns, its place.

A line that is looked up comes through an index, and an index can be damaged like anything else. So
each line is hashed again, its looked-up columns are derived again, and the next line must name its
hash as `previous` (or it must be the newest line, which the walk along the chain has checked).
"""

from __future__ import annotations

import datetime as dt
import json

from deniable.errors import LedgerFailure

from .entry import Entry, Record, row_of
from .store import Reading, Row

NOT_TRUSTED = "nothing was spent; this ledger admits nothing until it is put right"

_TYPES: dict[str, type] = {
    "sequence": int, "previous": str, "time": str, "kind": str, "asker": str, "question": str,
    "what": str, "mechanisms": list, "price": dict, "total": dict, "committed": dict,
    "standing": dict, "charge": int, "repeats": int, "halts": dict, "state": str,
}  # fmt: skip

# What parsing and reading a line that no version wrote can raise.
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, AssertionError, RecursionError)


def intact(row: Row, *, where: str) -> Entry:
    """The entry, if the line is what its hash and its looked-up columns say."""
    try:
        record = json.loads(row.line)
        if row_of(row.line, record) == row and _well_formed(record):
            return Entry(record=record, hash=row.hash)
    except UNREADABLE:
        pass
    raise broken(row.sequence, "was changed after it was written", where=where)


def in_place(lines: Reading, row: Row, *, newest: Entry, where: str) -> Entry:
    """The entry, if it is also a link of the chain whose newest line is already proved."""
    entry = intact(row, where=where)
    if entry.sequence == newest.sequence and entry.hash == newest.hash:
        return entry
    pair = lines.since(entry.sequence, limit=2)
    if len(pair) != 2 or pair[0] != row:
        raise broken(entry.sequence, "is not a link of its chain", where=where)
    check_link(entry, intact(pair[1], where=where), where=where)
    return entry


def check_link(before: Entry, entry: Entry, *, where: str) -> None:
    """Raise unless one line follows the other."""
    if entry.sequence != before.sequence + 1:
        raise broken(before.sequence + 1, "is missing", where=where)
    if entry.previous != before.hash:
        raise broken(entry.sequence, "does not follow from the line before it", where=where)


def broken(sequence: object, how: str, *, where: str) -> LedgerFailure:
    """The error that names a line which cannot be trusted."""
    return LedgerFailure(
        f"line {sequence} of the ledger {how}",
        why="what was spent can no longer be proved from this ledger",
        fix=f"restore {where} from a copy whose verify() passes",
        cost=NOT_TRUSTED,
    )


def _well_formed(record: Record) -> bool:
    dt.datetime.fromisoformat(record["time"])  # type: ignore[arg-type]  # raises what is caught
    return all(type(value) is _TYPES.get(name, type(value)) for name, value in record.items())
