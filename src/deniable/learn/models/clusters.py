"""k-means by noisy Lloyd steps."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any, Final

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.learn.engine.budget import Paid, Part
from deniable.learn.engine.examples import Examples, Held
from deniable.learn.engine.groups import Groups
from deniable.learn.engine.moments import noises
from deniable.learn.engine.spaces import THETA, Floats, Integers
from deniable.learn.scikit_learn import ClusterMixin
from deniable.sampling.public import PublicRandom

from ._estimator import check_is_fitted, numbers
from .preparation import Unlabelled
from .scaling import Bounds

_MOST: Final = 1_000


class KMeans(ClusterMixin, Unlabelled):
    """k-means: a few noisy Lloyd steps from public starting points spread over the bounds.

    Privacy    (ε, δ)-DP for one row added or removed: `steps` noisy tables of counts and sums by
               cluster, each row in one cluster                               [DRS22, Cor. 3.3]
    Assumes    `bounds` of every feature: public. Values outside are clipped

    Which cluster a row of the training data is in is not stored: that would not be private.

    >>> import numpy as np
    >>> X = np.concatenate([np.full((2000, 1), 1.0), np.full((2000, 1), 9.0)])
    >>> model = KMeans(n_clusters=2, epsilon=1.0, delta=1e-6, bounds=(0, 10)).fit(X)
    >>> np.sort(model.cluster_centers_[:, 0]).round().tolist()
    [1.0, 9.0]
    """

    def __init__(
        self,
        *,
        n_clusters: int = 8,
        epsilon: float | None = None,
        delta: float | None = None,
        bounds: Bounds | None = None,
        steps: int = 6,
        random_state: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.steps = steps
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Refuse parameters that no fit can have."""
        if parameters.whole("n_clusters", self.n_clusters) > _MOST:
            must = f"at most {_MOST:,}, as the time that a row takes grows with it"
            raise BadParameter.of("n_clusters", self.n_clusters, must=must)
        parameters.whole("steps", self.steps)

    def _how(self, held: Held) -> Groups:
        clusters = parameters.whole("n_clusters", self.n_clusters)
        return Groups.of(held, groups=clusters, squares=False)

    def _parts(self, held: Held) -> list[Part]:
        times = parameters.whole("steps", self.steps)
        return self._how(held).parts(held, times=times)

    def _steps(self, bought: Paid, held: Held) -> Generator[Any, Any, None]:
        how = self._how(held)
        noise = noises(bought.handle)[0].sigma / how.space.unit
        centres = _spread(how.groups, how.space.dimension)
        for _ in range(self.steps):
            terms = partial(_by_cluster, how, _on_lattice(centres))
            noisy = yield bought.handle.on(held.sum(terms, l2=how.l2, shape=how.shape))
            centres = _moved(how, centres, noisy, noise)
        self.cluster_centers_ = centres

    def _finish(self) -> None:
        scaled = self._scaling
        self.cluster_centers_ = self.cluster_centers_ * scaled.scale + scaled.middle

    def transform(self, X: Any) -> Any:
        """The distance of each row to each centre, along the features that are not missing."""
        check_is_fitted(self, "cluster_centers_")
        rows = np.clip(numbers(self, X), -1e150, 1e150)
        apart = rows[:, None, :] - self.cluster_centers_
        return np.sqrt(np.nansum(apart**2, axis=2))

    def predict(self, X: Any) -> Any:
        """The nearest centre of each row."""
        return self.transform(X).argmin(axis=1)

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """The nearest centre of each row of X, after learning from it."""
        return self.fit(X, y).predict(X)


def _spread(clusters: int, dimension: int) -> Floats:
    """Starting points that are public: the farthest of many random ones from those before."""
    random = PublicRandom(0).generator
    many = random.uniform(-0.8, 0.8, (max(200, 20 * clusters), dimension)) / np.sqrt(dimension)
    chosen, apart = [many[0]], np.full(len(many), np.inf)
    for _ in range(clusters - 1):
        apart = np.minimum(apart, ((many - chosen[-1]) ** 2).sum(axis=1))
        chosen.append(many[apart.argmax()])
    return np.array(chosen)


def _on_lattice(centres: Floats) -> Integers:
    """Centres within the bounds as whole numbers: products with rows stay below 2³³·d."""
    return np.rint(np.ldexp(centres, THETA)).astype(np.int64)


def _by_cluster(how: Groups, centres: Integers, rows: Examples) -> Integers:
    """Counts and sums by nearest centre, which is found in whole numbers: ‖c‖² − 2⟨x, c⟩."""
    products = how.space.linear(centres.T)(rows.x)
    squares = (centres.astype(object) ** 2).sum(axis=1) >> (THETA - 13)
    apart = np.array(squares.tolist(), dtype=np.int64) - 2 * products
    return how.sums(rows, apart.argmin(axis=1))


def _moved(how: Groups, centres: Floats, noisy: object, noise: float) -> Floats:
    """Noisy means; a cluster whose count noise drowns stays where it is."""
    count, total, _ = how.read(noisy)
    enough = count > 3 * noise
    moved = np.where(enough[:, None], total / np.where(enough, count, 1.0)[:, None], centres)
    end = 1 / np.sqrt(how.space.dimension)
    return np.clip(moved, -end, end)
