"""When two records may be the same person's: rules for one column each.

A rule either makes values alike (the month of a date, the first digits of a code), and then
equality decides, or says how far apart two values may be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter

from .tables import Array, Floats, Integers, Mask, codes

Close = Callable[[Integers, Integers], Mask]
"""For pairs of row numbers (auxiliary, released): may they be the same person?"""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One column of the auxiliary data, and what it is called in the released table."""

    column: str
    released: str

    def alike(self, values: Array) -> Array:
        """The form in which equal means the same; as it is, if nothing is said."""
        return values


@dataclass(frozen=True, kw_only=True)
class Near(Rule):
    """Numbers (or dates, in days) at most `within` apart."""

    within: float

    def numbers(self, values: Array) -> Floats:
        """Values as numbers; dates as days."""
        dates = _dates(values)
        if dates is not None:
            return np.asarray(dates.astype("datetime64[D]"), dtype=np.float64)
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError):
            raise BadParameter(
                f"`{self.column}` is compared as numbers, but holds others"
            ) from None

    def close(self, first: Array, second: Array) -> Close:
        """Pairs whose numbers differ by at most `within`."""
        one, two = self.numbers(first), self.numbers(second)
        return lambda i, j: np.abs(one[i] - two[j]) <= self.within


@dataclass(frozen=True, kw_only=True)
class Spelling(Rule):
    """Text that turns into the other by at most `edits` letters added, dropped or changed."""

    edits: int

    def close(self, first: Array, second: Array) -> Close:
        """Pairs within that many edits; each different pair of texts is compared once.

        One edit changes the set of letters in at most two places and the set of neighbouring pairs
        of letters in at most four: sketches of both, of 64 bits, rule most pairs out.
        """
        (one, two), levels = codes(first, second)
        texts = [str(level).casefold() for level in levels]
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        sketches = {
            gram: np.array([_sketch(text, gram) for text in texts], dtype=np.uint64)
            for gram in (1, 2)
        }

        def near(i: Integers, j: Integers) -> Mask:
            left, right = one[i], two[j]
            close: Mask = np.abs(lengths[left] - lengths[right]) <= self.edits
            for gram, marks in sketches.items():
                apart = np.bitwise_count(marks[left[close]] ^ marks[right[close]])
                close[close] = apart <= 2 * gram * self.edits
            pairs, place = np.unique(left[close] * len(texts) + right[close], return_inverse=True)
            ends = pairs // len(texts), pairs % len(texts)
            apart = _edit_distance(texts, lengths, *ends)
            close[close] = (apart <= self.edits)[place]
            return close

        return near


@dataclass(frozen=True, kw_only=True)
class Month(Rule):
    """Dates in the same month of the same year."""

    unit: str = "M"

    def alike(self, values: Array) -> Array:
        """Dates cut to their month (or year)."""
        dates = _dates(values)
        if dates is None:
            raise BadParameter(f"`{self.column}` is compared as dates, but holds others")
        return np.asarray(dates.astype(f"datetime64[{self.unit}]"))


@dataclass(frozen=True, kw_only=True)
class Prefix(Rule):
    """Text with the same first letters or digits."""

    length: int

    def alike(self, values: Array) -> Array:
        """The first letters."""
        return np.asarray([str(value)[: self.length] for value in values.tolist()])


def near(column: str, *, within: float, released: str | None = None) -> Near:
    """Numbers or dates at most `within` (days) apart.

    >>> from deniable.attacks import linkage, near
    >>> linkage({"age": [38]}, {"age": [30, 39]}, on=near("age", within=2)).matches.tolist()
    [1]
    """
    reach = parameters.non_negative("within", within)
    return Near(column=column, released=released or column, within=reach)


def spelling(column: str, *, edits: int = 2, released: str | None = None) -> Spelling:
    """Names that differ by a few letters.

    >>> from deniable.attacks import linkage, spelling
    >>> linkage({"n": ["Meyer"]}, {"n": ["Maier", "Ott"]}, on=spelling("n")).matches.tolist()
    [0]
    """
    count = parameters.whole("edits", edits, least=0)
    return Spelling(column=column, released=released or column, edits=count)


def month(column: str, *, released: str | None = None) -> Month:
    """Dates in the same month.

    >>> from deniable.attacks import linkage, month
    >>> days = [np.array([day], dtype="datetime64[D]") for day in ("2024-05-01", "2024-05-31")]
    >>> linkage({"on": days[0]}, {"on": days[1]}, on=month("on")).reidentified
    1
    """
    return Month(column=column, released=released or column)


def year(column: str, *, released: str | None = None) -> Month:
    """Dates in the same year.

    >>> from deniable.attacks import linkage, year
    >>> days = [np.array([day], dtype="datetime64[D]") for day in ("2024-05-01", "2024-12-31")]
    >>> linkage({"on": days[0]}, {"on": days[1]}, on=year("on")).reidentified
    1
    """
    return Month(column=column, released=released or column, unit="Y")


def prefix(column: str, *, length: int, released: str | None = None) -> Prefix:
    """Codes with the same beginning, such as the first three digits of a ZIP code.

    >>> from deniable.attacks import linkage, prefix
    >>> linkage({"zip": ["05401"]}, {"zip": ["05499", "10001"]}, on=prefix("zip", length=3)).rate
    1.0
    """
    size = parameters.whole("length", length)
    return Prefix(column=column, released=released or column, length=size)


def rule_of(what: object) -> Rule:
    """A rule as it is; a name as "the same value in the column of that name"."""
    if isinstance(what, Rule):
        return what
    if isinstance(what, str):
        return Rule(column=what, released=what)
    raise BadParameter.of(
        "on", what, must="names of columns or rules such as near('age', within=2)"
    )


def _dates(values: Array) -> Any:
    if values.dtype.kind == "M":
        return values
    if values.dtype.kind != "O":
        return None
    try:
        return values.astype("datetime64[D]")
    except (TypeError, ValueError):
        return None


def _sketch(text: str, gram: int) -> int:
    """A bit for each run of `gram` letters; runs may share a bit."""
    bits = 0
    for i in range(len(text) - gram + 1):
        run = text[i : i + gram]
        bits |= 1 << (sum(ord(letter) * 37**n for n, letter in enumerate(run)) % 64)
    return bits


def _edit_distance(
    texts: list[str], lengths: Integers, left: Integers, right: Integers
) -> Integers:
    """Levenshtein distances: all pairs at once, a row of the table at a time."""
    longest = max(1, int(lengths[np.concatenate([left, right])].max(initial=0)))
    letters = np.array(texts, dtype=f"<U{longest}").view(np.uint32).reshape(len(texts), longest)
    answer = np.where(lengths[left] == 0, lengths[right], 0)
    steps = np.arange(longest + 1, dtype=np.int32)
    for part in np.array_split(np.arange(left.size), 1 + left.size // 50_000):
        one, two = letters[left[part]], letters[right[part]]
        row = np.broadcast_to(steps, (part.size, longest + 1))
        for i in range(longest):
            best = np.minimum(row[:, :-1] + (two != one[:, i : i + 1]), row[:, 1:] + 1)
            row = np.concatenate([np.full((part.size, 1), i + 1, dtype=np.int32), best], axis=1)
            # Insertions run along the row: min over k ≤ j of best[k] + (j − k).
            row = np.minimum.accumulate(row - steps, axis=1) + steps
            done = lengths[left[part]] == i + 1
            answer[part[done]] = row[done, lengths[right[part[done]]]]
    return answer
