"""Any answers, as columns: numbers where there are numbers, and an identity that tells all apart.

An answer may be a number, text, None, a tuple, an array, a dictionary, a frame, a list whose length
varies, or a raised exception. Each is taken apart into leaves (`leaves`); a leaf that some answers
lack is a column with gaps, because that a key is missing can tell as much as its value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from .certify import FloatArray
from .leaves import LENGTH, TYPE, Raised, leaves, parts_of
from .parts import Kind, Path, type_name

IntArray = NDArray[np.int64]

GAP = -0x5EED_0000_0000_0001
"""The identity of a leaf that is not there; no double and no counting number has these bits."""
TIME: Path = (("time", None),)
REST: Path = (("rest", None),)
_MOST_LEAVES = 1000
_WIDEST_EXACT = 2**62


@dataclass(frozen=True, eq=False)
class Leaf:
    """One leaf of every answer."""

    numbers: FloatArray
    """Its value; NaN where it is not a number."""
    identity: IntArray
    """Equal exactly where the leaf is the same."""
    labels: Mapping[int, str]
    """What an identity that is not a number stands for."""


@dataclass(frozen=True, eq=False)
class Table:
    """Answers of one data set, one row each."""

    size: int
    columns: Mapping[Path, Leaf]

    def column(self, path: Path) -> Leaf:
        """The leaf at `path`; all gaps if no answer has it."""
        if path in self.columns:
            return self.columns[path]
        return _column_with_gaps(self.size, [], [])

    def part(self, start: int, stop: int) -> Table:
        """The outputs from one row up to another."""
        cut = slice(start, stop)
        columns = {
            path: Leaf(column.numbers[cut], column.identity[cut], column.labels)
            for path, column in self.columns.items()
        }
        return Table(min(stop, self.size) - start, columns)

    def all_raised(self, *others: Table) -> str | None:
        """The exception's name if all answers, the others' too, are the same one, with one text."""
        for path in ((), (("text", None),)):
            columns = [table.column(path) for table in (self, *others)]
            if np.unique(np.concatenate([column.identity for column in columns])).size > 1:
                return None
        column = self.column(())
        label = column.labels.get(int(column.identity[0]), "")
        return label.removeprefix("a raised ") if label.startswith("a raised ") else None


def words(path: Path) -> str:
    """A leaf in words: "entry 2 of the value of key 'x'".

    >>> words(()), words((("key", "x"), ("entry", 2)))
    ('the answer', "entry 2 of the value of key 'x'")
    """
    if not path:
        return "the answer"
    *outer, (kind, what) = path
    rest = f" of {words(tuple(outer))}" if outer else ""
    match kind:
        case "key":
            return f"the value of key {what!r}{rest}"
        case "entry":
            return f"entry {what}{rest}"
        case "number":
            return f"number {what}{rest or ' of the answer'}"
        case "time":
            return "the time"
        case "rest":
            return f"what follows the first {_MOST_LEAVES} parts of the answer"
        case _:
            return f"the {kind}{rest or ' of the answer'}"


def tabulate(outputs: object, *, seconds: FloatArray | None = None) -> Table:
    """Answers as columns: arrays as they are, anything else leaf by leaf."""
    array = _as_array(outputs)
    assert isinstance(outputs, Sequence | np.ndarray)
    table = _from_objects(outputs) if array is None else _from_array(array, outputs[0])
    if seconds is None:
        return table
    time = Leaf(seconds, np.zeros(table.size, dtype=np.int64), {})
    return Table(table.size, {**table.columns, TIME: time})


def _as_array(outputs: object) -> NDArray[np.generic] | None:
    """Answers that are all numbers of one type, or all vectors of one length and type; else None.

    Only then does an array lose nothing: it would turn 1 and 1.0, or True, into the same number.
    """
    array = outputs if isinstance(outputs, np.ndarray) else _of_one_type(outputs)
    if array is None or not array.ndim or array.dtype.kind not in "biuf":
        return None
    if type(array) is not np.ndarray or (array.ndim > 1 and not array.size):
        return None
    wide = array.dtype.kind in "iu" and array.size and max(-int(array.min()), int(array.max()))
    return None if wide and wide >= _WIDEST_EXACT else array


def _of_one_type(outputs: object) -> NDArray[np.generic] | None:
    if not isinstance(outputs, Sequence) or not outputs:
        return None
    kinds = set(map(type, outputs))
    kind = kinds.pop()
    if kinds:
        return None
    if issubclass(kind, list | tuple):
        inside = {type(value) for row in outputs for value in row}
        if len(inside) != 1 or not issubclass(inside.pop(), int | float | np.generic):
            return None
    elif kind is np.ndarray:
        if len({(row.dtype, row.shape) for row in outputs}) != 1 or not outputs[0].ndim:
            return None
    elif not issubclass(kind, int | float | np.generic):
        return None
    try:
        return np.array(outputs)
    except (ValueError, OverflowError):
        return None


def _from_array(array: NDArray[np.generic], example: object) -> Table:
    """Each entry a column; what is the same for all answers is read off one of them."""
    size = array.shape[0]
    if array.ndim == 1:
        return Table(size, {(TYPE,): _constant(size, type_name(example)), (): _column(array)})
    parts = parts_of(example)
    assert parts is not None
    facts = {(): parts.kind, (TYPE,): parts.type}
    facts |= {((name, None),): text for name, text in parts.facts.items()}
    columns = {path: _constant(size, text) for path, text in facts.items()}
    columns[LENGTH,] = _column(np.full(size, parts.length))
    flat = array.reshape(size, -1)
    paths = [tuple(("entry", i) for i in index) for index in np.ndindex(array.shape[1:])]
    room = _MOST_LEAVES - len(columns)
    for path, values in zip(paths[:room], flat.T[:room], strict=True):
        columns[path] = _column(values)
    if len(paths) > room:
        rest = [_Rest(row) for row in _column(flat[:, room:]).identity.tolist()]
        columns[REST] = _column_with_gaps(size, range(size), rest)
    return Table(size, columns)


def _constant(size: int, text: str) -> Leaf:
    labels = {GAP: "missing"}
    number, same = _reading(Kind(text), labels)
    return Leaf(np.full(size, number), np.full(size, same), labels)


def _column(values: NDArray[np.generic]) -> Leaf:
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    if values.dtype.kind == "f":
        return Leaf(numbers, numbers.view(np.int64), {})
    labels = {0: "False", 1: "True"} if values.dtype.kind == "b" else {}
    return Leaf(numbers, values.astype(np.int64), labels)


def _from_objects(outputs: Sequence[object] | NDArray[np.generic]) -> Table:
    rows: dict[Path, list[int]] = {}
    values: dict[Path, list[object]] = {}
    for row, output in enumerate(outputs):
        for path, leaf in _some_leaves(output):
            rows.setdefault(path, []).append(row)
            values.setdefault(path, []).append(leaf)
    size = len(outputs)
    columns = {path: _column_with_gaps(size, rows[path], values[path]) for path in rows}
    return Table(size, columns)


def _some_leaves(output: object) -> Iterator[tuple[Path, object]]:
    """The first leaves; all that follow are one leaf more."""
    every = leaves(output)
    yield from islice(every, _MOST_LEAVES)
    rest = _Rest(_reading(leaf, {})[1] for _, leaf in every)
    if rest:
        yield REST, rest


class _Rest(tuple[int, ...]):
    """The identities of all leaves that are not looked at one by one."""

    __slots__ = ()


def _column_with_gaps(size: int, rows: Sequence[int], values: Sequence[object]) -> Leaf:
    numbers = np.full(size, np.nan)
    identity = np.full(size, GAP, dtype=np.int64)
    labels = {GAP: "missing"}
    if rows:
        pairs = [_reading(value, labels) for value in values]
        numbers[rows] = [number for number, _ in pairs]
        identity[rows] = [same for _, same in pairs]
    return Leaf(numbers, identity, labels)


def _reading(value: object, labels: dict[int, str]) -> tuple[float, int]:
    """A leaf as a number (NaN if it is none) and an identity, whose label is noted."""
    if isinstance(value, bool | np.bool_):
        labels[int(value)] = str(bool(value))
        return float(value), int(value)
    if isinstance(value, float | np.floating):
        return float(value), int(np.float64(value).view(np.int64))
    if isinstance(value, Real | Decimal):
        return _exact_number(value)
    match value:
        case Kind():
            label = str(value)
        case _Rest():
            label = f"one of many, number {hash(value):x}"
        case Raised():
            label = f"a raised {value.kind}"
        case _:
            label = repr(value)
    same = hash(label)
    labels[same] = label if len(label) <= 60 else label[:57] + "…"
    return np.nan, same


def _exact_number(value: Real | Decimal) -> tuple[float, int]:
    """An integer or a fraction; those too wide for 64 bits are hashed."""
    same = hash(("exact", repr(value)))
    if isinstance(value, int | np.integer) and abs(int(value)) < _WIDEST_EXACT:
        same = int(value)
    try:
        return float(value), same
    except OverflowError:
        return float("-inf") if repr(value).startswith("-") else float("inf"), same
