"""What follows from the facts that a mechanism states, and what it refuses."""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import pytest
from mpmath import mp

import deniable as dp
from deniable import mechanisms
from deniable.losses.pairs import GaussianPair, Pairs
from deniable.mechanisms import Composed, Mechanism
from deniable.units import Unit


@dataclass(frozen=True, kw_only=True)
class Stated(Mechanism):
    """Whatever facts are given."""

    norm = "l1"
    epsilon: float = math.inf
    approximate: tuple[float, float] | None = None
    rho: float | None = None
    sensitivity: float = 1.0

    def pure(self):
        return self.epsilon

    def approx(self):
        return self.approximate or super().approx()

    def zcdp(self):
        return super().zcdp() if self.rho is None else self.rho

    def draw(self, value):
        return value


@dataclass(frozen=True, kw_only=True)
class Paired(Stated):
    """And its own pair: that of Gaussian noise, or none."""

    mu: float | None = None

    def pairs(self):
        return None if self.mu is None else Pairs.symmetric(GaussianPair(mu=self.mu))


def response_divergence(epsilon, order):
    """Of randomized response, which is the worst with this ε."""
    epsilon, order = mp.mpf(epsilon), mp.mpf(order)
    total = (mp.exp(order * epsilon) + mp.exp((1 - order) * epsilon)) / (1 + mp.exp(epsilon))
    return mp.log(total) / (order - 1)


@pytest.mark.parametrize("order", [1.1, 3.0, 64.7])
@pytest.mark.parametrize(
    ("epsilon", "rho"), [(1.0, 0.01), (0.1, 7.0), (math.inf, 0.3), (math.inf, 0.7)]
)
def test_a_divergence_is_the_least_that_epsilon_and_rho_prove(epsilon, rho, order):
    exact = Fraction(rho) * Fraction(order)
    truth = mp.mpf(exact.numerator) / exact.denominator
    if epsilon < math.inf:
        truth = min(truth, response_divergence(epsilon, order))
    for kind in (Stated, Paired):
        price = kind(epsilon=epsilon, rho=rho).renyi(order)
        assert truth <= price <= truth * (1 + mp.mpf(1e-13))


def test_no_divergence_of_rho_is_rounded_below_the_truth():
    for i in range(1, 200):
        rho, order = i / 97, 1 + i / 89
        assert Fraction(Stated(rho=rho).renyi(order)) >= Fraction(rho) * Fraction(order)


@pytest.mark.parametrize("mu", [0.1, 4.0])
def test_a_pair_of_its_own_proves_more_only_where_it_is_less(mu):
    """The divergence of N(0, 1) from N(μ, 1) is αμ²/2."""
    price = Paired(rho=0.1, mu=mu).renyi(5.0)
    assert price == pytest.approx(5.0 * min(0.1, mu**2 / 2), rel=1e-9)
    assert Paired(rho=math.inf, mu=mu).renyi(5.0) == pytest.approx(5.0 * mu**2 / 2, rel=1e-9)


def test_without_any_fact_there_is_no_pair_and_no_price():
    nothing = Stated()
    assert nothing.pairs() is None
    assert nothing.black_box()
    assert nothing.gdp() == nothing.zcdp() == nothing.epsilon_at(0.5) == math.inf
    assert nothing.delta_at(3.0) == 1.0


@pytest.mark.parametrize("delta", [0.0, 1e-9, 0.02, 0.5])
def test_a_stated_pair_holds_from_its_delta_on(delta):
    both = Stated(epsilon=9.0, approximate=(0.5, 0.02), rho=math.inf)
    found = both.epsilon_at(delta)
    if delta == 0.0:
        assert found == 9.0
    elif delta < 0.02:
        assert 0.5 < found <= 9.0
    else:
        assert found <= 0.5
    assert Stated(approximate=(0.5, 0.02)).epsilon_at(0.02) == 0.5


def test_a_stated_pair_holds_from_its_epsilon_on():
    stated = Stated(epsilon=9.0, approximate=(0.5, 0.02))
    assert stated.delta_at(0.5) <= 0.02
    assert stated.delta_at(0.5) > 0.0
    assert 0.02 < stated.delta_at(0.25) < 1.0
    assert stated.delta_at(8.9) > 0.0 == stated.delta_at(9.0) == stated.delta_at(10.0)


def test_where_only_a_pair_is_stated_the_concentration_may_say_more():
    """(ε, δ) alone would be the price at every smaller δ: ρ = 0.005 is about 0.5 at 10⁻⁶."""
    known = Stated(approximate=(5.0, 1e-3), rho=0.005)
    assert known.black_box()
    wanted = dp.Zcdp(0.005).epsilon_at(1e-6)
    assert known.epsilon_at(1e-6) == pytest.approx(wanted, rel=0.2)
    assert known.epsilon_at(1e-6) <= wanted < 1.0
    assert known.delta_at(wanted) <= 1e-6 * (1 + 1e-6)


def test_a_law_of_its_own_is_no_black_box_and_is_the_price():
    known = Paired(approximate=(5.0, 1e-3), rho=0.5, mu=1.0)
    assert not known.black_box()
    assert known.epsilon_at(1e-6) == pytest.approx(dp.Gaussian(sigma=1.0).epsilon_at(1e-6))
    assert Paired(rho=0.5).black_box()


@pytest.mark.parametrize("m", [dp.Laplace(scale=0.3), Stated(epsilon=1 / 3)], ids=["law", "fact"])
def test_pure_privacy_is_exact_at_delta_zero_and_at_its_epsilon(m):
    assert m.epsilon_at(0.0) == m.epsilon_at() == m.pure()
    assert m.delta_at(m.pure()) == 0.0 < m.delta_at(math.nextafter(m.pure(), 0) - 0.01)


@pytest.mark.parametrize("wrong", [-0.1, 1.0, math.nan, "0", True])
def test_a_delta_is_a_fraction_and_an_epsilon_no_less_than_0(wrong):
    with pytest.raises(dp.BadParameter):
        dp.Laplace(scale=1.0).epsilon_at(wrong)
    if wrong != 1.0 or wrong is True:
        with pytest.raises(dp.BadParameter):
            dp.Laplace(scale=1.0).delta_at(wrong)


def test_what_does_not_answer_in_numbers_has_no_error_and_still_checks_the_confidence():
    with pytest.raises(dp.NoBound, match="no ±"):
        Stated().error(0.95)
    with pytest.raises(dp.BadParameter, match="confidence"):
        Stated().error(1.0)


def test_a_value_is_covered_up_to_the_sensitivity_and_must_say_in_the_norm():
    m = Stated(sensitivity=2.0)
    assert m.on(dp.Sensitive(lambda: 1, l1=2)).mechanism is m
    for more in ({"l1": 2.0000001}, {"l2": 1}):
        with pytest.raises(dp.SensitivityMismatch):
            m.on(dp.Sensitive(lambda: 1, **more))
    with pytest.raises(dp.BadParameter, match=r"takes a dp\.Sensitive"):
        m.on(1)


@pytest.mark.parametrize(
    ("mechanism", "declared", "fix"),
    [
        (dp.Laplace(scale=1.0), {"l1": 3.0}, "dp.Laplace.calibrate(epsilon=0.1, sensitivity=3)"),
        (dp.Laplace(scale=1.0), {"l1": 2.5}, "dp.Laplace.calibrate(epsilon=0.1, sensitivity=2.5)"),
        (dp.Gaussian(sigma=1.0), {"l2": 2.0}, "dp.Gaussian.calibrate(rho=0.005, sensitivity=2)"),
        (Stated(), {"l1": 2.0}, "dp.Stated(..., sensitivity=2)"),
        (Stated(), {"linf": 1.0}, "dp.Sensitive(..., l1=1)"),
    ],
    ids=str,
)
def test_a_mechanism_that_covers_the_value_is_offered(mechanism, declared, fix):
    with pytest.raises(dp.SensitivityMismatch) as caught:
        mechanism.on(dp.Sensitive(lambda: 1, **declared))
    assert caught.value.fix == fix


def test_a_form_that_does_not_suffice_is_refused_before_the_charge():
    with pytest.raises(dp.BadParameter):
        dp.DiscreteLaplace(scale=1.0).on(dp.Sensitive(lambda: 0.5, l1=1, whole=False))


def test_only_mechanisms_are_added_up():
    assert (Stated(epsilon=1.0) + Stated(epsilon=2.0)).pure() == 3.0
    for other in (1, None, "laplace"):
        with pytest.raises(TypeError, match="unsupported operand"):
            _ = Stated() + other


@dataclass(frozen=True, kw_only=True)
class Holding(Stated):
    """Parameters of every kind, mechanisms in lists among them."""

    held: object = None
    unit: Unit = field(default_factory=Unit)


def test_every_mechanism_within_is_found_however_deep():
    one, two, three = (dp.Laplace(scale=float(s)) for s in (1, 2, 3))
    deep = Holding(held=[(one, 4), [dp.rows(), (2 * two,)], "word", None, three])
    assert list(deep.within()) == [deep, one, 2 * two, two, three]
    assert list(Bare().within())[1:] == []


class Bare(Mechanism):
    """No dataclass, and no name: ledgers cannot know it."""

    norm = "l1"

    def draw(self, value):
        return value


def test_a_record_of_nested_parameters_is_read_back_as_it_was(monkeypatch):
    monkeypatch.setattr(Mechanism, "registry", dict(Mechanism.registry))

    @dataclass(frozen=True, kw_only=True)
    class Recorded(Holding):
        name = "recorded here"

    assert Mechanism.named("recorded here") is Recorded
    held = ((dp.Laplace(scale=2.0), 3), (1.5, "word", None))
    whole = Recorded(epsilon=1.0, held=held, unit=dp.person("who", rows=3))
    record = whole.to_dict()
    assert record["mechanism"] == "recorded here"
    assert record["held"] == [[dp.Laplace(scale=2.0).to_dict(), 3], [1.5, "word", None]]
    assert Mechanism.from_dict(record) == whole


@pytest.mark.parametrize("name", ["nobody's", None, 3])
def test_a_name_that_no_mechanism_has_is_refused_with_those_there_are(name):
    assert Mechanism.named(name) is None
    with pytest.raises(dp.BadParameter, match=r"one of .*laplace.*staircase"):
        Mechanism.from_dict({"mechanism": name})


def test_mechanisms_that_nobody_has_imported_yet_are_known_by_name(monkeypatch):
    """Asking for the name of one imports it, and importing it makes it known."""
    monkeypatch.setattr(Mechanism, "registry", {})

    def imported(each):
        return type(each, (Bare,), {"name": "late"})

    monkeypatch.setattr(mechanisms, "__all__", ["Late"])
    monkeypatch.setattr(mechanisms, "__getattr__", imported)
    assert Mechanism.named("late").__name__ == "Late"
    assert Mechanism.named("later") is None


def test_a_mechanism_of_two_families_tells_both_of_its_kinds():
    told = []

    class Family:
        def __init_subclass__(cls):
            told.append(cls)

    class Both(Mechanism, Family):
        norm = "l1"

        def draw(self, value):
            return value

    assert told == [Both]
    assert isinstance(2 * Both(), Composed)
