"""What a choice by score costs in the best score it misses."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.forms import Form
from deniable.mechanisms import TopK
from deniable.mechanisms.selection._scores import LOWEST, checked_scores, read_scores

MADE = [
    (dp.Exponential(epsilon=0.5, sensitivity=3.0), 12.0),
    (dp.PermuteAndFlip(epsilon=4.0), 0.5),
    (dp.NoisyMax(epsilon=0.5, sensitivity=3.0, noise="gumbel"), 12.0),
    (TopK(k=5, epsilon=0.5, sensitivity=3.0), 60.0),
]


@pytest.mark.parametrize(("mechanism", "scale"), MADE, ids=lambda m: getattr(m, "name", ""))
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("candidates", [1, 7, 10**6])
def test_the_chosen_score_is_within_its_bound_of_the_best(mechanism, scale, confidence, candidates):
    """(2Δ/ε)·ln(m/β), times k for the k best."""
    stated = mechanism.error(confidence, candidates=candidates)
    assert stated == pytest.approx(scale * math.log(candidates / (1 - confidence)), rel=1e-12)


@pytest.mark.parametrize("monotonic", [False, True])
def test_counts_that_only_grow_need_half_the_noise(monotonic):
    made = dp.Exponential(epsilon=0.5, sensitivity=3.0, monotonic=monotonic)
    assert made.scale == (6 if monotonic else 12)
    assert made.pure() == 0.5


@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": 0.0}, {"sensitivity": -1.0}, {"monotonic": 1}, {"monotonic": None}],
    ids=str,
)
def test_each_parameter_is_checked(wrong):
    with pytest.raises(dp.BadParameter):
        dp.Exponential(**({"epsilon": 1.0} | wrong))


MISSING = [None, math.nan, -math.inf, pd.NA, np.float32("nan"), Decimal("nan")]


@pytest.mark.parametrize("missing", MISSING, ids=repr)
def test_a_score_that_is_missing_ranks_last_however_it_is_written(missing):
    values = np.empty(3, dtype=object)
    values[:] = [2, missing, -5.5]
    assert read_scores(values, Form(shape=(3,))).tolist() == [2.0, LOWEST, -5.5]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_floats_of_every_width_are_read_as_they_are(kind):
    given = np.array([1.5, -np.inf, np.nan, -0.25], dtype=kind)
    wanted = [1.5, LOWEST, LOWEST, -0.25]
    assert read_scores(given, Form(shape=(4,))).tolist() == wanted
    assert checked_scores(given).tolist() == wanted
    assert read_scores(np.array([3, -4]), Form(shape=(2,))).tolist() == [3.0, -4.0]


@pytest.mark.parametrize(
    "scores",
    [[], 3, [[1, 2]], ["a"], [True], [None], [math.inf], [2**53 + 1], [0, -(2**53) - 1], [1j]],
    ids=str,
)
def test_scores_are_a_list_of_numbers_that_floats_hold(scores):
    with pytest.raises(dp.BadParameter, match="scores must be"):
        checked_scores(scores)


@pytest.mark.parametrize("scores", [[2**53, 1], [-(2**53)], [1e300, -1e300]], ids=str)
def test_large_scores_that_floats_hold_are_taken(scores):
    assert checked_scores(scores).tolist() == scores


def test_only_a_bounded_range_is_priced_as_one():
    """ε²/8 against about ε²/2 for any ε-private choice."""
    ranged, plain = dp.Exponential(epsilon=0.1), dp.PermuteAndFlip(epsilon=0.1)
    assert ranged.zcdp() == pytest.approx(0.1**2 / 8, rel=1e-2)
    assert plain.zcdp() == pytest.approx(0.1**2 / 2, rel=1e-2)
    assert not ranged.black_box()
    assert plain.black_box()


@pytest.mark.parametrize("k", [1, 2, 7])
def test_the_k_best_cost_k_rounds(k):
    made = TopK(k=k, epsilon=0.7)
    one = dp.Exponential(epsilon=0.7 / k)
    assert made.pure() == 0.7
    assert made.zcdp() == pytest.approx(k * one.zcdp(), rel=1e-9)
    assert made.zcdp() >= k * one.zcdp() * (1 - 1e-15)
    assert made.renyi(4.0) == pytest.approx(k * one.renyi(4.0), rel=1e-9)
    assert made.renyi(1e12) <= 0.7
    assert made.black_box() == (k > 1)
    form = Form(shape=(k,))
    assert made.reading(form)(list(range(k))).tolist() == list(range(k))
    assert sorted(made.draw(np.arange(k)).tolist()) == list(range(k))
    if k > 1:
        for run in (lambda: made.reading(Form(shape=(k - 1,))), lambda: made.draw([0] * (k - 1))):
            with pytest.raises(dp.BadParameter, match="fewer candidates"):
                run()
    with pytest.raises(dp.BadParameter):
        TopK(k=0, epsilon=1.0)
