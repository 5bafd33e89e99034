"""Numbers for people: three digits, honest directions, never 0.000."""

import datetime as dt
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.local.estimate import Estimate
from deniable.losses import Approx, Pure
from deniable.plots.style import thousands
from deniable.release.frame import Frame
from deniable.release.numbers import (
    amount,
    decimals,
    digits,
    meaning,
    percent,
    plus_minus,
    probability,
    remaining,
    shown_error,
)
from deniable.synthetic.marginal import Marginal


def read(text):
    return Fraction(text.replace(",", ""))


@given(st.floats(1e-300, 1e300))
def test_up_is_never_below_and_down_never_above(number):
    slack = Fraction(number) * Fraction(1, 2**39)  # the double called 0.1 may show as 0.1
    assert read(digits(number, "up")) >= Fraction(number) - slack
    assert read(digits(number, "down")) <= Fraction(number) + slack
    assert abs(read(digits(number)) - Fraction(number)) <= Fraction(number) / 190
    assert read(digits(number)) != 0


@given(st.integers(1, 999), st.integers(-4, 5))
def test_short_numbers_show_as_they_are(figures, power):
    number = float(f"{figures}e{power}")
    for direction in ("near", "up", "down"):
        assert read(digits(number, direction)) == Fraction(f"{figures}e{power}")


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0.0, "0"), (math.inf, "∞"), (-math.inf, "-∞"), (math.nan, "?"), (1e6, "1,000,000"),
     (-12.345, "-12.3"), (0.00004, "4.00e-05"), (3e-7, "3.00e-07"), (1e20, "1.00e+20")],
)  # fmt: skip
def test_odd_numbers(number, shown):
    assert digits(number) == shown


@pytest.mark.parametrize(
    ("delta", "shown"), [(0.0, "0"), (1e-7, "1e-07"), (7.5e-8, "7.5e-08"), (0.001, "1e-03")]
)
def test_delta_is_a_power_of_ten(delta, shown):
    assert probability(delta) == shown


def test_losses_in_their_own_currency():
    assert amount(dp.epsilon(0.3201), "up") == "ε 0.321"
    assert amount(dp.epsilon(0.1899), "down") == "ε 0.189"
    assert amount(dp.epsilon(1, delta=1e-7)) == "ε 1, δ 1e-07"
    assert amount(dp.rho(0.5)) == "ρ 0.5"
    assert amount(dp.mu(1)) == "μ 1"
    assert [amount(Pure(0.0)), amount(Approx(0.0, delta=0.0))] == ["ε 0", "ε 0"]


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [(41210.3, 1880.2, "41,210 ± 1,881"), (12.3456, 0.51, "12.346 ± 0.51"), (7, 2.0, "7 ± 2"),
     (-3, 2.5, "-3 ± 2.5"), (1234567, None, "1,234,567"), ("Oslo", None, "Oslo"),
     (True, 1.0, "True"),
     (None, None, "None"), (1e-9, 3e-10, "1.00000e-09 ± 3.00e-10"), (0.5, math.inf, "0.5"),
     (1.5, 0.0, "1.500000 ± 0"), (2.0, 99.9, "2.0 ± 99.9"), (2.0, 1000.0, "2 ± 1,000")],
)  # fmt: skip
def test_values_show_as_many_decimals_as_their_error_is_worth(value, error, shown):
    assert plus_minus(value, error) == shown


# ---- zero has no sign

TINY = st.floats(-1e9, 0.0, allow_subnormal=True)
SIGNED_ZERO = re.compile(r"[-−]0(,000)*(\.0*)?(?![\d.e])")


@given(TINY, st.floats(1e-9, 1e9))
def test_what_rounds_to_zero_has_no_sign(value, error):
    shown = [plus_minus(value, error), plus_minus(value, None), decimals(value), digits(value)]
    shown += [digits(value, "up"), digits(value, "down"), decimals(value, 3)]
    shown.append(str(Frame(columns={"x": [value, -0.0]})))
    assert not [text for text in shown if SIGNED_ZERO.search(text)]


def test_a_negative_zero_would_be_seen():
    assert SIGNED_ZERO.search("-0 ± 599")
    assert SIGNED_ZERO.search("−0.00 ± 4")
    assert not SIGNED_ZERO.search("-0.04 ± 4")
    assert plus_minus(-0.2, 599.0) == "0 ± 599"


def test_tables_of_counts_have_no_signed_zero():
    near = Estimate(
        supports=np.array([10]), people=40, chances=(0.75, 0.2500001), labels=(), epsilon=1.0
    )
    assert -0.5 < near.counts[0] < 0
    cells = Marginal(
        columns=("a",), labels=(("u", "v"),), counts=np.array([-0.2, -0.0]), error=None
    )
    for shown in (near, cells):
        assert not SIGNED_ZERO.search(repr(shown))
        assert not SIGNED_ZERO.search(shown._repr_html_())


def test_an_axis_has_no_signed_zero():
    formatters = []

    class Axis:
        def set_major_formatter(self, formatter):
            formatters.append(formatter)

    thousands(Axis())
    (shown,) = formatters
    assert [shown(-0.0, 0), shown(-5e4, 0)] == ["0", "−50,000"]


HOURS, MINUTES = dt.timedelta(hours=1), dt.timedelta(minutes=1)


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (72 * HOURS, "3 days"), (49 * HOURS, "3 days"), (48 * HOURS, "2 days"),
        (48 * HOURS - MINUTES, "48 hours"), (36 * HOURS, "36 hours"), (24 * HOURS, "1 day"),
        (24 * HOURS + MINUTES, "25 hours"), (24 * HOURS - MINUTES, "24 hours"),
        (120 * MINUTES, "2 hours"), (121 * MINUTES, "3 hours"), (119 * MINUTES, "119 min"),
        (60 * MINUTES, "60 min"), (MINUTES + MINUTES / 60, "2 min"), (2400 * HOURS, "100 days"),
        (24000 * HOURS, "1,000 days"),
    ],
    ids=str,
)  # fmt: skip
def test_times_are_in_days_hours_or_minutes_and_rounded_up(error, shown):
    day = dt.date(2024, 1, 2)
    assert plus_minus(day, error) == f"2024-01-02 ± {shown}"


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.0, "0 %"), (0.0412, "4.12 %"), (0.04126, "4.13 %"), (0.5, "50 %"), (0.12345, "12.3 %"),
        (0.8994, "89.9 %"), (0.9, "90 %"), (0.98765, "98.77 %"), (0.9912345, "99.123 %"),
        (0.9991234, "99.9123 %"), (0.99999, "99.999 %"), (1 - 2e-9, "99.9999998 %"), (1.0, "100 %"),
    ],
)  # fmt: skip
def test_a_share_has_the_digits_that_tell_it_from_all(share, shown):
    assert percent(share) == shown


def sure(loss):
    return meaning(loss).partition("at most ")[2]


@pytest.mark.parametrize(
    ("epsilon", "shown"),
    [
        (0.0, "50"), (1e-9, "51"), (0.1, "53"), (1.0, "74"), (math.log(99) - 1e-9, "99"),
        (math.log(99) + 1e-3, "99.001"), (6.0, "99.7528"), (10.0, "99.9955"), (13.0, "99.9998"),
    ],
)  # fmt: skip
def test_a_loss_means_odds_by_the_rule_of_bayes(epsilon, shown):
    """100/(1 + e^−ε), rounded up, to a whole percentage up to 99, and never certain."""
    assert sure(dp.epsilon(epsilon) if epsilon else dp.epsilon(1) * 0) == f"{shown} % sure"
    if epsilon:
        with_delta = sure(dp.epsilon(epsilon, delta=2.5e-8))
        assert with_delta == f"{shown} % sure, except with probability 2.5e-08"


@pytest.mark.parametrize("epsilon", [14.0, 16.0, 1000.0])
def test_a_loss_that_tells_nearly_everything_claims_no_upper_bound(epsilon):
    """At ε 16 one may be 99.99999 % sure: "at most 99.9999 %" would be false."""
    assert meaning(dp.epsilon(epsilon)).endswith(" can become all but certain")


@pytest.mark.parametrize("loss", [dp.rho(0.05), dp.mu(0.3)], ids=str)
@pytest.mark.parametrize("delta", [1e-6, 3e-4])
def test_a_loss_without_an_epsilon_means_odds_at_a_delta(loss, delta):
    epsilon = loss.epsilon_at(delta)
    odds = math.ceil(100 / (1 + math.exp(-epsilon)))
    told = meaning(loss, delta).partition("at most ")[2]
    assert told == f"{odds} % sure, except with probability {probability(delta)}"
    assert 51 < odds < 99


def test_what_is_left_of_a_delta_is_for_private_groups():
    assert remaining(dp.epsilon(2.5, delta=2.5e-8), groups=True).endswith(
        "plus δ 2.5e-08 for private group selection"
    )
    assert remaining(dp.epsilon(2.5, delta=2.5e-8), groups=False) == "ε 2.5"
    for groups in (True, False):
        assert remaining(dp.rho(0.25), groups=groups) == "ρ 0.25"
        assert remaining(dp.epsilon(0.1899), groups=groups) == "ε 0.189"


def test_a_plan_and_its_answer_show_the_same_error():
    for spend in (0.1, 0.3, 0.37, 0.77):
        s = dp.open(pa.table({"x": [1, 2]}), unit=dp.rows(), budget=dp.epsilon(1))
        query = s.sql("SELECT COUNT(*) AS n FROM data")
        plan, answer = (
            query.explain(spend=dp.epsilon(spend)),
            query.release(spend=dp.epsilon(spend)),
        )
        shown = str(plan).partition("n ± ")[2].split()[0]
        assert f"± {shown} " in str(answer)
        assert float(shown) >= plan.errors["n"]


@pytest.mark.parametrize("error", [12.31, 0.1, 9.999, 1e-7, 123456.2, 1e20])
def test_no_less_error_is_shown_than_there_is(error):
    for text in (shown_error(error), plus_minus(3, error).partition("± ")[2]):
        assert float(text.replace(",", "")) >= error


def test_every_error_is_written_by_the_same_function():
    source = Path(dp.__file__).parent
    rule = re.compile(r"± \{(?!shown_error|error\}|span|spread|_while|shown_up|\d \* unit)[^}]*")
    found = [
        f"{path.name}: {match[0]}"
        for path in source.rglob("*.py")
        for match in rule.finditer(path.read_text(encoding="utf-8"))
        if "LARGEST_CELL" not in match[0]  # a bound on values
    ]
    assert not found
