"""Reconstruction: what each decoder finds below √n, and that private noise stops all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import goodness

import deniable as dp
from deniable.attacks import all_subsets, breakdown, defended, hadamard_counts, reconstruct
from deniable.attacks.reconstruction.exact import exhaustive
from deniable.attacks.reconstruction.fourier import walsh_hadamard
from deniable.sampling.public import PublicRandom
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import using


def case(n, m, *, noise, level, seed=0):
    draw = PublicRandom(seed).generator
    bits = draw.integers(0, 2, n)
    asked = draw.integers(0, 2, (m, n), dtype=np.int8)
    size = level * np.sqrt(n)
    error = {
        "bounded": lambda: draw.uniform(-size, size, m),
        "laplace": lambda: draw.laplace(scale=size, size=m),
        "gaussian": lambda: draw.normal(scale=size, size=m),
    }[noise]()
    return bits, asked, asked.astype(float) @ bits + error


def test_bounded_noise_of_a_third_of_root_n_loses_over_99_percent_of_1000_bits():
    bits, asked, answers = case(1_000, 8_000, noise="bounded", level=1 / 3)
    found = reconstruct(asked, answers, noise="bounded")
    assert np.mean(found == bits) > 0.99
    assert found.sure > 0.99


def guessed(noise_for, *, claimed):
    """The p-value of as many right, or as many wrong, guesses of fair bits if the claim holds.

    Whatever is released with ε, each guess is wrong with a chance of at least 1/(1 + e^ε), given
    all other bits: the number of wrong guesses is at least binomial        [SNJ23, Thm 5.2].
    """
    _, asked, _ = case(400, 1_600, noise="bounded", level=0)
    bits = np.random.default_rng().integers(0, 2, 400)
    found = defended.reconstruct(bits, queries=asked, epsilon=noise_for)
    right, chance = int(np.sum(found.bits == bits)), 1 / (1 + np.exp(claimed))
    return 2 * min(goodness.covered(hits, 400, chance) for hits in (right, 400 - right))


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_private_noise_leaves_guessing(epsilon):
    """False alarm below 1e-7 each."""
    assert guessed(epsilon, claimed=epsilon) > 1e-7


@pytest.mark.statistical
def test_too_little_noise_does_not_leave_guessing():
    assert guessed(1_000.0, claimed=1.0) < 1e-7


def test_nobody_is_sure_of_bits_behind_private_noise():
    """The noise is seeded: no alarms."""
    bits, asked, _ = case(1_000, 4_000, noise="bounded", level=0)
    with using(SeededSource(1)):
        found = defended.reconstruct(bits, queries=asked, epsilon=1.0)
    assert found.sure < 0.52


@pytest.mark.parametrize(
    ("noise", "level", "least"), [("laplace", 0.2, 0.94), ("gaussian", 0.15, 0.98)]
)
def test_decoders_match_their_noise(noise, level, least):
    bits, asked, answers = case(400, 1_600, noise=noise, level=level)
    assert reconstruct(asked, answers, noise=noise).accuracy(bits) > least


def test_least_absolute_values_beat_least_squares_under_laplace_noise():
    right = {"laplace": 0.0, "bounded": 0.0}
    for seed in range(4):
        bits, asked, answers = case(300, 1_200, noise="laplace", level=0.3, seed=seed)
        for noise in right:
            right[noise] += reconstruct(asked, answers, noise=noise).accuracy(bits)
    assert right["laplace"] > right["bounded"]


def test_the_fast_decoder_is_as_good_as_linear_programming():
    bits, asked, answers = case(150, 600, noise="laplace", level=0.2)
    exact = reconstruct(asked, answers, method="linear_program")
    quick = reconstruct(asked, answers, noise="laplace")
    assert quick.accuracy(bits) > exact.accuracy(bits) - 0.03

    def misfit(found):
        rest = asked @ found.relaxed - answers
        return np.abs(rest - np.median(rest)).sum()  # the fast one allows for a common shift

    assert misfit(quick) < 1.02 * misfit(exact)


def test_one_answer_in_five_may_be_anything_at_all():
    bits, asked, answers = case(300, 1_500, noise="bounded", level=0.1)
    draw = PublicRandom(5).generator
    wild = draw.random(answers.size) < 0.2
    answers[wild] = draw.uniform(0, 300, wild.sum())
    assert reconstruct(asked, answers, noise="bounded").accuracy(bits) < 0.8
    assert reconstruct(asked, answers, noise="outliers").accuracy(bits) > 0.99


@settings(max_examples=25)
@given(st.integers(2, 8), st.floats(0, 1.5), st.integers(0, 10**6))
def test_all_subsets_within_an_error_lose_all_but_four_times_as_many_rows(n, error, seed):
    draw = PublicRandom(seed).generator
    bits, asked = draw.integers(0, 2, n), all_subsets(n)
    answers = asked @ bits + draw.uniform(-error, error, asked.shape[0])
    found, misfit = exhaustive(asked.astype(float), answers)
    assert misfit <= error + 1e-9
    assert np.sum(found != bits) <= 4 * error + 1e-9


def test_a_million_bits_by_the_fourier_attack():
    draw = PublicRandom(2).generator
    bits = draw.integers(0, 2, 2**20)
    answers = hadamard_counts(bits) + draw.uniform(-0.1 * 1024, 0.1 * 1024, bits.size)
    found = reconstruct(None, answers, method="fourier")
    assert found.accuracy(bits) > 0.999


@pytest.mark.parametrize("size", [2, 8, 64, 2048])
def test_the_fast_transform_is_the_hadamard_matrix(size):
    from scipy.linalg import hadamard

    values = PublicRandom(size).generator.normal(size=size)
    assert np.allclose(walsh_hadamard(values), hadamard(size) @ values)


def test_the_expected_share_of_right_bits_is_about_right():
    for level in (0.2, 0.5, 1.0, 2.0):
        bits, asked, answers = case(400, 1_600, noise="gaussian", level=level)
        found = reconstruct(asked, answers, noise="gaussian")
        assert abs(found.sure - found.accuracy(bits)) < 0.12
    waves = hadamard_counts(bits[:256]) + PublicRandom(0).generator.normal(scale=4, size=256)
    found = reconstruct(None, waves, method="fourier")
    assert abs(found.sure - found.accuracy(bits[:256])) < 0.15


def test_where_noise_stops_reconstruction():
    found = breakdown(people=128, levels=(0.1, 1.0, 4.0), repeats=3)
    for shares in found.accuracy.values():
        assert shares[0] > 0.97
        assert shares[0] > shares[1] > shares[2] - 0.05
        assert shares[2] < 0.65
    assert found.private > 50
    assert found.plot().get_xscale() == "log"
    assert "√n" in found.explain()


def test_the_result_is_bits_and_knows_how_it_was_found():
    bits, asked, answers = case(50, 400, noise="bounded", level=0.1)
    found = reconstruct(asked, answers)
    assert type(found == bits) is np.ndarray
    assert found.tolist() == bits.tolist() == found.bits.tolist()
    assert found.astype(bool).sum() == bits.sum()
    assert "50 bits from 400 answers" in str(found)
    assert str(found[:3]) == str(bits[:3])
    assert found.plot() is not None
    assert found.to_dict()["method"] == "least_squares"
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"queries": [[1, 0]], "answers": [1, 2]},
        {"queries": None, "answers": [1]},
        {"queries": [[1]], "answers": [np.nan]},
        {"queries": [[1]], "answers": [1], "noise": "cosmic"},
        {"queries": [[1]], "answers": [1], "method": "magic"},
        {"queries": None, "answers": [1, 2, 3], "method": "fourier"},
        {"queries": [[1, 0]], "answers": [1], "method": "fourier"},
        {"queries": np.ones((1, 21)), "answers": [1], "method": "exhaustive"},
    ],
)
def test_what_cannot_be_decoded_is_refused(arguments):
    with pytest.raises(dp.BadParameter):
        reconstruct(arguments.pop("queries"), arguments.pop("answers"), **arguments)
