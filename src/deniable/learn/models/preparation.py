"""Standard scaling and principal components, from noisy moments."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.learn.engine.budget import Paid, Part
from deniable.learn.engine.examples import Held, unlabelled
from deniable.learn.engine.groups import Groups
from deniable.learn.engine.moments import measured, parts
from deniable.learn.from_table import numbered
from deniable.learn.scikit_learn import (
    ClassNamePrefixFeaturesOutMixin,
    OneToOneFeatureMixin,
    TransformerMixin,
)
from deniable.session import Session
from deniable.statistics.building import About

from ._estimator import PrivateEstimator, at_hand, check_is_fitted, numbers
from .scaling import INTERCEPT, Bounds, Scaling, scaling


class Unlabelled(TransformerMixin, PrivateEstimator):
    """What learns from real features alone: no target, and features within bounds."""

    bounds: Bounds | None
    has_target = False
    _intercept = False

    def _on_arrays(self, X: Any, y: Any) -> Held:
        del y
        found = numbers(self, X, reset=True)
        self._scaling = scaled = scaling(
            self.n_features_in_,
            bounds=self.bounds,
            norm=None,
            intercept=self._intercept,
            model=type(self).__name__,
        )
        return at_hand(lambda: unlabelled(scaled.rows(found)), scaled.space)

    def on_table(
        self, session: Session, about: About, target: str | None, features: list[str]
    ) -> Held:
        del target  # `s.fit` refuses one
        held, self.encoding_, self._scaling, _ = numbered(
            session, about, None, features, intercept=self._intercept
        )
        self.features_, self.n_features_in_ = list(features), len(features)
        return held


class StandardScaler(OneToOneFeatureMixin, Unlabelled):
    """Standard scaling by noisy means and standard deviations.

    Privacy    (ε, δ)-DP for one row added or removed: one Gaussian noise        [BW18, Thm 8]
    Assumes    `bounds` of every feature: public. Values outside are clipped

    >>> import numpy as np
    >>> X = np.linspace(0, 10, 5000).reshape(-1, 1)
    >>> model = StandardScaler(epsilon=1.0, delta=1e-6, bounds=(0, 20)).fit(X)
    >>> bool(abs(model.mean_[0] - 5) < 0.5)
    True
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        bounds: Bounds | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.random_state = random_state

    def _how(self, held: Held) -> Groups:
        return Groups.of(held, groups=1, squares=True)

    def _parts(self, held: Held) -> list[Part]:
        return self._how(held).parts(held)

    def _steps(self, bought: Paid, held: Held) -> Generator[Any, Any, None]:
        how = self._how(held)
        _, centre, found, _ = yield from how.measured(bought, held)
        spread = np.maximum(found, 0.0)[0]
        self.mean_ = centre[0] * self._scaling.scale + self._scaling.middle
        self.var_ = spread * self._scaling.scale**2
        least = 1e-3 * self._scaling.scale / np.sqrt(how.space.dimension)
        self.scale_ = np.maximum(np.sqrt(self.var_), least)

    def transform(self, X: Any) -> Any:
        """(X − mean)/standard deviation."""
        check_is_fitted(self, "scale_")
        return (numbers(self, X) - self.mean_) / self.scale_

    def inverse_transform(self, X: Any) -> Any:
        """X as it was before `transform`."""
        check_is_fitted(self, "scale_")
        return np.asarray(X) * self.scale_ + self.mean_


class PCA(ClassNamePrefixFeaturesOutMixin, Unlabelled):
    """Principal components of a noisy covariance matrix.

    Privacy    (ε, δ)-DP for one row added or removed: one Gaussian noise on Σ x ⊗ x, from which
               mean, covariance and all components follow                              [DTTZ14]
    Assumes    `bounds` of every feature: public. Values outside are clipped

    >>> import numpy as np
    >>> t = np.linspace(-1, 1, 5000)
    >>> model = PCA(n_components=1, epsilon=1.0, delta=1e-6, bounds=(-2, 2))
    >>> bool(abs(model.fit(np.stack([t, t], axis=1)).components_.sum()) > 1.3)
    True
    """

    _intercept = True

    def __init__(
        self,
        *,
        n_components: int | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        bounds: Bounds | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.random_state = random_state

    def _parts(self, held: Held) -> list[Part]:
        self._kept(held)
        return parts(held, share=1.0, target=False)

    def _kept(self, held: Held) -> int:
        d = held.space.dimension - 1
        kept = (
            d if self.n_components is None else parameters.whole("n_components", self.n_components)
        )
        if kept > d:
            raise BadParameter.of("n_components", kept, must=f"at most {d}, the features there are")
        return kept

    def _steps(self, bought: Paid, held: Held) -> Generator[Any, Any, None]:
        kept, d = self._kept(held), held.space.dimension - 1
        found = yield from measured(bought.handle, held, target=False)
        mean, covariance = _centred(found.matrix, noise=found.noise, scaled=self._scaling)
        values, vectors = np.linalg.eigh(covariance)
        order = np.argsort(-values)
        values, vectors = np.maximum(values[order], 0.0), vectors[:, order]
        signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), range(d)])  # as scikit-learn's
        self.components_ = (vectors * signs).T[:kept]
        self.explained_variance_ = values[:kept]
        self.explained_variance_ratio_ = values[:kept] / max(values.sum(), 1e-300)
        self.mean_, self.n_components_ = mean, kept

    def transform(self, X: Any) -> Any:
        """Coordinates along the components."""
        check_is_fitted(self, "components_")
        return (numbers(self, X) - self.mean_) @ self.components_.T

    def inverse_transform(self, X: Any) -> Any:
        """The points with these coordinates."""
        check_is_fitted(self, "components_")
        return np.asarray(X) @ self.components_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def _centred(matrix: Any, *, noise: float, scaled: Scaling) -> tuple[Any, Any]:
    """Mean and covariance of features as they were, from second moments with a constant."""
    count = max(matrix[-1, -1] / INTERCEPT**2, noise, 1.0)
    mean = matrix[:-1, -1] / INTERCEPT / count
    covariance = matrix[:-1, :-1] / count - np.outer(mean, mean)
    scale = scaled.scale / np.sqrt(1 - INTERCEPT**2)
    return mean * scale + scaled.middle, covariance * np.outer(scale, scale)
