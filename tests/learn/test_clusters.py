"""Lloyd's steps are the textbook's, on sums without noise."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError
from tests.learn import told

import deniable as dp
from deniable.learn import KMeans
from deniable.learn.engine.examples import unlabelled
from deniable.learn.engine.groups import Groups
from deniable.learn.engine.spaces import DENSE, Dense
from deniable.learn.models.clusters import _by_cluster, _moved, _on_lattice, _spread
from deniable.sampling.public import PublicRandom

UNIT = 1 << DENSE
BOUNDS = ([0.0, -4.0], [10.0, 4.0])
DRAW = np.random.default_rng(1)
CENTRES = np.array([[2.0, -2.0], [8.0, -2.0], [5.0, 3.0]])
X = (CENTRES[np.arange(300) % 3] + DRAW.normal(0, 0.3, (300, 2))).clip(*BOUNDS)


@pytest.mark.parametrize("steps", [1, 4])
def test_centres_are_the_means_of_the_rows_that_are_nearest(steps):
    model = told.fitted(KMeans(n_clusters=3, steps=steps, bounds=BOUNDS), X, sigmas=[UNIT])
    middle, half = np.array([5.0, 0.0]), np.array([5.0, 4.0]) * np.sqrt(2)
    rows, centres = (X - middle) / half, _spread(3, 2)
    for _ in range(steps):
        nearest = cdist(rows, centres).argmin(axis=1)
        own = [rows[nearest == place] for place in range(3)]
        centres = np.array(
            [
                each.mean(axis=0) if len(each) > 3 else c
                for each, c in zip(own, centres, strict=True)
            ]
        )
    assert model.cluster_centers_ == pytest.approx(centres * half + middle, abs=0.01)
    assert model.transform(X) == pytest.approx(cdist(X, model.cluster_centers_))
    assert model.predict(X).tolist() == cdist(X, model.cluster_centers_).argmin(axis=1).tolist()


def test_distances_are_along_the_features_that_are_there_however_far():
    model = told.fitted(KMeans(n_clusters=2, steps=1, bounds=BOUNDS), X)
    first, second = model.cluster_centers_
    found = model.transform([[7.0, np.nan], [np.nan, 1.0]])
    assert found == pytest.approx(
        np.abs([[7 - first[0], 7 - second[0]], [1 - first[1], 1 - second[1]]])
    )
    far = model.transform([[np.inf, 0.0], [0.0, -1e300]])
    assert far == pytest.approx(np.full((2, 2), 1e150))


@pytest.mark.parametrize(("clusters", "tried"), [(1, 200), (3, 200), (10, 200), (15, 300)])
@pytest.mark.parametrize("dimension", [1, 3])
def test_each_start_is_the_farthest_of_many_from_those_before(clusters, tried, dimension):
    many = PublicRandom(0).generator.uniform(-0.8, 0.8, (tried, dimension)) / np.sqrt(dimension)
    found = _spread(clusters, dimension)
    assert found.shape == (clusters, dimension)
    assert found[0].tolist() == many[0].tolist()
    for place in range(1, clusters):
        nearest = cdist(many, found[:place]).min(axis=1)
        assert found[place].tolist() == many[nearest.argmax()].tolist()


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_rows_are_counted_at_the_nearest_centre(dimension):
    how = Groups(space=Dense(dimension=dimension), groups=4, squares=False)
    draw = np.random.default_rng(dimension)
    end = 1 / np.sqrt(dimension)
    centres = draw.uniform(-end, end, (4, dimension))
    rows = how.space.rounded(draw.uniform(-end, end, (200, dimension)))
    nearest = cdist(rows / UNIT, centres).argmin(axis=1)
    found = _by_cluster(how, _on_lattice(centres), unlabelled(rows))
    for place in range(4):
        own = rows[nearest == place].astype(np.int64)
        assert found[place].tolist() == [len(own) * UNIT, *own.sum(axis=0)]


def test_a_centre_moves_within_the_bounds_where_its_count_stands_out():
    how = Groups(space=Dense(dimension=2), groups=5, squares=False)
    centres = np.linspace(-0.5, 0.4, 10).reshape(5, 2)
    counts = np.array([6.0, 6.5, 40.0, 40.0, -50.0])
    totals = np.array([[1.0, 1.0], [1.3, -2.6], [90.0, -90.0], [10.0, 20.0], [1.0, 1.0]])
    found = _moved(how, centres, np.column_stack([counts, totals]) * UNIT, noise=2.0)
    end = np.sqrt(0.5)
    wanted = [centres[0], [0.2, -0.4], [end, -end], [0.25, 0.5], centres[4]]
    assert found == pytest.approx(np.array(wanted))


def test_there_are_at_most_a_thousand_clusters_and_some_steps():
    KMeans(n_clusters=1000).check_parameters()
    for wrong in ({"n_clusters": 1001}, {"n_clusters": 0}, {"steps": 0}, {"steps": 1.5}):
        with pytest.raises(dp.BadParameter):
            KMeans(**wrong).check_parameters()


def test_nothing_is_predicted_before_a_fit():
    with pytest.raises(NotFittedError):
        KMeans().transform(X)
