"""Membership from published correlations."""

import numpy as np
import pytest

from deniable.attacks import from_correlations, from_frequencies, membership
from deniable.errors import BadParameter


def population(people, columns=80, seed=0):
    """Correlated columns, so that the usual correlations have to be known to see the unusual."""
    rng = np.random.default_rng(seed)
    mix = np.random.default_rng(99).normal(size=(columns, columns)) * 0.1 + np.eye(columns)
    return rng.normal(size=(people, columns)) @ mix


def test_correlations_give_members_away_where_means_hardly_do():
    pool, strangers, others = (population(n, seed=s) for n, s in ((60, 1), (300, 2), (2000, 3)))
    found = from_correlations(
        np.corrcoef(pool.T), members=pool, controls=strangers, reference=others
    )
    means = from_frequencies(pool.mean(axis=0), members=pool, controls=strangers, reference=others)
    assert found.auc > 0.97
    assert found.auc > means.auc
    assert found.source == "3,160 published correlations"


def test_people_who_are_not_in_it_cannot_be_told_apart():
    """Both groups are strangers: AUC has a standard error of 0.024; 0.13 is 5.4 of them."""
    first, second, pool = (population(300, seed=s) for s in (4, 5, 6))
    published = np.corrcoef(pool.T)
    found = from_correlations(
        published, members=first, controls=second, reference=population(2000, seed=7)
    )
    assert abs(found.auc - 0.5) < 0.13


def test_noise_that_covers_the_correlations_stops_it():
    pool, strangers, others = (population(n, seed=s) for n, s in ((60, 1), (300, 2), (2000, 3)))
    noisy = np.corrcoef(pool.T) + np.random.default_rng(8).normal(scale=5, size=(80, 80))
    found = from_correlations(noisy, members=pool, controls=strangers, reference=others)
    assert abs(found.auc - 0.5) < 0.25


def test_a_square_matrix_is_taken_for_correlations():
    pool, strangers = population(40, seed=1), population(100, seed=2)
    found = membership(np.corrcoef(pool.T), members=pool, controls=strangers)
    assert "correlations" in found.source


@pytest.mark.parametrize("published", [np.eye(3), np.full((80, 80), np.nan), np.zeros(80)])
def test_a_matrix_that_does_not_fit_is_refused(published):
    people = population(20)
    with pytest.raises(BadParameter):
        from_correlations(published, members=people, controls=people)
