"""Tables that agree with each other: marginals, and hierarchies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable import parameters, workload
from deniable.errors import BadParameter
from deniable.losses import Loss
from deniable.query.bind.keys import MOST_SETS
from deniable.release import Release
from deniable.schema.binning import Intervals, Listed
from deniable.schema.edges import Bins
from deniable.statistics.building import About, distinct_columns
from deniable.workload.linear import Measurement
from deniable.workload.plans import Estimates

from .answers import as_tables
from .asking import Asked, answer_name, cells_of, counted, estimand_of, flat, measuring

_MOST: Final = 1 << 20


def marginals(
    about: About, columns: Sequence[str], *, ways: int = 2, bins: Bins | None = None
) -> Asked[Release]:
    """All k-way tables of several columns, which agree with each other."""
    names = distinct_columns(about, "marginals", columns)
    if parameters.whole("ways", ways) > len(names):
        most = f"at most {len(names)}, the number of columns"
        raise BadParameter.of("ways", ways, must=most, fix=f"ways={len(names)}")
    cells = {
        name: cells_of(about, name, bins=_if_numeric(about, name, bins), kept=True)
        for name in names
    }
    sizes = sorted((c.count for c in cells.values()), reverse=True)
    _check_size("marginals", math.comb(len(names), ways), math.prod(sizes[:ways]))
    w = workload.marginals({name: c.count for name, c in cells.items()}, ways=ways)
    sets = [tuple(names.index(c) for c in chosen) for chosen in w.sets]
    query = counted(about, cells, sets)
    vectors = query.vectors()
    counts = {v.keys: flat(v) for v in vectors}

    def measure(spend: Loss) -> Measurement[Estimates]:
        return w.measure(counts, spend=spend, filter=about.session.ledger.filter)

    words = {name: tuple(c.labels) for name, c in cells.items()}
    labels: dict[str, list[object]] = {name: [] for name in names}
    for chosen in w.sets:
        places = np.indices(w.shape(chosen)).reshape(len(chosen), -1)
        for name in names:
            inside = places[chosen.index(name)] if name in chosen else ()
            own: list[object] = [words[name][i] for i in inside]
            labels[name] += own or [None] * places.shape[1]
    return Asked(
        about=about,
        title=f"{ways}-way marginals of {', '.join(names)}",
        detail=repr(cells),
        name=answer_name("count", names),
        labels={name: tuple(shown) for name, shown in labels.items()},
        worth=float(vectors[0].worth),
        estimand=estimand_of(query),
        measure=measure,
        present=as_tables,
    )


def _if_numeric(about: About, name: str, bins: Bins | None) -> Bins | None:
    facts = about.source.column(name)
    return None if facts.keys is not None or facts.type == "bool" else bins


def hierarchy(
    about: About,
    columns: Sequence[str],
    *,
    groups: Mapping[str, Mapping[Any, object]] | None = None,
) -> Asked[Release]:
    """Counts by the first column, the first two, …, all of them, that add up.

    `groups` adds groupings of the last column, each from a value to the name of its group; they may
    cut across the others.
    """
    names = distinct_columns(about, "hierarchy", [columns] if isinstance(columns, str) else columns)
    _distinct(names, groups or {})
    cells = {name: cells_of(about, name, bins=None) for name in names}
    sizes = [c.count for c in cells.values()]
    leaves = math.prod(sizes)
    _check_size("hierarchy", 1, leaves)
    places = np.indices(sizes).reshape(len(sizes), -1)
    levels, shown = _levels(names, cells, places)
    for name, mapping in (groups or {}).items():
        codes, found = _grouped(name, mapping, cells[names[-1]])
        levels[name], shown[name] = codes[places[-1]], [(label,) for label in found]
    query = counted(about, cells, [tuple(range(len(names)))])
    (vector,) = query.vectors()
    w = workload.groupings(leaves, levels)
    shown["leaf"] = _names(names, cells, places)
    shown["total"] = [()]
    every = [(level, group) for level in w.names for group in shown[level]]
    columns_shown = _shown(names, list(groups or {}), every)
    return Asked(
        about=about,
        title=f"hierarchy of {', '.join([*names, *(groups or {})])}",
        detail=f"{cells!r} {groups!r}",
        name=answer_name("count", columns_shown),
        labels=columns_shown,
        worth=float(vector.worth),
        estimand=estimand_of(query),
        over="levels, weighted equally",
        measure=measuring(about, w, vector),
        present=as_tables,
    )


def _check_size(what: str, tables: int, cells: int) -> None:
    """Refuse more than can be computed, from public facts and before any work."""
    if tables > MOST_SETS or tables * cells > _MOST:
        raise BadParameter(
            f"{what} would have {tables:,} tables of up to {cells:,} cells",
            why=f"there can be {MOST_SETS} tables, and {_MOST:,} cells in all",
            fix="fewer columns, or coarser ones",
        )


def _distinct(names: Sequence[str], groups: Mapping[str, object]) -> None:
    """Every level has a name of its own, also beside those that are always there."""
    taken = ["level", "leaf", "total"]
    for name in (*names, *groups):
        if str(name).lower() in taken:
            what = "a column or a level of every hierarchy is called that"
            raise BadParameter(
                f"no level of a hierarchy can be called `{name}` here",
                why=what if name in groups else "every hierarchy has its own `level` and `total`",
                fix="another name for the grouping" if name in groups else "s.marginals([...])",
            )
        taken.append(str(name).lower())


def _shown(
    names: Sequence[str], groups: Sequence[str], every: Sequence[tuple[str, tuple[object, ...]]]
) -> dict[str, tuple[object, ...]]:
    """The level of every node, and its place in each column."""

    def part(level: str, group: tuple[object, ...], i: int) -> object:
        return group[i] if level not in groups and i < len(group) else None

    found: dict[str, tuple[object, ...]] = {
        "level": tuple(names[-1] if level == "leaf" else level for level, _ in every)
    }
    for i, name in enumerate(names):
        found[name] = tuple(part(level, group, i) for level, group in every)
    for name in groups:
        found[name] = tuple(group[0] if level == name else None for level, group in every)
    return found


def _levels(
    names: Sequence[str], cells: Mapping[str, Listed | Intervals], places: NDArray[Any]
) -> tuple[dict[str, NDArray[Any]], dict[str, list[tuple[object, ...]]]]:
    levels, shown = {}, {}
    sizes = [cells[name].count for name in names]
    for depth in range(1, len(names)):
        shape = sizes[:depth]
        levels[names[depth - 1]] = np.ravel_multi_index(tuple(places[:depth]), shape)
        inner = np.indices(shape).reshape(depth, -1)
        shown[names[depth - 1]] = _names(names[:depth], cells, inner)
    return levels, shown


def _names(
    names: Sequence[str], cells: Mapping[str, Listed | Intervals], places: NDArray[Any]
) -> list[tuple[object, ...]]:
    labels = [cells[name].labels for name in names]
    return [tuple(own[i] for own, i in zip(labels, at, strict=True)) for at in places.T.tolist()]


def _grouped(
    name: str, mapping: Mapping[Any, object], cells: Listed | Intervals
) -> tuple[NDArray[Any], list[object]]:
    if not isinstance(cells, Listed) or not isinstance(mapping, Mapping):
        raise BadParameter(
            f"groups[{name!r}] must map every listed value of the last column to its group",
            fix='groups={"region": {"CA": "west", "NY": "east"}}',
        )
    for key in cells.keys:
        if key not in mapping:
            raise BadParameter(f"groups[{name!r}] has no group for {key!r}")
    labels: list[object] = [mapping[key] for key in cells.keys]
    labels += ["missing"] * (cells.count - cells.size)
    found = list(dict.fromkeys(labels))
    return np.array([found.index(label) for label in labels]), found
