"""Is a table k-anonymous, ℓ-diverse, t-close? One group-by tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from . import diversity
from .diversity import Floats, Pairs
from .hierarchies import Ladder, Rungs, ladder
from .tables import Codes, check_columns, encoded, grouped, joined, relation

if TYPE_CHECKING:
    import pyarrow as pa

# What the table is called in the one statement: a name that no table of the user's has.
_VIEW = "deniable_anonymity_source"


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How well the classes hide one sensitive column; the worst class counts.

    l          distinct ℓ-diversity: the fewest different values in a class
    entropy_l  entropy ℓ-diversity: e to the smallest entropy of a class
    c          recursive (c, ℓ)-diversity at this l holds for every c above this one
    t          t-closeness: the largest earth mover's distance of a class from the whole table
    """

    l: int
    entropy_l: float
    c: float
    t: float


@dataclass(frozen=True, kw_only=True)
class Check:
    """What a table reveals to someone who knows the quasi-identifiers of the people in it.

    `classes` has one row for each combination of quasi-identifiers that occurs, the smallest first,
    with its size and, for each sensitive column, the number of values and the distance. With
    several sensitive columns `l` and `t` are the worst over them; `spreads` has each.
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

    def worst(self, count: int = 10) -> pa.Table:
        """The smallest classes: whom the table shows most plainly."""
        return self.classes.slice(0, count)

    def below(self, k: int) -> int:
        """How many rows stand in classes of fewer than k."""
        sizes = self.classes["size"].to_numpy()
        return int(sizes[sizes < k].sum())

    def __str__(self) -> str:
        classes = f"{self.classes.num_rows:,} classes of {self.rows:,} rows"
        lines = [f"k = {self.k}: {classes}, {self.unique:,} rows alone in theirs"]
        for name, spread in self.spreads.items():
            lines.append(
                f"  {name}: ℓ = {spread.l} (entropy ℓ = {spread.entropy_l:.3g}, "
                f"recursive c > {spread.c:.3g}), t = {spread.t:.3g}"
            )
        return "\n".join(lines)


def check(
    table: object,
    *,
    quasi: Sequence[str],
    sensitive: str | Sequence[str] | None = None,
    hierarchies: Mapping[str, Ladder | Rungs] | None = None,
) -> Check:
    """Measure k-anonymity, ℓ-diversity and t-closeness, exactly, by one group-by in DuckDB.

    NULL is a value like any other. The distance behind t is by rank for numbers and dates, by the
    tree for a sensitive column with a hierarchy, and 0 or 1 for other columns.

    >>> import deniable as dp
    >>> print(check(dp.load_adult(), quasi=["sex", "race"], sensitive="income"))
    k = 109: 10 classes of 32,561 rows, 0 rows alone in theirs
      income: ℓ = 2 (entropy ℓ = 1.24, recursive c > 17.2), t = 0.186
    """
    source = relation(table)
    names = check_columns(quasi, source.columns, what="quasi")
    private = (
        [] if sensitive is None else check_columns(sensitive, source.columns, what="sensitive")
    )
    both = check_columns([*names, *private], source.columns, what="quasi and sensitive")
    listed = ", ".join(f'"{name.replace(chr(34), 2 * chr(34))}"' for name in both)
    counted = f"SELECT {listed}, count(*) FROM {_VIEW} GROUP BY {listed}"  # noqa: S608 (quoted)
    cells = source.query(_VIEW, counted).to_arrow_table()
    return measured(cells, names, private, hierarchies or {})


def measured(
    cells: pa.Table,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    hierarchies: Mapping[str, Ladder | Rungs],
) -> Check:
    """The same from counted cells: the columns, then how many rows (the last column)."""
    weights = cells.column(cells.num_columns - 1).to_numpy().astype(np.int64)
    columns = [encoded(cells, name) for name in quasi]
    firsts, classes = grouped(*joined([(c.codes, c.size) for c in columns]))
    sizes = np.bincount(classes, weights, firsts.size).astype(np.int64)
    facts: dict[str, Codes | Floats] = {"size": sizes}
    spreads = {}
    for name in sensitive if sizes.size else ():
        column = encoded(cells, name)
        pairs = paired(classes, column.codes, weights, size=column.size)
        tree = ladder(hierarchies[name], column).maps[1:] if name in hierarchies else ()
        far = diversity.distance(pairs, ordered=column.ordered, tree=tree)
        kinds = diversity.distinct(pairs)
        facts |= {f"{name}_l": kinds, f"{name}_t": far}
        spreads[name] = Spread(
            l=(least := int(kinds.min())),
            entropy_l=float(diversity.entropy(pairs).min()),
            c=float(diversity.recursive(pairs, l=least).max()),
            t=float(far.max()),
        )
    order = np.argsort(sizes, kind="stable")
    shown = cells.select([*quasi]).take(firsts[order])
    for name, fact in facts.items():
        shown = shown.append_column(name, [fact[order]])
    rows = int(sizes.sum())
    return Check(
        k=int(sizes.min(initial=rows)),
        l=min((s.l for s in spreads.values()), default=None),
        t=max((s.t for s in spreads.values()), default=None),
        rows=rows,
        unique=int((sizes == 1).sum()),
        discernibility=sum(int(s) * int(s) for s in sizes) if rows >= 2**31 else int(sizes @ sizes),
        average_class=rows / max(1, sizes.size),
        spreads=MappingProxyType(spreads),
        classes=shown,
    )


def paired(classes: Codes, values: Codes, weights: Codes, *, size: int) -> Pairs:
    """Cells added up to one number for each class and sensitive value."""
    key, domain = joined([(classes, int(classes.max(initial=0)) + 1), (values, size)])
    firsts, groups = grouped(key, domain)
    return Pairs(
        classes=classes[firsts],
        values=values[firsts],
        counts=np.bincount(groups, weights, firsts.size).astype(np.int64),
        size=size,
    )
