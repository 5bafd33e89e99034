import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deniable.audit.features import (
    Binned,
    Coded,
    Readout,
    last_digit,
    precision_cell,
    precision_words,
)
from deniable.audit.outputs import tabulate
from deniable.audit.propose import propose

ANSWER = Readout("the answer", lambda table: table.column(()).numbers)


@given(st.integers(-1000, 900), st.integers(0, 2**52 - 1))
def test_the_last_binary_digit_is_the_largest_power_of_two_that_divides(exponent, half):
    odd = 2 * half + 1
    value = float(odd) * 2.0**exponent
    if 0 < value < 1e300 and value > 1e-290:
        assert last_digit(np.array([value, -value])).tolist() == [exponent, exponent]


def test_what_is_not_finite_has_no_last_digit():
    assert np.isnan(last_digit(np.array([np.inf, np.nan]))).all()


def test_a_precision_cell_is_said_in_words():
    (code,) = precision_cell(np.array([0.375])).tolist()
    assert precision_words(code) == "between 2^-2 and 2^-1 with last binary digit 2^-3"


def test_bins_learn_the_likelihood_ratio_and_say_where_it_is_high():
    rng = np.random.default_rng(1)
    first = tabulate(rng.uniform(0, 1, 20_000))
    second = tabulate(np.where(rng.random(20_000) < 0.5, rng.uniform(0, 0.5, 20_000), 0.9))
    binned = Binned.learn(ANSWER, first, second)
    scores = binned.scores(tabulate([0.25, 0.7, np.nan]))
    assert abs(scores[0]) < 0.5
    assert scores[1] > 3
    assert np.isnan(scores[2])
    assert binned.words(3.0, at_least=True).startswith("the answer lies in [0.5")


def test_exact_values_are_learned_and_unknown_ones_count_as_even():
    first, second = tabulate(["a"] * 90 + ["b"] * 10), tabulate(["a"] * 10 + ["b"] * 90)
    label = lambda table, row: table.column(()).labels[int(table.column(()).identity[row])]  # noqa: E731
    coded = Coded.learn("the answer", lambda t: t.column(()).identity, label, first, second)
    high, low, unknown = coded.scores(tabulate(["a", "b", "c"]))
    assert high > 2 > 0 > -2 > low
    assert unknown == 0
    assert coded.words(1.0, at_least=True) == "the answer is 'a'"
    assert coded.words(-1.0, at_least=True) == "the answer is not 'b'"


def test_values_that_never_repeat_are_no_categories():
    rng = np.random.default_rng(2)
    first, second = tabulate(rng.random(1000)), tabulate(rng.random(1000))
    assert Coded.learn("x", lambda t: t.column(()).identity, lambda t, i: "", first, second) is None


def test_of_many_columns_those_that_differ_are_kept():
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(3000, 100)), rng.normal(size=(3000, 100))
    second[:, 77] += 1
    names = {getattr(f, "name", "") for f in propose(tabulate(first), tabulate(second))}
    assert "entry 77" in names
    assert len([name for name in names if name.startswith("entry") and "minus" not in name]) == 32
