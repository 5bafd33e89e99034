"""Lists of mechanisms: every figure is the sum over all uses, however the list is written."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable.forms import Form
from deniable.ledger import open_ledger
from deniable.losses.pairs import ApproxPair, GaussianPair
from deniable.mechanisms import Composed, Gaussian, Laplace, PartitionSelection

A, B = Laplace(scale=10.0), Laplace(scale=3.0)
G, H = Gaussian(sigma=5.0), Gaussian(sigma=2.0)
KEYS = PartitionSelection(epsilon=0.5, delta=1e-3)


def test_inner_lists_are_opened_and_equal_neighbours_counted_together():
    inner = Composed.of((A, 2), (B, 1))
    assert Composed.of((inner, 2), (B, 1)).parts == ((A, 2), (B, 1), (A, 2), (B, 2))
    assert Composed.of((Composed.of((A, 3)), 4), (A, 1)).parts == ((A, 13),)
    assert Composed.of((A, 1), (B, 1), (A, 1)).parts == ((A, 1), (B, 1), (A, 1))
    assert Composed.of((A, 3), (B, 2), (A, 1))._counts() == {A: 4, B: 2}


def test_figures_are_sums_over_all_uses():
    pure = Composed.of((A, 3), (B, 2), (A, 1))
    exact = 4 * Fraction(A.pure()) + 2 * Fraction(B.pure())
    assert 0 <= Fraction(pure.pure()) - exact < exact * Fraction(1, 2**52)
    assert pure.zcdp() == pytest.approx(4 * A.zcdp() + 2 * B.zcdp())
    assert pure.renyi(3.0) == pytest.approx(4 * A.renyi(3.0) + 2 * B.renyi(3.0))
    assert pure.gdp() == math.inf
    normal = Composed.of((G, 3), (H, 2))
    assert normal.gdp() == pytest.approx(math.sqrt(3 * 0.2**2 + 2 * 0.5**2))
    assert normal.pairs().remove == GaussianPair(mu=normal.gdp())
    keys = Composed.of((KEYS, 3), (A, 2))
    epsilon, delta = keys.approx()
    assert epsilon == pytest.approx(1.5 + 2 * A.pure())
    assert delta == pytest.approx(3e-3)
    assert keys.pairs().remove == ApproxPair(epsilon=epsilon, delta=delta)
    assert (2000 * KEYS).approx()[1] == 1.0


def test_a_list_is_a_black_box_if_one_of_its_parts_is():
    assert not Composed.of((A, 1), (G, 1)).black_box()
    assert Composed.of((A, 1), (KEYS, 1)).black_box()


def test_no_divergence_is_rounded_below_the_sum():
    for i in range(1, 60):
        listed = Composed.of((Laplace(scale=i / 7), 3), (Laplace(scale=i / 3), i))
        parts = (
            3 * Fraction(Laplace(scale=i / 7).renyi(2.5)),
            i * Fraction(Laplace(scale=i / 3).renyi(2.5)),
        )
        assert Fraction(listed.renyi(2.5)) >= sum(parts)


def test_the_error_is_that_of_the_worst_part():
    listed = Composed.of((B, 2), (A, 1), (B, 1))
    for whole in (False, True):
        assert listed.shown_error(0.9, whole=whole) == A.error(0.9, whole=whole)
    assert listed.error(0.9) == A.error(0.9)


def test_each_part_reads_the_value_in_its_own_way_and_answers_as_often_as_it_says():
    exact = Composed.of((Laplace(scale=1e-9), 2), (dp.DiscreteLaplace(scale=1e-3), 1))
    read = exact.reading(Form(whole=True))
    assert exact.draw(read(np.int8(7))) == [7, 7, 7]
    assert exact.draw(7) == [7, 7, 7]
    wide = Laplace(scale=1.0, sensitivity=5.0)
    for parts in ((wide, A), (A, wide)):
        with pytest.raises(dp.SensitivityMismatch):
            (parts[0] + parts[1]).on(dp.Sensitive(lambda: 1, l1=5))


@pytest.mark.parametrize(
    "parts",
    [(), [(A, 1)], None, (A,), ((A,),), ((A, 1, 2),), ([A, 1],), ((1, 1),), ((A, 0),), ((A, 1.5),)],
)
def test_parts_are_pairs_of_a_mechanism_and_how_often(parts):
    with pytest.raises(dp.BadParameter):
        Composed(parts=parts)


@pytest.mark.parametrize("budget", [dp.epsilon(1.0, delta=1e-7), dp.epsilon(1.0), dp.rho(0.5)])
def test_more_uses_than_a_float_can_count_are_refused(budget):
    with open_ledger(budget=budget, unit=dp.rows()) as ledger:
        for noise in (Laplace(scale=2.0**600), B):
            with pytest.raises((dp.BudgetExceeded, dp.NoBound)):
                ledger.charge(10**400 * noise, unit=dp.rows())
