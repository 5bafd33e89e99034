"""Disjoint batches: one unit moves one answer of each round, and the batches come in turn."""

import math

import pytest

import deniable as dp
from deniable.forms import Form
from deniable.learn.engine.batches import DisjointBatches, label

NOISE = dp.Gaussian(sigma=2.0, sensitivity=0.5)


def made(batches=3, epochs=4):
    return DisjointBatches(of=NOISE, batches=batches, epochs=epochs)


def test_a_round_costs_one_answer_however_many_batches_there_are():
    for batches in (1, 3, 50):
        found = made(batches)
        assert found.gdp() == pytest.approx(math.sqrt(4) * 0.25)
        assert found.zcdp() == pytest.approx(4 * 0.25**2 / 2)
        assert found.renyi(3.0) == pytest.approx(4 * NOISE.renyi(3.0))
    assert made().sensitivity == 0.5
    assert made().error(0.9) == NOISE.error(0.9)
    assert made().shown_error(0.9, whole=True) == NOISE.shown_error(0.9, whole=True)


def test_other_noises_and_numbers_are_refused():
    for wrong in (
        {"of": dp.Laplace(scale=1.0), "batches": 2},
        {"of": NOISE, "batches": 0},
        {"of": NOISE, "batches": 2, "epochs": 0},
    ):
        with pytest.raises(dp.BadParameter):
            DisjointBatches(**wrong)


def test_a_draw_answers_every_batch_in_each_round():
    read = made().reading(Form.of(whole=None, shape=None, keys=None, statistic=None))
    found = made().draw(read([0.0, 1000.0, 2000.0]))
    assert [round(float(each) / 1000) for each in found] == [0, 1, 2] * 4
    for wrong in ([1.0, 2.0], [1.0] * 4, 3.0, {1.0, 2.0, 3.0}):
        with pytest.raises(dp.BadParameter, match="3 values, one per batch"):
            made().draw(wrong)


def asked(number, of=3, **declared):
    stated = {"l2": 0.5, "stream": label(number, of), **declared}
    return dp.Sensitive(lambda: 1000.0 * number, **stated)


def test_batches_are_asked_about_in_turn_round_after_round():
    rounds = made(epochs=2).begin()
    for number in (0, 1, 2, 0, 1, 2):
        for wrong in ((number + 1) % 3, (number + 2) % 3):
            with pytest.raises(dp.BadParameter, match=f"about batch {number} of 3"):
                rounds.admit(asked(wrong))
        with pytest.raises(dp.BadParameter):
            rounds.admit(asked(number, of=4))
        rounds.admit(asked(number))
        assert round(float(rounds.ask(1000.0 * number)) / 1000) == number
    assert rounds.answering() is None, "all that was paid for"


def test_a_sum_that_one_unit_moves_further_is_refused():
    with pytest.raises(dp.DeniableError):
        made().begin().admit(asked(0, l2=0.6))
