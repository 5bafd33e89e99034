"""Mechanisms made of mechanisms cost and answer as their parts do."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import BadParameter
from deniable.losses import amplify
from deniable.mechanisms import (
    BestOf,
    Catastrophe,
    Composed,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Parallel,
    PartitionSelection,
    ProposeTestRelease,
    RandomizedResponse,
    Sampled,
    SampledWithoutReplacement,
    Shuffled,
    SmoothNoise,
)

LAPLACE, GAUSSIAN = Laplace(scale=10.0), Gaussian(sigma=5.0)


# ---- composed


def test_sums_and_multiples_are_flattened_and_counted():
    assert (2 * LAPLACE + LAPLACE).parts == ((LAPLACE, 3),)
    assert (2 * (3 * LAPLACE)).parts == ((LAPLACE, 6),)
    assert (LAPLACE + GAUSSIAN + LAPLACE).parts == ((LAPLACE, 1), (GAUSSIAN, 1), (LAPLACE, 1))
    assert (2 * (LAPLACE + GAUSSIAN)).parts == ((LAPLACE, 1), (GAUSSIAN, 1)) * 2
    with pytest.raises(TypeError):
        _ = LAPLACE + 1
    for bad in (0, -1, 1.5, True):
        with pytest.raises(dp.BadParameter):
            _ = bad * LAPLACE


def test_a_mixed_list_is_priced_by_its_loss_distributions():
    mixed = 50 * LAPLACE + 50 * GAUSSIAN
    by_parts = (50 * LAPLACE).epsilon_at(5e-7) + (50 * GAUSSIAN).epsilon_at(5e-7)
    assert mixed.epsilon_at(1e-6) < by_parts
    assert mixed.epsilon_at(1e-6) <= mixed.loss(dp.Zcdp).epsilon_at(1e-6)


def test_the_order_of_a_list_does_not_change_its_price_nor_does_its_length_its_cost_to_price():
    alternating = 5000 * (LAPLACE + GAUSSIAN)
    sorted_list = 5000 * LAPLACE + 5000 * GAUSSIAN
    assert alternating.zcdp() == sorted_list.zcdp()
    assert alternating.epsilon_at(1e-6) == sorted_list.epsilon_at(1e-6)


def test_a_hundred_answers_of_a_tenth():
    assert (100 * LAPLACE).epsilon_at(1e-6) == pytest.approx(4.692667415, rel=1e-4)
    assert 10.0 <= (100 * LAPLACE).epsilon_at() <= 10.0 * (1 + 1e-15)


def test_every_part_answers_afresh():
    answers = (3 * LAPLACE + GAUSSIAN).release(np.zeros(4, dtype=np.int64))
    assert len(answers) == 4
    assert all(a.shape == (4,) for a in answers)
    assert not np.array_equal(answers[0], answers[1])


def test_every_part_must_cover_the_value():
    both = LAPLACE + GAUSSIAN
    assert both.on(dp.Sensitive(lambda: 0, l1=1))
    with pytest.raises(dp.SensitivityMismatch):
        both.on(dp.Sensitive(lambda: 0, l2=1))


def test_opened_it_answers_part_by_part():
    running = (2 * LAPLACE + GAUSSIAN).begin()
    for part in (LAPLACE, LAPLACE, GAUSSIAN):
        assert running.answering() == part
        assert isinstance(running.ask(5), int)
    assert running.answering() is None


# ---- sampled


def test_sampled_descent_is_known():
    """10,000 steps of σ = 1.1 at rate 0.01: 5.806935 at δ = 1e-6."""
    steps = 10_000 * Gaussian(sigma=1.1).sampled(rate=0.01)
    assert steps.epsilon_at(1e-6) == pytest.approx(5.806935, rel=1e-3)
    assert steps.epsilon_at(1e-6) >= 5.806935
    assert steps.loss(dp.Renyi).epsilon_at(1e-6) == pytest.approx(6.22995, rel=0.01)


@pytest.mark.parametrize("m", [LAPLACE, DiscreteLaplace(scale=1.0), Gaussian(sigma=2.0)], ids=repr)
@pytest.mark.parametrize("rate", [0.001, 0.3])
def test_a_sample_costs_less_than_all_and_no_more_than_the_black_box_says(m, rate):
    part = m.sampled(rate=rate)
    assert part.epsilon_at(1e-6) < m.epsilon_at(1e-6)
    if math.isfinite(m.pure()):
        assert part.pure() == amplify.poisson(m.pure(), rate=rate)[0]
        assert part.epsilon_at(1e-6) <= part.pure()


def test_sampling_everyone_changes_nothing():
    assert LAPLACE.sampled(rate=1.0).pure() == LAPLACE.pure()


@pytest.mark.statistical
def test_sums_over_the_sample_are_of_rate_times_the_units():
    """4,000 units at rate ¼: 1,000 ± 27; 7 standard deviations."""
    rows = np.tile([1, -2], (4000, 1))
    answer = Laplace(scale=1.0, sensitivity=3.0).sampled(rate=0.25).release(rows)
    assert abs(answer[0] - 1000) < 220
    assert abs(answer[1] + 2000) < 420


def test_floats_are_summed_on_the_lattice_and_no_row_grows():
    m = Gaussian(sigma=1.0).sampled(rate=1.0)
    rows = np.full((1000, 3), 0.1)
    answer = m.release(rows)
    assert np.abs(answer - 100).max() < 10
    steps = answer / m.of.lattice.width
    assert (steps == np.rint(steps)).all()


def test_a_function_of_the_sample_may_be_asked_about():
    m = Laplace(scale=0.1).sampled(rate=0.5)
    answer = m.release((np.arange(1000), lambda sample: int(len(sample) > 0) * 100))
    assert abs(answer - 100) < 10


def test_large_rows_are_held_and_do_not_warn():
    answer = Gaussian(sigma=1e-9).sampled(rate=1.0).release(np.array([1.7e308, 1.0]))
    assert answer > 0


def test_wide_sums_do_not_wrap_around():
    rows = np.full(10, 2**62)
    assert DiscreteLaplace(scale=1.0).sampled(rate=1.0).release(rows) > 2**62


def test_whole_noise_cannot_add_up_floats():
    with pytest.raises(dp.BadParameter, match="floats"):
        DiscreteLaplace(scale=1.0).sampled(rate=0.5).release(np.ones(3))
    with pytest.raises(dp.BadParameter, match="one row per unit"):
        LAPLACE.sampled(rate=0.5).release(3)


def test_without_replacement_is_amplified_by_the_share():
    m = SampledWithoutReplacement(of=LAPLACE, size=10, population=1000)
    assert m.pure() == amplify.without_replacement(LAPLACE.pure(), size=10, population=1000)[0]
    g = SampledWithoutReplacement(of=GAUSSIAN, size=10, population=1000)
    epsilon = g.epsilon_at(1e-6)
    assert epsilon < GAUSSIAN.epsilon_at(1e-4)
    assert g.delta_at(epsilon) == pytest.approx(1e-6, rel=1e-3)
    with pytest.raises(dp.BadParameter):
        SampledWithoutReplacement(of=LAPLACE, size=11, population=10)
    with pytest.raises(dp.BadParameter, match="1000 rows"):
        m.release(np.zeros(999, dtype=np.int64))


@pytest.mark.statistical
def test_without_replacement_takes_exactly_so_many():
    m = SampledWithoutReplacement(of=Laplace(scale=0.01), size=7, population=50)
    assert m.release(np.ones(50, dtype=np.int64)) == 7


# ---- parallel


def test_parallel_parts_cost_what_the_unit_says():
    parts = (Laplace(scale=1.0), Laplace(scale=2.0), Laplace(scale=4.0))
    assert Parallel(parts=parts, unit=dp.rows()).epsilon_at() == 1.0
    assert Parallel(parts=parts, unit=dp.rows(relation="replace")).epsilon_at() == 1.5
    two = dp.person("who", rows=9, groups=2)
    assert Parallel(parts=parts, unit=two).epsilon_at() == 1.5
    assert Parallel(parts=parts, unit=dp.person("who", rows=9)).epsilon_at() == 1.75


def test_parallel_prices_are_pointwise_where_curves_cross():
    parts = (Laplace(scale=1.0), Gaussian(sigma=1.0))
    both = Parallel(parts=parts, unit=dp.rows())
    for order in (1.5, 4.0, 64.0):
        assert both.renyi(order) == max(part.renyi(order) for part in parts)
    assert both.zcdp() == max(part.zcdp() for part in parts)
    assert both.pure() == math.inf


def test_parallel_answers_part_by_part():
    both = Parallel(parts=(LAPLACE, PartitionSelection(epsilon=1.0, delta=1e-3)), unit=dp.rows())
    number, keys = both.release([5, {"a": 10**6}])
    assert isinstance(number, int)
    assert keys == ["a"]
    with pytest.raises(dp.BadParameter, match="2 values"):
        both.release([5])
    for bad in ((), [LAPLACE], (1,)):
        with pytest.raises(dp.BadParameter):
            Parallel(parts=bad, unit=dp.rows())


# ---- shuffled


def test_shuffling_hides_each_report_among_the_others():
    coin = RandomizedResponse(epsilon=1.0)
    few, many = (Shuffled(of=coin, people=n, delta=1e-6) for n in (1000, 20_000))
    assert many.epsilon_at(1e-6) < few.epsilon_at(1e-6) < 1.0
    assert few.epsilon_at() == 1.0
    assert few.approx() == (few.epsilon_at(1e-6), 1e-6)
    assert few.delta_at(few.epsilon_at(1e-6)) <= 1e-6 * (1 + 1e-6)
    assert few.delta_at(1.0) == 0.0


def test_shuffled_reports_keep_their_counts_and_lose_their_order():
    sure = RandomizedResponse(epsilon=60.0, categories=2)
    survey = Shuffled(of=sure, people=1000, delta=1e-6)
    answers = np.array([0] * 500 + [1] * 500)
    reports = survey.release(answers)
    assert np.bincount(reports).tolist() == [500, 500]
    assert not np.array_equal(reports, answers)
    with pytest.raises(dp.BadParameter, match="1000 answers"):
        survey.release(answers[:-1])


@pytest.mark.parametrize("bad", [None, 1.0, "laplace", Laplace])
def test_only_mechanisms_can_be_combined(bad):
    with pytest.raises(dp.BadParameter):
        Sampled(of=bad, rate=0.5)
    with pytest.raises(dp.BadParameter):
        SampledWithoutReplacement(of=bad, size=1, population=2)
    with pytest.raises(dp.BadParameter):
        Shuffled(of=bad, people=2, delta=0.1)
    with pytest.raises(dp.BadParameter):
        Composed(parts=((bad, 1),))


NESTED = {
    "sampled": LAPLACE.sampled(rate=0.5),
    "of fixed size": SampledWithoutReplacement(of=LAPLACE, size=1, population=2),
}
COIN = dp.RandomizedResponse(epsilon=1.0)
NOT_OF_SUMS = {
    "local": COIN,
    "shuffled": Shuffled(of=COIN, people=40, delta=1e-6),
    "parallel": Parallel(parts=(LAPLACE, LAPLACE)),
    "best of": BestOf(mechanism=LAPLACE, stop=0.5),
    "tested": ProposeTestRelease(bound=1.0, epsilon_test=1.0, epsilon_release=1.0, delta=1e-6),
    "smooth": SmoothNoise(epsilon=1.0, low=0.0, high=1.0),
}
AROUND = {
    "itself": lambda m: m,
    "a list": lambda m: 2 * m + GAUSSIAN,
    "a catastrophe": lambda m: Catastrophe(delta=1e-6, of=m),
}
SAMPLES = {
    "poisson": lambda m: m.sampled(rate=0.5),
    "fixed size": lambda m: SampledWithoutReplacement(of=m, size=1, population=1),
}
around_it = pytest.mark.parametrize("around", AROUND.values(), ids=list(AROUND))
in_a_sample = pytest.mark.parametrize("sample", SAMPLES.values(), ids=list(SAMPLES))


@pytest.mark.parametrize("inner", NESTED.values(), ids=list(NESTED))
@around_it
@in_a_sample
def test_a_sample_of_a_sample_is_refused_when_it_is_made(inner, around, sample):
    """The inner one would take the columns of a sum for its rows."""
    with pytest.raises(dp.BadParameter, match="cannot be asked about a sample"):
        sample(around(inner))


@pytest.mark.parametrize("inner", NOT_OF_SUMS.values(), ids=list(NOT_OF_SUMS))
@around_it
@in_a_sample
def test_what_takes_no_sum_of_rows_is_refused_a_sample_before_the_charge(inner, around, sample):
    """A coin inside a sample would report each number of a row at the price of one."""
    mechanism = sample(around(inner))
    value = dp.Sensitive(lambda: None, l1=1, l2=1, linf=1, entries=1, whole=True, shape=40)
    with pytest.raises(dp.BadParameter, match="cannot be asked about a sample"):
        mechanism.on(value)
    with pytest.raises(dp.BadParameter, match="cannot be asked about a sample"):
        mechanism.draw(np.ones((1, 40), dtype=int))


def test_the_fix_for_a_sample_of_a_sample_is_one_sample():
    with pytest.raises(dp.BadParameter, match=r"rate=q1 \* q2"):
        LAPLACE.sampled(rate=0.5).sampled(rate=0.5)
    assert LAPLACE.sampled(rate=0.25).pure() < LAPLACE.sampled(rate=0.5).pure()


@pytest.mark.parametrize(
    "mechanism",
    [
        LAPLACE + dp.Exponential(epsilon=1.0),
        Parallel(parts=(LAPLACE, dp.Exponential(epsilon=1.0)), unit=dp.rows()),
        dp.Exponential(epsilon=1.0).sampled(rate=0.5),
        dp.SparseVector(epsilon=1.0, answers=1).sampled(rate=0.5),
    ],
    ids=lambda m: m.name,
)
def test_an_index_among_the_answers_has_no_error(mechanism):
    with pytest.raises(dp.NoBound):
        mechanism.error(0.95)


def test_whole_answers_of_a_list_have_the_error_of_whole_answers():
    """Rounding to whole numbers widens the ±, also where the noise is part of something else."""
    for m in (2 * LAPLACE, Parallel(parts=(LAPLACE,), unit=dp.rows()), LAPLACE.sampled(rate=0.5)):
        assert m.shown_error(0.95, whole=True) == LAPLACE.error(0.95, whole=True)
        assert m.error(0.95) == LAPLACE.error(0.95)


@pytest.mark.parametrize("declared", [{"shape": 3}, {"statistic": max}], ids=["rows", "statistic"])
def test_a_sample_of_replaced_units_refuses_all_but_numbers_before_anything_is_computed(declared):
    computed = []
    sample = dp.Gaussian(sigma=1.0).sampled(rate=0.1, relation="replace")
    value = dp.Sensitive(lambda: computed.append(1), l2=1, linf=1, **declared)
    with pytest.raises(BadParameter, match="one number per unit"):
        sample.on(value)
    assert not computed


@pytest.mark.parametrize("mechanism", [Laplace(scale=1.0), Gaussian(sigma=1.0)], ids=str)
@pytest.mark.parametrize("move", [1e-200, 1e-9, 1e-3])
@pytest.mark.parametrize("shape", [(), (3,)], ids=str)
def test_rows_of_a_fixed_sample_are_added_up_exactly_before_the_noise(
    mechanism, move, shape, monkeypatch
):
    """Rounded before it, an exchanged row would move the sum by a step of the lattice."""
    seen = []
    monkeypatch.setattr(type(mechanism), "draw", lambda _, value: seen.append(value) or 0.0)
    sample = SampledWithoutReplacement(of=mechanism, size=2, population=2)
    step = mechanism.lattice.width
    for first in (step, Fraction(step) - Fraction(move)):
        rows = np.empty((2, *shape), dtype=object)
        rows[0], rows[1] = Fraction(first), Fraction(1, 3)
        sample.draw(rows)
    one, other = (np.asarray(value, dtype=object) for value in seen)
    assert all(difference == Fraction(move) for difference in np.ravel(one - other))


NOBODY = {
    "list": [],
    "tuple": (),
    "array": np.array([]),
    "whole": np.array([], dtype=np.int64),
    "2-d": np.empty((0, 3)),
    "frame": pd.DataFrame(),
    "columns": pd.DataFrame({"a": [], "b": []}),
    "series": pd.Series([], dtype=object),
    "arrow": pa.array([], pa.float64()),
}


@pytest.mark.parametrize("whole", [None, True])
@pytest.mark.parametrize("shape", [None, 2, (2, 3)])
@pytest.mark.parametrize("nobody", NOBODY)
def test_a_sample_of_nobody_is_no_rows_of_the_declared_shape(nobody, shape, whole):
    """However it is written: an empty list does not say how long its rows would be."""
    s = dp.open(pa.table({"x": [1]}), unit=dp.rows(), budget=dp.epsilon(1e4, delta=1e-4))
    kinds = [dp.Gaussian(sigma=9.0), dp.Laplace(scale=9.0), DiscreteLaplace(scale=9.0)]
    for m in kinds:
        rows = dp.Sensitive(lambda: NOBODY[nobody], l1=1, l2=1, shape=shape, whole=whole, entries=1)
        answer = s.release(m.sampled(rate=0.5).on(rows)).value
        assert np.shape(answer) == np.empty(shape or ()).shape


@pytest.mark.parametrize("size", [0.0, 1.0, 1e6, 1e30, 1e300])
@pytest.mark.parametrize("m", [LAPLACE, GAUSSIAN], ids=repr)
def test_the_type_of_a_sampled_sum_does_not_tell_how_large_it_is(m, size):
    assert type(m.sampled(rate=1.0).release([size])) is float
    assert np.shape(m.sampled(rate=1.0).release([[size, 1.0]])) == (2,)


@pytest.mark.parametrize("parts", [(), [(Laplace(scale=1.0), 1)], ((Laplace(scale=1.0),),), (7,)])
def test_a_list_of_nothing_or_of_anything_else_is_refused(parts):
    with pytest.raises(BadParameter, match="parts must be"):
        Composed(parts=parts)
