"""Shuffled reports: exactly as private as the law of all reports says, and nobody's place is kept.

The truth is enumerated: n people of whom one is exchanged, the number of ones among their reports.
"""

import math

import numpy as np
import pytest

import deniable as dp
from deniable.mechanisms import RandomizedResponse, Shuffled

PEOPLE = 6


def reports_law(ones, people, epsilon):
    """The law of the number of ones among the reports, if so many people hold a one."""
    truth, law = math.exp(epsilon) / (1 + math.exp(epsilon)), np.ones(1)
    for i in range(people):
        chance = truth if i < ones else 1 - truth
        law = np.convolve(law, [1 - chance, chance])
    return law


def worst_delta(epsilon, people, at):
    """Over all answers of the others, in both directions."""
    worst = 0.0
    for ones in range(people):
        p, q = (reports_law(k, people, epsilon) for k in (ones, ones + 1))
        for a, b in ((p, q), (q, p)):
            worst = max(worst, np.maximum(a - math.exp(at) * b, 0).sum())
    return worst


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_no_price_is_below_the_law_of_all_reports(epsilon, share):
    survey = Shuffled(of=RandomizedResponse(epsilon=epsilon), people=PEOPLE, delta=0.1)
    at = share * epsilon
    assert worst_delta(epsilon, PEOPLE, at) <= survey.delta_at(at) < 1.0
    for delta in (0.01, 0.1):
        found = survey.epsilon_at(delta)
        assert worst_delta(epsilon, PEOPLE, found) <= delta
        assert found <= epsilon


def test_at_delta_zero_and_at_its_epsilon_a_report_is_as_private_as_alone():
    survey = Shuffled(of=RandomizedResponse(epsilon=0.7), people=PEOPLE, delta=0.1)
    assert survey.epsilon_at(0.0) == survey.epsilon_at() == survey.pure() == survey.of.pure()
    assert survey.delta_at(survey.pure()) == survey.delta_at(9.0) == 0.0
    assert survey.delta_at(survey.pure() * 0.9) > 0.0
    assert survey.approx() == (survey.epsilon_at(0.1), 0.1)
    for wrong in (-1.0, math.nan):
        with pytest.raises(dp.BadParameter):
            survey.epsilon_at(wrong)
        with pytest.raises(dp.BadParameter):
            survey.delta_at(wrong)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("of", dp.Laplace(scale=1.0)),
        ("of", None),
        ("of", RandomizedResponse(epsilon=1.0, entries=2)),
        ("people", 0),
        ("people", 1.5),
        ("people", True),
        ("delta", 0.0),
        ("delta", 1.0),
        ("delta", math.nan),
    ],
    ids=str,
)
def test_each_parameter_is_checked(field, wrong):
    right = {"of": RandomizedResponse(epsilon=1.0), "people": 5, "delta": 1e-6}
    Shuffled(**right)
    with pytest.raises(dp.BadParameter):
        Shuffled(**(right | {field: wrong}))


def value(shape, entries=1):
    return dp.Sensitive(
        lambda: [0] * 5, shape=shape, entries=entries, linf=1, l1=entries, whole=True
    )


def test_one_answer_a_person_is_declared_and_one_person_gives_one():
    survey = Shuffled(of=RandomizedResponse(epsilon=1.0), people=5, delta=1e-6)
    assert survey.on(value(5)).mechanism is survey
    for shape in (4, 6, (5, 1), None):
        with pytest.raises(dp.BadParameter, match="another shape"):
            survey.on(value(shape))
    with pytest.raises(dp.DeniableError):
        survey.on(value(5, entries=2))


@pytest.mark.parametrize("shape", [(4,), (6,), (5, 1), ()], ids=str)
def test_one_answer_a_person_is_given(shape):
    survey = Shuffled(of=RandomizedResponse(epsilon=1.0), people=5, delta=1e-6)
    with pytest.raises(dp.BadParameter, match="5 answers"):
        survey.draw(np.zeros(shape, dtype=np.int64))


def test_a_report_may_stand_anywhere_and_all_are_there():
    """300 orders of 4 sure reports: a place is never met with chance (3/4)³⁰⁰ < 1e-37."""
    survey = Shuffled(of=RandomizedResponse(epsilon=200.0, categories=4), people=4, delta=1e-6)
    orders = [survey.draw(np.arange(4)).tolist() for _ in range(300)]
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    assert {order.index(0) for order in orders} == {0, 1, 2, 3}
