"""Scaling and components are NumPy's, on moments without noise."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.learn import told

import deniable as dp
from deniable.learn import PCA, StandardScaler
from deniable.learn.engine.spaces import DENSE
from deniable.learn.models.preparation import _centred
from deniable.learn.models.scaling import scaling

UNIT = 1 << DENSE
BOUNDS = ([0.0, -4.0, -1.0], [10.0, 4.0, 3.0])


def table(seed=0, rows=500):
    draw = np.random.default_rng(seed)
    mixed = draw.normal(size=(rows, 3)) @ draw.normal(size=(3, 3))
    return (mixed * [0.8, 0.5, 0.2] + [6.0, 0.5, 1.5]).clip(*BOUNDS)


X = table()


# ---- standard scaling


def test_rows_are_scaled_by_their_means_and_standard_deviations():
    model = told.fitted(StandardScaler(bounds=BOUNDS), X, sigmas=[1e-3 * UNIT])
    assert model.mean_ == pytest.approx(X.mean(axis=0), abs=0.01)
    assert model.var_ == pytest.approx(X.var(axis=0), rel=0.02)
    assert model.scale_ == pytest.approx(np.sqrt(model.var_))
    new = np.array([[1.0, -2.0, 0.5], [20.0, 0.0, np.nan]])
    found = model.transform(new)
    np.testing.assert_allclose(found, (new - model.mean_) / model.scale_)
    np.testing.assert_allclose(model.inverse_transform(found), new, rtol=1e-12, atol=1e-12)


def test_a_feature_without_variance_is_divided_by_a_thousandth_of_its_bounds():
    def lower(sums):
        """Noise that takes off more squares than there are."""
        return sums - np.array([[0, 0, 0, 0, *[40 * UNIT] * 3]])

    same = np.tile([5.0, 1.0, 2.0], (30, 1))
    model = told.fitted(StandardScaler(bounds=BOUNDS), same, answer=lower)
    assert model.var_.tolist() == [0.0, 0.0, 0.0]
    assert model.scale_ == pytest.approx([5e-3, 4e-3, 2e-3])


# ---- principal components


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kept", [None, 1, 3])
def test_components_are_those_of_the_covariance_the_largest_first(kept, seed):
    rows = table(seed)
    model = told.fitted(PCA(n_components=kept, bounds=BOUNDS), rows, sigmas=[1e-3])
    mean, covariance = rows.mean(axis=0), np.cov(rows.T, ddof=0)
    values = np.sort(np.linalg.eigvalsh(covariance))[::-1]
    count = kept or 3
    assert model.n_components_ == model._n_features_out == len(model.components_) == count
    assert model.mean_ == pytest.approx(mean, abs=0.01)
    assert model.explained_variance_ == pytest.approx(values[:count], abs=0.01)
    assert model.explained_variance_ratio_ == pytest.approx(
        model.explained_variance_ / values.sum(), rel=0.02
    )
    for value, component in zip(model.explained_variance_, model.components_, strict=True):
        assert np.linalg.norm(component) == pytest.approx(1.0)
        assert covariance @ component == pytest.approx(value * component, abs=0.01)
        assert component[np.abs(component).argmax()] > 0


def test_coordinates_are_along_the_components_and_lead_back():
    model = told.fitted(PCA(bounds=BOUNDS), X, sigmas=[1e-3])
    new = X[:5]
    assert model.transform(new) == pytest.approx((new - model.mean_) @ model.components_.T)
    assert model.inverse_transform(model.transform(new)) == pytest.approx(new)


def test_a_covariance_that_noise_drowns_explains_nothing():
    model = told.fitted(PCA(bounds=BOUNDS), X, answer=lambda sums: -np.abs(sums))
    assert model.explained_variance_.tolist() == [0.0] * 3
    assert model.explained_variance_ratio_.tolist() == [0.0] * 3


@pytest.mark.parametrize(
    ("last", "noise", "count"), [(25.0, 3.0, 100.0), (25.0, 200.0, 200.0), (0.0, 0.5, 1.0)]
)
def test_moments_are_divided_by_a_count_that_stands_out_from_the_noise(last, noise, count):
    """The constant feature is ½, and the others are scaled by √¾ of what they were."""
    scaled = scaling(2, bounds=([0, 0], [2, 6]), norm=None, intercept=True, model="PCA")
    matrix = np.array([[9.0, 1.0, 4.0], [1.0, 8.0, -3.0], [4.0, -3.0, last]])
    mean, covariance = _centred(matrix, noise=noise, scaled=scaled)
    own = np.array([4.0, -3.0]) / 0.5 / count
    wide = np.sqrt(2) * np.array([1.0, 3.0]) / np.sqrt(0.75)
    assert mean == pytest.approx(own * wide + [1.0, 3.0])
    apart = matrix[:2, :2] / count - np.outer(own, own)
    assert covariance == pytest.approx(apart * np.outer(wide, wide))


def test_there_are_no_more_components_than_features():
    for kept in (3, 4):
        model = PCA(n_components=kept, bounds=BOUNDS)
        held = model._on_arrays(X, None)
        if kept == 3:
            (part,) = model._parts(held)
            assert (part.share, part.numbers) == (1.0, 10)
            continue
        with pytest.raises(dp.BadParameter, match="at most 3"):
            model._parts(held)


@pytest.mark.parametrize("kind", [PCA, StandardScaler])
def test_nothing_is_transformed_before_a_fit(kind):
    for use in (kind.transform, kind.inverse_transform):
        with pytest.raises(NotFittedError):
            use(kind(), X)
