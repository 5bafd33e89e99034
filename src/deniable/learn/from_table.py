"""Examples from columns of a table: in cells or as numbers, with labels or with a target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable import fixes
from deniable.errors import BadParameter, UnknownKeys
from deniable.query.algebra import Expression
from deniable.query.bind.bins import cell_of
from deniable.query.rows import Matrix
from deniable.schema.binning import Listed
from deniable.session import Session
from deniable.statistics.building import About

from .encoding import Encoding, Numbers, bounds_of, cells_of, drops, encoded, read_rows
from .engine.examples import Examples, Held
from .engine.moments import TARGET
from .models.scaling import Scaling, scaling


def classified(
    session: Session, about: About, target: str | None, features: Sequence[str]
) -> tuple[Held, Encoding, NDArray[Any]]:
    """Examples in cells with the public classes of the target; the encoding, and the classes."""
    target = needed(target, about)
    label, ranks, classes = _classes(about, target)
    encoding = encoded(about, features)
    weighted = session.unit.column is not None
    rows, read = read_rows(about, dict(zip(encoding.names, encoding.bins, strict=True)), [label])

    def examples(matrix: Matrix) -> Examples:
        found = read.whole(matrix, -1)
        return Examples(
            x=read.cells(matrix, encoding),
            y=ranks[np.clip(found, 0, len(ranks) - 1)],
            w=matrix.weights if weighted else None,
        )

    held = Held(examples, space=encoding.space, unit=session.unit, rows=rows)
    return held, encoding, classes


def _classes(about: About, target: str) -> tuple[Expression, NDArray[np.int64], NDArray[Any]]:
    """The cell of the target, the class that each cell is (−1: none), and the sorted classes."""
    labels = cells_of(about.source.column(target), target, role="a target")
    if not isinstance(labels, Listed):
        listed = fixes.keys(target, numbers=labels.type == "int").python
        raise UnknownKeys(
            f"`{target}` has no list of classes",
            why="a list read from the data would reveal that somebody has a rare label",
            fix=(
                "s.fit(Ridge(), ...)    to predict a number between its bounds",
                *([listed] if labels.type != "float" else []),
            ),
        )
    classes = np.asarray(labels.keys)
    if len(classes) < 2:
        raise BadParameter(f"`{target}` has one class, so there is nothing to predict")
    ranks = np.append(np.argsort(np.argsort(classes)), -1)  # last: missing, or not listed
    return cell_of(about.column(target), labels), ranks, np.sort(classes)


def regressed(
    session: Session, about: About, target: str | None, features: Sequence[str]
) -> tuple[Held, Encoding, tuple[float, float]]:
    """Examples in cells with a target scaled to [−1, 1]; the encoding, and the target's bounds."""
    target = needed(target, about, classes=False)
    number = as_number(about, target, role="the target")
    low, high = bounds_of(number)
    middle, half = low / 2 + high / 2, max(high / 2 - low / 2, 1e-300)
    encoding = encoded(about, features)
    weighted = session.unit.column is not None
    rows, read = read_rows(
        about, dict(zip(encoding.names, encoding.bins, strict=True)), numbers={target: number}
    )

    def examples(matrix: Matrix) -> Examples:
        found, whole = read.all_values(matrix, [target])
        scaled = np.clip((np.nan_to_num(found[:, 0]) - middle) / half, -1.0, 1.0)
        return Examples(
            x=read.cells(matrix, encoding),
            y=np.trunc(np.ldexp(scaled, TARGET)).astype(np.int64),
            w=matrix.weights if weighted else None,
        ).where(whole, encoding.space.axis)

    needs = needed_whole(about, [target])
    held = Held(examples, space=encoding.space, unit=session.unit, rows=rows, needs=needs)
    return held, encoding, (low, high)


def numbered(
    session: Session,
    about: About,
    target: str | None,
    features: Sequence[str],
    *,
    labels: bool = False,
    intercept: bool = False,
) -> tuple[Held, Numbers, Scaling, NDArray[Any]]:
    """Examples of real features scaled by the schema's bounds; how, and the classes if labelled."""
    columns = {name: as_number(about, name) for name in features}
    bounds = [bounds_of(column) for column in columns.values()]
    scaled = scaling(
        len(features),
        bounds=tuple(map(np.array, zip(*bounds, strict=True))),
        norm=None,
        intercept=intercept,
        model="learning",
    )
    more: list[Expression] = []
    ranks, classes = np.zeros(1, dtype=np.int64), np.zeros(0)
    if labels:
        label, ranks, classes = _classes(about, needed(target, about))
        more = [label]
    weighted = session.unit.column is not None
    rows, read = read_rows(about, {}, more, numbers=columns)

    def examples(matrix: Matrix) -> Examples:
        values, whole = read.all_values(matrix, features)
        last = read.whole(matrix, -1) if labels else np.zeros(len(matrix.points), dtype=np.int64)
        return Examples(
            x=scaled.rows(values),
            y=ranks[np.clip(last, 0, len(ranks) - 1)],
            w=matrix.weights if weighted else None,
        ).where(whole, scaled.space.axis)

    needs = needed_whole(about, features)
    held = Held(examples, space=scaled.space, unit=session.unit, rows=rows, needs=needs)
    return held, Numbers(names=tuple(features)), scaled, classes


def needed_whole(about: About, names: Sequence[str]) -> list[str]:
    """Of columns that a model reads as numbers, those without which a row is left out."""
    return [name for name in names if drops(about, name)]


_FEATURE: Final = "this feature"


def as_number(about: About, name: str, *, role: str = _FEATURE) -> Expression:
    """A column with bounds, for a model that reads numbers; refused where it has none."""
    column = about.source.column(name)
    if column.type not in ("int", "float") and column.low is None:
        raise BadParameter(
            f"this model reads {role} as a number, and `{name}` is {column.type}",
            why="keys have no order and no distance",
            fix=(
                *(["features=[...] with numbers alone"] if role == _FEATURE else []),
                "LogisticRegression or GradientBoosting, which learn from keys and predict them",
            ),
        )
    return about.number(name, what="learning")


def needed(target: str | None, about: About, *, classes: bool = True) -> str:
    """The target, of an estimator that cannot do without one; else a column that could be it."""
    if target is not None:
        return target
    likely = [
        name
        for name, column in about.source.columns.items()
        if name != about.session.unit.column
        and (column.keys if classes else column.low) is not None
    ]
    raise BadParameter(
        "s.fit() is missing target=, the column to predict",
        fix=f'target="{likely[-1]}"' if likely else "a column with keys or bounds in the schema",
    )
