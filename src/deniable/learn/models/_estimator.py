"""What private estimators share: public parameters, a session of their own, and a certificate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter
from deniable.learn.engine import links
from deniable.learn.engine.budget import Paid, Part, gaussian, paid_as, plan
from deniable.learn.engine.examples import Examples, Held
from deniable.learn.engine.spaces import Space
from deniable.learn.from_table import classified
from deniable.ledger import open_ledger
from deniable.losses import Approx, Gdp, Loss, epsilon, mu
from deniable.mechanisms import Mechanism
from deniable.release.certificate import Certificate
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import using
from deniable.schema.arrays import floats
from deniable.session import Session
from deniable.statistics.building import About
from deniable.units import Unit, rows

if TYPE_CHECKING:
    from deniable.learn.fitting import Prepared

from deniable.learn.scikit_learn import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    Tags,
    check_array,
    check_is_fitted,
    validate_data,
)

from .accounts import Account
from .certified import certify
from .drafts import together
from .tables import column, table, values

__all__ = [
    "PrivateClassifier",
    "PrivateEstimator",
    "PrivateRegressor",
    "ScoringClassifier",
    "at_hand",
    "check_is_fitted",
    "labelled",
    "numbers",
]


class PrivateEstimator(BaseEstimator):
    """An estimator whose `fit` spends (ε, δ), in a ledger of its own or in a session."""

    epsilon: float | None
    delta: float | None
    random_state: int | None
    n_features_in_: int
    loss_: Loss
    unit_: Unit
    has_target: bool = True
    """Whether it predicts a column, so that `s.fit` takes `target`."""
    plan_: Mapping[str, object]
    caveat: str = ""
    """What its claim leans on and nobody has proved; in the certificate."""

    # ---- what a family of models says: all but `_steps` from public facts

    def check_parameters(self) -> None:
        """Refuse parameters that no fit can have, before anything is charged."""

    @abstractmethod
    def _on_arrays(self, X: Any, y: Any) -> Held:
        """Rows at hand as examples that nobody has read yet."""

    @abstractmethod
    def on_table(
        self, session: Session, about: About, target: str | None, features: list[str]
    ) -> Held:
        """Columns of a table of a session as examples that nobody has read yet."""

    def expected_excess(self, prepared: Prepared, *, size: float) -> float | None:
        """At most how far noise raises the mean loss of so many rows; None without a formula."""
        del prepared, size
        return None

    def _parts(self, held: Held) -> list[Part]:
        """The Gaussian noises to pay for; none where `planned` has noise of another kind."""
        del held
        return []

    def planned(self, held: Held, loss: Loss) -> Mechanism:
        """The list of all noises that a fit buys for a loss."""
        return plan(self._parts(held), mu=gaussian(loss))

    @abstractmethod
    def _steps(self, bought: Paid, held: Held) -> Generator[Any, Any, None]:
        """Ask for noisy sums, and set what they teach."""

    def _finish(self) -> None:
        """Turn what was learnt on the lattice into the units of the data."""

    # ---- what all of them do

    @together
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from rows X, and y if there is a target; spends (epsilon, delta)."""
        self._spend()
        self._fit_alone(self._on_arrays(X, y))
        self._finish()
        return self

    @together
    def fit_table(
        self, session: Session, about: About, target: str | None, features: list[str], spend: Loss
    ) -> Self:
        """Learn from columns of a table of a session: what `s.fit` calls."""
        self.fit_in(session, self.on_table(session, about, target, features), spend)
        self._finish()
        return self

    def _learn(self, session: Session, held: Held, spend: Loss) -> Paid:
        """Pay for all noises together, and take the steps."""
        with paid_as(session, held, partial(self.planned, held), spend=spend) as bought:
            session.run(self._steps(bought, held), name=type(self).__name__)
        return bought

    def _spend(self) -> Loss:
        """What `epsilon` and `delta` allow; refused where one is missing."""
        if self.epsilon is None or self.delta is None:
            raise BadParameter(
                f"{type(self).__name__} needs epsilon and delta",
                why="a fitted model is a release, and every release has a privacy loss",
                fix=f"{type(self).__name__}(epsilon=1.0, delta=1e-6, ...)",
            )
        return epsilon(self.epsilon, delta=self.delta)

    def _fit_alone(self, held: Held) -> Self:
        """Fit in a ledger of our own, which holds exactly what one fit costs."""
        spend, fits = self._spend(), self._fits()
        fits.check_process()
        budget = self._ceiling(spend)
        ledger = open_ledger(budget=budget, unit=held.unit, name=type(self).__name__)
        with Session(tables={}, schema=None, ledger=ledger) as session:
            in_mu = budget if isinstance(budget, Gdp) else None
            try:
                self.fit_in(session, held, budget)
            finally:  # what was charged counts, however the fit ended; what was refused does not
                if ledger.entries:
                    fits.add(in_mu, spend=spend)
        self.loss_ = spend
        return self

    @property
    def _in_mu(self) -> bool:
        """Whether all noises of a fit are Gaussian, so that fits add up in μ."""
        return True

    def _ceiling(self, spend: Loss) -> Loss:
        """A budget that holds one fit, to the last digit.

        What has no μ is charged as a block, for which a quarter of a ledger's δ is kept.
        """
        if self._in_mu:
            return mu(gaussian(spend))
        assert isinstance(spend, Approx)
        return epsilon(spend.epsilon, delta=4 * spend.delta)

    @property
    def spent(self) -> Loss:
        """What all fits of this estimator and of its clones lost together, outside sessions.

        `cross_val_score` and `GridSearchCV` fit many clones, each of which spends (ε, δ) again.
        Their scores are exact figures of the rows, and so is a choice by them: neither is private,
        or counted here. `s.select` and `s.tune` choose privately.
        """
        return self._fits().total

    def _fits(self) -> Account:
        """Shared with clones; made when it is first needed, as scikit-learn copies parameters."""
        found: Account = self.__dict__.setdefault("_account", Account())
        return found

    def __getstate__(self) -> Any:
        """With the account: a copy in another process is then refused, even if we never fitted."""
        self._fits()
        return super().__getstate__()

    def __sklearn_clone__(self) -> Self:
        """A clone without what was learnt, whose fits are counted together with ours."""
        made: Self = super().__sklearn_clone__()
        made.__dict__["_account"] = self._fits()
        return made

    def fit_in(self, session: Session, held: Held, spend: Loss) -> Self:
        """Fit on examples that a session guards."""
        self.check_parameters()
        with self._source():
            paid = self._learn(session, held, spend)
        self.loss_, self.unit_, self.plan_ = paid.loss, held.unit, paid.plan.to_dict()
        return self

    def certificate(self) -> Certificate:
        """What is claimed about this model, and what is needed to check the claim."""
        check_is_fitted(self, "loss_")
        return certify(self)

    def _source(self) -> AbstractContextManager[object]:
        """The operating system's randomness; a seed is refused outside tests."""
        seed = getattr(self, "random_state", None)
        return nullcontext() if seed is None else using(SeededSource(int(seed)))

    def __sklearn_tags__(self) -> Tags:
        """No two fits are alike, and missing values are read as the middle of the bounds."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        return tags


class PrivateClassifier(ClassifierMixin, PrivateEstimator):
    """Predicts one of several public classes."""

    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Tags:
        """Scores are poor on the few dozen rows of scikit-learn's own checks."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class ScoringClassifier(PrivateClassifier):
    """A classifier whose θ gives each row log-odds, or a score per class."""

    theta_: NDArray[Any]

    def on_table(
        self, session: Session, about: About, target: str | None, features: list[str]
    ) -> Held:
        held, self.encoding_, self.classes_ = classified(session, about, target, features)
        self.features_ = self.encoding_.labels
        return held

    @abstractmethod
    def _scores(self, X: Any) -> Any:
        """The scores of rows of an array."""

    def decision_function(self, X: Any) -> Any:
        """Log-odds of the second class; for several classes, a score for each."""
        check_is_fitted(self, "theta_")
        encoding = getattr(self, "encoding_", None)
        return self._scores(X) if encoding is None else encoding.margins(X, self.theta_)

    def predict_proba(self, X: Any) -> Any:
        """P(class | features), a column per class, in the order of `classes_`."""
        return links.probabilities(self.decision_function(X))

    def predict(self, X: Any) -> Any:
        """The likeliest class of each row."""
        best = links.likeliest(self.decision_function(X))
        return self.classes_[best]


class PrivateRegressor(RegressorMixin, PrivateEstimator):
    """Predicts a number between public bounds."""

    def __sklearn_tags__(self) -> Tags:
        """Scores are poor on the few dozen rows of scikit-learn's own checks."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


def at_hand(read: Callable[[], Examples], space: Space) -> Held:
    """Rows of arrays: each is a privacy unit of its own, added or removed."""
    return Held(lambda _: read(), space=space, unit=rows())


def numbers(estimator: Any, X: Any, *, reset: bool = False) -> Any:
    """X as floats, each cell by itself, whatever it holds; a frame, if fitted on a table.

    scikit-learn sees the shape and the names of the columns alone: its own checks fail at an odd
    cell and quote it.
    """
    encoding = getattr(estimator, "encoding_", None)
    if encoding is not None and not reset:
        return encoding.matrix(X)
    found = table(X)
    shape = (0, found.shape[1]) if found.ndim == 2 else (0,) * found.ndim
    check_array(np.zeros(shape), ensure_min_samples=0, estimator=estimator)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return found


def labelled(estimator: Any, X: Any, y: Any, *, numeric: bool = False) -> tuple[Any, Any]:
    """X as floats and y beside it, to learn from; any number of rows will do, and any values.

    scikit-learn's own check of y refuses NaN, which would tell that somebody's target is missing.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    found, target = numbers(estimator, X, reset=True), column(y)
    if len(found) != len(target):
        raise ValueError("X and y must have the same number of rows")  # how many is private
    return found, floats(target) if numeric else values(target)
