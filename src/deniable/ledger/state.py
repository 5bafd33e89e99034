"""What all lines so far add up to, and the digest of it that every new line states.

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

import hashlib
from collections.abc import Iterator

from deniable.errors import BadParameter, BudgetExceeded, LedgerFailure
from deniable.mechanisms import Mechanism

from .entry import KINDS, Record, Standing, canonical, names, together
from .stores.store import Lookups
from .trust import intact

_MODULUS = 1 << 256
_Key = tuple[str, str]


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
        """The same where nothing is charged: no line is added either."""
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
