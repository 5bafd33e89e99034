"""The lines of a ledger: what each says, how it is written, and how it is chained to the last.

A line is one JSON object: keys sorted, no blanks, ASCII only. Its hash is the SHA-256 of its bytes,
and the next line repeats that hash as `previous`. What is hashed is what is stored, byte for byte,
so no later change in how numbers are printed can break an old chain.

    >>> line = canonical({"b": 1, "a": [0.1, None]})
    >>> line
    '{"a":[0.1,null],"b":1}'
    >>> digest(line)[:8]
    '39c1a64c'

The contract with the future: a field is never removed, never changes its meaning, and a new one is
always optional. A kind of line that a reader does not know counts as spending everything.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import marshal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, cast

from deniable.errors import BadParameter
from deniable.losses.filters import Price
from deniable.losses.rounding import within

from .stores.store import Row

FORMAT = 1
KINDS = ("header", "charge", "answer", "share", "note", "stop", "resume")

Record = Mapping[str, object]

_DATE: Final[ContextVar[dt.datetime | None]] = ContextVar("date", default=None)
MOST: Final = 10_000  # of a kind that are remembered: a bound on memory, whatever a file holds
_together: dict[bytes, str | None] = {}
"""The names of mechanisms, by all that a line says of them: most are charged again and again."""
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a ledger: `record` is all of it as written, the properties what it says."""

    record: Record
    hash: str
    _prices: dict[str, Price | None] = field(default_factory=dict, repr=False, compare=False)

    @property
    def sequence(self) -> int:
        """Its number, from 1; the header is 0."""
        return cast(int, self.record["sequence"])

    @property
    def time(self) -> dt.datetime:
        """When it was written (UTC); for a question to a server, when its turn came."""
        return dt.datetime.fromisoformat(str(self.record["time"]))

    @property
    def kind(self) -> str:
        """charge, answer, share, note, stop or resume; "unknown" if a later version wrote it."""
        kind = str(self.record.get("kind"))
        return kind if kind in KINDS else "unknown"

    @property
    def asker(self) -> str | None:
        """The asker, if the line names one."""
        return self._text("asker")

    @property
    def question(self) -> str | None:
        """A keyed hash of what was asked: the same for the same question, in this ledger."""
        return self._text("question")

    @property
    def what(self) -> str:
        """What was asked or noted, in words."""
        return self._text("what") or ""

    @property
    def mechanisms(self) -> list[Record]:
        """The public parameters of the mechanisms that were charged."""
        found = self.record.get("mechanisms", [])
        assert isinstance(found, list)
        return found

    @property
    def price(self) -> Price | None:
        """What was charged or reserved, in the ledger's native units."""
        return self._price("price")

    @property
    def total(self) -> Price | None:
        """All that was charged to the ceiling up to here."""
        return self._price("total")

    @property
    def committed(self) -> Price | None:
        """All that was charged outside shares up to here, and all shares in full."""
        return self._price("committed")

    @property
    def standing(self) -> Standing | None:
        """The asker's share after this line, if they have one."""
        found = self.record.get("standing")
        return None if found is None else Standing.from_dict(found)

    @property
    def charge(self) -> int | None:
        """For an answer or a stop: the number of the charge that paid for it."""
        return self._number("charge")

    @property
    def repeats(self) -> int | None:
        """For a charge to a share alone: the number of the stored answer that was shown again."""
        return self._number("repeats")

    @property
    def value(self) -> object:
        """For an answer: what was released."""
        return self.record.get("value")

    @property
    def previous(self) -> str:
        """The hash of the line before."""
        return str(self.record.get("previous"))

    def _text(self, name: str) -> str | None:
        found = self.record.get(name)
        return None if found is None else str(found)

    def _number(self, name: str) -> int | None:
        found = self.record.get(name)
        return None if found is None else int(str(found))

    def _price(self, name: str) -> Price | None:
        if name not in self._prices:
            found = self.record.get(name)
            self._prices[name] = Price.from_dict(found) if isinstance(found, dict) else None
        return self._prices[name]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What was reserved for one asker, and how much of it they used, in native units."""

    reserved: Price
    used: Price

    @staticmethod
    def none() -> Standing:
        """Nothing reserved, nothing used."""
        return Standing(reserved=Price.zero, used=Price.zero)

    @staticmethod
    def from_dict(record: object) -> Standing:
        """The standing that `to_dict` wrote."""
        if not isinstance(record, Mapping):
            raise BadParameter.of("standing", record, must="what was reserved and used")
        return Standing(
            reserved=Price.from_dict(record["reserved"]), used=Price.from_dict(record["used"])
        )

    def reserve(self, price: Price) -> Standing:
        """With more reserved."""
        return Standing(reserved=self.reserved + price, used=self.used)

    def use(self, price: Price) -> Standing:
        """With more used; the caller checks that it fits."""
        return Standing(reserved=self.reserved, used=self.used + price)

    def to_dict(self) -> dict[str, object]:
        """As it is written in a line."""
        return {"reserved": self.reserved.to_dict(), "used": self.used.to_dict()}


def stated(total: Price, committed: Price, standing: Standing | None) -> dict[str, object]:
    """The part of a line that states what was spent up to it."""
    state: dict[str, object] = {"total": total.to_dict(), "committed": committed.to_dict()}
    return state | ({} if standing is None else {"standing": standing.to_dict()})


def canonical(record: object) -> str:
    """The one way to write a record as text."""
    try:
        return _encode(record)
    except (TypeError, ValueError) as error:
        raise BadParameter(
            "a ledger holds plain JSON only: text, numbers, truth values, lists and objects",
            why=str(error),
            fix="value.tolist() for an array, float(value) for a NumPy number",
        ) from None


def digest(line: str) -> str:
    """The hash of a line."""
    return hashlib.sha256(line.encode("ascii")).hexdigest()


def sealed(record: Record, *, after: Entry | None) -> Row:
    """The record as the next line: numbered, dated and chained to the line before."""
    date = _DATE.get() or dt.datetime.now(dt.UTC)
    place = {
        "sequence": 0 if after is None else after.sequence + 1,
        "previous": "" if after is None else after.hash,
        "time": date.isoformat(timespec="microseconds"),
    }
    full = {k: v for k, v in record.items() if v is not None} | place
    return row_of(canonical(full), full)


@contextmanager
def dated(seconds: float) -> Iterator[None]:
    """Give every line of the block this date, in seconds since 1970.

    A question may be charged for in several lines, and rows are read between them. What its asker
    sees must not tell how long that took, so all of its lines have the date at which it began.
    """
    token = _DATE.set(dt.datetime.fromtimestamp(seconds, dt.UTC))
    try:
        yield
    finally:
        _DATE.reset(token)


def row_of(line: str, record: Record) -> Row:
    """A line with its hash and the parts of its record that are looked up."""
    return Row(
        sequence=cast(int, record["sequence"]),
        line=line,
        hash=digest(line),
        kind=cast(str, record["kind"]),
        asker=cast("str | None", record.get("asker")),
        question=cast("str | None", record.get("question")),
        mechanisms=together(record.get("mechanisms")),
    )


def opened(row: Row) -> Entry:
    """The entry of a line that was just written; one that was read is `trust.intact`'s to open."""
    return Entry(json.loads(row.line), row.hash)


def together(mechanisms: object) -> str | None:
    """The names of mechanisms that were charged together, as they are looked up."""
    if mechanisms is None:
        return None
    try:
        key = key_of(mechanisms)
    except ValueError:
        return ",".join(sorted(names(mechanisms))) or None
    if key not in _together:
        if len(_together) >= MOST:
            _together.clear()
        _together[key] = ",".join(sorted(names(mechanisms))) or None
    return _together[key]


def key_of(record: object) -> bytes:
    """By which records are remembered: plain JSON has the same if it is equal, types included."""
    return marshal.dumps(record, 2)  # type: ignore[arg-type]  # a ValueError where it cannot be


def names(part: object) -> set[str]:
    """Every mechanism named in a record, however deep."""
    if isinstance(part, list | tuple):
        return set().union(*map(names, part))
    if not isinstance(part, dict):
        return set()
    own = {part["mechanism"]} if isinstance(part.get("mechanism"), str) else set()
    return own.union(*map(names, part.values()))


def fits(price: Price, ceiling: Price, *, slack: float = 0.0) -> bool:
    """Is a price within another in every coordinate, to the resolution of ceilings?"""
    names = ("epsilon", "delta", "rho", "mu_squared")
    pairs = [(getattr(price, n), getattr(ceiling, n)) for n in names]
    if price.renyi:  # a curve that is absent is 0 at every order
        pairs += zip(price.renyi, ceiling.renyi or (0.0,) * len(price.renyi), strict=True)
    return all(within(figure, most * (1 + slack)) for figure, most in pairs)


def covered(total: Price, committed: Price) -> bool:
    """Is all that was spent within all that was committed, but for how often each was rounded up?

    A sum is rounded up at each charge, by 2⁻⁵⁰ of itself at most, and the two at different charges:
    2³⁰ lines may bring them as far apart as this allows. The ceiling does not rest on it: that
    holds because `committed` is within the budget, and what is used of each share within the share.
    """
    return fits(total, committed, slack=2.0**-20)
