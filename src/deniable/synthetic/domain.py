"""The columns of a synthetic table and the cells that each is divided into: public facts alone."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final

from deniable import parameters
from deniable.errors import BadParameter, DeniableError, MissingBounds, UnknownName
from deniable.fixes import Fix
from deniable.schema import Column
from deniable.schema.binning import Intervals, Listed
from deniable.schema.columns import DROP
from deniable.schema.edges import Bins, binning_of, stating

from .inference import Clique

MOST_CELLS: Final = 1_000
"""Of one column: each cell is compared with each row where lists are long."""
_MOST_ASKED: Final = 20_000

Cells = Listed | Intervals


@dataclass(frozen=True, kw_only=True)
class Domain:
    """Columns by name, each with its cells; columns are numbered in this order."""

    cells: Mapping[str, Cells]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(self.cells)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many cells each column has."""
        return tuple(each.count for each in self.cells.values())

    def place(self, names: object, *, what: str = "marginals") -> Clique:
        """The numbers of some columns, in the order of the domain."""
        listed = [names] if isinstance(names, str) else names
        if not isinstance(listed, Sequence) or not listed:
            raise BadParameter.of(what, names, must="names of columns", fix='["age", "income"]')
        for name in listed:
            if name not in self.cells:
                raise UnknownName.of("column", name, known=self.cells)
        if len(set(listed)) < len(listed):
            raise BadParameter(f"{what} names a column twice")
        order = list(self.cells)
        return tuple(sorted(order.index(name) for name in listed))

    def size_of(self, clique: Clique) -> int:
        """The cells of a marginal."""
        return math.prod(self.sizes[a] for a in clique)

    def called(self, clique: Iterable[int]) -> str:
        """The columns of a marginal in words."""
        return " × ".join(self.names[a] for a in clique)


def domain_of(
    columns: Mapping[str, Column], *, bins: Bins | Mapping[str, Bins] | None = None
) -> Domain:
    """The cells of each column: as the schema has them, or as `bins` says.

    What is missing, or not on a column's list, has a cell of its own, unless the schema says what
    it counts as.
    """
    if not columns:
        raise BadParameter("there are no columns to synthesize", fix='columns=["age", "income"]')
    chosen, others = (dict(bins), None) if isinstance(bins, Mapping) else ({}, bins)
    for name in chosen:
        if name not in columns:
            raise UnknownName.of("column", name, known=columns)
        if _is_listed(columns[name]):
            raise BadParameter(
                f"`{name}` has a list of values, and one cell per value",
                fix=f"leave `{name}` out of bins=",
            )
    _check_bounded(columns)
    return Domain(
        cells={
            name: _cells(name, column, chosen.get(name, others)) for name, column in columns.items()
        }
    )


def _is_listed(column: Column) -> bool:
    return column.keys is not None or column.type == "bool"


def _check_bounded(columns: Mapping[str, Column]) -> None:
    """One error that names every column which cannot be divided into cells."""
    lacking = [
        name
        for name, column in columns.items()
        if not _is_listed(column) and column.low is None  # it has both bounds or none
    ]
    if lacking:
        others = [name for name in columns if name not in lacking]
        stated = ", ".join(f'"{name}": {stating(columns[name].type)}' for name in lacking)
        raise MissingBounds(
            f"{', '.join(f'`{name}`' for name in lacking)}: a column needs bounds or a list of "
            "values, so that it can be divided into cells",
            why="cells made from the data would reveal people's values",
            fix=(
                Fix(
                    f"schema=dp.Schema(columns={{{stated}}})",
                    command="deniable set, with --bounds or --keys, for each",
                ),
                *([_only(others)] if others else []),
            ),
        )


def _only(columns: Sequence[str]) -> Fix:
    """The columns that can be used as they are."""
    return Fix(
        f"columns={json.dumps(columns, ensure_ascii=False)}",
        fields={"columns": ",".join(columns)},
        note="only the columns that have them",
    )


def _cells(name: str, column: Column, bins: Any) -> Cells:
    own = column.missing in (None, DROP)
    try:
        made = binning_of(
            column, bins=None if _is_listed(column) else bins, null="own" if own else None
        )
    except DeniableError as error:
        error.what = f"`{name}`: {error.what}"
        raise
    if made.count > MOST_CELLS:
        raise BadParameter(
            f"`{name}` has {made.count:,} values; a synthetic column has at most {MOST_CELLS:,}",
            why="each would be measured with noise of its own, and hardly one would stand out",
            fix="group rare values in the schema's list, or leave the column out with columns=",
        )
    return made


def _check_lists(marginals: Sequence[object]) -> None:
    """Refuse names that are not in a list of their own: one pair, or two columns apart?"""
    alone = [name for name in marginals if isinstance(name, str)]
    if not alone:
        return
    shown = json.dumps(alone, ensure_ascii=False)
    apart = json.dumps([[name] for name in alone], ensure_ascii=False)
    raise BadParameter(
        f"marginals must be a list of lists of columns, and {alone[0]!r} is not in a list",
        why="it is unclear whether these columns are to be counted together or each by itself",
        fix=(f"marginals=[{shown}]   (together)", f"marginals={apart}   (each by itself)")
        if len(alone) > 1
        else f"marginals={apart}",
    )


def workload_of(domain: Domain, marginals: object, *, largest: int) -> list[Clique]:
    """Marginals that were asked for: names of columns, or a number for all of so many columns."""
    if isinstance(marginals, int) and not isinstance(marginals, bool):
        ways, columns = parameters.whole("marginals", marginals), len(domain.names)
        if ways > columns:
            most = f"at most {columns}, the number of columns"
            raise BadParameter.of("marginals", ways, must=most, fix=f"marginals={columns}")
        count = math.comb(len(domain.names), ways)
        if count > _MOST_ASKED:
            raise BadParameter(
                f"marginals={ways} makes {count:,} marginals; there can be {_MOST_ASKED:,}",
                fix="a smaller number, or fewer columns=",
            )
        wanted = list(combinations(range(len(domain.names)), ways))
    elif isinstance(marginals, str) or not isinstance(marginals, Sequence):
        raise BadParameter.of(
            "marginals", marginals, must="a list of lists of columns", fix='[["age", "income"]]'
        )
    else:
        _check_lists(marginals)
        wanted = list(dict.fromkeys(domain.place(names) for names in marginals))
    if not wanted:
        raise BadParameter("marginals is an empty list", fix='marginals=[["age", "income"]]')
    for clique in wanted:
        if domain.size_of(clique) > largest:
            raise BadParameter(
                f"{domain.called(clique)} has {domain.size_of(clique):,} cells; "
                f"a marginal has at most {largest:,}",
                fix="fewer columns in it, or coarser bins=",
            )
    return wanted
