"""Sums over a sample: exact, of every shape, and held where a type ends."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import BadParameter
from deniable.forms import Form
from deniable.mechanisms import Gaussian, Mechanism, SampledWithoutReplacement
from deniable.mechanisms.combine.sampled import (
    _exact_sum,
    _real_sum,
    _rows_and_statistic,
    _steps,
)
from deniable.sampling.lattice import Lattice

SHAPES = [(), (3,), (2, 3), (1, 1)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("count", [1, 4])
def test_real_rows_are_added_up_exactly_in_their_shape(shape, count):
    random = np.random.default_rng(1)
    rows = random.uniform(-1, 1, (count, *shape)) * 10.0 ** random.integers(
        -200, 200, (count, *shape)
    )
    found = np.asarray(_real_sum(rows), dtype=object)
    assert found.shape == shape
    flat = rows.reshape(count, -1)
    wanted = [sum(map(Fraction, column), Fraction(0)) for column in flat.T.tolist()]
    assert [Fraction(each) for each in found.reshape(-1).tolist()] == wanted


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("most", [5, 2**62, 2**63 - 1])
def test_whole_rows_are_added_up_exactly_however_large(shape, most):
    rows = np.full((5, *shape), most, dtype=np.int64)
    found = _exact_sum(rows)
    assert found.shape == shape
    assert {int(each) for each in found.reshape(-1).tolist()} == {5 * most}
    assert _exact_sum(rows[:0]).shape == shape


@pytest.mark.parametrize("exponent", [-20, 0, 7])
def test_rows_are_steps_of_the_lattice_rounded_towards_zero(exponent):
    lattice = Lattice(exponent=exponent)
    values = [0.0, 1.9, -1.9, 200.5, -200.5, 1e-9, 2.0**60 + 2**20, -1e300, 5e-324]
    width = Fraction(2) ** exponent
    for rows in (np.array(values), np.array([Fraction(v) for v in values], dtype=object)):
        found = _steps(rows, lattice)
        assert found.shape == rows.shape
        wanted = [int(Fraction(v) / width) for v in values]
        assert [int(each) for each in found.tolist()] == wanted
    assert _steps(np.array(values[:5]), lattice).dtype == np.int64


@dataclass(frozen=True, kw_only=True)
class Both(Mechanism):
    """ε-private and μ-GDP, with no law of its own."""

    norm = "l1"
    epsilon: float
    mu: float
    sensitivity: float = 2.0

    def pure(self):
        return self.epsilon

    def gdp(self):
        return self.mu

    def draw(self, value):
        return value


@pytest.mark.parametrize("order", [1.5, 4.0, 32.0])
def test_a_sample_costs_the_least_of_what_mu_and_epsilon_prove(order):
    by_mu = Gaussian(sigma=2.0).sampled(rate=0.1).renyi(order)
    by_epsilon = Both(epsilon=0.1, mu=math.inf).sampled(rate=0.1).renyi(order)
    both = Both(epsilon=0.1, mu=50.0).sampled(rate=0.1)
    assert both.renyi(order) == by_epsilon < Gaussian(sigma=0.02).sampled(rate=0.1).renyi(order)
    assert Both(epsilon=9.0, mu=0.5).sampled(rate=0.1).renyi(order) == by_mu
    replaced = Both(epsilon=9.0, mu=0.5).sampled(rate=0.1, relation="replace")
    assert replaced.renyi(order) > 2 * by_mu
    assert Both(epsilon=0.0, mu=0.0).sampled(rate=0.1).renyi(order) == 0.0


@pytest.mark.parametrize("rate", [0.01, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_replaced_units_cost_what_the_worst_mixture_does(rate, epsilon):
    made = Both(epsilon=epsilon, mu=math.inf).sampled(rate=rate, relation="replace")
    grown, shrunk = (1 - rate + rate * math.exp(sign * epsilon) for sign in (1, -1))
    assert made.pure() == pytest.approx(math.log(grown / shrunk), rel=1e-12)
    assert made.pure() >= math.log(grown / shrunk) * (1 - 1e-15)
    added = Both(epsilon=epsilon, mu=math.inf).sampled(rate=rate)
    assert added.pure() == pytest.approx(math.log(grown), rel=1e-12)


def test_rows_of_replaced_units_are_numbers_clipped_to_the_sensitivity():
    made = Both(epsilon=1.0, mu=math.inf, sensitivity=2.5).sampled(rate=1.0, relation="replace")
    assert int(made.draw(np.array([9, -9, 1, 9]))) == 2 - 2 + 1 + 2
    noisy = Gaussian(sigma=1e-9, sensitivity=2.5).sampled(rate=1.0, relation="replace")
    assert noisy.draw(np.array([9.0, -1.0])) == pytest.approx(1.5, abs=1e-6)
    for rows in (np.ones((3, 1)), (np.ones(3), len)):
        with pytest.raises(BadParameter, match="one number per unit"):
            noisy.draw(rows)


@pytest.mark.parametrize("relation", ["", "both", None, 1])
def test_units_are_added_or_replaced_at_a_rate_above_0(relation):
    with pytest.raises(BadParameter):
        Gaussian(sigma=1.0).sampled(rate=0.5, relation=relation)
    for rate in (0, -0.1, 1.1, math.nan):
        with pytest.raises(BadParameter, match="rate"):
            Gaussian(sigma=1.0).sampled(rate=rate)


@pytest.mark.parametrize("size", [1, 10, 40])
def test_a_sample_of_fixed_size_is_priced_by_its_share(size):
    """ε of ln(1 + q(e^ε − 1)) at qδ, and δ the other way round."""
    made = SampledWithoutReplacement(of=Gaussian(sigma=2.0), size=size, population=40)
    q, inner = size / 40, Gaussian(sigma=2.0)
    for epsilon in (0.0, 0.3, 1.0):
        wider = math.log1p(math.expm1(epsilon) / q)
        assert made.delta_at(epsilon) == pytest.approx(q * inner.delta_at(wider), rel=1e-6)
    for delta in (1e-6, q / 2):
        wanted = math.log1p(q * math.expm1(inner.epsilon_at(delta / q)))
        assert made.epsilon_at(delta) == pytest.approx(wanted, rel=1e-6)
    if q < 0.9:
        assert made.epsilon_at(q * 1.01) == 0.0
    assert made.pure() == math.inf == made.epsilon_at(0.0)
    known = SampledWithoutReplacement(of=Both(epsilon=1.0, mu=9.0), size=size, population=40)
    assert known.pure() == pytest.approx(math.log1p(q * math.expm1(1.0)))
    assert known.approx() == (known.pure(), 0.0)


def test_a_part_that_states_a_delta_of_1_states_nothing(monkeypatch):
    monkeypatch.setattr(Both, "approx", lambda _: (1.0, 1.0))
    part = Both(epsilon=math.inf, mu=math.inf)
    assert part.sampled(rate=0.5).approx() == (math.inf, 0.0)
    fixed = SampledWithoutReplacement(of=part, size=1, population=2)
    assert fixed.approx() == (math.inf, 0.0)


def test_a_number_for_each_replaced_unit_is_read_and_nothing_else():
    made = Gaussian(sigma=1.0).sampled(rate=0.5, relation="replace")
    assert made.reading(Form())([1.0, 2.0]).tolist() == [1.0, 2.0]
    for form in (Form(shape=(1,)), Form(statistic=max)):
        with pytest.raises(BadParameter, match="one number per unit"):
            made.reading(form)


@pytest.mark.parametrize("rows", [(1, 2), (1.5, 2.5), (1, 2, 3), [1, 2], (np.array([1, 2]), len)])
def test_rows_come_in_any_sequence_and_a_function_of_them_only_beside_an_array(rows):
    found, statistic = _rows_and_statistic(rows)
    if rows[1] is len:
        assert (found.tolist(), statistic) == ([1, 2], len)
    else:
        assert (found.tolist(), statistic) == ([*rows], None)


@pytest.mark.parametrize("wrong", [(len,), (np.array([1]), len, len), (len, 1), 5])
def test_what_is_neither_rows_nor_rows_with_a_function_is_refused(wrong):
    with pytest.raises(BadParameter):
        _rows_and_statistic(wrong)
