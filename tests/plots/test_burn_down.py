"""The burn-down of a budget ends where the session says it is, for everyone who looks."""

import pytest

import deniable as dp
from deniable import plots

BUDGETS = [dp.epsilon(1.0), dp.epsilon(1.0, delta=1e-6), dp.rho(0.5), dp.mu(1.0)]


def left(ax):
    (stairs,) = ax.patches
    return list(stairs.get_data().values)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_it_falls_from_the_whole_to_what_is_left(budget):
    s = dp.open(dp.load_adult(), unit=dp.rows(), budget=budget)
    assert left(s.plot()) == [getattr(budget, budget.figure)]
    for _ in range(2):
        s.count(spend=budget.share(0.25))
    figures = left(s.plot())
    spent = getattr(s.spent, budget.figure)
    assert figures == sorted(figures, reverse=True)
    assert figures[-1] == pytest.approx(getattr(budget, budget.figure) - spent)


def test_an_asker_sees_their_share_and_nothing_of_others():
    s = dp.open(dp.load_adult(), unit=dp.rows(), budget=dp.epsilon(1.0))
    s.ledger.share("ann", amount=dp.epsilon(0.5))
    s.sql("SELECT COUNT(*) AS theirs FROM data").release(spend=dp.epsilon(0.25))
    ann = s.for_("ann")
    ann.count(spend=dp.epsilon(0.125))
    ax = ann.plot()
    assert left(ax) == [0.5, 0.375]
    assert not any("theirs" in tick.get_text() for tick in ax.get_xticklabels())


def test_what_is_reserved_is_not_left_to_the_curator():
    s = dp.open(dp.load_adult(), unit=dp.rows(), budget=dp.epsilon(5.0))
    s.count(spend=dp.epsilon(0.5))
    s.ledger.share("ann", amount=dp.epsilon(2.0))
    s.for_("ann").count(spend=dp.epsilon(1.0))
    s.count(spend=dp.epsilon(0.25))
    assert left(s.plot()) == [5.0, 4.5, 2.5, 2.25]
    assert left(s.plot())[-1] == pytest.approx(s.left.epsilon)


@pytest.mark.parametrize(("charges", "shown"), [(1, "question 0"), (5, "question 4"), (40, "40")])
def test_a_few_charges_are_named_and_many_are_counted(charges, shown):
    names = [f"question {number}" for number in range(charges)]
    ax = plots.burn_down(1.0, [0.01 * n for n in range(charges)], names)
    ax.figure.canvas.draw()
    assert any(tick.get_text().replace("\n", " ") == shown for tick in ax.get_xticklabels())


def test_before_the_first_charge_it_says_so_and_whom_it_protects():
    ax = dp.open(dp.load_adult(), unit=dp.rows(), budget=dp.epsilon(1.0)).plot()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["nothing was charged yet"]
    assert "protects one row" in ax.get_xlabel().replace("\n", " ")
