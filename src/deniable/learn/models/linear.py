"""Linear and ridge regression by sufficient statistics."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import MissingBounds
from deniable.learn.engine.budget import Paid, Part
from deniable.learn.engine.examples import Examples, Held
from deniable.learn.engine.moments import TARGET, measured, parts
from deniable.learn.engine.rowwise import margins
from deniable.learn.engine.spaces import Floats
from deniable.learn.from_table import regressed
from deniable.session import Session
from deniable.statistics.building import About

from ._estimator import PrivateRegressor, at_hand, check_is_fitted, labelled, numbers
from .scaling import Bounds, ends, scaling

_MATRIX = 0.5


class Ridge(PrivateRegressor):
    """Ridge regression from one noisy matrix Σ x ⊗ x and one noisy vector Σ x·y.

    Privacy    (ε, δ)-DP for one row added or removed: two Gaussian noises     [DRS22, Cor. 3.3]
    Assumes    `bounds` of the features or a `norm` of the rows, and `target_bounds`: public.
               Values outside are clipped; a missing target counts as the middle of its bounds

    The penalty is `alpha`, and where noise drowns a direction, as much more as the noise of the
    matrix is large: the adaptive damping of sufficient-statistics perturbation [Wan18], read off
    the noisy matrix itself, which costs nothing.

    >>> import numpy as np
    >>> X = np.linspace(0, 1, 5000).reshape(-1, 1)
    >>> model = Ridge(epsilon=1.0, delta=1e-6, bounds=(0, 1), target_bounds=(0, 2))
    >>> bool(abs(model.fit(X, 2 * X[:, 0]).predict([[0.5]])[0] - 1) < 0.1)
    True
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        epsilon: float | None = None,
        delta: float | None = None,
        bounds: Bounds | None = None,
        norm: float | None = None,
        target_bounds: tuple[float, float] | None = None,
        fit_intercept: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.target_bounds = target_bounds
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def _on_arrays(self, X: Any, y: Any) -> Held:
        name = type(self).__name__
        if self.target_bounds is None:
            raise MissingBounds(
                f"{name} needs bounds for its target",
                why="noise is sized to the most that one row can change a sum",
                fix=f"{name}(target_bounds=(low, high), ...)",
            )
        low, high = (float(end) for end in ends(self.target_bounds, None, name="target_bounds"))
        found, target = labelled(self, X, y, numeric=True)
        self._scaling = scaled = scaling(
            self.n_features_in_,
            bounds=self.bounds,
            norm=self.norm,
            intercept=self.fit_intercept,
            model=name,
        )
        self._penalty, self._ends = scaled.penalty, (low, high)
        return at_hand(
            lambda: Examples(x=scaled.rows(found), y=on_lattice(target, low, high)), scaled.space
        )

    def on_table(
        self, session: Session, about: About, target: str | None, features: list[str]
    ) -> Held:
        held, self.encoding_, self._ends = regressed(session, about, target, features)
        self.features_ = self.encoding_.labels
        self._penalty = np.ones(held.space.dimension)
        return held

    def check_parameters(self) -> None:
        """Refuse parameters that no fit can have."""
        parameters.non_negative("alpha", self.alpha)

    def _parts(self, held: Held) -> list[Part]:
        return parts(held, share=_MATRIX, target=True)

    def _steps(self, bought: Paid, held: Held) -> Generator[Any, Any, None]:
        alpha = parameters.non_negative("alpha", self.alpha)
        found = yield from measured(bought.handle, held, target=True)
        penalised = found.matrix + alpha * np.diag(self._penalty)
        self.theta_ = solved(penalised, found.products, noise=found.noise)

    def _finish(self) -> None:
        low, high = self._ends
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        slopes, constant = self.theta_, np.zeros(())
        if not hasattr(self, "encoding_"):
            slopes, constant = self._scaling.unscaled(self.theta_)
        self.coef_, self.intercept_ = half * slopes, middle + half * float(constant)

    def predict(self, X: Any) -> Any:
        """The expected target of each row."""
        check_is_fitted(self, "coef_")
        encoding = getattr(self, "encoding_", None)
        if encoding is not None:
            return encoding.margins(X, self.coef_) + self.intercept_
        return margins(numbers(self, X), self.coef_) + self.intercept_


class LinearRegression(Ridge):
    """Linear regression: ridge regression without a penalty, but for the damping of noise.

    >>> import numpy as np
    >>> X = np.linspace(0, 1, 5000).reshape(-1, 1)
    >>> model = LinearRegression(epsilon=1.0, delta=1e-6, bounds=(0, 1), target_bounds=(0, 2))
    >>> bool(abs(model.fit(X, 2 * X[:, 0]).predict([[0.5]])[0] - 1) < 0.1)
    True
    """

    alpha = 0.0

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        bounds: Bounds | None = None,
        norm: float | None = None,
        target_bounds: tuple[float, float] | None = None,
        fit_intercept: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.target_bounds = target_bounds
        self.fit_intercept = fit_intercept
        self.random_state = random_state


def solved(matrix: Floats, products: Floats, *, noise: float) -> Floats:
    """θ of the normal equations, with as much damping as the noise of the matrix demands."""
    values, vectors = np.linalg.eigh(matrix)
    damped = np.maximum(values, 0.0) + noise * math.sqrt(len(values))
    found: Floats = vectors @ ((vectors.T @ products) / damped)
    return found


def on_lattice(target: Any, low: float, high: float) -> NDArray[np.int64]:
    """Targets scaled to [−1, 1], in steps of 2⁻¹⁶ towards 0; NaN counts as the middle."""
    middle, half = low / 2 + high / 2, max(high / 2 - low / 2, 1e-300)
    scaled = (np.clip(np.asarray(target, dtype=np.float64), low, high) - middle) / half
    near = np.clip(np.where(np.isnan(scaled), 0.0, scaled), -1.0, 1.0)
    found: NDArray[np.int64] = np.trunc(np.ldexp(near, TARGET)).astype(np.int64)
    return found
