"""Choose among models on private rows: the best of several, or the best settings of one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable.calibration import calibrate
from deniable.errors import BadParameter, DeniableError
from deniable.losses import Approx, Loss, epsilon
from deniable.losses.filters import Price
from deniable.mechanisms import Exponential
from deniable.query.rows import Matrix, Rows
from deniable.schema.arrays import floats
from deniable.schema.binning import Intervals, Listed
from deniable.session import Session
from deniable.session.offers import offering
from deniable.statistics.building import About

from .encoding import Read, all_features, by_value, cells_of, read_rows
from .engine.budget import due
from .engine.spaces import up, weighed
from .fitting import fit, prepared
from .from_table import needed

if TYPE_CHECKING:
    from .models._estimator import PrivateEstimator

M = TypeVar("M")

_SCORE = 16
"""A row's score is at most 2¹⁶: a right prediction, or a number without error."""
_TRIED = 3
"""So many made-up rows a model is tried on, together and one by one."""
_CHOICE = 0.2
"""The share of a loss that pays for the choice, when candidates are fitted, too."""


def select(
    session: Session, models: Sequence[M], *, target: str, spend: Loss, table: str | None = None
) -> M:
    """The model that predicts the target best on a table of the session: see `s.select`."""
    _listed("select", "fitted models", models)
    spend, about = session.spending(spend), About(session=session, table=table)
    read = Columns.of(about, _names(models, about, target, session), needed(target, about))
    for model in models:
        _check_model(model, read)
    most = session.unit.rows << _SCORE
    choice = _choice(spend, session)

    def scores(matrix: Matrix) -> NDArray[np.int64]:
        frame, wanted = read.frame(matrix)
        weights = None if session.unit.column is None else matrix.weights
        return np.array([_score(m, frame, wanted, read, weights) for m in models], dtype=np.int64)

    counted = read.rows.then(
        scores,
        linf=most * session.unit.sides,
        l2=up(most * session.unit.sides * math.sqrt(len(models))),
        whole=True,
        shape=len(models),
    )
    with offering(session, spend, lambda loss: session.ledger.price(_choice(loss, session))):
        drawn: Any = session.release(choice.on(counted), title="choose a model")
    return models[int(drawn.value)]


def tune(
    session: Session,
    candidates: Sequence[PrivateEstimator],
    *,
    target: str,
    spend: Loss,
    features: Sequence[str] | None = None,
    table: str | None = None,
) -> PrivateEstimator:
    """The best of several settings, fitted, for one loss: see `s.tune`."""
    _listed("tune", "estimators", candidates)
    spend, count = session.spending(spend), len(candidates)
    choice, each = _shares(spend, count)
    about = About(session=session, table=table)
    target = needed(target, about)
    price = session.ledger.price
    prices = [price(_choice(choice, session))]
    for one in candidates:  # every one before the first is paid for
        found = prepared(session, one, target=target, features=features, spend=each, table=table)
        _check_kind(found.model, about, target)
        prices.append(price(found.plan, delta=found.delta))
    with offering(session, spend, partial(_due, session, count)):
        session.ledger.check(sum(prices, start=Price.zero))
    fitted = [
        fit(session, one, target=target, features=features, spend=each, table=table)
        for one in candidates
    ]
    return select(session, fitted, target=target, spend=choice, table=table)


def _listed(call: str, what: str, given: object) -> None:
    if not isinstance(given, list | tuple) or not given:
        raise BadParameter(
            f"{call} needs a list of one or more {what}", fix=f"s.{call}([first, second], ...)"
        )


def _check_kind(model: PrivateEstimator, about: About, target: str) -> None:
    """Refuse a model whose predictions are never right, or never near."""
    from .models._estimator import PrivateClassifier

    labelled = isinstance(cells_of(about.source.column(target), target, role="a target"), Listed)
    if labelled and not isinstance(model, PrivateClassifier):
        raise BadParameter(
            f"{type(model).__name__} predicts numbers, and `{target}` has classes",
            why="candidates are compared by how many rows they classify correctly",
            fix="candidates that classify, such as LogisticRegression() and GradientBoosting()",
        )


def _shares(spend: Loss, count: int) -> tuple[Loss, Loss]:
    """For the choice, and for each of the fits; together no more than the whole."""
    choice, rest = spend.split(_CHOICE)
    if not isinstance(rest, Approx):
        return choice, rest.share(1 / count)
    figure, delta = rest.epsilon / count, rest.delta / count
    return choice, epsilon(figure, delta=delta * (1 - 2.0**-40))


def _due(session: Session, count: int, spend: Loss) -> Price:
    """What the fits and the choice are charged at most."""
    choice, each = _shares(spend, count)
    fits = [due(session, each)] * count
    return sum(fits, start=session.ledger.filter.price_of(_plain(choice)))


def _choice(spend: Loss, session: Session) -> Exponential:
    """The exponential mechanism, which has a price in every definition."""
    monotonic = session.unit.sides == 1  # one more row lowers no score
    moved = float((session.unit.rows << _SCORE) * session.unit.sides)

    def exponential(scale: float) -> Exponential:
        return Exponential(epsilon=1 / scale, sensitivity=moved, monotonic=monotonic)

    return exponential(calibrate(exponential, to=_plain(spend)))


def _plain(spend: Loss) -> Loss:
    """Without δ, which a choice does not need."""
    return epsilon(spend.epsilon) if isinstance(spend, Approx) else spend


@dataclass(frozen=True, kw_only=True, eq=False)
class Columns:
    """Columns of a table as models read them: values, missing where they are."""

    cells: dict[str, Listed | Intervals]
    target: str
    rows: Rows
    read: Read

    @staticmethod
    def of(about: About, names: Sequence[str], target: str) -> Columns:
        """These columns and the target; an error where the schema says too little."""
        cells = {name: cells_of(about.source.column(name), name) for name in [*names, target]}
        rows, read = read_rows(about, cells)
        return Columns(cells=cells, target=target, rows=rows, read=read)

    @property
    def labelled(self) -> bool:
        """Whether the target has a list of classes."""
        return isinstance(self.cells[self.target], Listed)

    @property
    def span(self) -> float:
        """Of a numeric target, from its lower to its upper bound."""
        cells = self.cells[self.target]
        return float(cells.high - cells.low) if isinstance(cells, Intervals) else 1.0

    def frame(self, matrix: Matrix) -> tuple[Any, NDArray[Any]]:
        """The columns, and the target."""
        found = {name: self._values(matrix, name) for name in self.cells}
        target = found.pop(self.target)
        return _framed(found), target

    def made_up(self, count: int) -> Any:
        """Rows of public values in the same columns, from the first key or bound to the last."""
        at = np.linspace(0.0, 1.0, count)
        found = {n: self._spread(c, at) for n, c in self.cells.items() if n != self.target}
        return _framed(found)

    @staticmethod
    def _spread(cells: Listed | Intervals, at: NDArray[np.float64]) -> NDArray[Any]:
        if by_value(cells):
            return (1 - at) * float(cells.low) + at * float(cells.high)
        return cells.decode(np.rint(at * (cells.size - 1)).astype(np.int64), np.full(len(at), 0.5))

    def _values(self, matrix: Matrix, name: str) -> NDArray[Any]:
        cells = self.cells[name]
        if by_value(cells):
            return self.read.values(matrix, name)
        codes = self.read.whole(matrix, self.read.columns[name][0])
        if isinstance(cells, Listed):
            keys = np.array([*cells.keys, None], dtype=object)
            listed: NDArray[Any] = keys[np.clip(codes, 0, len(keys) - 1)]
            return listed
        return cells.decode(codes, np.full(len(codes), 0.5))  # dates: the middle of their cell


def _framed(columns: dict[str, NDArray[Any]]) -> Any:
    """A pandas frame where there is pandas, else the columns as they are."""
    try:
        import pandas as pd
    except ImportError:
        return columns
    return pd.DataFrame(columns)


def _names(models: Sequence[Any], about: About, target: str, session: Session) -> list[str]:
    """The columns that the models read; all that can be features, of one that does not say."""
    found: dict[str, None] = {}
    for model in models:
        encoding = getattr(model, "encoding_", None)
        named = (
            encoding.names if encoding is not None else getattr(model, "feature_names_in_", None)
        )
        found |= dict.fromkeys(all_features(about, target, session) if named is None else named)
    return list(found)


def _check_model(model: Any, read: Columns) -> None:
    """Refuse before the charge what cannot predict row by row: tried on three made-up rows."""
    fix = "s.select([first, second], ...)    each fitted, with predict(frame)"
    if not callable(getattr(model, "predict", None)):
        raise BadParameter.of("models", type(model).__name__, must="fitted models", fix=fix)
    try:
        frame = read.made_up(_TRIED)
        together = _predicted(model, frame, _TRIED)
        alone = [_predicted(model, _row(frame, i), 1).tolist()[0] for i in range(_TRIED)]
        by_itself = all(map(_alike, together.tolist(), alone))
    except DeniableError:
        raise
    except Exception as error:
        raise BadParameter(
            f"{type(model).__name__} cannot predict on the columns of this table: {error}", fix=fix
        ) from error
    if not by_itself:
        raise BadParameter(
            f"what {type(model).__name__} predicts for a row changes with the rows beside it",
            why="a row may move a score by its own prediction alone",
            fix="a model that stores its statistics when fitted, and uses those to predict",
        )


def _row(frame: Any, place: int) -> Any:
    """One row, in the form of all."""
    some = slice(place, place + 1)
    if isinstance(frame, dict):
        return {name: column[some] for name, column in frame.items()}
    return frame.iloc[some].reset_index(drop=True)


def _alike(first: object, second: object) -> bool:
    """Whether two predictions are one, but for the last digits of numbers."""
    if isinstance(first, float) and isinstance(second, float) and math.isnan(first):
        return math.isnan(second)
    a, b = floats(np.array([first, second], dtype=object)).tolist()
    return bool(first == second) or math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-6)


def _predicted(model: Any, frame: Any, count: int) -> NDArray[Any]:
    """One prediction per row: of any other shape, each row would be judged by all the others."""
    made = model.predict(frame)
    listed = isinstance(made, list | tuple)  # NumPy would read each row as the oddest one demands
    found = np.fromiter(made, dtype=object, count=len(made)) if listed else np.asarray(made)
    if found.shape not in ((count,), (count, 1)):
        raise BadParameter(
            f"{type(model).__name__}.predict must return one prediction per row",
            why="a row may move a score by its own prediction alone",
            fix="predictions of shape (n,) or (n, 1) for a frame of n rows",
        )
    return found.ravel()


def _score(
    model: Any,
    frame: Any,
    wanted: NDArray[Any],
    read: Columns,
    weights: NDArray[np.int64] | None,
) -> int:
    """Σ over rows, each at most 2¹⁶: right predictions, or 1 − |error|/span."""
    predicted = _predicted(model, frame, len(wanted))
    if read.labelled:
        pairs = zip(predicted.tolist(), wanted.tolist(), strict=True)
        good = np.array([a == b for a, b in pairs], dtype=np.bool_)
        each = np.ldexp(good.astype(np.float64), _SCORE)
    else:
        apart = np.abs(floats(predicted) - wanted) / read.span
        each = np.trunc(np.ldexp(1 - np.clip(np.nan_to_num(apart, nan=1.0), 0, 1), _SCORE))
    if weights is not None:
        each = weighed(each, weights)
    return int(each.astype(np.int64).sum())
