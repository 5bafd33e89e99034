"""What must be proved before a decision rests on lines: each by itself, and what all add up to.

A line that is looked up comes through an index, and an index can be damaged like anything else. So
each line is hashed again, its looked-up columns are derived again, and the next line must name its
hash as `previous` (or it must be the newest line, which the walk along the chain has checked).

A ledger must know everyone's share, and every kind of line and mechanism that it holds, without
reading all of its lines. It looks them up; and because an index can be damaged, the newest line
states a digest of what must be found. Where the digest is missing or differs, all lines are walked.

The digest is that of a set: the sum of the SHA-256 of its elements, modulo 2²⁵⁶. One element
changes at the cost of one hash, however many shares there are. It finds damage, not forgery:
whoever can rewrite a ledger can rewrite its digests, and against them there is the anchor.

    >>> state = State()
    >>> state.take({"kind": "note"})
    >>> state.digest == State().digest_after({"kind": "note"})
    True
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from deniable.errors import BadParameter, BudgetExceeded, LedgerFailure
from deniable.mechanisms import Mechanism

from .entry import KINDS, MOST, Entry, Record, Standing, canonical, digest, names, together
from .stores.store import Lookups, Row

NOT_TRUSTED = "nothing was spent; this ledger admits nothing until it is put right"

_TYPES: dict[str, type] = {
    "sequence": int, "previous": str, "time": str, "kind": str, "asker": str, "question": str,
    "what": str, "mechanisms": list, "price": dict, "total": dict, "committed": dict,
    "standing": dict, "charge": int, "repeats": int, "halts": dict, "state": str,
}  # fmt: skip

_MODULUS = 1 << 256
_Key = tuple[str, str]

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


def refuse_unreadable(row: Row) -> None:
    """An error for a line that no reader would accept: what it should say as text is no text."""
    try:
        read(row, where="")
    except LedgerFailure:
        raise BadParameter(
            "a ledger holds questions, titles and notes as text",
            fix='ledger.note("the schema was revised")',
        ) from None


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
        if len(_shapes) < MOST:
            _shapes.add(shape)
        return True
    return False


# ---- what all lines add up to


class State:
    """Every share, and every kind of line and mechanism there is, up to some line."""

    def __init__(self) -> None:
        self.standings: dict[str, Standing] = {}
        self._elements: dict[_Key, int] = {}
        self._sum = 0
        self._understood = 0
        """How many elements there were when all of them were found to be known here."""
        self.digest = f"{0:064x}"
        """The digest, as a line states it."""

    @staticmethod
    def looked_up(lines: Lookups, *, where: str) -> State:
        """As the indexes have it; to be compared with the digest in the newest line."""
        state = State()
        for kind in lines.kinds():
            state.take({"kind": kind})
        for several in lines.mechanisms():
            state._put(("mechanisms", several), None)
        for asker in lines.sharers():
            row = lines.latest_of(asker)
            if row is not None:
                state.take(intact(row, where=where).record)
        return state

    @property
    def strange(self) -> str | None:
        """What this version does not know among the lines: it may have cost anything."""
        elements = len(self._elements)
        if self._understood == elements:
            return None
        kinds = {text for what, text in self._elements if what == "kind"}.difference(KINDS)
        if kinds:
            return f"lines of the kind {min(kinds)!r}"
        named = (text.split(",") for what, text in self._elements if what == "mechanisms")
        unknown = {each for each in set[str]().union(*named) if Mechanism.named(each) is None}
        if unknown:
            return f"the mechanism {min(unknown)!r}"
        self._understood = elements
        return None

    def refuse_unknown(self, *, asker: str | None = None) -> None:
        """An error if anything among the lines is not known here: nothing more is charged.

        An asker is not told what it is: others may have charged it.
        """
        if self.strange is not None:
            what = f"{self.strange}, which" if asker is None else "lines that"
            does = "does not know" if asker is None else "of deniable does not know"
            raise BudgetExceeded(
                f"the ledger holds {what} this version {does}",
                why="an unknown entry may have cost anything, so it counts as the whole budget",
                fix="pip install --upgrade deniable (or import the module that defines it)",
            )

    def refuse_to_hide(self, *, where: str) -> None:
        """An error where lines are not known here, when nothing is charged or added either."""
        if self.strange is not None:
            raise LedgerFailure(
                f"{where} holds {self.strange}, which this version does not know",
                why="adding to what is not understood could hide what it cost",
                fix="pip install --upgrade deniable",
            )

    def digest_after(self, record: Record) -> str:
        """The digest that this record has to state as the next line."""
        added = sum(
            _element(key, value) - self._elements.get(key, 0) for key, value in self._news(record)
        )
        return f"{(self._sum + added) % _MODULUS:064x}"

    def take(self, record: Record) -> None:
        """Go on by one line."""
        self.follow(record, together(record.get("mechanisms")))

    def follow(self, record: Record, names: str | None) -> None:
        """Go on by one line whose mechanisms have these names."""
        known = names is None or ("mechanisms", names) in self._elements
        if known and ("kind", record["kind"]) in self._elements and "standing" not in record:
            return  # most lines add nothing
        for key, value in self._news(record):
            self._put(key, value)

    def _put(self, key: _Key, value: object) -> None:
        element = _element(key, value)
        self._sum = (self._sum + element - self._elements.get(key, 0)) % _MODULUS
        self._elements[key] = element
        self.digest = f"{self._sum:064x}"
        if key[0] == "share":
            self.standings[key[1]] = Standing.from_dict(value)

    def _news(self, record: Record) -> Iterator[tuple[_Key, object]]:
        """What a line adds or changes."""
        if (kind := ("kind", str(record["kind"]))) not in self._elements:
            yield kind, None
        names = together(record.get("mechanisms"))
        if names and (several := ("mechanisms", names)) not in self._elements:
            yield several, None
        if record.get("standing") is not None and record.get("asker") is not None:
            yield ("share", str(record["asker"])), record["standing"]


def _element(key: _Key, value: object) -> int:
    text = canonical({"of": key, "is": value}).encode("ascii")
    return int.from_bytes(hashlib.sha256(text).digest(), "big")


def refuse_foreign(mechanism: Mechanism, *, asker: str) -> None:
    """An error if an asker would charge what other processes may not know.

    They would have to count it as everything, so that one asker could stop all others.
    """
    known = Mechanism.registry
    used = names(mechanism.to_dict()) - {
        name for name, kind in known.items() if kind.__module__.startswith("deniable.")
    }
    if used:
        raise BadParameter(
            f"{min(used)!r} is not a mechanism of deniable, so {asker} cannot charge it here",
            why="other processes that open this ledger could not tell what it costs",
            fix="use a mechanism of deniable; or let the curator release it",
        )
