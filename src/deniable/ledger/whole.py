"""The walk along a whole ledger: every charge is priced again, and every answer finds its charge.

Most lines of a large ledger are plain: a charge at a price that was checked before, or the answer
to one, while nobody has a share or is stopped. All that is new in such a line is its time, its
words and its value. So the text that it must have is put together from what is already proved, and
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

from .chain import MOST, Walk, price_of
from .entry import Entry, Record, canonical, digest, fits, names
from .stores.store import Row
from .trust import UNREADABLE

_decode: Final = json.JSONDecoder().raw_decode
_ANSWER: Final = '{"charge":'
_COMMITTED: Final = '"committed":'
_CHARGE: Final = ',"kind":"charge","mechanisms":'
_PREVIOUS: Final = ',"previous":"'
_PRICE: Final = '","price":'
_TIME: Final = len("2026-01-01T00:00:00.000000+00:00")


class WholeWalk(Walk):
    """A walk from the header to the newest line."""

    def __init__(self, start: Row, *, filter: Filter, where: str) -> None:  # noqa: A002
        self._unanswered: dict[int, object] = {}
        self._prices: dict[tuple[str, str], tuple[Price, str | None]] = {}
        """Of plain charges, by the text of their mechanisms and of their price."""
        self._sum = ""
        """The text of the total, where the next line may be foreseen; else empty."""
        super().__init__(start, filter=filter, where=where)

    def step(self, row: Row) -> None:
        """Go to the next line, or raise LedgerFailure naming what is wrong with it."""
        if not self._foreseen(row):
            super().step(row)

    # ---- what each line must prove

    def _check(self, record: Record, row: Row) -> None:
        super()._check(record, row)
        if row.kind == "charge" and "repeats" not in record:
            self._unanswered[row.sequence] = row.question
        elif row.kind == "answer":
            paid = self._unanswered.pop(Entry(record, "").charge or 0, None)
            if paid is None or paid != row.question:
                raise self._broken(row.sequence, "is an answer without its charge")
        self._learn(record, row)

    def _checked_price(self, entry: Entry) -> Price:
        """Price it again: what a later proof made cheaper is fine, the reverse is told.

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
        assert self.state is not None
        alike = self._total is self._committed
        plain = alike and not (self._strange or self.state.standings or self._halts)
        self._sum = canonical(self._total.to_dict()) if plain else ""
        if plain and row.kind == "charge" and "delta" not in record and len(self._prices) < MOST:
            texts = canonical(record["mechanisms"]), canonical(record["price"])
            self._prices[texts] = self._price(record), row.mechanisms

    def _foreseen(self, row: Row) -> bool:
        """Go one line on, if its text is the one that a plain line must have here."""
        try:
            if not self._sum or row.sequence != self._row.sequence + 1:
                return False
            if digest(row.line) != row.hash:
                return False
            if row.kind == "charge":
                return self._foreseen_charge(row)
            return row.kind == "answer" and self._foreseen_answer(row)
        except UNREADABLE:
            return False

    def _foreseen_charge(self, row: Row) -> bool:
        line = row.line
        opening = ("{" if row.asker is None else f'{{"asker":{quoted(row.asker)},') + _COMMITTED
        stated, end = _decode(line, len(opening))
        start = end + len(_CHARGE)
        middle = line.index(_PREVIOUS, start)
        price_at = middle + len(_PREVIOUS) + len(self._row.hash) + len(_PRICE)
        texts = line[start:middle], line[price_at : line.index("}", price_at) + 1]
        price, mechanisms = self._prices[texts]
        total, text = self._total + price, line[len(opening) : end]
        head = f"{opening}{text}{_CHARGE}{texts[0]}"
        end = self._end(row, head, f"{_PRICE}{texts[1]}", text)
        if (
            not (line[end:] == "}" or _is_last(line, end, ',"what":', str))
            or row.mechanisms != mechanisms
            or stated != total.to_dict()
            or not self._filter.admits(total)
        ):
            return False
        self._unanswered[row.sequence] = row.question
        self._row, self._sum, self._stated = row, text, (stated, stated)
        self._total = self._committed = total
        return True

    def _foreseen_answer(self, row: Row) -> bool:
        line = row.line
        charge = int(line[len(_ANSWER) : line.index(",")])
        head = f'{_ANSWER}{charge},{_COMMITTED}{self._sum},"kind":"answer"'
        end = self._end(row, head, '"', self._sum)
        if (
            not _is_last(line, end, ',"value":', object)
            or (row.asker, row.mechanisms) != (None, None)
            or row.question is None
            or self._unanswered.get(charge) != row.question
        ):
            return False
        del self._unanswered[charge]
        self._row = row
        return True

    def _end(self, row: Row, head: str, price: str, total: str) -> int:
        """Where the part of a line ends that was foreseen but for its time; else ValueError."""
        assert self.state is not None
        question = "" if row.question is None else f',"question":{quoted(row.question)}'
        before = (
            f"{head}{_PREVIOUS}{self._row.hash}{price}{question}"
            f',"sequence":{self._row.sequence + 1},"state":"{self.state.digest}","time":"'
        )
        middle = len(before) + _TIME
        time, after = row.line[len(before) : middle], f'","total":{total}'
        if row.line.startswith(before) and row.line.startswith(after, middle) and time[10] == "T":
            dt.datetime.fromisoformat(time)
            return middle + len(after)
        raise ValueError


def _is_last(line: str, start: int, name: str, kind: type) -> bool:
    """Does the line go on with this field, and end after it?"""
    if not line.startswith(name, start):
        return False
    value, end = _decode(line, start + len(name))
    return isinstance(value, kind) and line[end:] == "}"
