"""Which features are worth trying on these answers, simplest first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from .certify import FloatArray
from .features import Binned, Coded, Feature, Readout, last_digit, precision_cell, precision_words
from .outputs import GAP, TIME, IntArray, Leaf, Table, words
from .parts import Path

Sides = tuple[Table, Table]
Scores = Callable[[Table], FloatArray]

_MOST_COLUMNS = 32
_MOST_IN_PAIRS = 6
_MOST_IN_CELLS = 4
_CELLS = 32
_FEW = 8
_HUGE = 1e100
_PRECEDENCE = {"key": 0, "length": 1, "entry": 3, "number": 3}
_FACT = 2
"""The place of labels, types and order, each of which is one leaf."""
_UNSHOWN = ("missing", "a list", "a dictionary", "a set", "a table", "type", "length", "wording")
_ODD = 0x1E3779B97F4A7C15


def propose(first: Table, second: Table) -> Iterator[Feature]:
    """Features of each leaf, then of all leaves together."""
    return (feature for feature in _proposed((first, second)) if feature is not None)


def _proposed(sides: Sides) -> Iterator[Feature | None]:
    """The same; None is what could not be learned."""
    paths = _telling_paths(sides)
    if TIME in sides[0].columns:
        yield from _numeric(
            Readout("the call", _numbers(TIME), verb="takes", show=_duration), sides
        )
    for path in paths:
        yield from _of_column(path, sides)
    if len(paths) > 1:
        yield Coded.learn("the whole answer", _row_codes, _row_label, *sides)
    numeric = [path for path in paths if _is_numeric(path, sides)]
    if len(numeric) > 1 and min(side.size for side in sides) > 4 * len(numeric):
        yield from _of_vector(numeric, sides)


def _telling_paths(sides: Sides) -> list[Path]:
    """Leaves that vary; of many those whose small samples differ most, in their own order."""
    paths = list(dict.fromkeys([*sides[0].columns, *sides[1].columns]))
    paths = [path for path in paths if path != TIME and _varies(path, *sides)]
    # That a key is missing says more than the length, and the length more than a missing entry.
    paths.sort(key=lambda path: _PRECEDENCE.get(path[-1][0], _FACT) if path else 0)
    if len(paths) <= _MOST_COLUMNS:
        return paths
    small = [table.part(0, min(2000, table.size)) for table in sides]
    gaps = [_apart(small[0].column(path), small[1].column(path)) for path in paths]
    best = sorted(np.argsort(-np.array(gaps), kind="stable")[:_MOST_COLUMNS])
    return [paths[i] for i in best]


def _varies(path: Path, first: Table, second: Table) -> bool:
    a, b = first.column(path).identity, second.column(path).identity
    return bool((a != a[0]).any() or (b != a[0]).any())


def _apart(a: Leaf, b: Leaf) -> float:
    """How differently two samples of a leaf are distributed, as numbers or as what they say."""
    values, where = np.unique(np.concatenate([a.identity, b.identity]), return_inverse=True)
    if 4 * values.size > where.size:  # hardly any value comes twice: there is nothing to count
        return _distance(a.numbers, b.numbers)
    sides = (where[: a.identity.size], where[a.identity.size :])
    shares = [np.bincount(side, minlength=values.size) / side.size for side in sides]
    spread = math.sqrt(values.size / where.size)  # by chance alone, about
    exact = float(np.abs(shares[0] - shares[1]).sum()) / 2 - spread
    return max(exact, _distance(a.numbers, b.numbers))


def _distance(a: FloatArray, b: FloatArray) -> float:
    """Kolmogorov's distance of two samples, gaps sorted last."""
    a, b = np.sort(a), np.sort(b)
    at = np.concatenate([a, b])
    at = at[~np.isnan(at)]
    if at.size == 0:
        return 0.0
    below = np.searchsorted(a, at, "right") / a.size - np.searchsorted(b, at, "right") / b.size
    return float(np.abs(below).max())


def _of_column(path: Path, sides: Sides) -> Iterator[Feature | None]:
    name, numbers = words(path), _numbers(path)

    def label(table: Table, row: int) -> str:
        column = table.column(path)
        known = column.labels.get(int(column.identity[row]))
        return known if known is not None else f"{column.numbers[row]:.6g}"

    def cell(table: Table, row: int) -> str:
        return precision_words(int(precision_cell(numbers(table)[row : row + 1])[0]))

    exact = Coded.learn(name, lambda table: table.column(path).identity, label, *sides)
    if not _is_numeric(path, sides):
        yield exact
        return
    known = np.concatenate([numbers(table) for table in sides])
    many = not np.isnan(known).any() and np.unique(known).size > _FEW
    # "At most 3" says more than a list of many values, "is missing" more than "at most 3".
    ordered = _numeric(Readout(name, numbers), sides)
    yield from (*ordered, exact) if many else (exact, *ordered)
    digit = f"the last binary digit of {name}"
    yield Readout(digit, lambda table: last_digit(numbers(table)), show="2^{:.0f}".format)
    yield Coded.learn(name, lambda table: precision_cell(numbers(table)), cell, *sides)


def _of_vector(paths: list[Path], sides: Sides) -> Iterator[Feature | None]:
    """Features of several numbers: extremes, ties, differences (reused noise), learned scores."""

    def matrix(table: Table) -> FloatArray:
        values = np.stack([_numbers(path)(table) for path in paths], axis=1)
        return np.clip(np.nan_to_num(values), -_HUGE, _HUGE)

    def ties(table: Table) -> FloatArray:
        values = matrix(table)
        return np.asarray((values == values.max(axis=1, keepdims=True)).sum(axis=1) * 1.0)

    plain: list[tuple[str, Scores]] = [
        ("the sum of the entries", lambda table: matrix(table).sum(axis=1)),
        ("the largest entry", lambda table: matrix(table).max(axis=1)),
        ("the smallest entry", lambda table: matrix(table).min(axis=1)),
        ("the number of entries that tie for the largest", ties),
    ]
    for name, scores in plain:
        yield from _numeric(Readout(name, scores), sides)
    for name, sign in (("the largest entry", 1.0), ("the smallest entry", -1.0)):
        yield _extreme(name, matrix, sign, paths, sides)
    for one, other in itertools.combinations(paths[:_MOST_IN_PAIRS], 2):
        yield from _of_difference(one, other, sides)
    for one, other in itertools.combinations(paths[:_MOST_IN_CELLS], 2):
        yield _in_cells(one, other, sides)
    yield _likelihood(paths, sides)
    yield _linear(matrix, sides)


def _extreme(
    name: str, matrix: Scores, sign: float, paths: list[Path], sides: Sides
) -> Coded | None:
    """Which entry is the extreme one."""

    def place(table: Table) -> IntArray:
        return np.asarray((sign * matrix(table)).argmax(axis=1))

    def label(table: Table, row: int) -> str:
        return words(paths[int(place(table.part(row, row + 1))[0])])

    return Coded.learn(name, place, label, *sides)


def _of_difference(one: Path, other: Path, sides: Sides) -> Iterator[Feature | None]:
    def difference(table: Table) -> FloatArray:
        with np.errstate(invalid="ignore", over="ignore"):
            return _numbers(one)(table) - _numbers(other)(table)

    def label(table: Table, row: int) -> str:
        return f"{difference(table.part(row, row + 1))[0]:.6g}"

    name = f"{words(one)} minus {words(other)}"
    yield Coded.learn(name, lambda table: difference(table).view(np.int64), label, *sides)
    yield from _numeric(Readout(name, difference), sides)


def _in_cells(one: Path, other: Path, sides: Sides) -> Coded | None:
    """Two entries together, each in bins: what only their combination tells."""
    edges = [_edges(path, sides) for path in (one, other)]

    def cells(table: Table) -> IntArray:
        at, also = (
            np.searchsorted(edge, _numbers(path)(table), side="right")
            for edge, path in zip(edges, (one, other), strict=True)
        )
        return at * (_CELLS + 1) + also

    def label(table: Table, row: int) -> str:
        pair = (_numbers(path)(table)[row] for path in (one, other))
        return "about ({:.3g}, {:.3g})".format(*pair)

    return Coded.learn(f"the pair of {words(one)} and {words(other)}", cells, label, *sides)


def _edges(path: Path, sides: Sides) -> FloatArray:
    """Each value if there are few; else bins of equal weight."""
    values = np.concatenate([_numbers(path)(table) for table in sides])
    values = np.sort(values[~np.isnan(values)])
    distinct = np.unique(values)
    if distinct.size <= _CELLS:
        return distinct
    return np.unique(values[np.linspace(0, values.size - 1, _CELLS).astype(np.int64)])


def _likelihood(paths: list[Path], sides: Sides) -> Readout:
    """The sum of the entries' log-likelihood ratios: the best score of independent entries."""
    parts = [Binned.learn(Readout(words(path), _numbers(path)), *sides) for path in paths]
    known = [part for part in parts if part is not None]

    def score(table: Table) -> FloatArray:
        return sum((np.nan_to_num(part.scores(table)) for part in known), np.zeros(table.size))

    return Readout("the learned log-likelihood ratio of all entries", score)


def _linear(matrix: Scores, sides: Sides) -> Readout:
    """Least squares on the entries and their squares: tells shifts and spreads that go together."""
    pooled = np.concatenate([matrix(table) for table in sides])
    low, centre, high = np.quantile(pooled, [0.05, 0.5, 0.95], axis=0)
    spread = np.where(high > low, high - low, 1.0)

    def design(table: Table) -> FloatArray:
        z = np.clip((matrix(table) - centre) / spread, -4.0, 4.0)
        return np.concatenate([z, z * z], axis=1)

    a, b = map(design, sides)
    within = np.cov(a, rowvar=False) + np.cov(b, rowvar=False)
    ridge = 1e-6 * np.eye(within.shape[0])
    weights = np.linalg.solve(within + ridge, a.mean(axis=0) - b.mean(axis=0))
    return Readout("a learned linear score of the entries", lambda table: design(table) @ weights)


def _numeric(reading: Readout, sides: Sides) -> Iterator[Feature | None]:
    yield reading
    yield Binned.learn(reading, *sides)


def _numbers(path: Path) -> Scores:
    return lambda table: table.column(path).numbers


def _is_numeric(path: Path, sides: Sides) -> bool:
    return any(not np.isnan(table.column(path).numbers).all() for table in sides)


def _row_codes(table: Table) -> IntArray:
    """One identity for a whole answer: a sum of its leaves' identities, each with its own weight.

    Leaves that are gaps weigh nothing, so that tables with different leaves agree.
    """
    total = np.zeros(table.size, dtype=np.int64)
    for path, column in table.columns.items():
        if path == TIME:
            continue
        weight = np.int64((hash(path) * _ODD | 1) & 0x7FFF_FFFF_FFFF_FFFF)
        with np.errstate(over="ignore"):
            mixed = (column.identity ^ (column.identity >> np.int64(31))) * weight
            total += np.where(column.identity == GAP, np.int64(0), mixed)
    return total


def _row_label(table: Table, row: int) -> str:
    shown = []
    for path, column in table.columns.items():
        same = int(column.identity[row])
        label = column.labels.get(same, f"{column.numbers[row]:.6g}")
        if path == TIME or label in _UNSHOWN or (path and path[-1][0] in _UNSHOWN):
            continue
        shown.append(label)
    return "(" + ", ".join(shown[:8]) + (", …)" if len(shown) > 8 else ")")


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"
