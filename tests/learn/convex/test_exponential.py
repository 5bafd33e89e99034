"""The (regularised) exponential mechanism: its prices, against numerical integration."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.learn.convex import Ball, Box, ConvexExponential, Simplex
from deniable.learn.convex.exponential import _rise
from deniable.learn.convex.objectives import NAMES, STEP, Rows, link
from deniable.learn.convex.proximal import Chain
from deniable.losses import convert
from deniable.mechanisms import Mechanism
from deniable.sampling import PublicRandom

from .law import Interval, apart

FACTS = {"loss": "logistic", "domain": Ball(2.0), "coordinates": 4, "lipschitz": 1.5, "blur": 0.1}


# ---- prices and bounds, figure by figure


def made(*, regularised=True, epsilon=1.0, delta=1e-6, sides=1, **changes):
    facts = {"epsilon": epsilon, "delta": delta, "sides": sides, "regularised": regularised}
    return ConvexExponential.calibrate(**FACTS | changes, **facts)


def test_a_price_that_is_missed_is_met_by_less_weight(monkeypatch):
    """By 2⁻⁴² from the start, and by twice as much each time."""
    weights = []
    for missed in (0, 1, 3):
        prices = iter([2e-6] * missed + [9e-7])
        monkeypatch.setattr(ConvexExponential, "approx", lambda self, p=prices: (1.0, next(p)))
        weights.append(made(regularised=False).weight)
    whole = 1.0 / (1.5 * 4.0)  # ε/(MD)
    short = [(1 - weight / whole) * 2.0**42 for weight in weights]
    assert short == pytest.approx([1, 2, 8], rel=1e-2)


@pytest.mark.parametrize("regularised", [True, False])
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("domain", [Ball(2.0), Box(-1.0, 0.5), Simplex(3.0)], ids=str)
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-3), (0.3, 1e-9), (4.0, 1e-12)])
def test_what_is_calibrated_spends_all_that_it_may(regularised, sides, domain, epsilon, delta):
    """A hundredth of δ at most for mixing and 0.002 for rounding; and all of δ, or of ε."""
    m = made(
        regularised=regularised, epsilon=epsilon, delta=delta, sides=sides, domain=domain,
        coordinates=20,
    )  # fmt: skip
    share = delta / (1 + math.exp(epsilon))
    assert m.mixing == pytest.approx(min(8e-10, 0.01 * share), abs=0)
    assert m.arithmetic == pytest.approx(min(1e-10, 0.002 * share), abs=0)
    assert m.sensitivity == 1.5 * sides
    d, reach = domain.dimension(20), domain.reach(20)
    pure, mu = m.ideal()
    if regularised:
        assert m.ridge == pytest.approx(2 * d / reach**2)
        lost = (1 + math.exp(epsilon)) * (m.mixing + m.arithmetic)
        assert convert.gdp_to_delta(mu, epsilon) + lost == pytest.approx(delta, rel=1e-8, abs=0)
    else:
        assert m.ridge == pytest.approx(d / (2 * reach**2))
        assert pure == pytest.approx(epsilon, rel=1e-10)


@pytest.mark.parametrize("domain", [Ball(0.3), Box(-1.0, 0.7), Simplex(3.0)], ids=str)
@pytest.mark.parametrize("lipschitz", [0.7, 1.0, 3.3])
def test_both_prices_are_above_their_exact_values_and_hardly_more(domain, lipschitz):
    """bΔD and bΔ/√m, where D is the diameter before the set is scaled by M."""
    m = made(domain=domain, lipschitz=lipschitz, coordinates=50)
    pure, mu = m.ideal()
    moved = mpmath.mpf(m.weight) * m.sensitivity
    exact = {
        pure: moved * mpmath.mpf(m._scaled().diameter(50)) / m.lipschitz,
        mu: moved / mpmath.sqrt(m.ridge),
    }
    for found, wanted in exact.items():
        assert 1 + mpmath.mpf(2) ** -45 <= found / wanted <= 1 + mpmath.mpf(2) ** -43
    assert pure == pytest.approx(float(moved) * domain.diameter(50))


def test_the_pure_price_is_above_its_exact_value_in_many_dimensions():
    """Half sides are equal, so that additions of their squares may all round down."""
    for half in (0.3, 0.7, 1.1, 1.3, 1.9):
        m = made(domain=Box(-half, half), coordinates=2**20, lipschitz=1.0)
        exact = mpmath.mpf(m.weight) * 2 * mpmath.mpf(float(m._scaled().inner(2**20))) * 2**10
        assert 1 + mpmath.mpf(2) ** -45 <= m.ideal()[0] / exact <= 1 + mpmath.mpf(2) ** -43


def test_the_distance_is_at_least_the_exact_sum_of_its_parts():
    for mixing in (8e-10, 1e-10, 3.1e-11, 7e-13):
        for arithmetic in (1e-10, 2.3e-11, 9.9e-14):
            m = replace(made(), mixing=mixing, arithmetic=arithmetic)
            exact = Fraction(mixing) + Fraction(arithmetic)
            assert exact <= Fraction(m.distance) <= exact * (1 + Fraction(2) ** -46)


def test_delta_is_the_ideal_one_and_what_the_sampler_misses_rounded_up():
    """Both by mpmath; nothing but the latter from the pure price on."""
    m = made(delta=1e-3)
    pure, mu = m.ideal()
    spread = mpmath.mpf(mu)
    for epsilon in [k * pure / 40 for k in range(40)] + [pure, pure + 1e-9, 9.0, 12.3]:
        with mpmath.workdps(40):
            missed = (1 + mpmath.exp(mpmath.mpf(epsilon))) * mpmath.mpf(m.distance)
            tails = [mpmath.ncdf(sign * spread / 2 - epsilon / spread) for sign in (1, -1)]
            ideal = tails[0] - mpmath.exp(epsilon) * tails[1] if epsilon < pure else 0
            found = mpmath.mpf(m.delta_at(epsilon))
            assert ideal + missed <= found <= (ideal + missed) * (1 + mpmath.mpf(10) ** -9)
    assert m.delta_at(40.0) == m.delta_at(800.0) == m.delta_at(1e300) == 1.0
    with pytest.raises(dp.BadParameter):
        m.delta_at(-1.0)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "absolute"])
@pytest.mark.parametrize("confidence", [None, 0.95])
@pytest.mark.parametrize("regularised", [True, False])
def test_the_excess_has_a_term_for_the_law_for_the_corner_and_for_the_distance(
    loss, confidence, regularised
):
    m = made(loss=loss, regularised=regularised, domain=Box(-1.0, 2.0), delta=1e-3)
    m = replace(m, mixing=1e-4)  # so large that its term shows
    d, most = 4, 1.5 * 6.0
    law = (_rise(d, confidence) + m.ridge * 3.0**2 / 2) / (m.weight * 1e5)
    corner = 0.0 if loss == "logistic" else 0.1  # twice h/2
    assert m.excess(1e5, confidence) == pytest.approx(law + corner + m.distance * most, rel=1e-12)
    for few in (0.0, -3.0, 1e-9):
        assert m.excess(few, confidence) == most


@pytest.mark.parametrize("d", [1, 4, 90])
def test_a_rise_is_exceeded_with_the_probability_that_is_left(d):
    """(q/d)ᵈ·exp(d − q) ≤ 1 − p, for a q that is at most 5 % above the least, or 2d."""

    def tail(q):
        return (mpmath.mpf(q) / d) ** d * mpmath.exp(d - q)

    assert _rise(d, None) == d
    for p in (0.01, 0.5, 0.95, 0.999, 1 - 1e-9):
        q = _rise(d, p)
        assert tail(q) <= 1 - p + 1e-15
        assert q == 2 * d or tail(q / 1.0501) > 1 - p
    assert _rise(d, 0.01) == 2 * d


# ---- the sampler that it calls


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_the_sampler_works_in_units_of_the_lipschitz_bound(rows, monkeypatch):
    m = made(domain=Box((1.0, 0.0, -2.0, 0.0), (3.0, 1.0, 2.0, 9.0)))
    points = np.full((rows, 4), 32768.0)  # of length 1
    walk = m.chain(Rows(points=points, targets=np.full(rows, 0.25)))
    assert walk.target.domain == Box((1.5, 0.0, -3.0, 0.0), (4.5, 1.5, 3.0, 13.5))
    assert walk.target.ridge == pytest.approx(m.ridge / 1.5**2)
    assert walk.target.weight == m.weight
    assert walk.target.rows.points.tolist() == (points.tolist() if rows else [[0.0] * 4])
    assert walk.target.rows.targets.tolist() == ([0.25] * rows if rows else [0.0])
    assert (walk.mixing, walk.arithmetic) == (m.mixing, m.arithmetic)
    if rows:  # what is planned without them is right for rows of full length
        planned = m.pace(rows)
        assert planned == replace(walk.lattice, mass=planned.mass, link=planned.link)
        assert planned.mass == pytest.approx(walk.lattice.mass, rel=1e-5)
    monkeypatch.setattr(Chain, "draw", lambda self: np.array([3.0, 9.0, -0.3, 1.5]))
    assert m.draw(Rows(points=points, targets=np.zeros(rows))) == pytest.approx([2, 1, -0.2, 1])


def test_time_is_estimated_by_pairs_and_by_numbers_in_rows():
    m = made()
    for size in (0.0, 10.0, 1e6):
        each = m.seconds(size) / m.pace(size).steps
        assert each == pytest.approx(5e-4 + 1.5e-9 * size * 4)


def test_it_reads_rows_of_so_many_coordinates():
    rows = Rows(points=np.ones((2, 4)), targets=np.zeros(2))
    read = made().reading(dp.Sensitive(lambda: rows, l2=1.5, shape=4).form)
    assert read(rows) is rows
    with pytest.raises(dp.BadParameter, match="rows"):
        read(np.ones(4))
    with pytest.raises(dp.BadParameter):
        made().reading(dp.Sensitive(lambda: rows, l2=1.5).form)


@pytest.mark.parametrize(
    "wrong",
    [{name: 0.0} for name in ("lipschitz", "sensitivity", "weight", "ridge", "epsilon", "blur")]
    + [{"mixing": 0.0}, {"arithmetic": 1.0}, {"mixing": 1.5}, {"coordinates": 0}]
    + [{"loss_name": "squares"}, {"coordinates": 2.5}, {"domain": ("cone", 1.0)}]
    + [{"domain": ("box", (0.0, 0.0), (1.0, 1.0))}, {"domain": ("simplex", 1.0), "coordinates": 1}],
    ids=str,
)
def test_parameters_of_no_mechanism_are_refused(wrong):
    with pytest.raises(dp.BadParameter):
        replace(made(), **wrong)


# ---- laws and theorems


@pytest.mark.parametrize("name", NAMES)
def test_neighbouring_laws_are_within_both_prices_of_the_ideal_law(name):
    """40 pairs, two directions, five ε: at or below the curve of N(0, 1) and N(μ, 1), and of ε₀."""
    generator, made = PublicRandom(6).generator, link(name, blur=0.1)
    for _ in range(40):
        n = int(generator.integers(0, 12))
        points = np.rint(generator.choice([-1.0, 1.0, 0.3], size=(n + 1, 1)) / STEP)
        targets = np.zeros(n + 1) if made.labels else generator.normal(size=n + 1)
        weight, ridge = generator.uniform(0.1, 3), generator.uniform(0.1, 8)
        facts = {"weight": weight, "ridge": ridge, "low": -1.5, "high": 1.5}
        laws = [
            Interval(Rows(points=points[:k], targets=targets[:k], link=made), **facts)
            for k in (n, n + 1)
        ]
        for one, other in (laws, laws[::-1]):
            for epsilon in (0.0, 0.25, 0.5, 1.0, 2.0):
                found = apart(one, other, epsilon)
                assert found <= convert.gdp_to_delta(weight / math.sqrt(ridge), epsilon) + 1e-7
            assert apart(one, other, weight * 3.0) <= 1e-7


def test_the_gaussian_price_is_nearly_met_by_linear_losses_far_from_the_boundary():
    """A linear difference of slope b moves N(0, 1/m) by b/m: the theorem is tight."""
    made = link("hinge", blur=0.01)
    facts = {"weight": 2.0, "ridge": 4.0, "low": -0.99, "high": 0.99}
    rows = [Rows(points=np.full((k, 1), 1 / STEP), targets=np.zeros(k), link=made) for k in (0, 1)]
    found = apart(*(Interval(each, **facts) for each in rows), 0.5)
    assert found > 0.5 * convert.gdp_to_delta(1.0, 0.5)


@given(
    epsilon=st.floats(0.05, 6),
    delta=st.floats(-12, -3).map(lambda x: 10**x),
    sides=st.integers(1, 2),
    regularised=st.booleans(),
)
def test_what_is_calibrated_costs_what_was_asked_sampling_error_included(
    epsilon, delta, sides, regularised
):
    m = ConvexExponential.calibrate(
        **FACTS, epsilon=epsilon, delta=delta, sides=sides, regularised=regularised
    )
    pure, mu = m.ideal()
    assert m.sensitivity == 1.5 * sides
    assert m.approx()[0] == epsilon
    assert m.approx()[1] <= delta
    assert m.distance * (1 + math.exp(epsilon)) <= 0.0121 * delta
    assert m.mixing + m.arithmetic <= m.distance <= 1e-9
    if regularised:
        lost = (1 + math.exp(epsilon)) * m.distance
        assert convert.gdp_to_delta(mu, epsilon) + lost >= 0.99 * delta
    else:
        assert epsilon * (1 - 1e-9) <= pure <= epsilon
    assert Mechanism.from_dict(json.loads(json.dumps(m.to_dict()))) == m


@pytest.mark.parametrize("domain", [Ball(8.0), Box(-1.0, 1.0), Simplex()], ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_whole_distance_is_certified_at_the_size_of_a_census(domain, name, epsilon):
    """32,561 rows and 92 columns: 1e-9 by default, of which T pairs of draws and T roundings."""
    facts = {"lipschitz": 1.0, "sides": 1, "regularised": True, "blur": 0.05}
    m = ConvexExponential.calibrate(
        loss=name, domain=domain, coordinates=92, epsilon=epsilon, delta=1e-5, **facts
    )
    for size in (0, 1, 32_561):
        pace = m.pace(size)
        start = max(domain.reach(92) ** 2 / (2 * pace.root**2), 1.0)
        left = start * (1 + pace.root**2 * pace.ridge) ** (-2.0 * (pace.steps - 1))
        assert math.sqrt(left / 2) <= m.mixing * (1 + 1e-6)
        assert pace.missed <= m.arithmetic
        assert math.sqrt(left / 2) + pace.missed <= m.distance <= 1e-9
    lost = (1 + math.exp(epsilon)) * m.distance
    assert convert.gdp_to_delta(m.ideal()[1], epsilon) + lost <= m.approx()[1] <= 1e-5


@given(
    end=st.floats(0.1, 10),
    side=st.floats(2, 33).map(lambda x: 2**-x),
    lipschitz=st.floats(0.01, 100),
)
def test_the_pure_price_is_that_of_the_set_on_which_points_are_drawn(end, side, lipschitz):
    """Boxes are rounded to steps of the farthest end, by other amounts after scaling."""
    facts = FACTS | {"domain": Box(end - end * side, end), "coordinates": 1, "lipschitz": lipschitz}
    m = ConvexExponential.calibrate(**facts, epsilon=1.0, delta=1e-6, sides=1, regularised=False)
    walk = m.chain(Rows(points=np.zeros((0, 1)), targets=np.zeros(0)))
    far = walk.target.domain.diameter(1)
    assert walk.target.weight * far <= m.ideal()[0] <= 1.0


@pytest.mark.parametrize("domain", [Ball(2.0), Box(-1.0, 1.0), Simplex()], ids=str)
def test_the_bound_on_the_excess_is_the_theorems(domain):
    """√(2d)·Mr/(nμ) regularised; (1¼)·dMD/(nε) not regularised; and what the sampler misses."""
    facts = FACTS | {"domain": domain, "epsilon": 1.0, "delta": 1e-6, "sides": 1}
    d, reach = domain.dimension(4), domain.reach(4)
    smooth = ConvexExponential.calibrate(**facts, regularised=True)
    mu, whole = smooth.ideal()[1], 1.5 * domain.diameter(4)
    assert smooth.excess(1e5) - smooth.distance * whole == pytest.approx(
        math.sqrt(2 * d) * 1.5 * reach / (1e5 * mu), rel=1e-3
    )
    plain = ConvexExponential.calibrate(**facts, regularised=False)
    found = plain.excess(1e5) - plain.distance * whole
    assert found == pytest.approx(1.25 * d * whole / 1e5, rel=1e-3)
    assert plain.excess(1e5) < plain.excess(1e5, 0.95) < 20 * plain.excess(1e5)


def test_a_mean_over_laws_is_within_the_bound_by_integration():
    """E[U] − min U ≤ d, and its tail, in one dimension."""
    for name in NAMES:
        rows = Rows(
            points=np.full((9, 1), 1 / STEP), targets=np.zeros(9), link=link(name, blur=0.1)
        )
        law = Interval(rows, weight=2.0, ridge=0.5, low=-3.0, high=3.0)
        height = -np.log(np.maximum(law.density, 1e-300))
        height -= height.min()
        assert np.trapezoid(height * law.density, law.x) <= 1
        q = 4.744  # (q/1)·exp(1 − q) = 0.05... up to rounding
        assert np.trapezoid((height > q) * law.density, law.x) <= q * math.exp(1 - q)


def test_it_takes_rows_and_nothing_else():
    m = ConvexExponential.calibrate(**FACTS, epsilon=1.0, delta=1e-6, sides=1, regularised=True)
    with pytest.raises(dp.SensitivityMismatch):
        m.on(dp.Sensitive(lambda: None, l2=1.6, shape=4))
    with pytest.raises(dp.BadParameter):
        m.on(dp.Sensitive(lambda: None, l2=1.5))
