"""What is publicly known to be impossible: cells that no row can be in.

    from deniable.synthetic import determines, impossible

    impossible(age=(0, 14), marital_status=["Divorced", "Widowed"])
    determines("education", "education_num", {"HS-grad": 9, "Bachelors": 13})

Constraints are public knowledge, as bounds are: one that you find in the data gives the data away.
A synthetic table honours them exactly: the ends of each range become edges of that column's cells
(`refined`), so that a range is always a union of cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter
from deniable.schema import Column
from deniable.schema.arrays import step_of
from deniable.schema.binning import Intervals, Listed
from deniable.schema.columns import _of_type

from .domain import MOST_CELLS, Cells, Domain
from .inference import Clique, Model, junction_tree, ordered
from .inference.fitting import Calibrated
from .inference.model import shapes, spread

Flags = NDArray[np.bool_]
_LIMITLESS = (-math.inf, math.inf)


@dataclass(frozen=True, kw_only=True)
class Impossible:
    """No row has all of these at once: by column, a list of values or a range of numbers."""

    values: Mapping[str, object]

    def parts(self) -> list[tuple[str, object]]:
        """What is said of each column."""
        return list(self.values.items())

    def table(self, domain: Domain) -> tuple[Clique, Flags]:
        """The cells that can occur, for the columns concerned."""
        clique = domain.place(list(self.values), what="impossible")
        masks = [_chosen(domain, domain.names[a], self.values[domain.names[a]]) for a in clique]
        met = masks[0]
        for mask in masks[1:]:
            met = met[..., None] & mask
        return clique, ~met


@dataclass(frozen=True, kw_only=True)
class Determines:
    """Each value of `first` comes with one value of `second`; what is not listed is free."""

    first: str
    second: str
    mapping: Mapping[object, object]

    def parts(self) -> list[tuple[str, object]]:
        """What is said of each column."""
        return [(self.first, list(self.mapping)), (self.second, list(self.mapping.values()))]

    def table(self, domain: Domain) -> tuple[Clique, Flags]:
        """The cells that can occur."""
        clique = domain.place([self.first, self.second], what="determines")
        (first,), (second,) = domain.place(self.first), domain.place(self.second)
        able = np.ones((domain.sizes[first], domain.sizes[second]), dtype=bool)
        for value, image in self.mapping.items():
            row = _chosen(domain, self.first, [value])
            able[row] = _chosen(domain, self.second, [image])[None, :]
        return clique, able if clique == (first, second) else able.T


Constraint = Impossible | Determines


def impossible(**values: object) -> Impossible:
    """No row has all of these at once: `impossible(sex=["Male"], relationship=["Wife"])`.

    A list names values, with None for what is missing. Of a column with bounds, a tuple
    `(low, high)` is a range: both ends belong to it, except that the upper end of a range of real
    numbers does so only at the upper bound.
    """
    if not values:
        raise BadParameter("impossible() names no column", fix='impossible(age=(0, 14), job=["x"])')
    return Impossible(values=values)


def determines(first: str, second: str, mapping: Mapping[object, object]) -> Determines:
    """Each of these values of `first` comes with the one of `second` that it is mapped to."""
    if not mapping:
        raise BadParameter("determines() has an empty mapping", fix='{"HS-grad": 9}')
    return Determines(first=first, second=second, mapping=mapping)


def refined(
    domain: Domain, columns: Mapping[str, Column], constraints: Sequence[Constraint]
) -> Domain:
    """The domain, with the ends of every range among the edges of its column's cells."""
    cells = dict(domain.cells)
    for each in constraints:
        if not isinstance(each, Impossible | Determines):
            raise BadParameter.of("constraints", each, must="impossible(...) or determines(...)")
        for name, wanted in each.parts():
            domain.place(name, what="constraints")
            cells[name] = _cut(name, cells[name], wanted, columns[name].missing)
    return Domain(cells=cells)


def constrained(
    domain: Domain, constraints: Sequence[Constraint], *, largest: int
) -> tuple[Model, tuple[Clique, ...]]:
    """Every possible cell as likely as any other, and the cliques that constraints are about."""
    start = Model.uniform(domain.sizes)
    if not constraints:
        return start, ()
    tables = [each.table(domain) for each in constraints]
    cliques = tuple(ordered(clique, domain.sizes) for clique, _ in tables)
    tree = junction_tree(domain.sizes, cliques)
    if tree.cells > largest:
        raise BadParameter(
            f"the constraints tie columns together in {tree.cells:,} cells; "
            f"at most {largest:,} are possible",
            fix="fewer constraints, or coarser bins=",
        )
    before = [np.full(shape, 1 / np.prod(shape)) for shape in shapes(tree)]
    grown = {i: each.copy() for i, each in enumerate(before)}
    for (clique, able), name in zip(tables, cliques, strict=True):
        holder = tree.holder(name)
        assert holder is not None
        mask = able.astype(np.float64).transpose([clique.index(a) for a in name])
        grown[holder] *= spread(mask, name, tree.cliques[holder])
    with np.errstate(invalid="ignore"):  # 0/0 where nothing is left
        made = Calibrated.of(tree, before).grown(tree, grown).tables
    if not all(np.isfinite(each).all() for each in made):
        raise BadParameter("the constraints leave nothing that a row could be")
    return Model(tree=tree, tables=tuple(made)), cliques


def _cut(name: str, cells: Cells, wanted: object, missing: object) -> Cells:
    """Cells that what is wanted is a union of; `missing` is the schema's rule."""
    found = _wanted(name, cells, wanted)
    if isinstance(cells, Listed):
        return cells
    own, beyond = cells.count > cells.size, 0 if cells.type == "float" else 1
    ends = {end for low, high in found for end in (low, high + beyond)}
    inside = {end for end in ends if cells.low < end < cells.high + beyond}
    cuts = inside.difference(cells.spans[0].tolist())
    if cuts:
        cells = replace(cells, edges=tuple(sorted({*cells.edges, *cuts})))
    cells = replace(cells, missing=cells.size if own else int(cells.encode([missing])[0]))
    if cells.count > MOST_CELLS:
        raise BadParameter(
            f"the constraints divide `{name}` into {cells.count:,} cells; "
            f"a synthetic column has at most {MOST_CELLS:,}",
            fix="fewer values in constraints=, or ranges of them",
        )
    return cells


def _chosen(domain: Domain, name: str, wanted: object) -> Flags:
    """Which cells of a column are meant."""
    cells = domain.cells[name]
    flags = np.zeros(cells.count, dtype=bool)
    flags[cells.size :] = isinstance(wanted, list) and None in wanted
    for low, high in _wanted(name, cells, wanted):
        if isinstance(cells, Listed):
            flags[int(low)] = True
            continue
        least, most = cells.spans
        closed = cells.type != "float" or high in (low, cells.high)
        flags[: cells.size] |= (least >= low) & ((most <= high) if closed else (most < high))
    return flags


def _wanted(name: str, cells: Cells, wanted: object) -> list[tuple[float, float]]:
    """The ranges that are meant, as numbers; of a list, the places of values in it."""
    if isinstance(wanted, tuple) and isinstance(cells, Intervals):
        return [_range(name, cells, wanted)]
    if not isinstance(wanted, list):
        must = "a list of values" + (", or (low, high)" if isinstance(cells, Intervals) else "")
        raise BadParameter.of(name, wanted, must=must, fix=f"{name}=[...]")
    if None in wanted and cells.count == cells.size:
        raise BadParameter(
            f"`{name}` has no cell for what is missing: the schema says what it counts as",
            fix="name that value in place of None",
        )
    return [_point(name, cells, value) for value in wanted if value is not None]


def _point(name: str, cells: Cells, value: object) -> tuple[float, float]:
    """One value as a range, or as its place in the list."""
    typed = _of_type(name, value, cells.type)
    if isinstance(cells, Listed):
        if typed not in cells.keys:
            near = get_close_matches(str(value), map(str, cells.keys), n=1)
            raise BadParameter.of(name, value, must="on the list of the column", fix=near)
        at = cells.keys.index(typed)
        return at, at
    number = step_of(typed, cells.type)
    if not cells.low <= number <= cells.high:
        raise BadParameter.of(name, value, must="within the bounds of the column")
    if cells.type == "float" and not (cells.zero and number == 0):
        raise BadParameter.of(name, value, must="a range, as real numbers are", fix="(low, high)")
    return number, number


def _range(name: str, cells: Intervals, ends: tuple[object, ...]) -> tuple[float, float]:
    """A range that meets the bounds; what it has beyond them means no cell."""
    if len(ends) != 2:
        raise BadParameter.of(name, ends, must="a range (low, high)", fix="[...] for values")
    low, high = (_end(name, cells, end, up=up) for end, up in zip(ends, (True, False), strict=True))
    if low > high or (cells.type == "float" and low == high):
        raise BadParameter.of(name, ends, must="a range (low, high) that holds a value")
    if high < cells.low or low > cells.high:
        raise BadParameter.of(name, ends, must="a range that meets the bounds of the column")
    return low, high


def _end(name: str, cells: Intervals, end: object, *, up: bool) -> float:
    """One end as a number: of whole numbers, the nearest one inside; infinity is not a limit."""
    if cells.type in ("int", "float") and isinstance(end, int | float) and end in _LIMITLESS:
        return float(end)
    if cells.type == "int" and isinstance(end, float) and math.isfinite(end):
        return math.ceil(end) if up else math.floor(end)
    return step_of(_of_type(name, end, cells.type), cells.type)
