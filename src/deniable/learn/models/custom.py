"""Noisy gradient descent on any loss whose gradient you can write down."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, Final

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.learn.encoding import Numbers, read_rows
from deniable.learn.engine.budget import Paid, Part, batched, check_work, sampled
from deniable.learn.engine.examples import Examples, Held
from deniable.learn.engine.made_up import check_by_row, unchangeable
from deniable.learn.engine.made_up import numbers as returned
from deniable.learn.engine.rowwise import margins, squares
from deniable.learn.engine.spaces import Dense, Floats, Integers, up
from deniable.learn.from_table import as_number, needed_whole
from deniable.losses import Loss
from deniable.mechanisms import Mechanism
from deniable.query.rows import Matrix
from deniable.sampling import PublicRandom
from deniable.sensitive import Sensitive
from deniable.session import Session
from deniable.statistics.building import About

from ._estimator import PrivateEstimator, at_hand, check_is_fitted, labelled, numbers

Gradient = Callable[[Floats, Floats, Any], Any]
_SHAPE: Final = "def gradient(theta, X, y): return g  # of shape (len(X), dimension)"
_BITS: Final = 20
"""A gradient of the largest allowed length is 2²⁰ steps long."""
_LONGEST: Final = float(1 << _BITS)


class GradientDescent(PrivateEstimator):
    """Noisy gradient descent on your own loss: you write the gradient, we clip, add and noise it.

    `gradient(theta, X, y)` returns one gradient per row of X, in shape (n, dimension), or (n,) if
    the dimension is 1; y is an array of numbers, 0 where there are none. Each gradient is shortened
    to the norm `clip`, rounded towards 0 on a lattice and added up exactly; NaN counts as 0. The
    function is tried on made-up rows before anything is spent.
    Declare the Lipschitz constant of your loss as `clip`, and nothing is ever shortened.

    Privacy    (ε, δ)-DP for one row added or removed. Full batches: `steps` Gaussian noises
               [DRS22, Cor. 3.3]. With `sample_rate`, a fresh Poisson sample per step, priced by
               its loss distribution                                            [ZDW22, Thm 11]
               With `batches`, a step per disjoint batch: see `DisjointBatches`
    Assumes    each row of `gradient` depends on that row and on θ alone: write `margins(X, theta)`
               for `X @ theta`, whose last digit depends on the other rows. `size` is public, or
               noisy: it scales the steps, and is never counted

    >>> import numpy as np
    >>> X = np.linspace(0, 2, 4000).reshape(-1, 1)
    >>> def median(theta, X, y):
    ...     return np.sign(theta - X)
    >>> model = GradientDescent(gradient=median, dimension=1, clip=1.0, size=4000,
    ...                         epsilon=1.0, delta=1e-6, steps=50, learning_rate=0.1)
    >>> bool(abs(model.fit(X).theta_[0] - 1.0) < 0.2)
    True
    """

    def __init__(
        self,
        *,
        gradient: Gradient | None = None,
        dimension: int = 1,
        clip: float | None = None,
        size: float | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        steps: int = 100,
        learning_rate: float = 0.1,
        momentum: float = 0.0,
        sample_rate: float | None = None,
        batches: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.gradient = gradient
        self.dimension = dimension
        self.clip = clip
        self.size = size
        self.epsilon = epsilon
        self.delta = delta
        self.steps = steps
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.sample_rate = sample_rate
        self.batches = batches
        self.random_state = random_state

    def _on_arrays(self, X: Any, y: Any) -> Held:
        self.check_parameters()
        found, target = numbers(self, X, reset=True), np.zeros(0)
        self._try_gradient(found.shape[1])
        if y is not None:
            found, target = labelled(self, X, y, numeric=True)
        targets = target if y is not None else np.zeros(len(found))
        return at_hand(lambda: Examples(x=found, y=targets), Dense(dimension=self.dimension))

    def on_table(
        self, session: Session, about: About, target: str | None, features: list[str]
    ) -> Held:
        self._try_gradient(len(features))
        names = features if target is None else [*features, target]
        columns = {name: as_number(about, name) for name in names}
        rows, read = read_rows(about, {}, numbers=columns)
        weighted = session.unit.column is not None

        def examples(matrix: Matrix) -> Examples:
            found, whole = read.all_values(matrix, names)
            wanted = np.zeros(len(found)) if target is None else found[:, -1]
            weights, who = (matrix.weights, matrix.digests) if weighted else (None, None)
            x = found[:, : len(features)]
            return Examples(x=x, y=wanted, w=weights, who=who).where(whole, 0)

        self.encoding_, self.features_ = Numbers(names=tuple(features)), list(features)
        space = Dense(dimension=self.dimension)
        needs = needed_whole(about, names)
        return Held(examples, space=space, unit=session.unit, rows=rows, needs=needs)

    def check_parameters(self) -> None:
        """Refuse parameters that no fit can have."""
        if self.gradient is None or self.clip is None or self.size is None:
            raise BadParameter(
                "GradientDescent needs gradient, clip and size",
                why="noise is sized to the longest gradient that one row may have, and the number "
                "of rows is private",
                fix="GradientDescent(gradient=f, dimension=3, clip=1.0, size=10_000, ...)",
            )
        if not callable(self.gradient):
            raise BadParameter.of("gradient", self.gradient, must="a function of theta, X and y")
        for name in ("clip", "size", "learning_rate"):
            parameters.positive(name, getattr(self, name))
        for name in ("steps", "dimension"):
            parameters.whole(name, getattr(self, name))
        parameters.fraction_below_one("momentum", self.momentum)
        if self.sample_rate is not None:
            parameters.probability("sample_rate", self.sample_rate)
        if self.batches is not None:
            parameters.whole("batches", self.batches)
            if self.sample_rate is not None:
                raise BadParameter(
                    "a step sees a Poisson sample or a disjoint batch, not both",
                    fix="leave out sample_rate= or batches=",
                )

    def _try_gradient(self, columns: int) -> None:
        """Refuse a function that fails, mixes rows or returns other than a gradient per row."""
        theta = PublicRandom(16).generator.normal(size=self.dimension)
        check_by_row(
            lambda rows, targets: (self._called(theta, rows, targets),),
            what="gradient",
            columns=columns,
            fix=_SHAPE,
        )

    def _called(self, theta: Floats, X: Floats, y: Any) -> Floats:
        """The user's gradients, a line per row; the function cannot change its input.

        It is never asked about no rows, of which many a function makes another shape.
        """
        assert self.gradient is not None
        if not len(X):
            return np.zeros((0, self.dimension))
        with np.errstate(all="ignore"):
            given = self.gradient(theta.copy(), unchangeable(X), unchangeable(y))
        whole = (len(X), self.dimension)
        return returned(given, whole, *([whole[:1]] if self.dimension == 1 else []))

    @property
    def _clip(self) -> float:
        return parameters.positive("clip", self.clip)

    @property
    def _in_mu(self) -> bool:
        return self.sample_rate is None

    def _parts(self, held: Held) -> list[Part]:
        l2 = up(held.rows * _LONGEST)
        return [Part(share=1.0, l2=l2, numbers=self.dimension, times=self.steps)]

    def planned(self, held: Held, loss: Loss) -> Mechanism:
        """Full batches; Poisson samples; or disjoint batches, of which an epoch costs one."""
        check_work(passes=self.steps * self._share, numbers=self.steps * self.dimension)
        if self.sample_rate is not None:
            held.check_sampled()
            rate = parameters.probability("sample_rate", self.sample_rate)
            return sampled(l2=up(_LONGEST), rate=rate, times=self.steps, to=loss)
        if self.batches is not None:
            epochs = -(-self.steps // self.batches)
            l2 = up(held.rows * _LONGEST)
            return batched(l2=l2, batches=self.batches, epochs=epochs, to=loss)
        return super().planned(held, loss)

    def _sum(self, held: Held, step: int, terms: Callable[[Examples], Any]) -> Sensitive[Any]:
        """The sum of the step's own rows."""
        shape = held.space.dimension
        if self.sample_rate is not None:
            return held.sampled(terms, l2=_LONGEST, shape=shape)
        if self.batches is not None:
            number = step % self.batches
            return held.batch(terms, number=number, of=self.batches, l2=_LONGEST, shape=shape)
        return held.sum(terms, l2=_LONGEST, shape=shape)

    @property
    def _share(self) -> float:
        """Of the rows that a step sees, on average."""
        if self.sample_rate is not None:
            return parameters.probability("sample_rate", self.sample_rate)
        return 1.0 if self.batches is None else 1 / self.batches

    def _steps(self, bought: Paid, held: Held) -> Generator[Any, Any, None]:
        times = self.steps
        pace = parameters.positive("learning_rate", self.learning_rate)
        keep = parameters.fraction_below_one("momentum", self.momentum)
        theta = np.zeros(self.dimension)
        speed, mean, kept = np.zeros_like(theta), np.zeros_like(theta), times - times // 2
        for step in range(times):
            terms = partial(self._shortened, theta.copy())
            noisy = yield bought.handle.on(self._sum(held, step, terms))
            slope = self._slope(noisy)
            speed = keep * speed - pace * slope
            theta = theta + speed
            if step >= times - kept:
                mean += theta / kept
        self.theta_ = mean

    def _slope(self, noisy: object) -> Floats:
        """The mean gradient of a row, from a noisy sum on the lattice."""
        size = parameters.positive("size", self.size) * self._share
        return np.asarray(noisy, dtype=np.float64) * math.ldexp(self._clip, -_BITS) / size

    def _shortened(self, theta: Floats, rows: Examples) -> Integers:
        """Σ over rows of the user's gradients, each at most 2²⁰ steps long."""
        with np.errstate(over="ignore"):  # a warning would tell that a row is large
            made = self._called(theta, rows.x, rows.y) / self._clip
        sound = np.clip(np.nan_to_num(made, nan=0.0, posinf=1e9, neginf=-1e9), -1e9, 1e9)
        rounded = (2.0**12 + self.dimension) * 2.0**-52  # each addition may round by 2⁻⁵³
        shrink = math.ldexp(1 - rounded, _BITS) / np.sqrt(np.maximum(squares(sound), 1.0))
        short = rows.taken(np.trunc(sound * shrink[:, None]))
        total: Integers = short.astype(np.int64).sum(axis=0)
        return total

    def predict(self, X: Any) -> Any:
        """⟨row, θ⟩ for each row."""
        check_is_fitted(self, "theta_")
        return margins(numbers(self, X), self.theta_)
