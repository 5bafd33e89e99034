"""Figures that are never below the truth."""

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import deniable as dp
from deniable.losses import rounding

FIGURES = st.floats(0, allow_nan=False, allow_infinity=False)


@given(FIGURES)
def test_a_float_survives_as_ticks(number: float):
    assert rounding.from_ticks(rounding.ticks(number)) == number


@given(st.lists(FIGURES, max_size=20))
def test_a_sum_of_ticks_is_read_as_the_least_double_above_it(numbers: list[float]):
    exact = sum(map(Fraction, numbers), Fraction(0))
    read = rounding.from_ticks(sum(map(rounding.ticks, numbers)))
    assert math.isinf(read) or Fraction(read) >= exact
    below = math.nextafter(read, -math.inf)
    assert read == 0 or Fraction(below) < exact


@given(st.lists(st.floats(0, 1e150), min_size=1, max_size=5))
def test_a_sum_of_squares_is_read_as_the_least_root_above_it(numbers: list[float]):
    exact = sum(Fraction(number) ** 2 for number in numbers)
    root = rounding.from_square_ticks(sum(map(rounding.square_ticks, numbers)))
    assert Fraction(root) ** 2 >= exact
    assert root == 0 or Fraction(math.nextafter(root, 0)) ** 2 < exact


@given(FIGURES, FIGURES)
def test_add_up_is_the_least_double_not_below_the_sum(a: float, b: float):
    total = rounding.add_up(a, b)
    if math.isfinite(total):
        assert Fraction(total) >= Fraction(a) + Fraction(b)
        below = math.nextafter(total, -math.inf)
        assert total == 0 or Fraction(below) < Fraction(a) + Fraction(b)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=6))
def test_up_and_down_enclose_the_exact_sum(terms: list[float]):
    exact = sum(map(Fraction, terms), Fraction(0))
    assert Fraction(rounding.down(*terms)) <= exact <= Fraction(rounding.up(*terms))


@given(st.lists(st.floats(-1e300, 1e300).filter(lambda x: abs(x) > 1e-280), min_size=1, max_size=6))
@example([1.0, -1.0, 1.0, -1.0])
def test_the_error_of_every_term_is_allowed_for(terms: list[float]):
    exact = sum(map(Fraction, terms), Fraction(0))
    wrong = sum(abs(Fraction(term)) for term in terms) / 2**47 * (1 - Fraction(1, 2**50))
    assert Fraction(rounding.up(*terms)) >= exact + wrong
    assert Fraction(rounding.down(*terms)) <= exact - wrong


def test_infinity_is_contagious_unless_taken_no_times():
    infinite = rounding.ticks(math.inf)
    assert rounding.from_ticks(infinite + rounding.ticks(1.0)) == math.inf
    assert rounding.from_ticks(10**9 * infinite) == math.inf
    assert rounding.from_ticks(0 * infinite) == 0.0


def test_ten_tenths_fit_in_one_and_a_little_more_does_not():
    assert rounding.within(math.fsum([0.1] * 10) + 2e-16, 1.0)
    assert not rounding.within(1 + 1e-11, 1.0)


@pytest.mark.parametrize(
    ("number", "up", "down"),
    [
        (0.12345, "0.124", "0.123"),
        (1.0, "1", "1"),
        (math.nextafter(1.0, 2), "1", "1"),
        (1e-7, "1e-07", "1e-07"),
        (1234.5, "1240", "1230"),
        (0.0, "0", "0"),
        (math.inf, "inf", "inf"),
        (5e-310, "5e-310", "5e-310"),
    ],
)
def test_spent_rounds_up_and_left_rounds_down_to_three_digits(number, up, down):
    assert rounding.shown_up(number) == up
    assert rounding.shown_down(number) == down


def test_many_additions_stay_exact():
    total, one = dp.Pure(0.0), dp.Pure(1e-5)
    for _ in range(100_000):
        total += one
    assert total == 100_000 * one


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
@example([1.7976931348623155e308])
@example([1e308, 1e308, -1e308])
def test_sums_of_any_doubles_end_on_the_safe_side(terms):
    """Also next to the largest double, where the exact sum is no double."""
    exact = sum(map(Fraction, terms))
    for bound, sign in ((rounding.up(*terms), 1), (rounding.down(*terms), -1)):
        assert bound == sign * math.inf or sign * (Fraction(bound) - exact) >= 0


@pytest.mark.parametrize("epsilon", [1e300, 1.7976931348623155e308])
def test_an_enormous_epsilon_is_more_than_any_budget_and_no_fault(epsilon):
    from deniable.ledger import open_ledger

    ledger = open_ledger(None, budget=dp.epsilon(1.0, delta=1e-7), unit=dp.rows())
    with pytest.raises(dp.BudgetExceeded):
        ledger.check(ledger.filter.price_of(dp.epsilon(epsilon)))
