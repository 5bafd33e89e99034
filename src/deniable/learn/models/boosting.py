"""Gradient boosting: an additive model of trees on the cells of single columns."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from deniable import parameters
from deniable.learn.engine import links
from deniable.learn.engine.budget import Paid, Part
from deniable.learn.engine.cells import Cells, EqualCells
from deniable.learn.engine.descent import Descent, gradient
from deniable.learn.engine.examples import Examples, Held
from deniable.learn.engine.moments import noises
from deniable.learn.engine.spaces import on_lattice, up
from deniable.session import Session
from deniable.statistics.building import About

from ._estimator import ScoringClassifier, at_hand, labelled, numbers
from .classes import coded, listed
from .scaling import Bounds, ends, needs_bounds
from .trees import grown

_COUNTS: Final = 0.1

MOST_LEAVES: Final = 32
"""Of a tree, where nothing else is asked for and the noise allows them."""


class GradientBoosting(ScoringClassifier):
    """Boosted trees, each on one column: a curve per column, which can be looked at.

    Every round asks once for a noisy histogram of gradients over the cells of all columns, and
    grows a small tree per column on it: splits and leaves are functions of noisy numbers, so they
    cost nothing more. Left out, `learning_rate` and `max_leaves` are as large as the noise allows,
    judged by the noisy number of rows: steps of 0.1 to 0.3 of Newton's, trees of 8 to 32 leaves.

    Privacy    (ε, δ)-DP for one row added or removed: one noisy histogram of rows and `rounds`
               noisy histograms of clipped gradients                          [DRS22, Cor. 3.3]
    Assumes    `bounds` of every feature and `classes`: public. Values outside bounds are clipped

    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 6000).reshape(-1, 1)
    >>> y = (np.abs(X[:, 0]) > 0.5).astype(int)
    >>> model = GradientBoosting(epsilon=2.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1])
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        bounds: Bounds | None = None,
        classes: Sequence[object] | None = None,
        rounds: int = 40,
        learning_rate: float | None = None,
        max_leaves: int | None = None,
        bins: int = 32,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.classes = classes
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.bins = bins
        self.random_state = random_state

    def _on_arrays(self, X: Any, y: Any) -> Held:
        self.classes_ = classes = listed(self.classes, model="GradientBoosting")
        needs_bounds(self.bounds, model="GradientBoosting")
        found, labels = labelled(self, X, y)
        low, high = ends(self.bounds, self.n_features_in_)
        self._cells = cells = EqualCells(
            low=low, high=high, bins=parameters.whole("bins", self.bins)
        )
        self._ordered = [True] * self.n_features_in_
        return at_hand(
            lambda: Examples(x=cells.coded(found), y=coded(labels, classes)), cells.space
        )

    def on_table(
        self, session: Session, about: About, target: str | None, features: list[str]
    ) -> Held:
        held = super().on_table(session, about, target, features)
        self._ordered = [cells.ordered for cells in self.encoding_.bins]
        return held

    def check_parameters(self) -> None:
        """Refuse parameters that no fit can have."""
        parameters.whole("rounds", self.rounds)
        parameters.whole("bins", self.bins)
        if self.max_leaves is not None:
            parameters.whole("max_leaves", self.max_leaves, least=2)
        if self.learning_rate is not None:
            parameters.positive("learning_rate", self.learning_rate)

    def _how(self, held: Held) -> Descent:
        times = parameters.whole("rounds", self.rounds)
        return Descent(space=held.space, classes=len(self.classes_), steps=times, clip=0.5)

    def _parts(self, held: Held) -> list[Part]:
        how = self._how(held)
        counts_l2 = math.ldexp(held.space.norm, links.BITS)
        return [
            Part(share=_COUNTS, l2=up(held.rows * counts_l2), numbers=held.space.dimension),
            Part(
                share=1 - _COUNTS,
                l2=up(held.rows * how.gradient_l2),
                numbers=how.numbers,
                times=how.steps,
            ),
        ]

    def _steps(self, bought: Paid, held: Held) -> Generator[Any, Any, None]:
        how, handle = self._how(held), bought.handle
        space, unit = how.space, math.ldexp(1.0, links.BITS)
        assert isinstance(space, Cells)
        noise = noises(handle)[-1].sigma / unit
        noisy = yield handle.on(
            held.sum(
                lambda rows: space.total(
                    (some.x, some.taken(np.full(len(some.y), unit))) for some in rows.parts(space)
                ),
                l2=math.ldexp(space.norm, links.BITS),
                shape=space.dimension,
            )
        )
        counts = np.asarray(noisy, dtype=np.float64) / unit
        clear = _clearness(counts.sum() / len(space.sizes), noise)
        rate = self.learning_rate or 0.1 * math.sqrt(min(clear, 9.0))
        leaves = self.max_leaves or round(min(8 * clear, MOST_LEAVES))
        weights = np.maximum(counts, 0.0) / 4
        theta = np.zeros((space.dimension, *how.columns))
        for _ in range(how.steps):
            terms = partial(gradient, how, on_lattice(theta))
            noisy = yield handle.on(held.sum(terms, l2=how.gradient_l2, shape=theta.shape))
            slopes = np.asarray(noisy, dtype=np.float64) / unit
            theta -= rate * grown(
                space, slopes, weights, noise=noise, leaves=leaves, ordered=self._ordered
            )
        self.theta_ = theta

    def _scores(self, X: Any) -> Any:
        found = self._cells.coded(numbers(self, X))
        return self._cells.space.linear(self.theta_)(found)


def _clearness(rows: float, noise: float) -> float:
    """Rows divided by 80 times the noise of a cell, at least 1."""
    return max(rows / (80 * noise), 1.0)
