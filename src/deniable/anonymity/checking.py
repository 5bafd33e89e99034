"""How anonymous a table is: k-anonymity, ℓ-diversity, t-closeness and their relatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from deniable import parameters

from . import diversity
from .diversity import Floats, Pairs
from .hierarchies import Ladder, Rungs, ladder
from .tables import (
    Coded,
    Codes,
    check_columns,
    classes_of,
    encoded,
    grouped,
    joined,
    persons,
    relation,
)

if TYPE_CHECKING:
    import pyarrow as pa

# What the table is called in the one statement: a name that no table of the user's has.
_VIEW = "deniable_anonymity_source"


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How well the classes hide one sensitive column; the worst class counts.

    l              distinct ℓ-diversity: the fewest different values in a class
    entropy_l      entropy ℓ-diversity: e to the smallest entropy of a class
    c              recursive (c, ℓ)-diversity at this l holds for every c above this one
    t              t-closeness: the largest earth mover's distance of a class from the whole table
    alpha          (α, k)-anonymity: the largest share of one value in a class [WLFW06]
    beta           basic β-likeness: the largest relative gain of a value in a class [CK12]
    enhanced_beta  enhanced β-likeness: the least β that works; ∞ if none does [CK12]
    delta          δ-disclosure: the largest |ln| of a share over its share in the table; ∞ if a
                   class lacks a value [BS08]
    """

    l: int
    entropy_l: float
    c: float
    t: float
    alpha: float
    beta: float
    enhanced_beta: float
    delta: float


@dataclass(frozen=True, kw_only=True)
class Check:
    """What a table reveals to someone who knows the quasi-identifiers of the people in it.

    `classes` has one row for each combination of quasi-identifiers that occurs, the smallest first,
    with its size and, for each sensitive column, the number of values and the distance. With
    several sensitive columns `l` and `t` are the worst over them; `spreads` has each.

    With a `unit`, everything counts people instead of rows: a class of ten rows of one person hides
    nobody. `rows` is then the number of people, `unique` those who are alone in some class, and a
    person's different sensitive values count once each.
    """

    k: int
    l: int | None
    t: float | None
    rows: int
    unique: int
    discernibility: int
    average_class: float
    spreads: Mapping[str, Spread]
    classes: pa.Table = field(repr=False)
    crowds: Mapping[int, int] = field(repr=False)
    """How many rows (or people) are in a class of each size; people by their smallest class."""
    unit: str | None = None

    def worst(self, count: int = 10) -> pa.Table:
        """The smallest classes: whom the table shows most plainly."""
        return self.classes.slice(0, count)

    def below(self, k: int) -> int:
        """How many rows (or people) are in classes of fewer than k."""
        return sum(count for size, count in self.crowds.items() if size < k)

    @property
    def counted(self) -> str:
        """What is counted: "rows" or "people"."""
        return "rows" if self.unit is None else "people"

    def __str__(self) -> str:
        classes = f"{self.classes.num_rows:,} classes of {self.rows:,} {self.counted}"
        lines = [f"k = {self.k}: {classes}, {self.unique:,} {self.counted} alone in theirs"]
        for name, spread in self.spreads.items():
            lines.append(
                f"  {name}: ℓ = {spread.l} (entropy ℓ = {spread.entropy_l:.3g}, "
                f"recursive c > {spread.c:.3g}), t = {spread.t:.3g}"
            )
            lines.append(
                f"    α = {spread.alpha:.3g}, β = {spread.beta:.3g} "
                f"(enhanced {spread.enhanced_beta:.3g}), δ-disclosure > {spread.delta:.3g}"
            )
        return "\n".join(lines)


@parameters.called('anonymity.check(table, quasi=["age", "zip"])')
def check(
    table: object,
    *,
    quasi: Sequence[str],
    sensitive: str | Sequence[str] | None = None,
    hierarchies: Mapping[str, Ladder | Rungs] | None = None,
    unit: str | None = None,
) -> Check:
    """Measure k-anonymity, ℓ-diversity, t-closeness and relatives, by one group-by in DuckDB.

    NULL is a value like any other. The distance behind t is by rank for numbers and dates, by the
    tree for a sensitive column with a hierarchy, and 0 or 1 for other columns. `unit` is the column
    that identifies people, if they have several rows; of every row it must say whose it is.

    >>> import deniable as dp
    >>> print(check(dp.load_adult(), quasi=["sex", "race"], sensitive="income"))
    k = 109: 10 classes of 32,561 rows, 0 rows alone in theirs
      income: ℓ = 2 (entropy ℓ = 1.24, recursive c > 17.2), t = 0.186
        α = 0.945, β = 0.396 (enhanced 0.396), δ-disclosure > 1.48
    """
    source = relation(table)
    names = check_columns(quasi, source.columns, what="quasi")
    private = (
        [] if sensitive is None else check_columns(sensitive, source.columns, what="sensitive")
    )
    both = check_columns([*names, *private], source.columns, what="quasi and sensitive")
    people = [] if unit is None else check_columns(unit, source.columns, what="unit")
    every = [*both, *(name for name in people if name not in both)]
    listed = ", ".join(f'"{name.replace(chr(34), 2 * chr(34))}"' for name in every)
    counted = f"SELECT {listed}, count(*) FROM {_VIEW} GROUP BY {listed}"  # noqa: S608 (quoted)
    cells = source.query(_VIEW, counted).to_arrow_table()
    return measured(cells, names, private, hierarchies or {}, unit=unit)


def measured(
    cells: pa.Table,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    hierarchies: Mapping[str, Ladder | Rungs],
    *,
    unit: str | None = None,
) -> Check:
    """Measure a table given as counted cells: the columns, then how many rows (the last column)."""
    firsts, classes = classes_of([encoded(cells, name) for name in quasi])
    crowd = _crowd(cells, classes, unit)
    facts: dict[str, Codes | Floats] = {"size": crowd.sizes}
    spreads = {}
    for name in sensitive if firsts.size else ():
        column = encoded(cells, name)
        pairs = crowd.pairs(classes, column)
        tree = ladder(hierarchies[name], column).maps[1:] if name in hierarchies else ()
        far = diversity.distance(pairs, ordered=column.ordered, tree=tree)
        facts |= {f"{name}_l": diversity.distinct(pairs), f"{name}_t": far}
        spreads[name] = _spread(pairs, far, crowd.sizes)
    sizes = crowd.sizes
    order = np.argsort(sizes, kind="stable")
    shown = cells.select([*quasi]).take(firsts[order])
    for name, fact in facts.items():
        shown = shown.append_column(name, [fact[order]])
    return Check(
        k=int(sizes.min(initial=crowd.total)),
        l=min((s.l for s in spreads.values()), default=None),
        t=max((s.t for s in spreads.values()), default=None),
        rows=crowd.total,
        unique=crowd.hidden.get(1, 0),
        discernibility=_squares(sizes),
        average_class=int(sizes.sum()) / max(1, sizes.size),
        spreads=MappingProxyType(spreads),
        classes=shown,
        crowds=MappingProxyType(crowd.hidden),
        unit=unit,
    )


def _squares(sizes: Codes) -> int:
    """Σ sizes², also where that exceeds 63 bits."""
    return int(sizes @ sizes) if sizes.sum() < 2**31 else sum(int(s) * int(s) for s in sizes)


def _spread(pairs: Pairs, far: Floats, sizes: Codes) -> Spread:
    """The worst class by each measure; α is a share of the rows (or people) of a class."""
    least = int(diversity.distinct(pairs).min())
    return Spread(
        l=least,
        entropy_l=float(diversity.entropy(pairs).min()),
        c=float(diversity.recursive(pairs, l=least).max()),
        t=float(far.max()),
        alpha=float((pairs.counts / sizes[pairs.classes]).max()),
        beta=float(diversity.likeness(pairs).max()),
        enhanced_beta=float(diversity.enhanced_likeness(pairs).max()),
        delta=float(diversity.disclosure(pairs).max()),
    )


@dataclass(frozen=True, kw_only=True)
class _Crowd:
    """Who is in each class: rows with their weights, or people once each."""

    sizes: Codes
    weights: Codes
    person: tuple[Codes, int] | None
    total: int
    hidden: Mapping[int, int]

    def pairs(self, classes: Codes, column: Coded) -> Pairs:
        """Counts of each class and sensitive value."""
        if self.person is None:
            return paired(classes, column.codes, self.weights, size=column.size)
        whose, people = self.person
        parts = [(classes, self.sizes.size), (column.codes, column.size), (whose, people)]
        once = grouped(*joined(parts))[0]
        return paired(classes[once], column.codes[once], size=column.size)


def _crowd(cells: pa.Table, classes: Codes, unit: str | None) -> _Crowd:
    weights = cells.column(cells.num_columns - 1).to_numpy().astype(np.int64)
    number = int(classes.max(initial=-1)) + 1
    if unit is None:
        sizes = np.bincount(classes, weights, number).astype(np.int64)
        kinds, times = np.unique(sizes, return_counts=True)
        hidden = {int(size): int(size * count) for size, count in zip(kinds, times, strict=True)}
        total = int(sizes.sum())
        return _Crowd(sizes=sizes, weights=weights, person=None, total=total, hidden=hidden)
    column = persons(cells, unit)
    once = grouped(*joined([(classes, max(1, number)), (column.codes, max(1, column.size))]))[0]
    sizes = np.bincount(classes[once], minlength=number).astype(np.int64)
    smallest = np.full(column.size, np.iinfo(np.int64).max)
    np.minimum.at(smallest, column.codes[once], sizes[classes[once]])
    kinds, times = np.unique(smallest, return_counts=True)
    hidden = dict(zip(kinds.tolist(), times.tolist(), strict=True))
    person = (column.codes, column.size)
    return _Crowd(sizes=sizes, weights=weights, person=person, total=column.size, hidden=hidden)


def paired(classes: Codes, values: Codes, weights: Codes | None = None, *, size: int) -> Pairs:
    """Cells (or rows) added up to one number for each class and sensitive value."""
    key, domain = joined([(classes, int(classes.max(initial=0)) + 1), (values, size)])
    firsts, groups = grouped(key, domain)
    return Pairs(
        classes=classes[firsts],
        values=values[firsts],
        counts=np.bincount(groups, weights, firsts.size).astype(np.int64),
        size=size,
    )
