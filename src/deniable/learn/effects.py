"""How good a model would be: its score against ε, or against another setting, before you spend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .models._estimator import PrivateEstimator


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Scores for several values of one setting: their mean, and the range of repeated fits."""

    setting: str
    values: tuple[float, ...]
    scores: tuple[tuple[float, ...], ...]

    def rows(self) -> list[dict[str, float]]:
        """A row per value: mean, lowest and highest score."""
        pairs = zip(self.values, self.scores, strict=True)
        return [
            {
                self.setting: value,
                "score": float(np.mean(each)),
                "lowest": min(each),
                "highest": max(each),
            }
            for value, each in pairs
        ]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Mean, lowest and highest score as curves."""
        from deniable.plots import curves

        lines = {
            name: [row[name] for row in self.rows()] for name in ("score", "lowest", "highest")
        }
        name = {"epsilon": "ε"}.get(self.setting, self.setting)
        return curves(
            list(self.values), lines, x=name, y="score", title=f"Score by {name}",
            logarithmic=min(self.values) > 0, ax=ax,
        )  # fmt: skip


def effect(
    estimator: PrivateEstimator,
    X: Any,
    y: Any = None,
    *,
    repeats: int = 3,
    **settings: Sequence[Any],
) -> Effect:
    """Fit with each value of one setting, and score: `effect(model, X, y, epsilon=[0.1, 1, 3])`.

    Only for public or made-up data: every fit uses all of X, and none is charged.
    """
    from sklearn.base import clone

    name, values = _one(settings)
    if name not in estimator.get_params():
        known = ", ".join(estimator.get_params())
        raise BadParameter(f"{type(estimator).__name__} has no setting `{name}`; it has {known}")
    times = parameters.whole("repeats", repeats)
    found = []
    for value in values:
        model = clone(estimator).set_params(**{name: value})
        model.__dict__.pop("_account", None)  # these fits are nobody's
        found.append(tuple(float(model.fit(X, y).score(X, y)) for _ in range(times)))
    return Effect(setting=name, values=tuple(values), scores=tuple(found))


def _one(settings: Mapping[str, Sequence[Any]]) -> tuple[str, Sequence[Any]]:
    if len(settings) != 1:
        raise BadParameter(
            "effect looks at one setting", fix="effect(model, X, y, epsilon=[0.1, 1])"
        )
    ((name, values),) = settings.items()
    if not values:
        raise BadParameter.of(name, values, must="a list of values to try", fix=f"{name}=[0.1, 1]")
    return name, values
