"""What is drawn never costs more than was offered, and errs as little as can be."""

import itertools
import math
from fractions import Fraction
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.losses.filters import filter_for
from deniable.mechanisms import Gaussian, Laplace
from deniable.workload.split import (
    Vector,
    _gaussian,
    _laplace,
    _met,
    _shares,
    law_of,
    noise_for,
    spread_of,
    together,
)

LOSSES = [
    dp.epsilon(0.1),
    dp.epsilon(1.0),
    dp.epsilon(0.5, delta=1e-7),
    dp.rho(0.02),
    dp.mu(0.3),
]
sizes = st.floats(1, 2**45)
vector = st.builds(
    lambda l1, ratio, weight: Vector(l1=l1, l2=max(1.0, l1 * ratio), weight=weight),
    sizes,
    st.floats(0.05, 1),
    st.floats(1 / 64, 1e4),
)


def noise(vectors, spend):
    budget = spend if not isinstance(spend, dp.Pure) else dp.epsilon(spend.epsilon)
    return noise_for(lambda _: vectors, spend=spend, filter=filter_for(budget))


@settings(max_examples=60)
@given(vectors=st.lists(vector, min_size=1, max_size=6), spend=st.sampled_from(LOSSES))
def test_what_is_drawn_never_costs_more_than_was_offered(vectors, spend):
    mechanisms = noise(vectors, spend)
    whole = together(mechanisms)
    if isinstance(spend, dp.Approx):
        assert whole.delta_at(spend.epsilon) <= spend.delta
    else:
        assert whole.loss(type(spend)) <= spend
    for each, mechanism in zip(vectors, mechanisms, strict=True):
        assert mechanism.sensitivity >= (each.l1 if mechanism.norm == "l1" else each.l2)


@pytest.mark.parametrize("spend", LOSSES, ids=str)
def test_next_to_nothing_of_the_offer_is_left_over(spend):
    vectors = [Vector(l1=3.0, l2=3.0), Vector(l1=70.0, l2=70.0, weight=4.0)]
    whole = together(noise(vectors, spend))
    if isinstance(spend, dp.Approx):
        assert whole.epsilon_at(spend.delta) >= spend.epsilon * 0.98
    else:
        (offered,) = (getattr(spend, f) for f in ("epsilon", "rho", "mu") if hasattr(spend, f))
        (paid,) = (
            getattr(whole.loss(type(spend)), f)
            for f in ("epsilon", "rho", "mu")
            if hasattr(spend, f)
        )
        assert paid >= offered * (1 - 1e-6)


def test_a_single_vector_gets_the_textbook_scale():
    (only,) = noise([Vector(l1=10.0, l2=10.0)], dp.epsilon(0.5))
    assert only == dp.Laplace(scale=20.0, sensitivity=10.0)


def test_laplace_shares_are_the_cube_roots_of_weights():
    first, second = noise([Vector(l1=1, l2=1, weight=8.0), Vector(l1=1, l2=1)], dp.epsilon(1.0))
    assert first.scale == pytest.approx(1.5, rel=1e-5)
    assert second.scale == pytest.approx(3.0, rel=1e-5)


def test_no_other_split_has_a_smaller_weighted_error():
    weights = [1.0, 0.25, 1 / 16]
    vectors = [Vector(l1=1, l2=1, weight=w) for w in weights]

    def badness(scales):
        return sum(w * s * s for w, s in zip(weights, scales, strict=True))

    best = badness([m.scale for m in noise(vectors, dp.epsilon(1.0))])
    grid = [i / 40 for i in range(1, 39)]
    for a, b in itertools.product(grid, grid):
        if a + b < 1:
            assert badness([1 / a, 1 / b, 1 / (1 - a - b)]) >= best * (1 - 1e-9)


def test_gaussian_noise_is_taken_when_there_are_many_vectors():
    one = [Vector(l1=1.0, l2=1.0)]
    spend = dp.epsilon(0.5, delta=1e-7)
    assert isinstance(noise(one, spend)[0], dp.Laplace)
    assert isinstance(noise(one * 100, spend)[0], dp.Gaussian)


def test_a_whole_ceiling_can_be_spent_at_once_on_gaussian_noise():
    budget = dp.epsilon(1.0, delta=1e-6)
    filter_ = filter_for(budget)
    vectors = [Vector(l1=1.0, l2=1.0)] * 100
    mechanisms = noise_for(lambda _: vectors, spend=budget, filter=filter_)
    assert isinstance(mechanisms[0], dp.Gaussian)
    assert filter_.admits(filter_.price(together(mechanisms)))


def test_gaussian_shares_add_up_in_squares():
    vectors = [Vector(l1=9.0, l2=3.0), Vector(l1=9.0, l2=4.0)]
    mechanisms = noise(vectors, dp.mu(0.5))
    total = sum((m.sensitivity / m.sigma) ** 2 for m in mechanisms)
    assert math.sqrt(total) == pytest.approx(0.5, rel=1e-9)


@given(st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=40), st.sampled_from([1 / 3, 1 / 2]))
def test_shares_are_whole_parts_of_a_millionth_and_add_up_to_one(weights, power):
    vectors = [Vector(l1=1.0, l2=1.0, weight=w) for w in weights]
    shares = _shares(vectors, power)
    assert sum(map(Fraction, shares)) == 1
    assert all((share * 2**20).is_integer() and share > 0 for share in shares)
    total = sum(w**power for w in weights)
    for share, weight in zip(shares, weights, strict=True):
        assert abs(share - weight**power / total) <= (len(weights) + 1) * 2.0**-20


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_noise_is_widened_until_a_claim_is_met_and_hardly_farther(law):
    start = (Laplace(scale=1.0) if law == "laplace" else Gaussian(sigma=1.0),)
    for wanted in (1.0, 1 + 2.0**-40, 1.01):
        found = _met(start, lambda _plan, wanted=wanted: True)
        assert found == start
        widths = []

        def meets(plan, wanted=wanted, widths=widths):
            widths.append(spread_of(plan))
            return widths[-1] >= wanted

        (noise,) = _met(start, meets)
        assert wanted <= spread_of(noise) <= max(1.0, wanted + 4 * (wanted - 1))


def test_a_spend_of_nothing_buys_no_noise():
    vectors = [Vector(l1=1.0, l2=1.0)]
    assert _laplace(vectors, dp.Approx(0.0, delta=1e-6)) is None
    assert _laplace(vectors, dp.Gdp(1.0)) is None
    assert _gaussian(vectors, dp.Pure(1.0), None) is None
    assert _gaussian(vectors, dp.Approx(1.0, delta=0.0), None) is None
    (noise,) = noise_for(lambda _: vectors, spend=dp.Approx(0.0, delta=1e-6))
    assert isinstance(noise, Gaussian)
    for spend in (dp.Pure(1.0), dp.Approx(1.0, delta=0.0)):
        (noise,) = noise_for(lambda _: vectors, spend=spend)
        assert isinstance(noise, Laplace)
    (noise,) = noise_for(lambda _: vectors, spend=dp.Gdp(1.0))
    assert isinstance(noise, Gaussian)


@pytest.mark.parametrize("many", [1, 2, 5, 20, 80])
def test_the_noise_that_errs_less_is_taken(many):
    """Errors at 95 %, in units of what one unit can move, weighted."""
    spend = dp.Approx(1.0, delta=1e-6)
    vectors = {
        "laplace": [Vector(l1=2.0, l2=2.0, weight=1.0 + i) for i in range(many)],
        "gaussian": [Vector(l1=2.0, l2=2.0, weight=1.0 + i) for i in range(many)],
    }
    found = noise_for(vectors.__getitem__, spend=spend)
    both = _laplace(vectors["laplace"], spend), _gaussian(vectors["gaussian"], spend, None)
    at = [math.log(20), NormalDist().inv_cdf(0.975)]
    bad = [
        sum(v.weight * (factor * spread_of(m) / v.l1) ** 2 for v, m in zip(vs, ms, strict=True))
        for vs, ms, factor in zip(vectors.values(), both, at, strict=True)
    ]
    assert found == both[bad[1] < bad[0]]
    assert (bad[1] < bad[0]) == (law_of(found) == "gaussian")


def test_an_approximate_ceiling_bounds_gaussian_noise_at_its_order():
    filter_ = filter_for(dp.Approx(0.5, delta=1e-9))
    vectors = [Vector(l1=1.0, l2=1.0), Vector(l1=3.0, l2=2.0)]
    spend = dp.Approx(50.0, delta=1e-3)
    found = _gaussian(vectors, spend, filter_)
    assert together(found).renyi(filter_.order) <= filter_.divergence
    assert together(found).renyi(filter_.order) >= filter_.divergence * (1 - 1e-9)
    free = _gaussian(vectors, spend, None)
    assert together(free).renyi(filter_.order) > filter_.divergence
    assert together(free).delta_at(spend.epsilon) <= spend.delta
