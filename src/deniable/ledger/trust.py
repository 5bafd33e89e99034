"""What a line must prove before a decision rests on it: its bytes, its columns, its place.

A line that is looked up comes through an index, and an index can be damaged like anything else. So
each line is hashed again, its looked-up columns are derived again, and the next line must name its
hash as `previous` (or it must be the newest line, which the walk along the chain has checked).
"""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from deniable.errors import LedgerFailure

from .entry import Entry, digest, together
from .stores.store import Lookups, Row

NOT_TRUSTED = "nothing was spent; this ledger admits nothing until it is put right"

_TYPES: dict[str, type] = {
    "sequence": int, "previous": str, "time": str, "kind": str, "asker": str, "question": str,
    "what": str, "mechanisms": list, "price": dict, "total": dict, "committed": dict,
    "standing": dict, "charge": int, "repeats": int, "halts": dict, "state": str,
}  # fmt: skip

_MOST = 10_000  # shapes remembered: a bound on memory, whatever a file holds

# What parsing and reading a line that no version wrote can raise.
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, AssertionError, RecursionError)


_decode = json.JSONDecoder().raw_decode
_shapes: set[tuple[object, ...]] = set()
"""Fields and types that were found well-formed: most lines look like one before."""


def intact(row: Row, *, where: str) -> Entry:
    """The entry, if the line is what its hash and its looked-up columns say."""
    return Entry(read(row, where=where), row.hash)


def read(row: Row, *, where: str) -> dict[str, Any]:
    """The record of a line, checked as `intact` does."""
    sequence, line, hashed, kind, asker, question, mechanisms = row
    try:
        record: dict[str, Any]
        record, end = _decode(line)
        get = record.get
        if (
            digest(line) == hashed
            and end == len(line)
            and record["sequence"] == sequence
            and record["kind"] == kind
            and get("asker") == asker
            and get("question") == question
            and together(get("mechanisms")) == mechanisms
            and _well_formed(record)
        ):
            return record
    except UNREADABLE:
        pass
    raise broken(sequence, "was changed after it was written", where=where)


def in_place(lines: Lookups, row: Row, *, newest: Entry, where: str) -> Entry:
    """The entry, if it is also a link of the chain whose newest line is already proved."""
    entry = intact(row, where=where)
    if entry.sequence == newest.sequence and entry.hash == newest.hash:
        return entry
    pair = lines.since(entry.sequence, limit=2)
    if len(pair) != 2 or pair[0] != row:
        raise broken(entry.sequence, "is not a link of its chain", where=where)
    check_link(row, read(pair[1], where=where), where=where)
    return entry


def check_link(before: Row, record: dict[str, Any], *, where: str) -> None:
    """Raise unless a record follows the line before it."""
    if record["sequence"] != before.sequence + 1:
        raise broken(before.sequence + 1, "is missing", where=where)
    if record.get("previous") != before.hash:
        raise broken(record["sequence"], "does not follow from the line before it", where=where)


def broken(sequence: object, how: str, *, where: str) -> LedgerFailure:
    """The error that names a line which cannot be trusted."""
    return LedgerFailure(
        f"line {sequence} of the ledger {how}",
        why="this ledger no longer proves what was spent",
        fix=f"restore {where} from a copy whose verify() passes",
        cost=NOT_TRUSTED,
    )


def _well_formed(record: dict[str, Any]) -> bool:
    dt.datetime.fromisoformat(record["time"])  # raises what is caught
    shape = (*record, *map(type, record.values()))
    if shape in _shapes:
        return True
    if all(type(value) is _TYPES.get(name, type(value)) for name, value in record.items()):
        if len(_shapes) < _MOST:
            _shapes.add(shape)
        return True
    return False
