"""Profile: a list of mechanisms with counts that adds, repeats, compares, prices and is stored."""

import json
import math

import numpy as np
import pytest

from deniable.errors import BadParameter, MixedLosses, NoBound
from deniable.losses import Approx, Gdp, Loss, Profile, Pure, Zcdp
from deniable.losses.pairs import (
    ApproxPair,
    GaussianPair,
    LaplacePair,
    Pairs,
    SampledPair,
    sampled,
)

LAPLACE = Profile.of(LaplacePair(ratio=0.1))
GAUSS = Profile.of(GaussianPair(mu=0.05))
SGD = Profile.of(sampled(Pairs.symmetric(GaussianPair(mu=1 / 1.1)), rate=0.01))


def test_repeating_is_adding():
    assert 3 * LAPLACE == LAPLACE + LAPLACE + LAPLACE == sum([LAPLACE] * 3)
    assert LAPLACE + GAUSS == GAUSS + LAPLACE
    assert (0 * LAPLACE).epsilon_at(1e-6) == 0
    assert (2 * (LAPLACE + GAUSS)).epsilon_at(1e-6) == (2 * GAUSS + 2 * LAPLACE).epsilon_at(1e-6)


def test_both_directions_are_priced_and_the_larger_counts():
    assert (10_000 * SGD).epsilon_at(1e-6) == pytest.approx(5.806935026565, abs=1e-6)
    turned = Profile.of(Pairs(remove=SGD.counts[0][0].add, add=SGD.counts[0][0].remove))
    assert (10_000 * turned).epsilon_at(1e-6) == (10_000 * SGD).epsilon_at(1e-6)


def test_gaussians_take_the_closed_form():
    assert (1000 * GAUSS).epsilon_at(1e-6) == Gdp((1000 * GAUSS).to(Gdp).mu).epsilon_at(1e-6)
    assert (1000 * GAUSS).to(Zcdp).rho == pytest.approx(1.25)
    assert (1000 * GAUSS).group(2).epsilon_at(1e-6) == pytest.approx(19.42365647403114)


def test_a_gaussian_in_one_direction_alone_takes_no_closed_form():
    one, other = GaussianPair(mu=0.5), GaussianPair(mu=1.0)
    for remove, add in ((one, other), (other, one)):
        loss = Profile.of(Pairs(remove=remove, add=add))
        assert loss.epsilon_at(1e-6) == pytest.approx(Gdp(1.0).epsilon_at(1e-6), abs=1e-6)
        assert loss.delta_at(1.0) == pytest.approx(Gdp(1.0).delta_at(1.0), rel=1e-6)
        with pytest.raises(MixedLosses):
            loss.to(Gdp)


def test_conversions_exist_only_where_a_theorem_leads():
    assert (5 * LAPLACE).to(Pure).epsilon == pytest.approx(0.5)
    assert (5 * LAPLACE).approx(1e-6) == Approx((5 * LAPLACE).epsilon_at(1e-6), delta=1e-6)
    with pytest.raises(MixedLosses):
        SGD.to(Pure)
    with pytest.raises(MixedLosses):
        Profile.of(ApproxPair(epsilon=1.0, delta=1e-9)).to(Pure)


def test_comparison_is_a_partial_order():
    assert 2 * LAPLACE <= 3 * LAPLACE
    assert not 3 * LAPLACE <= 2 * LAPLACE
    assert Profile.of(GaussianPair(mu=0.11)) >= 4 * GAUSS
    assert Profile.of(ApproxPair(epsilon=0.1)) >= LAPLACE
    assert not Profile.of(ApproxPair(epsilon=0.1)) <= LAPLACE
    more = Profile.of(sampled(Pairs.symmetric(GaussianPair(mu=1.0)), rate=0.02))
    assert more >= SGD
    assert not more <= SGD
    assert not LAPLACE <= GAUSS
    assert not GAUSS <= LAPLACE
    two, one = LAPLACE + Profile.of(LaplacePair(ratio=0.05)), Profile.of(ApproxPair(epsilon=0.1))
    assert not two <= one, "one mechanism stands for one other only"
    assert two <= 2 * one


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (2 * LAPLACE, 3 * LAPLACE),
        (LAPLACE, Profile.of(ApproxPair(epsilon=0.1))),
        (SGD, Profile.of(sampled(Pairs.symmetric(GaussianPair(mu=1.0)), rate=0.02))),
    ],
)
def test_what_compares_as_less_costs_less_at_every_delta(less, more):
    for delta in (1e-2, 1e-5, 1e-9):
        assert less.epsilon_at(delta) <= more.epsilon_at(delta) + 1e-6


def test_profiles_survive_a_ledger():
    loss = 7 * LAPLACE + 3 * GAUSS + 5 * SGD
    assert Loss.from_dict(json.loads(json.dumps(loss.to_dict()))) == loss
    with pytest.raises(BadParameter):
        Loss.from_dict({"kind": "profile", "steps": 3})


def test_groups_are_refused_where_nothing_is_proved():
    with pytest.raises(NoBound):
        SGD.group(2)


def test_a_mechanism_without_pairs_is_refused():
    class Nothing:
        def pairs(self):
            return None

    with pytest.raises(NoBound):
        Profile.from_facts(Nothing())


def test_the_trade_off_is_that_of_the_gaussian():
    from scipy.stats import norm

    alphas = np.array([0.0, 0.01, 0.2, 0.5, 0.9, 1.0])
    exact = norm.cdf(norm.isf(alphas) - 1)
    beta = Profile.of(GaussianPair(mu=1.0)).trade_off(alphas)
    assert (beta <= exact + 1e-9).all()
    assert beta == pytest.approx(exact, abs=2e-3)
    with pytest.raises(BadParameter):
        GAUSS.trade_off([1.5])


def test_the_picture_of_a_gaussian_loss_is_a_gaussian():
    losses, masses = (100 * GAUSS).distribution(points=400)
    assert masses.sum() == pytest.approx(1, abs=1e-5)
    assert masses @ losses == pytest.approx(0.125, abs=1e-3)
    assert masses @ (losses - 0.125) ** 2 == pytest.approx(0.25, rel=1e-2)


def test_a_profile_is_not_a_filter():
    assert not Profile.adaptive


def test_nonsense_is_refused():
    with pytest.raises(BadParameter):
        Profile((("laplace", 1),))
    with pytest.raises(BadParameter):
        Profile.of(LaplacePair(ratio=0.1), times=-1)
    assert math.isinf(Profile.of(SampledPair(inner=GaussianPair(mu=1.0), rate=0.5)).epsilon_at(0.0))


EVERY = [
    GAUSS,
    LAPLACE,
    SGD,
    Profile.of(ApproxPair(epsilon=1.0, delta=1e-6)),
    2 * LAPLACE + 3 * GAUSS,
    Profile.of(sampled(Pairs.symmetric(LaplacePair(ratio=1.0)), rate=0.2)),
]


@pytest.mark.parametrize("profile", EVERY, ids=lambda p: p.counts[0][0].remove.name)
def test_a_group_of_one_is_the_unit_itself(profile):
    assert profile.group(1) == profile


@pytest.mark.parametrize("profile", [GAUSS, LAPLACE, 2 * LAPLACE + 3 * GAUSS])
def test_larger_groups_cost_more(profile):
    prices = [profile.group(size).epsilon_at(1e-6) for size in (1, 2, 3, 10, 100)]
    assert prices == sorted(prices)
    assert len(set(prices)) == 5


@pytest.mark.parametrize("exponent", [-308, -200, -30, -6, 0, 3, 6, 20, 100, 154, 200, 260])
@pytest.mark.parametrize("sampling", [None, 0.01])
@pytest.mark.parametrize("beside", [Profile(()), 2 * LAPLACE], ids=["alone", "beside Laplace"])
def test_any_distance_between_gaussians_is_priced(exponent, sampling, beside):
    pairs = Pairs.symmetric(GaussianPair(mu=10.0**exponent))
    profile = beside + Profile.of(sampled(pairs, rate=sampling) if sampling else pairs)
    epsilon, delta = profile.epsilon_at(1e-6), profile.delta_at(1.0)
    assert epsilon >= beside.epsilon_at(1e-6) * (1 - 1e-6)
    assert beside.delta_at(1.0) * (1 - 1e-6) <= delta <= 1
    if exponent >= 3:  # the answer tells who is in the sample, and that is all there is to tell
        chance = sampling or 1.0
        exact = 1 - (1 - chance) * (1 - beside.delta_at(1.0)) if beside.counts else chance
        assert delta == pytest.approx(exact, rel=1e-6)
        assert epsilon > 1e5
    if exponent < -8:
        assert epsilon == pytest.approx(beside.epsilon_at(1e-6), abs=1e-6)


@pytest.mark.parametrize(
    "inner", [GaussianPair(mu=1.0), LaplacePair(ratio=1.0), ApproxPair(epsilon=1.0)], ids=str
)
@pytest.mark.parametrize("short", [1e-14, 2.0**-53])
def test_sampling_nearly_everybody_costs_nearly_all(inner, short):
    whole = 3 * Profile.of(Pairs.symmetric(inner))
    nearly = 3 * Profile.of(sampled(Pairs.symmetric(inner), rate=1 - short))
    assert nearly.epsilon_at(1e-6) == pytest.approx(whole.epsilon_at(1e-6), abs=1e-6)
    assert nearly.delta_at(0.3) == pytest.approx(whole.delta_at(0.3), rel=1e-6)


@pytest.mark.parametrize(
    "inner", [GaussianPair(mu=1.0), LaplacePair(ratio=1.0), ApproxPair(epsilon=1.0)], ids=str
)
@pytest.mark.parametrize("rate", [1e-30, 1e-100, 1e-300])
def test_sampling_hardly_anybody_costs_hardly_anything(inner, rate):
    hardly = 3 * Profile.of(sampled(Pairs.symmetric(inner), rate=rate))
    assert hardly.epsilon_at(1e-20) == 0
    alone = Profile.of(sampled(Pairs.symmetric(inner), rate=rate)).delta_at(0.0)
    assert alone == pytest.approx(rate * Profile.of(Pairs.symmetric(inner)).delta_at(0.0), rel=1e-6)
