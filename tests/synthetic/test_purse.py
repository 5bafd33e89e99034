"""What is left is rounded down, and what is bought costs no more than was set aside for it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.synthetic.people import opened, people

import deniable as dp
from deniable.calibration import last_met
from deniable.losses import convert, rounding
from deniable.losses.filters import filter_for
from deniable.mechanisms import Gaussian
from deniable.synthetic import purse as purse_module
from deniable.synthetic.purse import Purse, purse_for

KINDS = [
    Purse(kind=dp.Pure, total=1.0),
    Purse(kind=dp.Zcdp, total=0.3),
    Purse(kind=dp.Gdp, total=0.4),
    Purse(kind=dp.Approx, total=0.7, order=6.5),
]
amounts = st.floats(1e-6, 0.3)


@given(st.floats(1e-9, 1e3), st.floats(0, 1))
def test_what_is_left_and_what_was_spent_are_no_more_than_the_total(total, share):
    purse = Purse(kind=dp.Pure, total=total)
    purse.spent = share * total
    left = purse.left
    assert Fraction(left) + Fraction(purse.spent) <= Fraction(total)
    assert left >= (total - purse.spent) * (1 - 2.0**-50) - 2.0**-50 * total
    purse.spent = 2 * total
    assert purse.left == 0.0


@pytest.mark.parametrize("purse", KINDS, ids=lambda p: p.kind.__name__)
@given(amount=amounts, size=st.floats(0.01, 100))
def test_noise_costs_what_was_set_aside_and_hardly_less(purse, amount, size):
    noise = purse.noise(amount, l1=size, l2=size)
    assert amount * (1 - 1e-9) <= purse.cost(noise) <= amount * (1 + 2.0**-50)


@pytest.mark.parametrize("purse", KINDS, ids=lambda p: p.kind.__name__)
@pytest.mark.parametrize("amount", [1e-4, 0.02, 0.3])
def test_a_choice_costs_what_was_set_aside_and_hardly_less(purse, amount):
    choice = purse.choice(amount, sensitivity=3.0)
    assert choice.sensitivity == 3.0
    assert amount * (1 - 1e-4) <= purse.cost(choice) <= amount * (1 + 2.0**-50)


@pytest.mark.parametrize("purse", KINDS, ids=lambda p: p.kind.__name__)
def test_steps_are_paid_at_their_price_and_never_beyond_the_total(purse):
    mine = Purse(kind=purse.kind, total=purse.total, order=purse.order)
    noise = mine.noise(mine.total / 4, l1=1.0, l2=1.0)
    price = {
        dp.Pure: noise.pure, dp.Zcdp: noise.zcdp, dp.Gdp: lambda: noise.gdp() ** 2,
        dp.Approx: lambda: noise.renyi(6.5),
    }[mine.kind]()  # fmt: skip
    mine.pay(noise, noise)
    assert mine.spent == pytest.approx(2 * price, rel=1e-12)
    assert Fraction(mine.spent) >= 2 * Fraction(price) * (1 - Fraction(1, 2**50))
    mine.pay(noise)
    assert mine.left == pytest.approx(mine.total - 3 * price, rel=1e-6)
    with pytest.raises(AssertionError, match="never spends more"):
        mine.pay(noise, noise)


SPENDS = [
    (dp.epsilon(0.5), dp.epsilon(1.0)),
    (dp.epsilon(0.5, delta=0), dp.epsilon(1.0, delta=1e-6)),
    (dp.rho(0.2), dp.rho(1.0)),
    (dp.mu(0.5), dp.mu(1.0)),
    (dp.epsilon(1.0, delta=1e-6), dp.epsilon(1.0, delta=1e-6)),
    (dp.epsilon(0.25, delta=1e-7), dp.epsilon(1.0, delta=1e-6)),
    (dp.epsilon(2.0, delta=1e-9), dp.epsilon(8.0, delta=1e-5)),
]


@pytest.mark.parametrize(("spend", "budget"), SPENDS, ids=repr)
def test_a_purse_that_is_emptied_keeps_to_what_may_be_spent(spend, budget):
    purse = purse_for(spend, filter=filter_for(budget))
    if isinstance(spend, dp.Pure) or getattr(spend, "delta", None) == 0:
        assert purse.total == spend.epsilon
        return
    noise = purse.noise(purse.total, l1=1.0, l2=1.0)
    if isinstance(spend, dp.Zcdp):
        assert noise.zcdp() <= spend.rho
    elif isinstance(spend, dp.Gdp):
        assert noise.gdp() <= spend.mu
    else:
        loss = dp.Renyi(orders=[purse.order], values=[rounding.up(purse.total)])
        assert loss.epsilon_at(spend.delta) <= spend.epsilon * (1 + 1e-12)
        filter_ = filter_for(budget)
        assert noise.renyi(filter_.order) <= filter_.divergence * (1 + 1e-12)
    assert math.isfinite(noise.sigma)


ORDERS = {dp.Pure: [1.0], dp.Zcdp: [1.0], dp.Gdp: [1.0], dp.Approx: [1.5, 7.3, 1e4]}


@given(
    st.sampled_from([(kind, order) for kind, orders in ORDERS.items() for order in orders]),
    st.floats(-200, 3).map(lambda power: 10.0**power),
    st.lists(st.tuples(st.floats(0.01, 0.9), st.booleans()), max_size=4),
)
def test_every_step_costs_its_share_and_all_of_them_the_whole(kind, total, steps):
    purse, exact = Purse(kind=kind[0], total=total, order=kind[1]), Fraction(0)
    for share, choosing in [*steps, (1.0, False)]:
        amount = share * purse.left
        if choosing:
            step = purse.choice(amount, sensitivity=2.0**30)
        else:
            step = purse.noise(amount, l1=3.0, l2=2.0)
        assert 0.99 * amount <= purse.cost(step) <= amount
        purse.pay(step)
        exact += Fraction(purse.cost(step))
    assert 0.999 * total <= exact <= total


@pytest.mark.parametrize("spend", [dp.epsilon(1e-200), dp.rho(1e-250), dp.mu(1e-120)], ids=repr)
@pytest.mark.parametrize("method", ["independent", "tree", "adaptive"])
def test_a_run_that_learns_nothing_is_a_run(spend, method):
    """With noise of 10²⁰⁰, whose square is not a number."""
    s = opened(people(5), spend)
    y = s.synthesize(["sex", "member"], spend=spend, method=method, bins=3)
    assert len(y.rows(4)) == 4
    assert np.isfinite(y.model.marginal((0, 1))).all()


@pytest.mark.parametrize(
    ("purse", "rho"),
    [
        (Purse(kind=dp.Pure, total=3.0), 4.5),
        (Purse(kind=dp.Zcdp, total=0.3), 0.3),
        (Purse(kind=dp.Gdp, total=0.5), 0.25),
        (Purse(kind=dp.Approx, total=0.6, order=4.0), 0.15),
    ],
)
def test_about_how_much_zcdp_a_purse_buys(purse, rho):
    """ε²/2, ρ, μ²/2, and the divergence over its order."""
    assert purse.rho == pytest.approx(rho)


APPROX = filter_for(dp.epsilon(2.0, delta=1e-6))


@pytest.mark.parametrize(
    ("purse", "filter_", "price"),
    [
        (Purse(kind=dp.Pure, total=0.7), filter_for(dp.epsilon(1.0)), {"epsilon": 0.7}),
        (Purse(kind=dp.Gdp, total=0.7), filter_for(dp.mu(1.0)), {"mu_squared": 0.7}),
        (Purse(kind=dp.Zcdp, total=0.7), filter_for(dp.rho(1.0)), {"rho": 0.7}),
        (
            Purse(kind=dp.Approx, total=0.7, order=3.5),
            APPROX,
            {"epsilon": math.inf, "renyi": (0.2 * APPROX.order,)},
        ),
    ],
)
def test_what_a_run_is_due_is_its_whole_purse(purse, filter_, price):
    due = purse.due(filter_)
    for name, amount in price.items():
        assert getattr(due, name) == pytest.approx(amount)


@pytest.mark.parametrize("mu", [0.1, 0.5, 0.7, 1e-3, 1.1, 3.3])
def test_a_purse_of_mu_holds_less_than_its_square(mu):
    total = purse_for(dp.mu(mu), filter=filter_for(dp.mu(4.0))).total
    assert Fraction(total) < Fraction(mu) ** 2
    assert total == pytest.approx(mu**2, rel=1e-14)


def whole(epsilon, delta, order):
    """The divergence at an order that implies (ε, δ), both rounded down."""
    return convert.approx_budget_as_renyi(epsilon, math.nextafter(delta, 0.0), order)


@pytest.mark.parametrize(
    ("epsilon", "delta", "limited"),
    [
        (2.0, 1e-6, True),
        (2.0000001, 1e-6, False),
        (2.0, 1.0000001e-6, False),
        (2.5, 1e-5, False),
        (2.5, 1e-7, False),
        (1.0, 1e-5, False),
    ],
)
def test_only_within_the_budget_is_a_purse_limited_by_what_the_session_keeps_back(
    epsilon, delta, limited
):
    """A quarter of δ is in reserve for blocks, so all of the budget buys less than it implies."""
    spend = dp.epsilon(epsilon, delta=delta)
    purse = purse_for(spend, filter=APPROX)
    most = whole(epsilon, delta, purse.order)
    kept = APPROX.divergence * min(1.0, purse.order / APPROX.order)
    assert kept < whole(2.0, 1e-6, APPROX.order)
    assert purse.total == math.nextafter(min(most, kept) if limited else most, 0.0)


@pytest.mark.parametrize(
    ("spend", "budget", "own"),
    [
        (dp.epsilon(1.0, delta=1e-6), dp.epsilon(1.0, delta=1e-6), False),
        (dp.epsilon(0.05, delta=1e-7), dp.epsilon(20.0, delta=1e-6), True),
        (dp.epsilon(8.0, delta=1e-6), dp.epsilon(9.0, delta=1e-6), False),
    ],
)
def test_the_order_is_the_sessions_where_that_is_nearly_the_best(spend, budget, own):
    filter_ = filter_for(budget)
    purse = purse_for(spend, filter=filter_)
    best = convert.best_order(spend.epsilon, math.nextafter(spend.delta, 0.0))
    worth = [whole(spend.epsilon, spend.delta, order) / order for order in (filter_.order, best)]
    assert purse.order == (best if own else filter_.order)
    assert (worth[0] < 0.98 * worth[1]) == own
    factor = min(1.0, purse.order / filter_.order)
    most = min(whole(spend.epsilon, spend.delta, purse.order), filter_.divergence * factor)
    assert purse.total == math.nextafter(most, 0.0)


def test_a_delta_of_a_few_steps_is_rounded_down_as_well():
    """Next to 0 one step of δ is a factor, and shows in ε."""
    delta = 4 * math.ulp(0.0)
    spend = dp.epsilon(40.0, delta=delta)
    purse = purse_for(spend, filter=APPROX)
    assert purse.total == math.nextafter(whole(40.0, delta, purse.order), 0.0)
    assert purse.total < convert.approx_budget_as_renyi(40.0, delta, purse.order) * (1 - 1e-6)


def test_an_amount_that_buys_nothing_is_refused():
    budget = dp.epsilon(1.0, delta=1e-6)
    with pytest.raises(dp.BadParameter, match="buys no noise"):
        purse_for(budget, filter=filter_for(budget, reserve=1e-6))  # all of δ is kept back


@pytest.mark.parametrize("times", [0.6, 4.0])
def test_at_another_order_than_the_sessions_noise_costs_more_there(times):
    """The session adds up at α: α/α′ times as much, and never less than at the purse's α′."""
    budget = dp.epsilon(2.0, delta=1e-6)
    best = convert.best_order(2.0, 1e-6)
    filter_ = filter_for(budget, order=times * best)
    purse = purse_for(budget, filter=filter_)
    assert purse.order == pytest.approx(best, rel=1e-3)
    most = filter_.divergence * min(1.0, purse.order / filter_.order)
    assert most < whole(2.0, 1e-6, purse.order)
    assert purse.total == math.nextafter(most, 0.0)


@pytest.mark.parametrize(("worth", "own"), [(0.98, False), (0.979, True)])
def test_98_percent_of_the_best_order_is_enough(worth, own, monkeypatch):
    filter_ = filter_for(dp.epsilon(2.0, delta=1e-6), order=4.0)
    monkeypatch.setattr(convert, "best_order", lambda epsilon, delta: 8.0)
    monkeypatch.setattr(
        convert, "approx_budget_as_renyi", lambda e, d, a: worth * a if a == 4.0 else a
    )
    assert purse_for(dp.epsilon(9.0, delta=1e-6), filter=filter_).order == (8.0 if own else 4.0)


def test_noise_that_costs_what_was_set_aside_is_not_made_larger(monkeypatch):
    purse = Purse(kind=dp.Zcdp, total=1.0)
    least = Gaussian.calibrate(mu=1.0, sensitivity=1.0).sigma
    monkeypatch.setattr(Purse, "cost", lambda self, made: 0.5)
    assert purse.noise(0.5, l1=1.0, l2=1.0).sigma == least


def test_noise_grows_in_steps_that_double_until_it_costs_little_enough(monkeypatch):
    """From 2⁻⁵⁰ on: eleven steps reach 2⁻⁴⁰, and go beyond it by no more than its double."""
    least, seen = Gaussian.calibrate(mu=1.0, sensitivity=1.0).sigma, []

    def cost(self, made):
        seen.append(made.sigma)
        return 0.5 if made.sigma > least * (1 + 2.0**-40) else 1.0

    monkeypatch.setattr(Purse, "cost", cost)
    Purse(kind=dp.Zcdp, total=1.0).noise(0.5, l1=1.0, l2=1.0)
    assert 8 < len(seen) < 14
    assert seen[-1] < least * (1 + 2.0**-38)


@pytest.mark.parametrize("purse", KINDS[1:], ids=lambda p: p.kind.__name__)
def test_a_choice_is_searched_for_around_what_is_near_the_answer(purse, monkeypatch):
    """ε with ε²/8 times the order = amount, or about so for μ: half of it to a bit more."""
    searched = []

    def recorded(excess, low, high, *, width):
        searched.append((low, high, width, excess(high)))
        return last_met(excess, low, high, width=width)

    monkeypatch.setattr(purse_module, "last_met", recorded)
    purse.choice(1e-4, sensitivity=1.0)
    ((low, high, width, excess),) = searched
    near = 2 * low
    assert near == pytest.approx(math.sqrt((1 if purse.kind is dp.Gdp else 8) * 1e-4 / purse.order))
    assert width == pytest.approx(1e-6 * near)
    assert excess > 0
    assert any(high == pytest.approx(near * 1.5**k) for k in range(4))


def test_a_search_ends_above_what_costs_exactly_the_amount(monkeypatch):
    ends = []
    purse = Purse(kind=dp.Zcdp, total=1.0)
    near = math.sqrt(8 * 0.02)
    monkeypatch.setattr(Purse, "cost", lambda self, m: 0.02 if m.epsilon <= near else 1.0)
    monkeypatch.setattr(
        purse_module, "last_met", lambda excess, low, high, width: ends.append(high) or low
    )
    purse.choice(0.02, sensitivity=1.0)
    assert ends == [pytest.approx(1.5 * near)]
