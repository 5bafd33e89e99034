"""Prices that are remembered are those that would be worked out now."""

import inspect
from dataclasses import dataclass, field

import pytest

import deniable as dp
from deniable import mechanisms
from deniable.calibration import looseness
from deniable.ledger import open_ledger
from deniable.mechanisms import Composed, Mechanism
from deniable.mechanisms._priced import Prices
from deniable.secure.aggregating import InParties


@dataclass(eq=False)
class Changing(Mechanism):
    """Somebody else's mechanism, which can be changed after it was priced."""

    norm = "l1"
    epsilon: float = 1.0

    def pure(self):
        return self.epsilon

    def draw(self, value):
        return value


class Bare(Mechanism):
    """No dataclass."""

    norm = "l1"

    def pure(self):
        return 1.0

    def draw(self, value):
        return value


@dataclass(frozen=True)
class Listed(Mechanism):
    """Parameters that have no hash."""

    norm = "l1"
    epsilons: list = field(default_factory=lambda: [1.0])

    def pure(self):
        return self.epsilons[0]

    def draw(self, value):
        return value


class Counted:
    """A rule that counts how often it was asked."""

    def __init__(self):
        self.times = 0

    def __call__(self, mechanism):
        self.times += 1
        return mechanism.pure()


def test_equal_mechanisms_are_priced_once():
    rule = Counted()
    prices = Prices(rule)
    assert [prices(dp.Laplace(scale=2)) for _ in range(5)] == [0.5] * 5
    assert rule.times == 1
    assert prices(dp.Laplace(scale=4)) == 0.25
    assert prices(dp.DiscreteLaplace(scale=2)) == 0.5  # equal parameters of another class
    assert rule.times == 3


@pytest.mark.parametrize("wrapped", [False, True])
def test_what_may_change_is_priced_each_time(wrapped):
    own = Changing()
    mechanism = Composed.of((own, 3)) if wrapped else own
    prices = Prices(lambda each: each.pure())
    before = prices(mechanism)
    own.epsilon = 2.0
    assert prices(mechanism) == pytest.approx(2 * before)


def test_what_a_mechanism_carries_beside_its_parameters_is_not_kept():
    noise = mechanisms.SkellamShares(of=mechanisms.Skellam(variance=100.0), parties=3)
    parties = InParties(of=noise.of, parties=3, adding=sum, length=1)
    prices = Prices(lambda each: each.pure())
    prices(parties)
    assert not prices._known
    prices(noise)
    assert list(prices._known) == [noise]


def test_deniables_own_mechanisms_are_values_that_never_change():
    named = [getattr(mechanisms, name) for name in mechanisms.__all__]
    kinds = [kind for kind in named if isinstance(kind, type) and issubclass(kind, Mechanism)]
    made = [kind for kind in kinds if not inspect.isabstract(kind)]
    assert len(made) > 25
    for kind in made:
        assert kind.__dataclass_params__.frozen, kind
        assert kind.__dataclass_params__.eq, kind


def test_parameters_without_a_hash_are_priced_each_time():
    mechanism = Listed()
    prices = Prices(lambda each: each.pure())
    assert prices(mechanism) == 1.0
    mechanism.epsilons[0] = 2.0
    assert prices(mechanism) == 2.0
    assert prices(Bare()) == 1.0


def test_rough_prices_of_a_search_are_not_remembered():
    mechanism, rule = dp.Laplace(scale=2), Counted()
    prices = Prices(rule)
    token = looseness.set(100.0)
    try:
        prices(mechanism)
        prices(mechanism)
    finally:
        looseness.reset(token)
    prices(mechanism)
    assert rule.times == 3
    prices(mechanism)
    assert rule.times == 3


def test_what_is_remembered_has_a_bound():
    prices = Prices(lambda each: each.pure())
    for scale in range(1, 2500):
        assert prices(dp.Laplace(scale=scale)) == pytest.approx(1 / scale)
        assert len(prices._known) <= 1000


@pytest.mark.parametrize("budget", [dp.epsilon(9.0), dp.epsilon(9.0, delta=1e-6), dp.rho(9.0)])
def test_a_ledger_charges_a_changed_mechanism_what_it_costs_now(budget):
    ledger = open_ledger(None, budget=budget, unit=dp.rows())
    own, paid = Changing(epsilon=0.5), []
    for epsilon in (0.5, 1.5):
        own.epsilon = epsilon
        paid.append(ledger.price(own))
    assert paid[0] != paid[1]
    assert paid[1] == ledger.filter.price(Changing(epsilon=1.5))
