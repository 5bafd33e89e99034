"""A loss that a user brings: what it is asked about, and what counts of its results."""

import numpy as np
import pytest

import deniable as dp
from deniable.learn.convex import Ball, Box, brought, minimize
from deniable.learn.convex.descent import LATTICE


def by_row(x, X, y):
    """Of no rows it makes no matrix."""
    pairs = list(zip(X, y, strict=True))
    return np.array([abs(a @ x - b) for a, b in pairs]), np.array([a * b for a, b in pairs])


def sound_alone(x, X, y):
    assert np.isfinite(X).all()
    assert np.isfinite(y).all()
    return X @ x, X + 1.0


def mixing(x, X, y):
    return X @ x, X - X.mean(axis=0)


def mixing_away_from_the_center(x, X, y):
    return (X @ x) * (1 + X.mean()), X * x * X.sum()


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (3.0, "loss must be one of 'logistic'"),
        (None, "loss must be one of 'logistic'"),
        (mixing, "beside it"),
        (mixing_away_from_the_center, "beside it"),
        (lambda x, X, y: (X @ x, y), "fails on made-up rows: ValueError"),
    ],
    ids=range(5),
)
def test_what_is_no_loss_of_single_rows_is_refused_on_made_up_rows(loss, said):
    with pytest.raises(dp.BadParameter, match=said):
        brought.check(loss, domain=Ball(1.0), coordinates=3)


@pytest.mark.parametrize("domain", [Ball(0.1), Box(4.0, 5.0)], ids=str)
def test_a_loss_is_tried_at_points_of_the_set_alone(domain):
    def picky(x, X, y):
        assert np.allclose(domain.project(x), x, atol=1e-9)
        return X @ x, X

    brought.check(picky, domain=domain, coordinates=3)


def test_what_is_kept_back_covers_the_last_digits_of_a_thousand_rows_and_little_more():
    assert 1000 * np.sqrt(1000) / LATTICE < brought.SPARE < 0.002


@pytest.mark.parametrize("loss", [by_row, sound_alone])
@pytest.mark.parametrize("method", ["descent", "stochastic"])
@pytest.mark.parametrize("rows", [0, 1])
def test_a_function_is_not_asked_about_no_rows_or_missing_numbers(loss, method, rows, monkeypatch):
    """A sample may be empty, and a failure then would tell how many rows there are."""
    monkeypatch.setattr("deniable.learn.convex.stochastic._MOST", 20)
    X, y = np.full((rows, 2), np.nan), np.ones(rows)
    spend = dp.epsilon(1.0, delta=1e-6)
    found = minimize(
        loss, data=(X, y), domain=Ball(1.0), lipschitz=1.0, spend=spend, method=method, size=50
    )
    assert found.x.shape == (2,)


@pytest.mark.parametrize("odd", [[np.nan, 1.0, 1.0], [np.inf, 1.0, 1.0], [1.0, 1.0, -np.inf]])
def test_a_row_with_a_missing_number_has_no_influence_whatever_a_function_makes_of_it(odd):
    def filling(x, X, y):
        full = np.nan_to_num(X, nan=1.0, posinf=1.0)
        return full @ x + 1.0, full + 1.0

    data = np.array([odd])
    values, gradients = brought.called(filling, data[:, :2], data[:, 2])(np.zeros(2))
    assert values.tolist() == [0.0]
    assert gradients.tolist() == [[0.0, 0.0]]
