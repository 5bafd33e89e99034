"""Noise in floating point, running time, and beliefs."""

import numpy as np
import pytest
from tests import goodness

import deniable as dp
from deniable.attacks import (
    best_guess,
    defended,
    floating_point,
    lesson,
    plot_beliefs,
    poll,
    posterior_bounds,
    timing,
)
from deniable.sampling.public import PublicRandom


@pytest.fixture(scope="module")
def coins():
    return PublicRandom(0).generator.integers(0, 2, 3_000).astype(float)


def test_the_last_bits_of_float_noise_give_the_value_away(coins):
    draw = PublicRandom(1).generator
    answers = np.array([draw.laplace(loc=value, scale=1.0) for value in coins])
    found = floating_point(answers, candidates=[0.0, 1.0], scale=1.0)
    assert np.all(found.possible[np.arange(coins.size), coins.astype(int)])  # the truth passes
    assert found.decided > 0.7
    # ε = 1 allows 73.1 %: 3,000 guesses reach 85 % with probability below 1e-40.
    assert found.accuracy(coins) > 0.85 > best_guess(1.0)


def test_the_headline_says_how_many_guesses_were_sure_and_what_share_of_them_is_right(coins):
    draw = PublicRandom(1).generator
    answers = np.array([draw.laplace(loc=value, scale=1.0) for value in coins])
    options = {"candidates": [0.0, 1.0], "scale": 1.0}
    found = floating_point(answers, truth=coins, **options)
    sure = int(found.sure.sum())
    assert found.sure_and_right == 1.0
    headline = found.explain().splitlines()[0]
    assert headline.startswith(f"{sure:,} of 3,000 guesses were sure")
    assert f"100 % of those {sure:,} were right" in headline
    flipped = floating_point(answers, truth=1 - coins, **options)
    assert f"0 % of those {sure:,} were right" in flipped.explain()
    unknown = floating_point(answers, **options)
    assert unknown.sure_and_right is None
    assert "not checked" in unknown.explain()
    with pytest.raises(dp.BadParameter, match="truth"):
        floating_point(answers, truth=[0.0, 1.0], **options)


def test_sure_guesses_about_exact_noise_are_no_better_than_epsilon_allows(coins):
    # At most 3,000 sure guesses, 5.5 standard deviations above the best guess: below 1e-7.
    found = defended.floating_point(coins, candidates=[0.0, 1.0], epsilon=1.0)
    sure = int(found.sure.sum())
    headline = found.explain().splitlines()[0]
    assert headline.startswith(f"{sure:,} of 3,000 guesses were sure")
    if sure:
        assert found.sure_and_right < best_guess(1.0) + 5.5 * 0.5 / np.sqrt(sure)
        assert "were right" in headline


def test_a_handful_of_answers_recovers_the_value():
    answers = PublicRandom(2).generator.laplace(loc=1.0, scale=1.0, size=40)
    found = floating_point(answers, candidates=[0.0, 1.0], scale=1.0)
    assert found.recovered == 1.0
    assert "1 alone explains them all" in found.explain()
    assert found.plot() is not None


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_exact_noise_on_a_lattice_gives_away_what_epsilon_allows(coins, epsilon):
    # False alarm below 1e-7: wrong guesses are at least as frequent as for the best guess.
    found = defended.floating_point(coins, candidates=[0.0, 1.0], epsilon=epsilon)
    assert found.recovered is None
    wrong = round((1 - found.accuracy(coins)) * coins.size)
    assert goodness.covered(wrong, coins.size, 1 - best_guess(epsilon)) > 1e-7


def test_a_clock_tells_slow_from_fast():
    now = {"time": 0.0}

    def passing(seconds):
        def run():
            now["time"] += seconds

        return run

    found = timing(passing(2.0), passing(1.0), calls=200, clock=lambda: now["time"])
    assert found.auc == 1.0
    assert found.epsilon_lower() > 2
    assert "distinguishes the two" in found.explain()
    assert timing(passing(1.0), passing(1.0), clock=lambda: now["time"]).epsilon_lower() == 0


def test_a_sampler_that_counts_coins_betrays_its_noise():
    # The textbook geometric sampler: one step of work for each unit of noise.
    now = {"time": 0}

    def run(noise):
        return lambda: now.update(time=now["time"] + noise)

    found = timing(run(10), run(3), calls=100, clock=lambda: float(now["time"]))
    assert found.auc == 1.0


def test_exact_noise_takes_the_same_time_whatever_the_value():
    # False alarm 1e-7: pairs are timed side by side, so a busy machine slows both alike.
    noise = dp.Laplace(scale=1.0)
    found = timing(lambda: noise.release(0.0), lambda: noise.release(1.0), calls=300)
    assert found.epsilon_lower(1 - 1e-7) <= 1.0
    assert found.plot() is not None


def test_a_poll_before_and_after_gives_the_newcomer_away():
    assert poll(57, 58).value == 1
    assert poll(57, 57).value == 0
    assert "exactly 1" in poll(57, 58).explain()


def test_a_private_poll_does_not():
    found = defended.poll(57, 58, epsilon=1.0)
    assert found.error > 5
    assert found.low == 0
    # Guess "yes" if the difference is above ½. ε = 1 allows 73.1 % of right guesses; more of them
    # in 400 polls alarm falsely with probability below 1e-7.
    draw = PublicRandom(9).generator
    votes = draw.integers(0, 2, 400)
    right = sum(
        (defended.poll(57, 57 + int(vote), epsilon=1.0).value > 0.5) == bool(vote) for vote in votes
    )
    assert goodness.covered(400 - right, 400, 1 - best_guess(1.0)) > 1e-7


def test_beliefs_move_by_at_most_the_factor_of_epsilon():
    for prior in (0.01, 0.3, 0.5, 0.99):
        for epsilon in (0.1, 1.0, 3.0):
            low, high = posterior_bounds(prior, epsilon=epsilon)
            odds = prior / (1 - prior)
            assert high / (1 - high) == pytest.approx(odds * np.exp(epsilon))
            assert low / (1 - low) == pytest.approx(odds * np.exp(-epsilon))
    assert posterior_bounds(0.0, epsilon=1.0) == (0.0, 0.0)
    assert posterior_bounds(1.0, epsilon=1.0) == (1.0, 1.0)


def test_a_study_teaches_about_people_who_are_not_in_it():
    told = lesson(prior=0.1, likely=(0.9, 0.2), answer=(0.5, 0.5), epsilon=1.0)
    assert told.from_the_study > 0.2
    assert told.from_taking_part == pytest.approx(0)
    assert "about everyone like them" in told.explain()
    assert told.plot() is not None


def test_what_taking_part_adds_is_within_epsilon():
    told = lesson(prior=0.1, likely=(0.9, 0.2), answer=(np.exp(1.0) / 10, 0.1), epsilon=1.0)
    assert told.with_them == pytest.approx(posterior_bounds(told.without, epsilon=1.0)[1])


def test_beliefs_are_drawn_through_the_common_picture():
    ax = plot_beliefs([0.1, 1.0])
    assert "belief" in ax.get_xlabel()


@pytest.mark.parametrize(
    "call",
    [
        lambda: floating_point([1.0], candidates=[0.0], scale=1.0),
        lambda: floating_point([np.inf], candidates=[0.0, 1.0], scale=1.0),
        lambda: floating_point([1.0], candidates=[0.0, 1.0], scale=0.0),
        lambda: posterior_bounds(1.5, epsilon=1.0),
        lambda: timing(int, int, calls=1),
        lambda: defended.differencing([1.0], person=5, low=0, high=1),
    ],
)
def test_nonsense_is_refused(call):
    with pytest.raises(dp.BadParameter):
        call()
