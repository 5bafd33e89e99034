"""Samples when a unit is replaced: no neighbours are worse than the pair, and some are as bad."""

import math

import mpmath as mp
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld import privacy_loss_mechanism
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from tests.losses import figures

import deniable as dp
from deniable.errors import BadParameter, NoBound
from deniable.losses import Profile, pricing
from deniable.losses.pairs import (
    ApproxPair,
    BoundedRangePair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pairs,
    ResponsePair,
    SampledPair,
    StaircasePair,
    sampled,
)
from deniable.losses.pairs.replaced import ReplacedExponential, ReplacedMixture, replaced_atoms

RATES = st.floats(0.02, 0.98)
SHARES = st.floats(-1, 1)


def pair(inner, rate):
    return SampledPair(inner=inner, rate=rate, direction="replace")


def replaced(inner, rate):
    return Profile.of(sampled(Pairs.symmetric(inner), rate=rate, relation="replace"))


# ---- the pair has the price of its densities


def density(inner, x):
    """The noise of an inner pair, in units of its scale, and how far one unit moves it."""
    match inner:
        case GaussianPair():
            return mp.npdf(x)
        case LaplacePair():
            return mp.exp(-abs(x)) / 2
        case DiscreteLaplacePair():
            ratio = mp.exp(-1 / mp.mpf(inner.scale))
            return (1 - ratio) / (1 + ratio) * ratio ** abs(x)
        case DiscreteGaussianPair():
            return mp.exp(-(mp.mpf(x) ** 2) / (2 * mp.mpf(inner.sigma) ** 2))
    raise AssertionError(inner)


def both(inner, rate, x):
    q = mp.mpf(rate)
    shift = getattr(inner, "mu", None) or getattr(inner, "ratio", None) or inner.shift
    none, more, less = (density(inner, y) for y in (x, x - shift, x + shift))
    return (1 - q) * none + q * more, (1 - q) * none + q * less


def on_the_line(inner, rate, epsilon):
    """δ of the pair by integration of its densities, from where the loss is ε."""
    shift = mp.mpf(getattr(inner, "mu", None) or inner.ratio)

    def gap(x):
        a, b = both(inner, rate, x)
        return a - mp.exp(epsilon) * b

    def log_ratio(x):
        a, b = both(inner, rate, x)
        return mp.log(a / b) - epsilon

    end = 14 if isinstance(inner, GaussianPair) else shift
    if log_ratio(end) <= 0:
        return mp.mpf(0)
    start = mp.findroot(log_ratio, (0, end), solver="anderson") if epsilon else mp.mpf(0)
    return mp.quad(gap, sorted({*mp.linspace(start, end, 15), mp.mpf(end), end + 30, end + 60}))


@settings(max_examples=8, deadline=None)
@given(st.sampled_from([GaussianPair, LaplacePair]), st.floats(0.3, 2), RATES, st.floats(0, 0.5))
def test_a_single_sample_costs_what_its_densities_say(kind, distance, rate, epsilon):
    inner = kind(mu=distance) if kind is GaussianPair else kind(ratio=distance)
    exact = on_the_line(inner, rate, epsilon)
    found = pricing.delta_at([(pair(inner, rate), 1)], epsilon)
    assert exact * (1 - mp.mpf(1e-18)) <= found
    assert found <= exact * (1 + 1e-6) + 1e-13


LATTICE = [
    DiscreteLaplacePair(scale=0.7),
    DiscreteLaplacePair(scale=3.0, shift=4),
    DiscreteGaussianPair(sigma=0.6),
    DiscreteGaussianPair(sigma=2.0, shift=3),
]


@pytest.mark.parametrize("inner", LATTICE, ids=str)
@pytest.mark.parametrize("rate", [1e-9, 0.01, 0.4, 0.99])
def test_on_the_integers_it_costs_what_its_masses_say(inner, rate):
    reach = 60 + int(40 * getattr(inner, "sigma", inner.shift))
    cells = [both(inner, rate, x) for x in range(-reach, reach + 1)]
    whole = mp.fsum(a for a, _ in cells)
    for epsilon in (0.0, rate / 3, rate, 0.2, 1.0):
        exact = mp.fsum(max(0, a - mp.exp(epsilon) * b) for a, b in cells) / whole
        found = pricing.delta_at([(pair(inner, rate), 1)], epsilon)
        assert exact * (1 - mp.mpf(1e-20)) <= found <= exact * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize("ratio", [0.2, 1.0, 6.0])
@pytest.mark.parametrize("rate", [1e-4, 0.1, 0.9])
def test_the_moments_of_sampled_laplace_noise_are_those_of_its_densities(ratio, rate):
    inner = LaplacePair(ratio=ratio)

    def moment(c):
        def part(x):
            a, b = both(inner, rate, x)
            return a * mp.exp(c * mp.log(a / b))

        ends = [-ratio - 60, -ratio - 20, -ratio, 0, ratio, ratio + 20, ratio + 60]
        return mp.quad(part, ends)

    for c in (0.3, 1.0, 7.5):
        assert pair(inner, rate).log_moment(c) == pytest.approx(float(mp.log(moment(c))), rel=1e-9)


@pytest.mark.parametrize("rate", [0.05, 0.6])
@pytest.mark.parametrize("epsilon", [0.02, 0.4])
def test_two_samples_with_laplace_noise_cost_what_one_integral_says(rate, epsilon):
    """δ of two is the average of δ(ε − L) of one over the losses L of the other."""
    law = pair(LaplacePair(ratio=1.0), rate)._exact()

    def alone(x):
        return law.delta(x) if x >= 0 else 1 - math.exp(x) + math.exp(x) * law.delta(-x)

    def part(x):
        here = (1 - rate) * math.exp(-abs(x)) + rate * math.exp(-abs(x - 1))
        return here / 2 * alone(epsilon - law.origin() + float(law.deficits(np.array([x]))[0]))

    inside = sum(quad(part, a, a + 0.05, epsabs=1e-13)[0] for a in np.arange(-20, 20) / 20)
    ends = sum(quad(part, a, b, epsabs=1e-13)[0] for a, b in ((-45, -1), (1, 45)))
    found = pricing.delta_at([(pair(LaplacePair(ratio=1.0), rate), 2)], epsilon)
    assert found == pytest.approx(inside + ends, rel=1e-6)


# ---- an independent accountant


@pytest.mark.parametrize("inner", LATTICE, ids=str)
@pytest.mark.parametrize(("rate", "times"), [(0.05, 12), (0.5, 4)])
def test_compositions_on_the_integers_agree_with_an_independent_accountant(inner, rate, times):
    reach = int(12 * getattr(inner, "sigma", 3 * inner.shift))
    cells = {x: both(inner, rate, x) for x in range(-reach, reach + 1)}
    whole = mp.fsum(a for a, _ in cells.values())
    upper, lower = ({x: float(mp.log(c[i] / whole)) for x, c in cells.items()} for i in (0, 1))
    ours = times * Profile.of(pair(inner, rate))
    for pessimistic in (True, False):
        theirs = pld.from_two_probability_mass_functions(
            lower, upper, pessimistic_estimate=pessimistic, value_discretization_interval=1e-3
        ).self_compose(times)
        for epsilon in (0.5, 2.0):
            found, other = ours.delta_at(epsilon), theirs.get_delta_for_epsilon(epsilon)
            assert found <= other * (1 + 1e-6) if pessimistic else found >= other * (1 - 1e-9)


@pytest.mark.parametrize("times", [1, 10, 100])
@pytest.mark.parametrize("rate", [0.1, 0.6])
def test_compositions_of_gaussian_noise_agree_with_an_independent_accountant(times, rate):
    law = privacy_loss_mechanism.GaussianPrivacyLoss(
        2.0, sampling_prob=rate, adjacency_type=privacy_loss_mechanism.AdjacencyType.REPLACE
    )
    pmf = pld._create_pld_pmf_from_monotone_privacy_loss(law, use_connect_dots=True)
    theirs = pld.PrivacyLossDistribution(pmf).self_compose(times)
    ours = times * replaced(GaussianPair(mu=0.5), rate)
    assert ours.epsilon_at(1e-6) == pytest.approx(theirs.get_epsilon_for_delta(1e-6), abs=3e-6)


# ---- no neighbours are worse


@settings(max_examples=6, deadline=None)
@given(
    st.sampled_from(["gaussian", "laplace"]),
    st.floats(0.2, 1.5),
    RATES,
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 3.2),
)
def test_no_contributions_in_the_plane_are_easier_to_tell_apart(
    noise, most, rate, one, other, angle
):
    """Brute force: contributions of any length and direction, on a grid of the plane."""
    step = 0.05
    axis = np.arange(-14, 14, step) + step / 2
    power, length = (2, math.hypot) if noise == "gaussian" else (1, lambda a, b: abs(a) + abs(b))

    def cells(a, b):
        across = [np.exp(-(np.abs(axis - c) ** power) / power) for c in (a, b)]
        return np.multiply.outer(*(part / part.sum() for part in across))

    turned = math.cos(angle), math.sin(angle)
    turned = [other * most * part / length(*turned) for part in turned]
    none = (1 - rate) * cells(0, 0)
    first, second = none + rate * cells(one * most, 0), none + rate * cells(*turned)
    inner = GaussianPair(mu=most) if noise == "gaussian" else LaplacePair(ratio=most)
    for epsilon in (0.0, 0.1, 0.4):
        brute = np.maximum(first - math.exp(epsilon) * second, 0).sum()
        assert brute <= pricing.delta_at([(pair(inner, rate), 1)], epsilon) + 1e-3 * step


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(LATTICE), RATES, SHARES, SHARES, st.sampled_from([0.3, 0.9, 1.0, 1.1, 2.0, 5.0])
)
def test_no_contributions_on_the_integers_are_easier_to_tell_apart(inner, rate, one, other, alpha):
    """Also at α < 1, which compositions need as much."""
    x = np.arange(-200, 201)
    spread = getattr(inner, "sigma", None)
    logs = -(x**2) / (2 * spread**2) if spread else -np.abs(x) / inner.scale
    noise = np.exp(logs) / np.exp(logs).sum()
    moved = [np.roll(noise, round(share * inner.shift)) for share in (one, other)]
    a, b = ((1 - rate) * noise + rate * part for part in moved)
    losses, masses = pair(inner, rate)._exact().atoms()
    worst = (masses * np.maximum(1 - alpha * np.exp(-losses), 0)).sum()
    assert np.maximum(a - alpha * b, 0).sum() <= worst + 1e-12


@settings(max_examples=100, deadline=None)
@given(
    st.floats(0.05, 3),
    RATES,
    st.lists(st.tuples(st.floats(0.01, 1), SHARES, SHARES), min_size=2, max_size=6),
    st.sampled_from([0.2, 0.7, 1.0, 1.2, 2.0, 4.0]),
    st.booleans(),
)
def test_no_pure_mechanism_is_easier_to_tell_apart(epsilon, rate, outcomes, alpha, extreme):
    """Any three laws of which the second and third are within ε of the first."""
    weights = np.array([weight for weight, _, _ in outcomes])
    laws = [weights / weights.sum()]
    for place in (1, 2):
        tilt = np.array([outcome[place] for outcome in outcomes])
        tilt = np.sign(tilt) if extreme else tilt
        low, high = 0.0, epsilon  # the strongest tilt that normalising leaves within ε
        for _ in range(60):
            middle = (low + high) / 2
            law = laws[0] * np.exp(middle * tilt)
            ratio = np.abs(np.log(law / law.sum() / laws[0])).max()
            low, high = (middle, high) if ratio <= epsilon else (low, middle)
        law = laws[0] * np.exp(low * tilt)
        laws.append(law / law.sum())
    a, b = ((1 - rate) * laws[0] + rate * law for law in laws[1:])
    for inner in (ApproxPair(epsilon=epsilon), BoundedRangePair(epsilon=epsilon)):
        found = sampled(Pairs.symmetric(inner), rate=rate, relation="replace").remove
        losses, masses = found._exact().atoms()
        worst = (masses * np.maximum(1 - alpha * np.exp(-losses), 0)).sum()
        assert np.maximum(a - alpha * b, 0).sum() <= worst * (1 + 1e-12) + 1e-15


def test_a_pure_mechanism_meets_its_price():
    """Discrete Laplace noise at a distance of 1: the bound for all mechanisms is attained."""
    noise = DiscreteLaplacePair(scale=1 / 0.8)
    exact = pricing.delta_at([(pair(noise, 0.3), 1)], 0.1)
    assert replaced(ApproxPair(epsilon=0.8), 0.3).delta_at(0.1) == pytest.approx(exact, rel=1e-12)


# ---- order


@pytest.mark.parametrize(
    "inner",
    [
        GaussianPair(mu=0.9),
        LaplacePair(ratio=0.9),
        DiscreteLaplacePair(scale=2.0, shift=2),
        DiscreteGaussianPair(sigma=1.5),
    ],
    ids=str,
)
def test_replacing_costs_more_than_removing_and_no_more_than_both(inner):
    removed = 20 * Profile.of(sampled(Pairs.symmetric(inner), rate=0.05))
    assert removed.epsilon_at(1e-6) < (20 * replaced(inner, 0.05)).epsilon_at(1e-6)
    whole = Pairs.symmetric(inner.group(2))
    assert sampled(Pairs.symmetric(inner), rate=1.0, relation="replace") == whole
    near = replaced(inner, 1 - 1e-14)
    assert near.epsilon_at(1e-6) == pytest.approx(Profile.of(whole).epsilon_at(1e-6), abs=1e-6)


@pytest.mark.parametrize(
    "inner",
    [
        LaplacePair(ratio=1.0),
        ResponsePair(epsilon=1.0, categories=4),
        StaircasePair(epsilon=1.0, fraction=0.4),
        BoundedRangePair(epsilon=1.0),
        DiscreteLaplacePair(scale=4.0, shift=4),
    ],
    ids=str,
)
def test_prices_beat_the_bound_from_epsilon_alone(inner):
    alone = dp.Laplace(scale=1.0).sampled(rate=0.1, relation="replace").pure()
    black_box = 50 * Profile.of(ApproxPair(epsilon=alone))
    assert (50 * replaced(inner, 0.1)).epsilon_at(1e-6) < 0.99 * black_box.epsilon_at(1e-6)


def test_a_mechanism_is_priced_by_its_noise():
    laplace = dp.Laplace(scale=1.0).sampled(rate=0.1, relation="replace")
    assert laplace.loss(dp.Profile) == replaced(LaplacePair(ratio=1.0), 0.1)
    assert laplace.epsilon_at() == pytest.approx(laplace.loss(dp.Profile).to(dp.Pure).epsilon)
    assert laplace.renyi(3.0) < dp.Pure(laplace.pure()).to(dp.Renyi).at(3.0)


def test_pictures_of_the_loss_add_up():
    for inner in (GaussianPair(mu=1.0), LaplacePair(ratio=1.0)):
        losses, masses = (5 * replaced(inner, 0.3)).distribution(points=256)
        assert masses.sum() == pytest.approx(1, abs=1e-4)
        assert masses @ losses > 0


def test_other_losses_and_other_words_are_refused():
    with pytest.raises(NoBound, match="approx"):
        sampled(Pairs.symmetric(ApproxPair(epsilon=1.0, delta=0.1)), rate=0.5, relation="replace")
    with pytest.raises(BadParameter):
        SampledPair(inner=BoundedRangePair(epsilon=1.0), rate=0.5, direction="replace")
    with pytest.raises(BadParameter):
        sampled(Pairs.symmetric(GaussianPair(mu=1.0)), rate=0.5, relation="swap")


PART = "replaced"
MIXED, CUT = ReplacedMixture(0.7, 0.1), ReplacedMixture(0.7, 0.1, cut=4.0)
SPLIT = ReplacedExponential(1.2, 0.2)
X, Z = np.array([-3.0, -0.5, 0.4, 2.0]), np.array([2 + 0j, 2 + 1.5j])
LOW, HIGH, ACROSS = np.array([-1.0, 0.5]), np.array([-0.4, 1.0]), np.array([0.3, 0.7])
CASES = {
    "law": lambda: [MIXED.deficits(X), MIXED.slope(X), MIXED.log_weights(X, 3.0), MIXED.cdf(X)],
    "most": lambda: MIXED.log_most(LOW, HIGH, ACROSS, 3.0),
    "limits": lambda: [MIXED.limits(2.0), CUT.limits(200.0)],
    "beyond": lambda: [
        m.log_beyond(a, b, 3.0) for m in (MIXED, CUT) for a, b in ((-9.5, 3.9), (-2.0, 3.0))
    ],
    "far beyond": lambda: [MIXED.log_beyond(-9.5, 14.0, 3.0)],
    "precision": lambda: MIXED.precision(X),
    "delta": lambda: [m.delta(e) for m in (MIXED, SPLIT) for e in (0.0, 0.1, 0.4)],
    "ends": lambda: [SPLIT.largest_loss(), SPLIT.deficits(X), SPLIT.point_masses(), SPLIT.cdf(X)],
    "moments": lambda: [SPLIT.log_mgf(Z), SPLIT.rough_log_mgf(3.0)],
    "lattice": lambda: [
        [part[::7] for part in replaced_atoms(noise, 0.2).atoms()]
        for noise in (DiscreteLaplacePair(scale=2.0, shift=3), DiscreteGaussianPair(sigma=1.5))
    ],
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case], within=1e-9)
