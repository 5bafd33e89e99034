"""Mechanisms that are opened: what they answer next, and what is refused before an answer."""

import pytest

import deniable as dp
from deniable.forms import Form
from deniable.mechanisms import Laplace
from deniable.mechanisms._mechanism import Step
from deniable.mechanisms.interactive import Block, Handle, Series, opening

ONE, TWO = Laplace(scale=1e-9), Laplace(scale=2e-9, sensitivity=2.0)
ROWS = dp.rows()


def test_a_series_uses_each_part_as_often_as_it_says_and_in_order():
    series, met = Series([(ONE, 2), (TWO, 0), (TWO, 1), (ONE, 1)]), []
    while (part := series.answering()) is not None:
        met.append(part)
        assert series.ask(5) == 5
    assert met == [ONE, ONE, TWO, ONE]
    assert Series([]).answering() is None


def test_an_answer_that_fails_is_used_up():
    series = Series([(ONE, 1), (TWO, 1)])
    with pytest.raises(dp.BadParameter):
        series.ask("no number")
    assert series.answering() is TWO


def test_each_value_is_checked_for_the_part_that_it_will_meet():
    series = Series([(ONE, 1), (TWO, 1)])
    with pytest.raises(dp.SensitivityMismatch):
        series.admit(dp.Sensitive(lambda: 1, l1=2))
    series.admit(dp.Sensitive(lambda: 1, l1=1))
    assert series.answering() is ONE  # admitting uses nothing up
    series.ask(1)
    series.admit(dp.Sensitive(lambda: 1, l1=2))
    whole = Series([(dp.DiscreteLaplace(scale=1.0), 1)])
    with pytest.raises(dp.BadParameter):
        whole.admit(dp.Sensitive(lambda: 0.5, l1=1, whole=False))
    assert series.reading(Form())(3.5) == 3.5


def test_a_handle_makes_steps_of_private_values_alone():
    handle = Handle(ONE)
    value = dp.Sensitive(lambda: 1, l1=1)
    step = handle.on(value)
    assert isinstance(step, Step)
    assert (step.mechanism, step.value, step.handle) == (ONE, value, handle)
    for wrong in (1, None, lambda: 1):
        with pytest.raises(dp.BadParameter, match="an opened mechanism takes"):
            handle.on(wrong)


@pytest.mark.parametrize("unit", [None, ROWS])
def test_a_mechanism_or_a_block_for_this_unit_is_opened(unit):
    assert opening(ONE, unit=ROWS) == Block(mechanism=ONE)
    block = Block(mechanism=ONE, delta=1e-6, unit=unit)
    assert opening(block, unit=ROWS) is block
    assert opening("laplace", unit=ROWS) is None


def test_a_block_for_another_unit_is_refused():
    with pytest.raises(dp.UnitMismatch):
        opening(Block(mechanism=ONE, unit=dp.rows(relation="replace")), unit=ROWS)
