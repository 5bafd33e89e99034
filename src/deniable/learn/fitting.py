"""Fit an estimator through a session: charged to its ledger, with features from its schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from deniable.errors import BadParameter
from deniable.losses import Loss
from deniable.mechanisms import Mechanism
from deniable.session import Session
from deniable.statistics.building import About

from .encoding import all_features
from .engine.budget import blocked
from .engine.examples import Held
from .models._estimator import PrivateEstimator

E = TypeVar("E", bound=PrivateEstimator)


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
    held = draft.on_table(session, about, target, chosen)
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
