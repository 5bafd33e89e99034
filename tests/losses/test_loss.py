"""What every kind of loss promises: sums, multiples, order, prices, records."""

import json
import math
import pickle

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.losses import Loss
from deniable.losses.renyi import ORDERS

FIGURE = st.floats(1e-6, 50.0)
FEW = tuple(order for order in ORDERS if order in {2.0, 8.0, 64.0})
LOSSES = {
    "pure": st.builds(dp.Pure, FIGURE),
    "approx": st.builds(lambda e, d: dp.Approx(e, delta=d), FIGURE, st.floats(0, 1e-3)),
    "zcdp": st.builds(dp.Zcdp, FIGURE),
    "gdp": st.builds(dp.Gdp, FIGURE),
    "renyi": st.builds(
        lambda values: dp.Renyi(orders=FEW, values=values), st.tuples(FIGURE, FIGURE, FIGURE)
    ),
}
ANY = st.one_of(*LOSSES.values())
PAIRS = st.one_of(*(st.tuples(losses, losses) for losses in LOSSES.values()))
TRIPLES = st.one_of(*(st.tuples(losses, losses, losses) for losses in LOSSES.values()))
DELTAS = st.floats(1e-12, 0.1)
ALMOST = 1 + 1e-11


@given(ANY, st.integers(0, 12))
def test_a_multiple_is_the_sum_of_as_many(loss: Loss, times: int):
    assert times * loss == sum([loss] * times, start=0 * loss)
    assert loss * times == times * loss


@given(ANY, st.floats(0.001, 1))
def test_a_part_and_the_rest_compose_to_the_whole(loss: Loss, fraction: float):
    part, rest = loss.split(fraction)
    assert part == loss.share(fraction)
    whole = dp.Approx(part.epsilon, delta=0.0) if isinstance(loss, dp.Approx) else part
    assert whole + rest == loss
    assert whole.epsilon_at(1e-5) <= loss.epsilon_at(1e-5) * ALMOST


@given(ANY, st.integers(2, 20))
def test_as_many_shares_compose_to_no_more_than_the_whole(loss: Loss, parts: int):
    shares = parts * loss.share(1 / parts)
    assert shares <= (dp.Pure(loss.epsilon) if isinstance(loss, dp.Approx) else loss)


def test_a_tenth_of_mu_squared_is_a_tenth():
    assert dp.Gdp(2.0).share(0.25) == dp.Gdp(1.0)
    assert dp.Gdp(1.0).share(0.1).mu ** 2 == pytest.approx(0.1)
    assert dp.Zcdp(1.0).share(0.1).rho == dp.Pure(1.0).share(0.1).epsilon == 0.1
    assert dp.Approx(1.0, delta=1e-6).split(0.1) == (dp.Pure(0.1), dp.Approx(0.9, delta=1e-6))
    with pytest.raises(dp.NoBound):
        dp.Laplace(scale=1.0).loss(dp.Profile).share(0.5)


@pytest.mark.parametrize("kind", Loss.kinds.values())
def test_every_kind_says_its_definition_and_symbols(kind):
    assert kind.definition
    assert kind.symbol == (next(iter(kind.symbols.values())) if kind.symbols else kind.__name__)


@given(TRIPLES)
def test_sums_do_not_depend_on_the_order_of_adding(triple):
    a, b, c = triple
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)


@given(ANY)
def test_the_builtin_sum_works(loss: Loss):
    assert sum([loss, loss]) == 2 * loss
    for other in (False, 0.5, None):
        with pytest.raises(TypeError):
            other + loss


@given(PAIRS)
def test_a_sum_loses_at_least_as_much_as_its_parts(pair):
    a, b = pair
    assert a <= a + b
    assert b <= a + b
    assert (a + b) >= a


@given(PAIRS, DELTAS)
@settings(max_examples=50)
def test_what_loses_less_has_the_smaller_price(pair, delta: float):
    a, b = pair
    if a <= b:
        assert a.epsilon_at(delta) <= b.epsilon_at(delta) * ALMOST + 1e-12
        assert a.delta_at(0.5) <= b.delta_at(0.5) * ALMOST


@given(ANY, DELTAS, DELTAS)
@settings(max_examples=50)
def test_epsilon_falls_as_delta_grows(loss: Loss, one: float, two: float):
    assert loss.epsilon_at(max(one, two)) <= loss.epsilon_at(min(one, two)) * ALMOST + 1e-12


@given(ANY, st.floats(0, 60), st.floats(0, 60))
@settings(max_examples=50)
def test_delta_falls_as_epsilon_grows(loss: Loss, one: float, two: float):
    assert loss.delta_at(max(one, two)) <= loss.delta_at(min(one, two)) * ALMOST
    assert 0 <= loss.delta_at(one) <= 1


@given(ANY, DELTAS)
@settings(max_examples=60)
def test_epsilon_and_delta_are_inverse_and_both_above_the_truth(loss: Loss, delta: float):
    epsilon = loss.epsilon_at(delta)
    assume(0 < epsilon < math.inf)
    assert loss.delta_at(epsilon) <= delta * (1 + 1e-8)
    assert loss.delta_at(epsilon * (1 - 1e-6)) >= delta * (1 - 1e-8)


@given(ANY, st.integers(1, 6), DELTAS)
@settings(max_examples=50)
def test_more_rounds_never_cost_less(loss: Loss, times: int, delta: float):
    assert (times * loss).epsilon_at(delta) <= ((times + 1) * loss).epsilon_at(delta) * ALMOST


@given(ANY)
def test_a_loss_survives_its_record_its_pickle_and_json(loss: Loss):
    for some in (loss, 3 * loss, 0 * loss):
        assert Loss.from_dict(json.loads(json.dumps(some.to_dict()))) == some
        assert pickle.loads(pickle.dumps(some)) == some
        assert hash(pickle.loads(pickle.dumps(some))) == hash(some)


@given(ANY)
def test_a_group_of_one_is_the_unit_itself_and_larger_groups_lose_more(loss: Loss):
    assert loss.group(1) == loss
    assert loss.group(2).delta_at(1.0) >= loss.delta_at(1.0) * (1 - 1e-12)


@given(ANY, ANY)
@settings(max_examples=40)
def test_different_definitions_never_mix(a: Loss, b: Loss):
    assume(type(a) is not type(b))
    with pytest.raises(dp.MixedLosses) as raised:
        a + b
    assert raised.value.fix
    with pytest.raises(dp.MixedLosses):
        _ = a <= b
    with pytest.raises(dp.MixedLosses):
        a + 1.0


STRONGER = [
    (dp.Pure(0.7), [dp.Approx, dp.Zcdp, dp.Gdp, dp.Renyi]),
    (dp.Pure(9.0), [dp.Approx, dp.Zcdp, dp.Gdp, dp.Renyi]),
    (dp.Gdp(0.9), [dp.Zcdp, dp.Renyi]),
    (dp.Gdp(4.0), [dp.Zcdp, dp.Renyi]),
    (dp.Zcdp(0.3), [dp.Renyi]),
    (dp.Approx(0.7, delta=0.0), [dp.Pure, dp.Zcdp]),
]


@pytest.mark.parametrize(("loss", "kinds"), STRONGER, ids=str)
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2])
def test_a_weaker_definition_never_beats_the_stronger_it_follows_from(loss, kinds, delta):
    for kind in kinds:
        weaker = loss.to(kind)
        assert weaker.epsilon_at(delta) >= loss.epsilon_at(delta) * (1 - 1e-12)
        for epsilon in (0.0, 0.3, 1.0, 5.0):
            assert weaker.delta_at(epsilon) >= loss.delta_at(epsilon) * (1 - 1e-12)


@pytest.mark.parametrize("kind", [dp.Approx, dp.Pure, dp.Gdp])
def test_a_conversion_without_a_theorem_is_refused_and_names_those_with_one(kind):
    with pytest.raises(dp.MixedLosses, match="no theorem turns Zcdp") as raised:
        dp.Zcdp(1.0).to(kind)
    assert ".to(dp.Renyi)" in raised.value.fix


def test_an_approximate_loss_comes_from_a_delta_of_ones_choice():
    with pytest.raises(dp.MixedLosses) as raised:
        dp.Gdp(1.0).to(dp.Approx)
    assert "epsilon_at(1e-6)" in raised.value.fix


@pytest.mark.parametrize("kind", [dp.Pure, dp.Zcdp, dp.Gdp])
@pytest.mark.parametrize("bad", [-1.0, math.nan, -math.inf, "1", True, None, 1j])
def test_bad_figures_are_refused(kind, bad):
    with pytest.raises(dp.BadParameter):
        kind(bad)


@pytest.mark.parametrize("front", [dp.epsilon, dp.rho, dp.mu])
@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, "1", True])
def test_the_front_doors_refuse_bad_and_infinite_budgets(front, bad):
    with pytest.raises(dp.BadParameter):
        front(bad)


@pytest.mark.parametrize("bad", [-0.1, math.nan, 1.5, "1"])
def test_prices_are_asked_at_sensible_places(bad):
    with pytest.raises(dp.BadParameter):
        dp.Pure(1.0).epsilon_at(bad)
    with pytest.raises(dp.BadParameter):
        dp.Pure(1.0) * -1
    with pytest.raises(dp.BadParameter):
        dp.Pure(1.0).group(0)


def test_the_front_doors_open_on_the_promised_kinds():
    assert dp.epsilon(1.0) == dp.Pure(1.0)
    assert dp.epsilon(1.0, delta=1e-6) == dp.Approx(1.0, delta=1e-6)
    assert dp.rho(0.5) == dp.Zcdp(0.5)
    assert dp.mu(1.0) == dp.Gdp(1.0)


def test_infinity_can_be_held_and_is_contagious():
    for kind in (dp.Pure, dp.Zcdp, dp.Gdp):
        lost = kind(math.inf) + kind(1.0)
        assert lost == kind(math.inf)
        assert lost.epsilon_at(1e-6) == math.inf
        assert lost.delta_at(1.0) == 1.0
        assert 0 * lost == kind(0.0)
        assert Loss.from_dict(json.loads(json.dumps(lost.to_dict()))) == lost
        assert kind(1.0) <= lost
        assert not lost <= kind(1.0)


def test_nothing_lost_costs_nothing_anywhere():
    for loss in (dp.Pure(0.0), dp.Zcdp(0.0), dp.Gdp(0.0), 0 * dp.Zcdp(1.0).to(dp.Renyi)):
        assert loss.epsilon_at(0.0) == loss.epsilon_at(0.1) == loss.delta_at(0.0) == 0.0


def test_ten_tenths_are_within_one():
    assert 10 * dp.epsilon(0.1) <= dp.epsilon(1.0)
    assert not 10 * dp.epsilon(0.1001) <= dp.epsilon(1.0)


def test_the_record_of_an_unknown_kind_is_refused():
    with pytest.raises(dp.BadParameter, match="kind must be one of"):
        Loss.from_dict({"kind": "magic"})
