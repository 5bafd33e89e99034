"""A known number of ranges: one noise for each, or one release for all, whichever errs less."""

import numpy as np
import pytest

import deniable as dp
from deniable.errors import BadParameter
from deniable.mechanisms.combine import Composed
from deniable.workload import ranges
from deniable.workload.online.known import Answer, _singles, arriving, checked, next_of, summed
from deniable.workload.split import Vector, deviation, noise_under
from deniable.workload.strategies.exact import HELD

SPENDS = [dp.epsilon(1.0), dp.mu(1.0), dp.rho(0.5), dp.epsilon(1.0, delta=1e-6)]


def hidden(cells, l1=1):
    return dp.Sensitive(lambda: np.zeros(cells, int), l1=l1, whole=True, shape=cells)


@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("number", [1, 3, 12, 40, 500])
def test_the_way_with_the_smaller_error_is_taken(spend, number):
    """All noise is announced at once: one mechanism per range, or the vectors of one release."""
    first = next(arriving(hidden(256), [(0, 9)], number=number, spend=spend))
    alone = []
    for law in ("laplace", "gaussian"):
        noise = noise_under(law, [Vector(l1=1.0, l2=1.0)] * number, spend=spend)
        alone += [deviation(noise[-1])] if noise is not None else []
    together = ranges(256).plan(spend=spend).rmse
    assert isinstance(first, Composed) == (min(alone) <= together)
    single, _ = _singles(number, 1.0, spend, None)
    assert deviation(single) == min(alone)


def test_both_ways_are_taken_above():
    kinds = {type(next(arriving(hidden(256), [], number=n, spend=SPENDS[0]))) for n in (1, 500)}
    assert len(kinds) == 2


@pytest.mark.parametrize("number", [1, 2, 3])
def test_no_more_ranges_are_answered_than_were_paid_for(number):
    queries = [(0, 1), (2, 3)]
    asking = arriving(hidden(4096), queries, number=number, spend=dp.rho(0.5))
    opened, values = next(asking), [5.0, 7.0]
    assert isinstance(opened, Composed)

    class Opened:
        def on(self, total):
            return total

    try:
        asking.send(Opened())
        while True:
            asking.send(values.pop(0))
    except StopIteration as ended:
        found = ended.value
    assert [(a.first, a.last, a.value) for a in found] == [(0, 1, 5.0), (2, 3, 7.0)][:number]
    assert len({a.error for a in found}) == 1
    assert float(found[0].error).is_integer()


@pytest.mark.parametrize(
    "wrong",
    [(0, 4), (-1, 2), (2, 1), (0,), (0, 1, 2), "01", {0, 1}, 5, (0.5, 2), (0, None)],
    ids=str,
)
def test_what_is_not_a_range_is_refused(wrong):
    with pytest.raises(BadParameter):
        checked(wrong, 4)


@pytest.mark.parametrize("right", [(0, 3), [1, 1], (3, 3), (0, 0)])
def test_ranges_may_be_tuples_and_lists_and_end_at_the_last_cell(right):
    assert checked(right, 4) == tuple(right)


def test_a_list_is_checked_before_the_charge_as_far_as_it_is_asked():
    with pytest.raises(BadParameter):
        next(arriving(hidden(4), [(0, 1), (0, 9)], number=2, spend=dp.epsilon(1.0)))
    next(arriving(hidden(4), [(0, 1), (0, 9)], number=1, spend=dp.epsilon(1.0)))


def test_generators_are_sent_answers_and_other_iterators_are_not():
    sent = Answer(first=0, last=1, value=2.0, error=None)

    def asking():
        assert (yield (0, 1)) is sent
        yield (1, 1)

    coming = asking()
    assert next_of(coming, None) == (0, 1)
    assert next_of(coming, sent) == (1, 1)
    assert next_of(coming, sent) is None
    assert next_of(iter([(2, 2)]), sent) == (2, 2)
    assert next_of(iter([]), sent) is None


def test_sums_are_exact_or_held():
    assert summed(np.array([2**62, -(2**62), 5])) == 5
    assert summed(np.array([2**62, 2**62])) == HELD
    assert summed(np.array([-(2**62), -5])) == -HELD
