"""The walk along a whole ledger: every charge is priced again, and every answer finds its charge.

Most lines of a large ledger are plain: a charge outside shares at a price that was checked before,
or the answer to one, while nobody is stopped. All that is new in such a line is its time, its words
and its value. So the text that it must have is put together from what is already proved, and
compared byte for byte; only what is new is parsed. A line that is not foreseen like this, for
whatever reason, is parsed and checked like any other: foresight saves time and decides nothing.
"""

from __future__ import annotations

import datetime as dt
import json
from json.encoder import encode_basestring_ascii as quoted
from typing import Final

from deniable.errors import DeniableError
from deniable.losses.filters import Filter, Price
from deniable.mechanisms import Mechanism

from .chain import Walk, price_of
from .entry import MOST, Entry, Record, canonical, covered, digest, fits, names
from .stores.store import Row
from .trust import UNREADABLE, State

_time: Final = dt.datetime.fromisoformat
_decode: Final = json.JSONDecoder().raw_decode
_ANSWER: Final = '{"charge":'
_COMMITTED: Final = '"committed":'
_CHARGE: Final = ',"kind":"charge","mechanisms":'
_PREVIOUS: Final = ',"previous":"'
_PRICE: Final = '","price":'
_TO_PRICE: Final = len(_PREVIOUS) + 64 + len(_PRICE)  # a hash in between
_TIME: Final = len("2026-01-01T00:00:00.000000+00:00")


class WholeWalk(Walk):
    """A walk from the header to the newest line."""

    state: State

    def __init__(self, start: Row, *, filter: Filter, where: str) -> None:
        self._unanswered: dict[int, object] = {}
        self._any_answered = False  # the first answer changes what a line has to state
        self._prices: dict[tuple[str, str], tuple[Price, str | None]] = {}
        """Of plain charges, by the text of their mechanisms and of their price."""
        self._sums = ("", "")
        """The texts of what is committed and of the total; empty if the next is not plain."""
        super().__init__(start, filter=filter, where=where)
        if start.sequence != 0:
            raise self._broken(0, "is missing")

    def step(self, row: Row) -> None:
        """Go to the next line, or raise LedgerFailure naming what is wrong with it."""
        if not self._foreseen(row):
            if self._sums[0]:  # lines that were foreseen have left this behind
                self._stated = self._total.to_dict(), self._committed.to_dict()
            super().step(row)

    # ---- what each line must prove

    def _check(self, record: Record, row: Row) -> None:
        super()._check(record, row)
        if row.kind == "charge":
            if "repeats" in record:
                self._price(record)
            else:
                self._unanswered[row.sequence] = row.question
        elif row.kind == "share" and row.asker is None:
            raise self._broken(row.sequence, "is a share of nobody")
        elif row.kind == "answer":
            paid = self._unanswered.pop(Entry(record, "").charge or 0, None)
            if paid is None or paid != row.question:
                raise self._broken(row.sequence, "is an answer without its charge")
            self._any_answered = True
        self._learn(record, row)

    def _checked_price(self, entry: Entry) -> Price:
        """Price it again: what a later proof made cheaper is fine, the reverse is reported.

        Blocks are priced numerically; a later version may end a little higher, as sound as before.
        What is not known here has no price, and nothing more can be charged after it.
        """
        price = super()._checked_price(entry)
        known = None not in map(Mechanism.named, names(entry.mechanisms))
        if entry.kind == "charge" and known:
            delta = entry.record.get("delta")
            slack = 1e-9 if delta is None else 1e-2
            if not fits(self._priced(entry, delta), price, slack=slack):
                raise self._broken(entry.sequence, "was charged less than it costs")
        return price

    def _priced(self, entry: Entry, delta: object) -> Price:
        try:
            charged = [Mechanism.from_dict(record) for record in entry.mechanisms]
            return sum((price_of(m, self._filter, delta) for m in charged), Price.zero)
        except DeniableError:
            raise self._broken(entry.sequence, "charges what has no price") from None

    # ---- plain lines

    def _learn(self, record: Record, row: Row) -> None:
        """Remember a price that was checked, and whether the next line may be a plain one."""
        plain = not (self._strange or self._halts)
        self._sums = (_text(self._committed), _text(self._total)) if plain else ("", "")
        if plain and row.kind == "charge" and "delta" not in record and len(self._prices) < MOST:
            texts = canonical(record["mechanisms"]), canonical(record["price"])
            self._prices[texts] = self._price(record), row.mechanisms

    def _foreseen(self, row: Row) -> bool:
        """Go one line on, if its text is the one that a plain line must have here."""
        sequence, line, hashed, kind, _, question, _ = row  # quicker than by name, as below
        try:
            if not self._sums[0] or sequence != self._row.sequence + 1 or digest(line) != hashed:
                return False
            asked = "" if question is None else f',"question":{quoted(question)}'
            about = f'{asked},"sequence":{sequence},"state":"{self.state.digest}","time":"'
            if kind == "charge":
                return self._foreseen_charge(row, about)
            return kind == "answer" and self._any_answered and self._foreseen_answer(row, about)
        except UNREADABLE:
            return False

    def _foreseen_charge(self, row: Row, about: str) -> bool:
        sequence, line, _, _, asker, question, named = row
        opening = ("{" if asker is None else f'{{"asker":{quoted(asker)},') + _COMMITTED
        start = line.index(_CHARGE, len(opening)) + len(_CHARGE)
        middle = line.index(_PREVIOUS, start)
        price_at = middle + _TO_PRICE
        texts = line[start:middle], line[price_at : line.index("}", price_at) + 1]
        price, mechanisms = self._prices[texts]
        alike = self._committed is self._total
        total = self._total + price
        committed = total if alike else self._committed + price
        text = _text(total)
        sums = (text, text) if alike else (_text(committed), text)
        before = (
            f"{opening}{sums[0]}{_CHARGE}{texts[0]}{_PREVIOUS}{self._row.hash}"
            f"{_PRICE}{texts[1]}{about}"
        )
        end = _end(line, before, text)
        if (
            not (line[end:] == "}" or _is_last(line, end, ',"what":', str))
            or named != mechanisms
            or asker in self.state.standings
            or not (self._filter.admits(committed) and (alike or covered(total, committed)))
        ):
            return False
        self._unanswered[sequence] = question
        self._row, self._sums, self._total, self._committed = row, sums, total, committed
        return True

    def _foreseen_answer(self, row: Row, about: str) -> bool:
        _, line, _, _, asker, question, mechanisms = row
        charge = int(line[len(_ANSWER) : line.index(",")])
        committed, total = self._sums
        before = (
            f'{_ANSWER}{charge},{_COMMITTED}{committed},"kind":"answer"'
            f'{_PREVIOUS}{self._row.hash}"{about}'
        )
        end = _end(line, before, total)
        if (
            not _is_last(line, end, ',"value":', object)
            or not (asker is None and mechanisms is None)
            or question is None
            or self._unanswered.get(charge) != question
        ):
            return False
        del self._unanswered[charge]
        self._row = row
        return True


def _end(line: str, before: str, total: str) -> int:
    """Where the part of a line ends that was foreseen but for its time; else ValueError."""
    start = len(before)
    middle = start + _TIME
    after = f'","total":{total}'
    if line.startswith(before) and line.startswith(after, middle) and line[start + 10] == "T":
        _time(line[start:middle])
        return middle + len(after)
    raise ValueError


def _is_last(line: str, start: int, name: str, kind: type) -> bool:
    """Does the line go on with this field, and end after it?"""
    if not line.startswith(name, start):
        return False
    value, end = _decode(line, start + len(name))
    return isinstance(value, kind) and line[end:] == "}"


def _text(price: Price) -> str:
    """A total as a line states it, that is `canonical(price.to_dict())`, in less time."""
    parts = [f'"delta":{price.delta!r}'] if price.delta else []
    if price.epsilon:
        parts.append(f'"epsilon":{price.epsilon!r}')
    if price.mu_squared:
        parts.append(f'"mu_squared":{price.mu_squared!r}')
    if price.renyi:
        parts.append(f'"renyi":[{",".join(map(repr, price.renyi))}]')
    if price.rho:
        parts.append(f'"rho":{price.rho!r}')
    text = f"{{{','.join(parts)}}}"
    return canonical(price.to_dict()) if "inf" in text else text
