"""Fit an estimator through a session: charged to its ledger, with features from its schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter, UnknownKeys
from deniable.losses import Loss
from deniable.mechanisms import Mechanism
from deniable.query.algebra import Expression
from deniable.query.bind.bins import cell_of
from deniable.query.rows import Matrix
from deniable.schema.binning import Listed
from deniable.session import Session
from deniable.statistics.building import About

from .encoding import Encoding, Numbers, all_features, cells_of, drops, encoded, read_rows
from .engine.budget import blocked
from .engine.examples import Examples, Held
from .engine.moments import TARGET

if TYPE_CHECKING:
    from .models._estimator import PrivateEstimator
    from .models.scaling import Scaling

E = TypeVar("E", bound="PrivateEstimator")


def fit(
    session: Session,
    estimator: E,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    spend: Loss,
    table: str | None = None,
) -> E:
    """The estimator, fitted on a table of the session: see `s.fit`."""
    check_estimator(estimator, target)
    about = About(session=session, table=table)
    chosen = _chosen(about, target, features, session)
    return estimator.fit_table(session, about, target, chosen, spend)


def prepared(
    session: Session,
    estimator: PrivateEstimator,
    *,
    target: str | None,
    features: Sequence[str] | None,
    spend: Loss,
    table: str | None,
) -> Prepared:
    """What `fit` would do, as far as public facts tell; all that they can refuse is refused."""
    from sklearn.base import clone

    check_estimator(estimator, target)
    about = About(session=session, table=table)
    chosen = _chosen(about, target, features, session)
    draft: PrivateEstimator = clone(estimator)
    held = draft._on_table(session, about, target, chosen)  # noqa: SLF001  our own
    loss, delta = blocked(session, spend)
    made = draft.planned(held, loss)
    return Prepared(model=draft, held=held, loss=loss, delta=delta, plan=made, features=chosen)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A fit before it is paid for: examples that nobody has read, and the noise to be bought."""

    model: PrivateEstimator
    held: Held
    loss: Loss
    delta: float | None
    """Of the block that the noises are charged as, where they are."""
    plan: Mechanism
    features: list[str]


def check_estimator(estimator: object, target: str | None) -> None:
    """Refuse what `s.fit` cannot fit, whatever the table is."""
    from .models._estimator import PrivateEstimator

    if not isinstance(estimator, PrivateEstimator):
        kind = estimator if isinstance(estimator, type) else type(estimator)
        ours = issubclass(kind, PrivateEstimator)
        raise BadParameter(
            f"{kind.__name__} is a class; s.fit needs an instance"
            if ours
            else f"{kind.__module__}.{kind.__name__} is not an estimator of deniable.learn",
            why="" if ours else "it would fit without noise",
            fix=f"s.fit({kind.__name__}(), ...)" if ours else _import_of(kind.__name__),
        )
    if estimator.epsilon is not None or estimator.delta is not None:
        raise BadParameter(
            "the estimator sets epsilon or delta, but s.fit takes its privacy loss from spend=",
            fix=f"s.fit({type(estimator).__name__}(), ..., spend=dp.epsilon(1.0, delta=1e-6))",
        )
    if target is not None and not estimator.has_target:
        raise BadParameter(f"{type(estimator).__name__} has no target", fix="leave out target=")
    estimator.check_parameters()


def _import_of(name: str) -> str:
    """The line that imports the private estimator of that name; logistic regression if none is."""
    from deniable import learn

    return f"from deniable.learn import {name if name in learn.__all__ else 'LogisticRegression'}"


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
        listed = f'schema=dp.Schema(columns={{"{target}": dp.keys([...])}})'
        raise UnknownKeys(
            f"`{target}` has no list of classes",
            why="labels read from the data would show that somebody has a rare one",
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
    low, high = float(number.domain.low), float(number.domain.high)  # type: ignore[arg-type]
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
    from .models.scaling import scaling

    columns = {name: as_number(about, name) for name in features}
    bounds = [(float(c.domain.low), float(c.domain.high)) for c in columns.values()]  # type: ignore[arg-type]
    scaled = scaling(
        len(features),
        bounds=tuple(np.array(ends) for ends in zip(*bounds, strict=True)),
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
        "s.fit needs target=, the column to predict",
        fix=f'target="{likely[-1]}"' if likely else "a column with keys or bounds in the schema",
    )


def _chosen(
    about: About, target: str | None, features: Sequence[str] | None, session: Session
) -> list[str]:
    """The columns to learn from: those named, or all that can be."""
    if isinstance(features, str):
        raise BadParameter.of(
            "features", features, must="a list of columns", fix=f"features=[{features!r}]"
        )
    chosen = list(features) if features is not None else all_features(about, target, session)
    _check_features(chosen, target, session)
    return chosen


def _check_features(features: Sequence[str], target: str | None, session: Session) -> None:
    if not features or len(set(features)) != len(features):
        raise BadParameter("features must name one or more columns, each once")
    if target is not None and target in features:
        raise BadParameter(f"`{target}` is the target, so it cannot be a feature")
    if session.unit.column in features:
        raise BadParameter(
            f"`{session.unit.column}` identifies people, so it cannot be a feature",
            why="a model that learns from identifiers memorises individuals",
        )
