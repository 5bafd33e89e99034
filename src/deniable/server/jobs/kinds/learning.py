"""A named estimator, fitted on a table: the answer is what it learnt, and its certificate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, FiniteFloat

from deniable import learn
from deniable.curator import Curator
from deniable.errors import BadParameter
from deniable.losses import Loss
from deniable.losses.filters import Price
from deniable.release import Noisy, Plan, Provenance, Release
from deniable.session.asked import facts_of, randomness

from ._kind import Answer, Name, Named, Names

Estimator = Literal[
    "LogisticRegression",
    "LinearRegression",
    "Ridge",
    "GaussianNB",
    "KMeans",
    "PCA",
    "StandardScaler",
    "GradientBoosting",
]
_OURS: Final = {"epsilon", "delta", "random_state", "bounds", "norm", "classes", "target_bounds"}
"""Parameters that `spend` and the schema decide."""
Setting = Annotated[int, Field(ge=0, le=10**9)] | FiniteFloat | bool
_COUNTS: Final = ("steps", "n_clusters", "n_components", "rounds", "max_leaves", "bins")
_MOST: Final = 1000
_WORK: Final = 100_000
"""The most that each of these may be, and that they may multiply to: a fit ends in time."""


class Fit(Named):
    """A model fitted on the table, such as a logistic regression; it can predict afterwards."""

    patience: ClassVar[int] = 20

    kind: Literal["fit"] = "fit"
    estimator: Estimator
    parameters: Annotated[dict[Name, Setting], Field(default_factory=dict, max_length=20)]
    """Such as steps = 60, alpha = 0.1; what is left out has its usual value."""
    target: Name | None = None
    """The column to predict; none for KMeans, PCA and StandardScaler."""
    features: Names | None = None
    """The columns to learn from; none ticked means all others."""

    def explain(self, session: Curator, spend: Loss) -> Plan:
        """The cost, and the noises; how well a model predicts is not known in advance."""
        plan = session.explain_fit(self._made(), **self._facts(), spend=spend)
        return replace(plan, question=self.title, errors={"prediction": None})

    def release(self, session: Curator, spend: Loss) -> Answer:
        """The fitted estimator."""
        from .models import written

        before = len(session.ledger.entries)
        fitted = session.fit(self._made(), **self._facts(), spend=spend)
        return Answer(release=self._released(session, fitted, before), attachment=written(fitted))

    def _facts(self) -> dict[str, Any]:
        return {"target": self.target, "features": self.features, "table": self.table}

    def _made(self) -> Any:
        kind = getattr(learn, self.estimator)
        made = kind()
        known = set(made.get_params(deep=False)) - _OURS
        unknown = set(self.parameters) - known
        if unknown:
            raise BadParameter(
                f"{self.estimator} has no parameter `{min(unknown)}` that can be asked for",
                fix=", ".join(sorted(known)),
            )
        made.set_params(**self.parameters)
        given = made.get_params(deep=False)
        counts = {name: given[name] for name in _COUNTS if given.get(name) is not None}
        if given.get("max_leaves", 0) is None:
            from deniable.learn.models.boosting import MOST_LEAVES

            counts["max_leaves"] = MOST_LEAVES
        if max(counts.values(), default=0) > _MOST or math.prod(counts.values()) > _WORK:
            said = ", ".join(f"{name} = {n}" for name, n in counts.items())
            raise BadParameter(
                f"a model with {said} takes too long to fit",
                fix=f"{_MOST:,} of each at most, and {_WORK:,} multiplied",
            )
        return made

    def _released(self, session: Curator, fitted: Any, before: int) -> Release:
        """What was charged, for whom; coefficients by feature, where there is one for each."""
        charges = [
            line
            for line in session.ledger.entries[before:]
            if line.kind == "charge" and line.asker == session.asker and line.price is not None
        ]
        prices = [line.price for line in charges if line.price is not None]
        keys, answers = _coefficients(fitted)
        return Release(
            keys=keys,
            answers=answers,
            loss=fitted.loss_,
            mechanisms=(dict(fitted.plan_),),
            unit=session.unit,
            provenance=Provenance(
                question=self.title,
                table=self.table or ", ".join(session.tables),
                price=sum(prices, start=Price.zero).to_dict(),
                data_version=session.version,
                **facts_of(session, charges[-1]),
            ),
            randomness=randomness(),
        )


def _coefficients(fitted: Any) -> tuple[Mapping[str, tuple[object, ...]], Mapping[str, Noisy]]:
    features = list(getattr(fitted, "features_", ()))
    found = getattr(fitted, "coef_", None)
    if found is None or found.size != len(features):
        return {}, {}
    cells = tuple(float(each) for each in found.ravel())
    told = Noisy(cells=cells, estimand="what the model learnt from noisy sums; it has no ±")
    return {"feature": tuple(features)}, {"coefficient": told}
