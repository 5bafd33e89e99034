"""What scores prove: rates, curves and the bound on ε."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import deniable as dp
from deniable.attacks import best_guess
from deniable.attacks.evidence import Membership, epsilon_from_rates, rate_bounds
from deniable.sampling.public import PublicRandom


def scores(inside, outside):
    return Membership(
        inside=np.asarray(inside, float), outside=np.asarray(outside, float), source="a test",
        test="a score",
    )  # fmt: skip


def test_perfect_and_useless_scores():
    assert scores([3, 4], [1, 2]).auc == 1.0
    assert scores([1, 2], [1, 2]).auc == 0.5
    assert scores([3, 4], [1, 2]).tpr_at(0.0) == 1.0
    assert scores([3, 4], [1, 2]).advantage == 1.0


@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_the_auc_is_the_chance_that_a_member_scores_higher(inside, outside):
    pairs = [(a > b) + 0.5 * (a == b) for a in inside for b in outside]
    assert scores(inside, outside).auc == pytest.approx(np.mean(pairs))


def test_tied_scores_are_split_by_a_coin():
    assert scores([1, 1, 0, 0], [1, 0, 0, 0]).tpr_at(0.125) == pytest.approx(0.25)


@given(st.integers(1, 200), st.data())
def test_rate_bounds_are_clopper_pearson(trials, data):
    hits = data.draw(st.integers(0, trials))
    low, high = rate_bounds(hits, trials, alpha=0.01)
    exact = stats.binomtest(hits, trials).proportion_ci(0.98, method="exact")
    assert low == pytest.approx(exact.low, abs=1e-9)
    assert high == pytest.approx(exact.high, abs=1e-9)


def randomized_response(epsilon, size, seed):
    """Scores whose true ε is known, and attained by every cut."""
    draw = PublicRandom(seed).generator
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    return scores(draw.random(size) < keep, draw.random(size) >= keep)


def test_the_bound_comes_near_the_truth_and_hardly_ever_passes_it():
    # 200 bounds at 99 %: more than 20 above the truth has probability below 1e-13.
    bounds = [randomized_response(1.0, 2_000, seed).epsilon_lower(0.99) for seed in range(200)]
    assert sum(bound > 1.0 for bound in bounds) <= 20
    assert 0.75 < np.median(bounds) < 1.0


def test_delta_lowers_the_bound():
    told = randomized_response(2.0, 2_000, 0)
    assert 0 < told.epsilon_lower(delta=0.2) < told.epsilon_lower()


def test_one_sided_scores_are_seen_from_either_side():
    draw = PublicRandom(0).generator
    # Members never score low: only the rule "out, if low" proves much.
    inside, outside = draw.uniform(0.5, 1, 4_000), draw.uniform(0, 1, 4_000)
    assert scores(inside, outside).epsilon_lower() > 4


def test_even_rates_prove_nothing():
    assert epsilon_from_rates((50, 100), (50, 100), alpha=0.05) == 0.0
    assert epsilon_from_rates((0, 100), (50, 100), alpha=0.05) == 0.0


@pytest.mark.parametrize(("epsilon", "guess"), [(0, 0.5), (math.log(3), 0.75), (1, 0.7310586)])
def test_the_best_guess_under_epsilon(epsilon, guess):
    assert best_guess(epsilon) == pytest.approx(guess)
    assert best_guess(epsilon, prior=0.9) >= 0.9 - 1e-12


def test_nobody_is_not_a_control():
    with pytest.raises(dp.BadParameter, match="at least one member"):
        scores([1], [])


def test_the_picture_shades_what_epsilon_allows():
    ax = randomized_response(1.0, 100, 0).plot()
    assert ax.get_xscale() == ax.get_yscale() == "log"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "guessing" in labels
