"""The algorithms on a session: what they find and what they cost."""

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import sensitivity
from deniable.sampling import PublicRandom, SeededSource
from deniable.sampling.source import using
from deniable.sensitive import compute
from deniable.sensitivity.sample_aggregate import _parts

AGES = np.clip(PublicRandom(1).generator.normal(38, 12, 20_000), 17, 90)
GAINS = np.where(AGES > 60, 10_000.0, 0.0)


@pytest.fixture
def session():
    return dp.open(pa.table({"x": [1.0]}), unit=dp.rows(), budget=dp.epsilon(1000.0, delta=1e-5))


def spent(session) -> float:
    return session.spent.epsilon


@pytest.mark.parametrize("column", [AGES, GAINS, AGES * 1e-6, AGES * 1e9, -AGES])
def test_the_automatic_average_needs_no_bounds(session, column):
    answer = session.run(sensitivity.automatic_mean(column, epsilon=1.0))
    assert answer == pytest.approx(column.mean(), abs=0.01 * np.abs(column).max())
    assert spent(session) == pytest.approx(1.0)


def test_the_average_of_a_constant_column_of_zeros_is_near_zero(session):
    assert abs(session.run(sensitivity.automatic_mean(np.zeros(5000), epsilon=1.0))) < 1e-6


def test_magnitudes_give_bounds_that_hold_nearly_all(session):
    low, high = session.run(sensitivity.bounds_by_magnitude(AGES, epsilon=1.0))
    assert low == 16.0
    assert high == 128.0
    low, high = session.run(sensitivity.bounds_by_magnitude(-AGES, epsilon=1.0))
    assert low == -128.0
    assert high == -16.0


def test_no_data_give_the_smallest_bounds(session):
    low, high = session.run(sensitivity.bounds_by_magnitude([], epsilon=1.0))
    assert low < 0 < high < 1e-9


@pytest.mark.parametrize(
    "candidates", [sensitivity.linear(step=1, count=125), sensitivity.doubling(first=1, count=10)]
)
def test_a_searched_bound_leaves_about_its_share_above(session, candidates):
    bound = session.run(sensitivity.upper_bound(AGES, candidates, epsilon=1.0, share=0.95))
    assert bound in candidates
    assert (bound >= AGES).mean() > 0.94
    smaller = [c for c in candidates if c < bound]
    assert (smaller[-1] >= AGES).mean() < 0.96


@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.75, 0.99])
def test_one_row_moves_the_search_for_a_bound_as_far_as_is_covered(share):
    """Every row that may come, on every side of every candidate."""
    rows, candidates, farthest = [0.5, 1.5, 1.5, 7.0], [1.0, 2.0, 4.0], 0

    def asked(values):
        return next(sensitivity.upper_bound(values, candidates, epsilon=1.0, share=share))

    for extra in (0.0, 1.0, 1.2, 3.0, 4.0, 9.0, math.nan):
        moved = np.subtract(compute(asked([*rows, extra]).value), compute(asked(rows).value))
        farthest = max(farthest, np.abs(moved).max())
    assert farthest == asked(rows).mechanism.sensitivity == asked(rows).value.bound("linf")


def test_if_no_candidate_is_enough_the_last_is_taken(session):
    assert session.run(sensitivity.upper_bound(AGES, [1.0, 2.0], epsilon=1.0)) == 2.0


@pytest.mark.parametrize("candidates", [[], [2.0, 1.0], [math.nan], ["1"]])
def test_bad_candidates_are_refused(session, candidates):
    with pytest.raises(dp.BadParameter):
        session.run(sensitivity.upper_bound(AGES, candidates, epsilon=1.0))
    assert spent(session) == 0


def test_the_mean_of_clipped_values(session):
    answer = session.run(sensitivity.mean(AGES, low=20, high=60, epsilon=1.0))
    assert answer == pytest.approx(np.clip(AGES, 20, 60).mean(), abs=0.1)


def test_nan_and_infinity_do_not_show(session):
    odd = np.concatenate([AGES, [math.nan, math.inf, -math.inf, -0.0]])
    answer = session.run(sensitivity.mean(odd, low=20, high=60, epsilon=10.0))
    assert answer == pytest.approx(np.clip(AGES, 20, 60).mean(), abs=0.1)


def test_sums_are_whole_numbers_of_steps_whatever_the_order():
    one = sensitivity.clipped_sum(AGES, low=0, high=100)
    other = sensitivity.clipped_sum(AGES[::-1], low=0, high=100)
    assert compute(one.value) == compute(other.value)
    assert compute(one.value) * one.lattice.width == pytest.approx(AGES.sum(), abs=1e-3)
    assert one.value.bound("l1") == 100 / one.lattice.width


def test_the_sum_of_values_in_an_interval_moves_by_its_far_end():
    """Ages in [20, 80]: a row added moves the sum by up to 80, not by 60."""
    total = sensitivity.clipped_sum(AGES, low=20, high=80)
    assert total.value.bound("l1") * total.lattice.width == 80
    swapped = sensitivity.clipped_sum(AGES, low=20, high=80, unit=dp.rows(relation="replace"))
    assert swapped.value.bound("l1") * swapped.lattice.width == 80  # it may become NaN


def test_people_with_many_rows_are_refused():
    with pytest.raises(dp.BadParameter, match="row by row"):
        sensitivity.clipped_sum(AGES, low=0, high=1, unit=dp.person("id", rows=2))


@pytest.mark.parametrize(
    "statistic", [sensitivity.Mean(), sensitivity.Quantile(), sensitivity.TrimmedMean(trim=50)]
)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_smooth_answers_are_close(session, statistic, delta):
    """Student's noise is beyond 3 with odds of 1e-5, two of three answers with 3e-10."""
    answers = [
        session.run(
            sensitivity.smooth_release(AGES, statistic, low=0, high=125, epsilon=1.0, delta=delta)
        )
        for _ in range(1 if delta else 3)  # Laplace noise, or Student's
    ]
    assert np.median(answers) == pytest.approx(38, abs=3)
    assert session.spent == dp.Approx(float(len(answers)), delta=delta)


@pytest.mark.parametrize(("low", "high"), [(0, 125), (-4, 4), (10, 20), (-20, -10)])
def test_a_smooth_answer_is_declared_to_move_over_its_whole_range(low, high):
    made = sensitivity.smooth_release(
        [1.0], sensitivity.Quantile(), low=low, high=high, epsilon=1.0
    )
    assert next(made).value.bound("linf") == high - low


def test_propose_test_release_answers_or_refuses_and_costs_the_same(session):
    ask = lambda bound: session.run(  # noqa: E731
        sensitivity.propose_test_release(
            AGES, sensitivity.Quantile(), bound=bound, low=0, high=125, epsilon=1.0, delta=1e-7
        )
    )
    assert ask(1.0) == pytest.approx(38, abs=60)  # Laplace noise of scale 2: odds e^(−29)
    first = spent(session)
    assert ask(1e-9) is None
    assert spent(session) == pytest.approx(2 * first)


def test_any_function_may_be_run_on_samples(session):
    rows = AGES.tolist()
    answer = session.run(
        sensitivity.sample_and_aggregate(
            rows, lambda part: float(np.median(part)), parts=200, low=0, high=125, epsilon=2.0
        )
    )
    assert answer == pytest.approx(np.median(AGES), abs=5)


def test_a_function_that_fails_answers_with_the_middle(session):
    def fails(part):
        raise RuntimeError(str(part))

    answer = session.run(
        sensitivity.sample_and_aggregate(
            [1.0] * 1000, fails, parts=100, low=0, high=10, epsilon=100.0
        )
    )
    assert answer == pytest.approx(5, abs=0.1)


@pytest.mark.parametrize(("noisy", "answer"), [(-(10**18), -3.0), (10**18, 10.0)])
def test_an_average_of_parts_stays_in_its_range_whatever_the_noise(noisy, answer):
    algorithm = sensitivity.sample_and_aggregate(
        [1.0], np.mean, parts=1, low=-3.0, high=10.0, epsilon=1.0
    )
    next(algorithm)
    with pytest.raises(StopIteration) as ended:
        algorithm.send(noisy)
    assert ended.value.value == answer


def test_without_a_known_range_the_median_answer_is_found(session):
    answer = session.run(
        sensitivity.sample_and_aggregate_median(
            AGES.tolist(), np.mean, parts=200, low=-1e9, high=1e9, epsilon=2.0
        )
    )
    assert answer == pytest.approx(AGES.mean(), abs=2)


def test_one_person_is_in_one_part():
    people = ["ann", "bob", "ann", "cy", "bob", "ann"] * 50
    parts = _parts(len(people), people, 7)
    assert len({(who, part) for who, part in zip(people, parts, strict=True)}) == 3


def test_people_need_their_unit(session):
    with pytest.raises(dp.MissingUnit):
        session.run(
            sensitivity.sample_and_aggregate(
                [1.0], np.mean, parts=1, low=0, high=1, epsilon=1.0, people=["a"]
            )
        )


@pytest.mark.parametrize(
    "run", [sensitivity.sample_and_aggregate, sensitivity.sample_and_aggregate_median]
)
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_a_unit_of_several_rows_is_refused_where_nobody_says_whose_they_are(run, relation):
    """Placed row by row, a person with 100 rows touches every part, and is priced for one."""
    unit = dp.person("id", rows=100, relation=relation)
    s = dp.open(pa.table({"id": [1]}), unit=unit, budget=dp.epsilon(9.0))
    with pytest.raises(dp.BadParameter, match="which person each row belongs to") as seen:
        s.run(run([1.0] * 100, max, parts=8, low=0, high=1, epsilon=1.0, unit=unit))
    assert seen.value.fix == "people=table['id']"
    assert s.spent == dp.epsilon(0)


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("own", [1, 7, 100])
def test_one_person_moves_as_many_answers_as_are_charged_however_many_rows_they_have(own, relation):
    """With the coins held, the sum over parts moves by one answer, or two where one is replaced."""
    unit = dp.person("id", rows=own, relation=relation)

    def total(people):
        step = next(
            sensitivity.sample_and_aggregate(
                [1.0 if person in ("eve", "bob") else 0.0 for person in people],
                max,
                parts=16,
                low=0,
                high=1,
                epsilon=1.0,
                people=people,
                unit=unit,
            )
        )
        with using(SeededSource(3)):
            return compute(step.read), step.mechanism.sensitivity

    others = [f"person {i % 40}" for i in range(400)]
    before, charged = total(others + ["bob"] * own * (relation == "replace"))
    after, _ = total(others + ["eve"] * own)
    assert abs(int(after) - int(before)) <= charged
    assert int(after) > 0


def test_equal_values_name_one_person_and_missing_ones_nobody():
    spelled = [7, 7.0, np.int32(7), np.float64(7), Decimal(7), True + 6]
    assert len(set(_parts(6, spelled, 10**6))) == 1
    assert len(set(_parts(2, ["a", np.str_("a")], 10**6))) == 1
    assert _parts(3, [None, math.nan, np.float32("nan")], 8) == [None] * 3


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (0.0, -0.0)])
def test_an_interval_has_two_ends(low, high):
    with pytest.raises(dp.BadParameter, match="high must be above low"):
        sensitivity.clipped_sum([1.0], low=low, high=high)
    with pytest.raises(dp.BadParameter, match="high must be above low"):
        next(sensitivity.mean([1.0], low=low, high=high, epsilon=1.0))
