"""Gaussian naive Bayes, from noisy counts, sums and sums of squares by class."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from deniable.learn.engine.budget import Paid, Part
from deniable.learn.engine.examples import Examples, Held
from deniable.learn.engine.groups import Groups
from deniable.learn.from_table import numbered
from deniable.session import Session
from deniable.statistics.building import About

from ._estimator import PrivateClassifier, at_hand, check_is_fitted, labelled, numbers
from .classes import coded, listed
from .scaling import Bounds, scaling


class GaussianNB(PrivateClassifier):
    """Gaussian naive Bayes from one noisy table of counts, sums and sums of squares by class.

    Privacy    (ε, δ)-DP for one row added or removed: one Gaussian noise        [BW18, Thm 8]
    Assumes    `bounds` of every feature and `classes`: public. Values outside bounds are clipped

    >>> import numpy as np
    >>> X = np.concatenate([np.full((500, 1), -1.0), np.full((500, 1), 1.0)])
    >>> y = np.repeat([0, 1], 500)
    >>> model = GaussianNB(epsilon=1.0, delta=1e-6, bounds=(-3, 3), classes=[0, 1])
    >>> model.fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        bounds: Bounds | None = None,
        classes: Sequence[object] | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.classes = classes
        self.random_state = random_state

    def _on_arrays(self, X: Any, y: Any) -> Held:
        self.classes_ = classes = listed(self.classes, model="GaussianNB")
        found, labels = labelled(self, X, y)
        self._scaling = scaled = scaling(
            self.n_features_in_, bounds=self.bounds, norm=None, intercept=False, model="GaussianNB"
        )
        return at_hand(
            lambda: Examples(x=scaled.rows(found), y=coded(labels, classes)), scaled.space
        )

    def on_table(
        self, session: Session, about: About, target: str | None, features: list[str]
    ) -> Held:
        held, self.encoding_, self._scaling, self.classes_ = numbered(
            session, about, target, features, labels=True
        )
        self.features_ = list(features)
        return held

    def _how(self, held: Held) -> Groups:
        return Groups.of(held, groups=len(self.classes_), squares=True)

    def _parts(self, held: Held) -> list[Part]:
        return self._how(held).parts(held)

    def _steps(self, bought: Paid, held: Held) -> Generator[Any, Any, None]:
        how = self._how(held)
        count, centre, spread, noise = yield from how.measured(bought, held)
        # A variance is at least what a uniform law within a hundredth of the bounds has.
        least = 1e-4 / 3 / how.space.dimension
        self.theta_, self.var_ = centre, np.maximum(spread, least)
        kept = np.maximum(count, noise)
        self.class_count_, self.class_prior_ = kept, kept / kept.sum()

    def _finish(self) -> None:
        scaled = self._scaling
        self.theta_ = self.theta_ * scaled.scale + scaled.middle
        self.var_ = self.var_ * scaled.scale**2

    def _log_joint(self, X: Any) -> Any:
        """ln P(class, features), but for what all classes have in common."""
        check_is_fitted(self, "var_")
        rows = np.clip(numbers(self, X), -1e150, 1e150)  # what is missing says nothing of the class
        return np.stack(
            [
                np.log(prior) - 0.5 * np.nansum(np.log(var) + (rows - mean) ** 2 / var, axis=1)
                for prior, mean, var in zip(self.class_prior_, self.theta_, self.var_, strict=True)
            ],
            axis=1,
        )

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of P(class | features), a column per class."""
        scores = self._log_joint(X)
        top = scores.max(axis=1, keepdims=True)
        return scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> Any:
        """P(class | features), a column per class, in the order of `classes_`."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Any:
        """The likeliest class of each row."""
        best = self._log_joint(X).argmax(axis=1)
        return self.classes_[best]
