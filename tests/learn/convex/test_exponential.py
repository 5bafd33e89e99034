"""The (regularised) exponential mechanism: its prices, against numerical integration."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.learn.convex import Ball, Box, ConvexExponential, Simplex
from deniable.learn.convex.objectives import NAMES, STEP, Rows, link
from deniable.losses import convert
from deniable.mechanisms import Mechanism
from deniable.sampling import PublicRandom

from .law import Interval, apart

FACTS = {"loss": "logistic", "domain": Ball(2.0), "coordinates": 4, "lipschitz": 1.5, "blur": 0.1}


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
