"""Logistic regression, binary and multinomial."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.learn.engine.budget import Paid, Part
from deniable.learn.engine.descent import Descent, descend
from deniable.learn.engine.examples import Examples, Held
from deniable.learn.engine.perturbed import Perturbation
from deniable.learn.engine.rowwise import margins
from deniable.losses import Loss
from deniable.mechanisms import Mechanism

from ._estimator import ScoringClassifier, at_hand, labelled, numbers
from .classes import coded, listed
from .scaling import Bounds, scaling

if TYPE_CHECKING:
    from deniable.learn.fitting import Prepared


class LogisticRegression(ScoringClassifier):
    """Logistic regression by preconditioned noisy gradient descent; softmax for several classes.

    `solver` is

    descent      the best on our benchmarks, for any number of classes and every budget
    objective    a random linear term in what is minimised; for two classes, rows as units and
                 budgets in (ε, δ); `alpha` is the least penalty
    output       the penalised minimum, with noise; for two classes; `alpha` is the penalty

    The last two penalise every parameter, also the intercept, by alpha·‖θ‖²/2 on scaled features;
    how long they take depends on the rows.

    Privacy    (ε, δ)-DP for one row added or removed. One noisy matrix of second moments and
               `steps` noisy sums of clipped gradients; together √Σμᵢ²-GDP   [DRS22, Cor. 3.3]
               The other solvers are proved in `ObjectivePerturbation` and `output_l2`
    Assumes    `bounds` of the features or a `norm` of the rows, and `classes`: public, never read
               from data. Values are clipped to them; rows of another class are left out

    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 4000).reshape(-1, 1)
    >>> model = LogisticRegression(epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1])
    >>> bool(model.fit(X, (X[:, 0] > 0).astype(int)).score(X, (X[:, 0] > 0).astype(int)) > 0.9)
    True
    >>> model.loss_
    Approx(epsilon=1.0, delta=1e-06)
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        bounds: Bounds | None = None,
        norm: float | None = None,
        classes: Sequence[object] | None = None,
        steps: int = 60,
        clip: float = 0.5,
        solver: str = "descent",
        alpha: float | None = None,
        fit_intercept: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.classes = classes
        self.steps = steps
        self.clip = clip
        self.solver = solver
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def _on_arrays(self, X: Any, y: Any) -> Held:
        self.classes_ = listed(self.classes, model="LogisticRegression")
        found, labels = labelled(self, X, y)
        self._scaling = scaling(
            self.n_features_in_,
            bounds=self.bounds,
            norm=self.norm,
            intercept=self.fit_intercept,
            model="LogisticRegression",
        )
        scaled, classes = self._scaling, self.classes_
        return at_hand(
            lambda: Examples(x=scaled.rows(found), y=coded(labels, classes)), scaled.space
        )

    def check_parameters(self) -> None:
        """Refuse parameters that no fit can have."""
        parameters.whole("steps", self.steps)
        _clip(self.clip)
        parameters.one_of("solver", self.solver, ("descent", "objective", "output"))
        if self.alpha is not None:
            parameters.positive("alpha", self.alpha)
            if self.solver == "descent":
                raise BadParameter(
                    'solver="descent" has no penalty: its noise decides how far it goes',
                    fix='leave out alpha=, or solver="objective"',
                )

    def _how(self, held: Held) -> Descent:
        return Descent(
            space=held.space,
            classes=len(self.classes_),
            steps=parameters.whole("steps", self.steps),
            clip=_clip(self.clip),
        )

    def _parts(self, held: Held) -> list[Part]:
        return self._how(held).parts(held)

    @property
    def _in_mu(self) -> bool:
        return self.solver != "objective"

    def planned(self, held: Held, loss: Loss) -> Mechanism:
        """The noise of the solver."""
        perturbed = self._perturbation(held)
        return super().planned(held, loss) if perturbed is None else perturbed.plan(loss)

    def expected_excess(self, prepared: Prepared, *, size: float) -> float | None:
        """At most how far noise raises the mean loss of so many rows, for the last two solvers."""
        perturbed = self._perturbation(prepared.held)
        if perturbed is None:
            return None
        return perturbed.expected_excess(prepared.plan, prepared.loss, size=size)

    def _perturbation(self, held: Held) -> Perturbation | None:
        if self.solver == "descent":
            return None
        inside = self.solver == "objective"
        if len(self.classes_) != 2:
            raise BadParameter(
                f'solver="{self.solver}" is for two classes', fix='solver="descent"    the default'
            )
        if inside and (held.weighted or held.unit.sides != 1):
            raise BadParameter(
                "objective perturbation needs the unit dp.rows(), with rows added or removed",
                why="its proof needs the gradient of a unit to keep its direction",
                fix='solver="descent" or solver="output"',
            )
        made = Perturbation(
            space=held.space,
            clip=_clip(self.clip),
            units=held.rows,
            inside=inside,
            penalty=self.alpha,
        )
        made.check_penalty()
        return made

    def _steps(self, bought: Paid, held: Held) -> Generator[Any, Any, None]:
        perturbed = self._perturbation(held)
        if perturbed is None:
            self.theta_ = yield from descend(bought.handle, held, self._how(held))
        else:
            self.theta_ = yield from perturbed.learn(bought, held)

    def _finish(self) -> None:
        if hasattr(self, "encoding_"):
            slopes, constant = self.theta_, np.zeros(self.theta_.shape[1:])
        else:
            slopes, constant = self._scaling.unscaled(self.theta_)
        self.coef_, self.intercept_ = np.atleast_2d(slopes.T), np.atleast_1d(constant)

    def _scores(self, X: Any) -> Any:
        scores = margins(numbers(self, X), self.coef_.T) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores


def _clip(clip: object) -> float:
    found = parameters.positive("clip", clip)
    if not math.ldexp(1.0, -10) <= found <= 1:
        raise BadParameter.of("clip", clip, must="from 2⁻¹⁰ to 1, the largest residual there is")
    return found
