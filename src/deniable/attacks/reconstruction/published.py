"""From published tables of counts back to the rows of a block, by integer programming.

Each cell of the full cross-tabulation is an unknown whole number; each published count says what
some of them add up to. One solution is a guess. What holds in *every* solution is disclosure: for
each row found, the least number of such people in any solution is computed too [GAM19].
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable import parameters
from deniable.attacks.tables import Floats, Integers, columns_of, row_count
from deniable.attacks.telling import Facts, Told, people, percent
from deniable.errors import BadParameter
from deniable.plots import Axes, bars

Counts = Mapping[tuple[object, ...], float]
Row = tuple[object, ...]

_MOST_CELLS = 200_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Block(Told):
    """The rows that fit the published tables, and which of them are certain."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    """One solution, a row a person."""
    certain: tuple[bool, ...]
    """Whether a person with exactly this row is in every solution."""
    exact: bool
    """Whether the tables fit together exactly; noisy ones do not."""
    proved: bool
    """Whether the search ended before its time was up."""
    seconds: float

    @property
    def unique(self) -> bool:
        """Whether no other table of people gives these counts."""
        return self.exact and self.proved and all(self.certain)

    def recovered(self, truth: object) -> float:
        """The share of the true rows that were found (with a control: run it on other people)."""
        columns = columns_of(truth, list(self.columns))
        true = Counter(zip(*(column.tolist() for column in columns.values()), strict=True))
        return (true & Counter(self.rows)).total() / max(1, true.total())

    def _headline(self) -> str:
        sure = sum(self.certain)
        return (
            f"{people(len(self.rows))} rebuilt from the published counts; {sure:,} of them "
            f"({percent(sure / max(1, len(self.rows)))}) are certain."
        )

    def _facts(self) -> Facts:
        if not self.exact:
            return [
                ("fit", "the counts contradict one another, as noisy counts do"),
                ("worth", "the nearest table of people is a guess; nobody's row is certain"),
            ]
        only = "no other table of people fits" if self.unique else "others fit as well"
        return [("solution", only), ("took", f"{self.seconds:.2g} s")]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Certain rows and the others."""
        sure = sum(self.certain)
        return bars(
            ["certain", "a guess"],
            [sure, len(self.rows) - sure],
            title="Rows rebuilt from counts",
            axis_label="people",
            ax=ax,
        )


def cross_tabulate(
    table: object, *, ways: int = 2, columns: Sequence[str] | None = None
) -> dict[tuple[str, ...], dict[tuple[object, ...], float]]:
    """All tables of counts over `ways` columns: what a statistical office publishes of a block.

    >>> cross_tabulate({"sex": ["f", "m"], "age": [30, 30]}, ways=2)
    {('sex', 'age'): {('f', 30): 1.0, ('m', 30): 1.0}}
    """
    values = columns_of(table, columns)
    found = {}
    for names in itertools.combinations(values, parameters.whole("ways", ways)):
        counts = Counter(zip(*(values[name].tolist() for name in names), strict=True))
        found[names] = {row: float(count) for row, count in counts.items()}
    return found


def reconstruct_rows(
    published: Mapping[tuple[str, ...], Counts],
    *,
    domains: Mapping[str, Sequence[object]],
    seconds: float = 20.0,
) -> Block:
    """Rows that agree with published tables of counts; a cell that is not listed counts 0.

    `domains` lists the values each column may take. Where no rows agree with all counts (as with
    noise), the rows that come nearest in total are returned and none is certain.

    >>> tables = cross_tabulate({"sex": ["f", "m"], "age": [30, 70], "ill": [1, 0]}, ways=2)
    >>> domains = {"sex": ["f", "m"], "age": [30, 70], "ill": [0, 1]}
    >>> reconstruct_rows(tables, domains=domains).unique
    True
    """
    limit = parameters.positive("seconds", seconds)
    names = tuple(domains)
    cells = math.prod(len(domain) for domain in domains.values())
    if not cells or cells > _MOST_CELLS:
        raise BadParameter(
            f"the full table has {cells:,} cells; at most {_MOST_CELLS:,} are solved"
        )
    started = time.perf_counter()
    matrix, counts = _constraints(published, domains)
    solution = _solve(matrix, counts, limit=limit)
    exact = solution is not None
    if solution is None:
        solution = _nearest(matrix, counts, limit=limit)
    filled = np.flatnonzero(solution)
    least, proved = np.zeros(solution.size, dtype=np.int64), exact
    for cell in filled.tolist() if exact else ():
        left = limit - (time.perf_counter() - started)
        if left <= 0:
            proved = False
            break
        least[cell] = _least(matrix, counts, cell, limit=left)
    rows: list[Row] = []
    certain: list[bool] = []
    for cell in filled.tolist():
        places = np.unravel_index(cell, [len(domains[name]) for name in names])
        row = tuple(domains[name][int(i)] for name, i in zip(names, places, strict=True))
        certain += [copy < least[cell] for copy in range(int(solution[cell]))]
        rows += [row] * int(solution[cell])
    return Block(
        columns=names,
        rows=tuple(rows),
        certain=tuple(certain),
        exact=exact,
        proved=proved,
        seconds=time.perf_counter() - started,
    )


def _constraints(
    published: Mapping[tuple[str, ...], Counts], domains: Mapping[str, Sequence[object]]
) -> tuple[Any, Floats]:
    """A row of 0 and 1 over all cells for each published count, the unlisted zeros included."""
    from scipy import sparse

    names = list(domains)
    grid = np.indices([len(domains[name]) for name in names]).reshape(len(names), -1)
    blocks, values = [], []
    for columns, counts in published.items():
        unknown = set(columns) - set(names)
        if unknown:
            raise BadParameter(f"no domain is given for {', '.join(sorted(unknown))}")
        sizes = [len(domains[name]) for name in columns]
        place = np.ravel_multi_index([grid[names.index(name)] for name in columns], sizes)
        ones = np.ones(grid.shape[1])
        shape = (math.prod(sizes), grid.shape[1])
        blocks.append(sparse.csr_array((ones, (place, np.arange(grid.shape[1]))), shape=shape))
        listed = itertools.product(*(domains[name] for name in columns))
        values.append(np.array([float(counts.get(key, 0.0)) for key in listed]))
    if not blocks:
        raise BadParameter("there is no published table to start from")
    return sparse.vstack(blocks, format="csr"), np.concatenate(values)


def _solve(matrix: Any, counts: Floats, *, limit: float) -> Any:
    """Whole numbers that give exactly these counts, or None."""
    if np.any(counts < 0) or np.any(counts != np.round(counts)):
        return None
    result = _cheapest(matrix, counts, np.zeros(matrix.shape[1]), limit=limit)
    return None if result.x is None else np.round(result.x).astype(np.int64)


def _least(matrix: Any, counts: Floats, cell: int, *, limit: float) -> int:
    """The fewest people in this cell in any solution; a lower bound if time runs out."""
    cost = np.zeros(matrix.shape[1])
    cost[cell] = 1
    bound = _cheapest(matrix, counts, cost, limit=limit).mip_dual_bound
    return max(0, math.ceil(bound - 1e-6)) if bound is not None and math.isfinite(bound) else 0


def _cheapest(matrix: Any, counts: Floats, cost: Floats, *, limit: float) -> Any:
    """The solution in whole numbers whose cells cost least."""
    from scipy.optimize import LinearConstraint, milp

    return milp(
        cost,
        constraints=LinearConstraint(matrix, counts, counts),
        integrality=np.ones(matrix.shape[1]),
        options={"time_limit": limit},
    )


def _nearest(matrix: Any, counts: Floats, *, limit: float) -> Integers:
    """Whole numbers whose counts differ least from these, in total."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    rows, cells = matrix.shape
    eye = sparse.eye_array(rows, format="csr")
    both = sparse.block_array([[matrix, -eye], [matrix, eye]], format="csr")
    low = np.concatenate([np.full(rows, -np.inf), counts])
    high = np.concatenate([counts, np.full(rows, np.inf)])
    result = milp(
        np.concatenate([np.zeros(cells), np.ones(rows)]),
        constraints=LinearConstraint(both, low, high),
        integrality=np.concatenate([np.ones(cells), np.zeros(rows)]),
        bounds=Bounds(0, np.inf),
        options={"time_limit": limit, "mip_rel_gap": 0.01},
    )
    if result.x is None:
        return np.zeros(cells, dtype=np.int64)
    return np.round(result.x[:cells]).astype(np.int64)


def domains_of(table: object, *, columns: Sequence[str]) -> dict[str, list[object]]:
    """The values each column takes in a public table of the same kind, such as last year's."""
    values = columns_of(table, columns)
    assert row_count(values)
    return {name: sorted(set(values[name].tolist()), key=str) for name in values}
