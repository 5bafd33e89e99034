"""Running totals of counts and sums that come one at a time."""

import math

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable import workload
from deniable.audit import replay
from deniable.errors import BadParameter, SensitivityMismatch
from deniable.mechanisms import (
    BinaryTreeCounter,
    OpenEndedTreeCounter,
    SquareRootCounter,
    UnboundedCounter,
)
from deniable.workload.split import Vector, noise_under

SPENDS = [dp.epsilon(1.0), dp.rho(0.5), dp.mu(1.0), dp.epsilon(1.0, delta=1e-6)]
LENGTHS = [None, 50]


def opened(budget, unit=None):
    return dp.open({"t": pd.DataFrame({"a": [1]})}, unit=unit or dp.rows(), budget=budget)


def arrivals(amounts, l1=1, unit=None):
    return [
        dp.Sensitive(lambda a=a: a, l1=l1, whole=True, stream="arrivals", unit=unit)
        for a in amounts
    ]


@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("steps", LENGTHS)
@pytest.mark.parametrize("moved", [2500])
def test_each_total_is_within_its_error_which_is_known_before(spend, steps, moved):
    """60 runs at 95 %, of steps that are not independent: at step 1, 7 and 50, fewer than 42 of 60
    covered has odds below 1e-9; the root mean square is within 6 standard errors of the plan's."""
    w, amounts = workload.stream(steps=steps), np.arange(50) * 100
    plan = w.plan(spend=spend, sensitivity=moved)
    found = [w.release(amounts, spend=spend, sensitivity=moved) for _ in range(60)]
    gaps = np.array([np.subtract(each.values, np.cumsum(amounts)) for each in found])
    assert np.array_equal(found[0].deviations, plan.deviations[:50])
    for step in (0, 6, 49):
        assert (np.abs(gaps[:, step]) <= found[0].errors[step]).sum() >= 42
    squares = np.square(gaps / plan.deviations[:50]).mean(axis=1)
    assert squares.mean() < 1 + 6 * squares.std() / math.sqrt(60) + 0.2
    assert squares.mean() > 0.25


@pytest.mark.parametrize("spend", SPENDS[:2], ids=str)
@pytest.mark.parametrize("steps", LENGTHS)
@pytest.mark.parametrize("unit", [dp.rows(), dp.person("a", rows=3)], ids=str)
def test_a_session_charges_once_for_the_whole_stream(spend, steps, unit):
    s = opened(spend, unit)
    amounts = [5] * 40
    coming = arrivals(amounts, l1=3, unit=s.unit)
    found = s.run(workload.stream(steps=steps).on(coming, spend=spend, filter=s.ledger.filter))
    assert len(found.values) == 40
    assert s.spent.epsilon_at(1e-6) <= spend.epsilon_at(1e-6) * (1 + 1e-9)
    assert np.abs(np.subtract(found.values, np.cumsum(amounts))).max() < 12 * found.errors.max()
    assert len(s.ledger.entries) == 1


def test_a_value_may_follow_from_the_total_before():
    s, seen = opened(dp.rho(0.5)), []

    def coming():
        while len(seen) < 5:
            total = yield arrivals([1])[0]
            seen.append(total)

    found = s.run(workload.stream().on(coming(), spend=dp.rho(0.5)))
    assert np.array_equal(seen, found.values)


def test_a_stream_ends_when_its_steps_do():
    s = opened(dp.rho(0.5))
    found = s.run(workload.stream(steps=3).on(arrivals([1] * 9), spend=dp.rho(0.5)))
    assert len(found.values) == 3


def test_bounds_that_add_up_beyond_the_sensitivity_are_refused():
    s = opened(dp.rho(0.5))
    alone = [dp.Sensitive(lambda: 1, l1=1, whole=True) for _ in range(2)]
    with pytest.raises(SensitivityMismatch):
        s.run(workload.stream(steps=3).on(alone, spend=dp.rho(0.5)))


@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("steps", LENGTHS)
def test_neighbours_move_values_no_further_than_declared(spend, steps):
    def program(table):
        s = dp.open(table, unit=dp.rows(), budget=spend)
        days = [
            dp.Sensitive(
                lambda day=day: int((table.day == day).sum()),
                l1=1,
                whole=True,
                stream="arrivals",
                unit=s.unit,
            )
            for day in range(4)
        ]
        return s.run(workload.stream(steps=steps).on(days, spend=spend, filter=s.ledger.filter))

    table = pd.DataFrame({"day": [0, 1, 1, 3, 2, 2]})
    found = replay(program, table, table.iloc[1:])
    assert found.ok, str(found)


@pytest.mark.parametrize("wrong", [[], [1], [1.5], 3])
def test_what_is_not_a_stream_of_hidden_numbers_is_refused_for_nothing(wrong):
    s = opened(dp.rho(0.5))
    with pytest.raises((BadParameter, TypeError)):
        s.run(workload.stream().on(wrong, spend=dp.rho(0.5)))
    assert s.spent.rho == 0


@pytest.mark.parametrize("steps", [0, -1, 1.5, "a", True])
def test_a_length_is_a_whole_number(steps):
    with pytest.raises(BadParameter):
        workload.stream(steps=steps)


def rounded_laplace(scale, reach=400):
    """P(⌊Laplace + ½⌋ = k) for |k| up to the reach."""
    ends = np.arange(-reach, reach + 2) - 0.5
    tail = np.exp(-np.abs(ends) / scale) / 2
    return np.diff(np.where(ends < 0, tail, 1 - tail))


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("epsilon", np.geomspace(0.5, 100, 40).round(3))
def test_whole_totals_are_covered_exactly_as_often_as_stated(epsilon, confidence):
    found = workload.stream(steps=7).release([0] * 7, spend=dp.epsilon(epsilon))
    counter = workload.stream(steps=7).counter(spend=dp.epsilon(epsilon))
    one = rounded_laplace(counter.noise.scale)
    laws = [one, one, np.convolve(one, one, mode="same")]  # one noise, one, and two of them
    for law, half in zip(laws, found.error(confidence), strict=False):
        k = np.abs(np.arange(len(law)) - len(law) // 2)
        assert law[k <= half].sum() >= confidence - 1e-9
    assert (found.errors == found.plan.errors).all()
    assert (found.times(0.01).error(confidence) == found.error(confidence) * 0.01).all()


def test_a_list_of_values_that_the_counter_does_not_cover_costs_nothing():
    for w in (workload.stream(), workload.stream(steps=3)):
        s = dp.open({"t": pd.DataFrame({"a": [1]})}, unit=dp.rows(), budget=dp.epsilon(1.0))
        apart = [dp.Sensitive(lambda: 3, l1=1, whole=True) for _ in range(3)]
        with pytest.raises(SensitivityMismatch, match="by 3 together") as told:
            s.run(w.on(apart, spend=dp.epsilon(0.5)))
        assert ("or a counter of sensitivity" in told.value.fix) == (w.steps == 3)
        with pytest.raises(BadParameter, match=r"dp\.Sensitive numbers"):
            s.run(w.on([apart[0], 3], spend=dp.epsilon(0.5)))
        assert s.spent.epsilon == 0


@pytest.mark.parametrize("bound", [{"linf": 1}, {"l2": 1}, {"l1": 1}])
def test_a_stated_sensitivity_stands_in_for_a_bound_in_l1(bound):
    value = dp.Sensitive(lambda: 3, whole=True, **bound)
    if "l1" not in bound:
        with pytest.raises(BadParameter, match="needs an L1 bound"):
            workload.stream(steps=3).on([value], spend=dp.rho(0.5))
    made = next(workload.stream(steps=3).on([value], spend=dp.rho(0.5), sensitivity=2))
    assert made.sensitivity == 2


@pytest.mark.parametrize("steps", [None, 1, 7, 8, 100])
@pytest.mark.parametrize("moved", [3.0])
@pytest.mark.parametrize(
    "spend", [dp.epsilon(1.0), dp.rho(0.5), dp.mu(1.0), dp.epsilon(1.0, delta=1e-6)], ids=str
)
def test_the_counter_with_the_smaller_mean_square_is_planned(steps, moved, spend):
    """A tree with Laplace noise on each level, or square roots with Gaussian noise."""
    levels, ahead, made = (steps.bit_length() if steps else 1), steps or 1000, []
    vector = Vector(l1=moved, l2=moved)
    if (noise := noise_under("laplace", [vector] * levels, spend=spend)) is not None:
        scale = {"scale": noise[-1].scale, "sensitivity": noise[-1].sensitivity}
        tree = BinaryTreeCounter(steps=steps, noise=noise[-1]) if steps else None
        made.append(tree or OpenEndedTreeCounter(**scale))
    if (noise := noise_under("gaussian", [vector], spend=spend)) is not None:
        scale = {"sigma": noise[-1].sigma, "sensitivity": noise[-1].sensitivity}
        root = SquareRootCounter(steps=steps, **scale) if steps else None
        made.append(root or UnboundedCounter(**scale))
    squares = [float(np.square(each.deviations(ahead)).mean()) for each in made]
    best = made[squares.index(min(squares))]
    stream = workload.stream(steps=steps)
    assert stream.counter(spend=spend, sensitivity=moved) == best
    plan = stream.plan(spend=spend, sensitivity=moved)
    assert plan.deviations.tolist() == best.deviations(ahead).tolist()
    assert plan.rmse == pytest.approx(math.sqrt(min(squares)))
    assert plan.worst == pytest.approx(best.deviations(ahead).max())
    tree = isinstance(best, BinaryTreeCounter | OpenEndedTreeCounter)
    assert (plan.law, plan.step) == (("laplace", 1.0) if tree else ("gaussian", 0.0))
    assert (plan.wider > 1.0) == tree


def test_estimates_have_the_errors_of_as_many_steps_as_came():
    for steps in (None, 9):
        found = workload.stream(steps=steps).release([3, 0, 7], spend=dp.rho(0.5))
        assert found.labels["step"].tolist() == [1, 2, 3]
        counter = workload.stream(steps=steps).counter(spend=dp.rho(0.5))
        assert found.deviations.tolist() == counter.deviations(3).tolist()


@pytest.mark.parametrize("wrong", [[], [3], [dp.Sensitive(lambda: 3, l1=1, whole=True), 4]])
def test_only_hidden_numbers_are_streamed_in_a_session(wrong):
    with pytest.raises(BadParameter):
        workload.stream(steps=3).on(wrong, spend=dp.rho(0.5))


def test_no_more_totals_are_drawn_than_there_are_steps():
    values = [dp.Sensitive(lambda: 3, l1=1, whole=True, stream="s") for _ in range(5)]
    asking = workload.stream(steps=2).on(values, spend=dp.rho(0.5), sensitivity=2)

    class Opened:
        def on(self, value):
            return value

    next(asking)
    seen = [asking.send(Opened()), asking.send(4.0)]
    with pytest.raises(StopIteration) as ended:
        asking.send(9.0)
    assert all(a is b for a, b in zip(seen, values, strict=False))
    assert ended.value.value.to_pandas()["value"].tolist() == [4.0, 9.0]
