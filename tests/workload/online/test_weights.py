"""Private multiplicative weights, run by hand: every number that is drawn is given."""

import numpy as np
import pytest

import deniable as dp
from deniable.errors import BadParameter
from deniable.mechanisms import Laplace, SparseVector
from deniable.workload.online.weights import _gap, corrected, multiplicative_weights
from deniable.workload.strategies.exact import HELD

COUNTS = np.array([30, 10, 40, 20])
THRESHOLD = 6.0


class Opened:
    """A sparse vector that is asked, and answers what the test says."""

    def on(self, gap):
        return gap


def run(queries, *, total, tests, updates=2, epsilon=3.0):
    """The answers, the mechanisms that were asked for, and how many tests were made."""
    counts = dp.Sensitive(lambda: COUNTS, l1=2, whole=True, shape=4)
    asking = multiplicative_weights(
        counts, queries, epsilon=epsilon, updates=updates, threshold=THRESHOLD
    )
    counting, made, left = next(asking), [], list(tests)
    made += [counting, asking.send(total)]
    try:
        asking.send(Opened())
        while True:
            asking.send(left.pop(0))
    except StopIteration as ended:
        assert not left
        return ended.value, made


def sparse(updates=2, epsilon=3.0):
    return SparseVector(
        epsilon=epsilon * 15 / 16,
        answers=updates,
        sensitivity=2.0,
        values=True,
        threshold=THRESHOLD,
    )


def test_a_sixteenth_of_the_loss_is_for_the_total_and_the_rest_for_tests():
    _, (counting, tests) = run([], total=100, tests=[])
    assert counting.mechanism == Laplace.calibrate(epsilon=3.0 / 16, sensitivity=2.0)
    assert tests == sparse()


def test_a_model_that_is_right_answers_and_its_error_grows_with_the_number_of_tests():
    found, _ = run([(0, 1), (2, 2), (0, 3)], total=100.0, tests=[None] * 6)
    assert [each.value for each in found] == [50.0, 25.0, 100.0]
    assert [(each.first, each.last) for each in found] == [(0, 1), (2, 2), (0, 3)]
    for asked, each in enumerate(found, 1):
        wanted = THRESHOLD + sparse().error(0.95, queries=2 * asked) + 0.5
        assert each.error == pytest.approx(wanted)


@pytest.mark.parametrize(("tests", "value"), [([8.0], 58.0), ([None, 8.0], 42.0)])
def test_what_is_off_upwards_or_downwards_is_corrected_by_the_noisy_difference(tests, value):
    found, _ = run([(0, 1), (0, 0), (2, 3)], total=100.0, tests=[*tests, None, None, None, None])
    assert found[0].value == value
    assert found[0].error == sparse().noise.error(0.95)
    assert found[1].value == pytest.approx(value / 2)
    assert found[2].value == pytest.approx(100.0 - value)
    assert found[1].error == pytest.approx(THRESHOLD + sparse().error(0.95, queries=4) + 0.5)


def test_after_the_last_correction_the_model_answers_untested():
    found, _ = run([(0, 1), (2, 2), (3, 3)], total=100.0, tests=[8.0], updates=1)
    assert [each.value for each in found] == pytest.approx([58.0, 21.0, 21.0])
    assert [each.error is None for each in found] == [False, True, True]


def test_a_noisy_total_below_one_row_is_taken_as_one():
    for total, value in ((-50.0, 0.5), (0.3, 0.5), (3.0, 1.5)):
        found, _ = run([(0, 1)], total=total, tests=[None, None])
        assert found[0].value == value


def test_a_generator_is_sent_every_answer_and_a_list_is_checked_first():
    seen = []

    def asked():
        seen.append((yield (0, 1)))
        seen.append((yield (1, 2)))

    found, _ = run(asked(), total=100.0, tests=[None] * 4)
    assert seen == found
    with pytest.raises(BadParameter):
        run([(0, 1), (2, 4)], total=100.0, tests=[])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_gap_is_the_truth_less_the_guess_and_held(sign):
    assert _gap(COUNTS, first=1, last=2, guess=45, sign=sign) == sign * 5
    assert _gap(COUNTS, first=3, last=3, guess=45, sign=sign) == sign * -25
    for guess in (2 * HELD, -2 * HELD):
        held = -HELD if sign * guess > 0 else HELD
        assert _gap(COUNTS, first=0, last=3, guess=guess, sign=sign) == held


MODEL = np.array([1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize(("first", "last"), [(0, 0), (1, 2), (2, 3)])
@pytest.mark.parametrize("count", [0.5, 3.0, 9.0])
def test_a_range_gets_its_count_and_the_rest_what_is_left_of_the_total(first, last, count):
    """Each part keeps its proportions: of all models with that count it is the nearest."""
    found = corrected(MODEL, first, last, count)
    inside = np.isin(np.arange(4), range(first, last + 1))
    wanted = np.where(
        inside, MODEL * count / MODEL[inside].sum(), MODEL * (10 - count) / MODEL[~inside].sum()
    )
    assert found.tolist() == pytest.approx(wanted.tolist())


@pytest.mark.parametrize(("count", "total"), [(25.0, 25.0), (0.2, 1.0), (-9.0, 1.0), (1.0, 1.0)])
def test_the_count_of_all_cells_is_the_new_total_and_at_least_one(count, total):
    found = corrected(MODEL, 0, 3, count)
    assert found.tolist() == pytest.approx((MODEL / 10 * total).tolist())


@pytest.mark.parametrize("count", [-5.0, 0.0, 10.0, 99.0])
def test_no_part_is_lost_and_each_cell_keeps_a_billionth_of_its_share(count):
    """The total is 10: a range keeps at least 10⁻⁹ of it, and leaves as much."""
    found = corrected(MODEL, 1, 2, count)
    assert found.sum() == pytest.approx(10.0)
    assert found[1:3].sum() == pytest.approx(1e-8 if count <= 0 else 10.0, rel=0.6)
    assert (found >= 0.99 * 10 * 1e-9 / 4).all()
    assert found.min() <= 1e-8
