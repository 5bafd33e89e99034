"""Parallel composition takes the unit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp

PARTS = [dp.epsilon(0.5), dp.epsilon(2.0), dp.epsilon(1.0)]
REPLACE = dp.rows(relation="replace")


def test_a_row_is_in_one_part_and_pays_the_largest():
    assert dp.parallel(PARTS, unit=dp.rows()) == dp.epsilon(2.0)


def test_a_replaced_row_leaves_one_part_and_enters_another():
    assert dp.parallel(PARTS, unit=REPLACE) == dp.epsilon(3.0)


def test_a_person_pays_for_as_many_parts_as_they_can_be_in():
    three = dp.person("id", rows=10, groups=2)
    assert dp.parallel(PARTS, unit=three) == dp.epsilon(3.0)
    assert dp.parallel(PARTS, unit=dp.person("id", rows=10)) == dp.epsilon(3.5)
    assert dp.parallel(PARTS, unit=three, parts_per_unit=1) == dp.epsilon(2.0)


def test_gaussian_losses_add_their_squares():
    assert dp.parallel([dp.mu(3.0), dp.mu(4.0), dp.mu(1.0)], unit=REPLACE) == dp.mu(5.0)


def test_pairs_are_taken_figure_by_figure():
    parts = [dp.Approx(1.0, delta=1e-9), dp.Approx(0.5, delta=1e-6)]
    assert dp.parallel(parts, unit=dp.rows()) == dp.Approx(1.0, delta=1e-6)


def test_curves_are_taken_order_by_order():
    a = dp.Renyi(orders=(2.0, 4.0), values=(1.0, 2.0))
    b = dp.Renyi(orders=(2.0, 4.0), values=(0.5, 3.0))
    assert dp.parallel([a, b], unit=dp.rows()) == dp.Renyi(orders=(2.0, 4.0), values=(1.0, 3.0))
    assert dp.parallel([a, b], unit=REPLACE) == a + b


@given(st.lists(st.floats(0, 10), min_size=1, max_size=8), st.integers(1, 10))
def test_never_more_than_in_sequence_nor_less_than_any_part(figures, parts):
    losses = [dp.rho(figure) for figure in figures]
    together = dp.parallel(losses, unit=dp.rows(), parts_per_unit=parts)
    assert together <= sum(losses)
    assert all(loss <= together for loss in losses)
    if parts >= len(losses):
        assert together == sum(losses)


def test_profiles_need_an_order_among_them():
    big, small = dp.Gdp(2.0).to(dp.Profile), dp.Gdp(1.0).to(dp.Profile)
    assert dp.parallel([small, big], unit=dp.rows()).epsilon_at(1e-6) == big.epsilon_at(1e-6)
    crossing = dp.Pure(2.0).to(dp.Profile)  # sure at ε = 2, where a small Gaussian is not
    with pytest.raises(dp.NoBound):
        dp.parallel([dp.Gdp(0.5).to(dp.Profile), crossing], unit=dp.rows())


@pytest.mark.parametrize("bad", [[], [1.0], 3])
def test_only_losses_have_parts(bad):
    with pytest.raises((dp.BadParameter, TypeError)):
        dp.parallel(bad, unit=dp.rows())


def test_kinds_do_not_mix_and_the_unit_must_be_said():
    with pytest.raises(dp.MixedLosses):
        dp.parallel([dp.epsilon(1.0), dp.rho(1.0)], unit=dp.rows())
    with pytest.raises(dp.BadParameter):
        dp.parallel(PARTS, unit="rows")
