"""Any answers, as columns: numbers where there are numbers, and an identity that tells all apart.

An answer may be a number, text, None, a tuple, an array, a dictionary, a list whose length varies,
or a raised exception. Each is taken apart into leaves; a leaf that some answers lack is a column
with gaps, because that a key is missing can tell as much as its value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from .certify import FloatArray

IntArray = NDArray[np.int64]
Step = tuple[str, object]
Path = tuple[Step, ...]

GAP = -0x5EED_0000_0000_0001
"""The identity of a leaf that is not there; no double and no counting number has these bits."""
LENGTH: Step = ("length", None)
TIME: Path = (("time", None),)
_MOST_LEAVES = 1000
_WIDEST_EXACT = 2**62


@dataclass(frozen=True)
class Raised:
    """An exception as an answer: an observer sees that it came, and its type."""

    kind: str


@dataclass(frozen=True, eq=False)
class Column:
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
    columns: Mapping[Path, Column]

    def column(self, path: Path) -> Column:
        """The leaf at `path`; all gaps if no answer has it."""
        if path in self.columns:
            return self.columns[path]
        return _column_with_gaps(self.size, [], [])

    def part(self, start: int, stop: int) -> Table:
        """Some of the rows."""
        cut = slice(start, stop)
        columns = {
            path: Column(column.numbers[cut], column.identity[cut], column.labels)
            for path, column in self.columns.items()
        }
        return Table(min(stop, self.size) - start, columns)

    def all_raised(self) -> str | None:
        """The exception's name if every answer is the same exception."""
        labels = self.column(()).labels
        same = np.unique(self.column(()).identity)
        label = labels.get(int(same[0]), "") if same.size == 1 else ""
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
        case "length":
            return f"the length{rest or ' of the answer'}"
        case _:
            return f"the {kind}"


def tabulate(outputs: object, *, seconds: FloatArray | None = None) -> Table:
    """Answers as columns: arrays as they are, anything else leaf by leaf."""
    array = _as_array(outputs)
    if array is not None:
        table = _from_array(array)
    else:
        assert isinstance(outputs, Sequence | np.ndarray)
        table = _from_objects(outputs)
    if seconds is None:
        return table
    time = Column(seconds, np.zeros(table.size, dtype=np.int64), {})
    return Table(table.size, {**table.columns, TIME: time})


def _as_array(outputs: object) -> NDArray[np.generic] | None:
    """Answers that are all numbers of one type, or all vectors of one length; else None."""
    if isinstance(outputs, np.ndarray):
        return outputs if outputs.dtype.kind in "biuf" and outputs.ndim else None
    if not isinstance(outputs, Sequence) or not outputs:
        return None
    kinds = set(map(type, outputs))
    if len(kinds) != 1 or not issubclass(
        kind := kinds.pop(), int | float | bool | np.generic | tuple | list | np.ndarray
    ):
        return None
    try:
        array = np.array(outputs)
    except (ValueError, OverflowError):
        return None
    flat = issubclass(kind, int | float | np.generic)
    return array if array.dtype.kind in "biuf" and (flat or array.ndim > 1) else None


def _from_array(array: NDArray[np.generic]) -> Table:
    if array.ndim == 1:
        return Table(array.shape[0], {(): _column(array)})
    flat = array.reshape(array.shape[0], -1)
    indices = np.ndindex(array.shape[1:])
    paths = [tuple(("entry", i) for i in index) for index in indices]
    columns = zip(paths[:_MOST_LEAVES], flat.T[:_MOST_LEAVES], strict=True)
    return Table(array.shape[0], {path: _column(values) for path, values in columns})


def _column(values: NDArray[np.generic]) -> Column:
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    if values.dtype.kind == "f":
        return Column(numbers, numbers.view(np.int64), {})
    labels = {0: "False", 1: "True"} if values.dtype.kind == "b" else {}
    return Column(numbers, values.astype(np.int64), labels)


def _from_objects(outputs: Sequence[object] | NDArray[np.generic]) -> Table:
    rows: dict[Path, list[int]] = {}
    values: dict[Path, list[object]] = {}
    for row, output in enumerate(outputs):
        for count, (path, leaf) in enumerate(_leaves(output, ())):
            if count >= _MOST_LEAVES:
                break
            rows.setdefault(path, []).append(row)
            values.setdefault(path, []).append(leaf)
    size = len(outputs)
    columns = {path: _column_with_gaps(size, rows[path], values[path]) for path in rows}
    return Table(size, columns)


def _leaves(output: object, path: Path) -> Iterator[tuple[Path, object]]:
    """The leaves of one answer, outermost first."""
    if isinstance(output, Mapping):
        yield path, _Kind("a dictionary")
        yield (*path, LENGTH), len(output)
        for key, value in output.items():
            yield from _leaves(value, (*path, ("key", key)))
    elif isinstance(output, AbstractSet):
        yield from _leaves(dict.fromkeys(output, True), path)
    elif dataclasses.is_dataclass(output) and not isinstance(output, type | Raised):
        fields = dataclasses.fields(output)
        yield from _leaves({field.name: getattr(output, field.name) for field in fields}, path)
    elif isinstance(output, list | tuple) or (hasattr(output, "__array__") and np.ndim(output) > 0):
        entries = output if isinstance(output, list | tuple) else np.asarray(output)
        yield path, _Kind("a list")
        yield (*path, LENGTH), len(entries)
        for index, value in enumerate(entries):
            yield from _leaves(value, (*path, ("entry", index)))
    else:
        yield path, output.item() if isinstance(output, np.ndarray) else output


class _Kind(str):
    """That a leaf is a container, which is all there is to say of it at its own path."""

    __slots__ = ()


def _column_with_gaps(size: int, rows: Sequence[int], values: Sequence[object]) -> Column:
    numbers = np.full(size, np.nan)
    identity = np.full(size, GAP, dtype=np.int64)
    labels = {GAP: "missing"}
    if rows:
        pairs = [_reading(value, labels) for value in values]
        numbers[rows] = [number for number, _ in pairs]
        identity[rows] = [same for _, same in pairs]
    return Column(numbers, identity, labels)


def _reading(value: object, labels: dict[int, str]) -> tuple[float, int]:
    """A leaf as a number (NaN if it is none) and an identity, whose label is noted."""
    if isinstance(value, bool | np.bool_):
        labels[int(value)] = str(bool(value))
        return float(value), int(value)
    if isinstance(value, float | np.floating):
        return float(value), int(np.float64(value).view(np.int64))
    if isinstance(value, Real):
        return _exact_number(value)
    match value:
        case _Kind():
            label = str(value)
        case Raised():
            label = f"a raised {value.kind}"
        case _:
            label = repr(value)
    same = hash(label)
    labels[same] = label if len(label) <= 60 else label[:57] + "…"
    return np.nan, same


def _exact_number(value: Real) -> tuple[float, int]:
    """An integer or a fraction; those too wide for 64 bits are hashed."""
    same = hash(("exact", repr(value)))
    if isinstance(value, int | np.integer) and abs(int(value)) < _WIDEST_EXACT:
        same = int(value)
    try:
        return float(value), same
    except OverflowError:
        return float("-inf") if repr(value).startswith("-") else float("inf"), same
