"""Dominating pairs: moments, masses and decay are what they are stated to be."""

import itertools
import json
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import BadParameter, NoBound
from deniable.losses.pairs import (
    ApproxPair,
    AtomsPair,
    BoundedRangePair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pair,
    Pairs,
    ResponsePair,
    SampledPair,
    StaircasePair,
    sampled,
)

EVERY = [
    GaussianPair(mu=0.7),
    LaplacePair(ratio=1.3),
    BoundedRangePair(epsilon=0.8),
    ApproxPair(epsilon=0.5, delta=1e-3),
    ResponsePair(epsilon=1.0, categories=5),
    StaircasePair(epsilon=1.5, fraction=0.3),
    DiscreteLaplacePair(scale=2.0, shift=3),
    DiscreteGaussianPair(sigma=1.5, shift=2),
    AtomsPair(losses=(-1.0, 0.2, 1.0), probabilities=(0.1, 0.4, 0.4)),
    SampledPair(inner=GaussianPair(mu=0.9), rate=0.05, direction="remove"),
    SampledPair(inner=GaussianPair(mu=0.9), rate=0.05, direction="add"),
    SampledPair(inner=ApproxPair(epsilon=1.0, delta=1e-3), rate=0.2, direction="remove"),
    SampledPair(inner=ApproxPair(epsilon=1.0, delta=1e-3), rate=0.2, direction="add"),
    SampledPair(inner=LaplacePair(ratio=1.0), rate=0.2, direction="remove"),
    SampledPair(inner=LaplacePair(ratio=1.0), rate=0.2, direction="add"),
]
EXTREME = [
    SampledPair(inner=LaplacePair(ratio=3.0), rate=1 - 1e-14, direction="add"),
    SampledPair(inner=LaplacePair(ratio=3.0), rate=1e-80, direction="remove"),
    SampledPair(inner=GaussianPair(mu=0.9), rate=1 - 1e-14, direction="add"),
    SampledPair(inner=GaussianPair(mu=0.9), rate=1 - 1e-14, direction="remove"),
    SampledPair(inner=GaussianPair(mu=3.0), rate=1e-3, direction="add"),
]
WITH_MOMENTS = EVERY + EXTREME
ids = repr


def precise_mgf(pair, z):
    """M(z) to thirty digits, from the definition of the pair and not from its formula."""
    z = mp.mpc(z)
    match pair:
        case GaussianPair(mu=mu):
            return mp.exp(mp.mpf(mu) ** 2 * z * (z + 1) / 2)
        case LaplacePair(ratio=a):
            a = mp.mpf(a)
            middle = mp.quad(lambda l: mp.exp((l - a) / 2 + z * l) / 4, mp.linspace(-a, a, 30))
            return mp.exp(z * a) / 2 + mp.exp(-a - z * a) / 2 + middle
        case BoundedRangePair(epsilon=e):
            e = mp.mpf(e)
            whole = mp.quad(lambda l: mp.exp((e + l) / 2 + z * l), mp.linspace(-e, e, 30))
            return whole / 2 / mp.expm1(e)
        case SampledPair(inner=GaussianPair(mu=mu), rate=q, direction=direction):
            mu, q = mp.mpf(mu), mp.mpf(q)
            power = 1 + z if direction == "remove" else -z
            return mp.quad(
                lambda x: mp.npdf(x) * (1 - q + q * mp.exp(mu * x - mu**2 / 2)) ** power,
                mp.linspace(-12, 20, 33),
            )
        case SampledPair(inner=LaplacePair(ratio=a), rate=q, direction=direction):
            a, q = mp.mpf(a), mp.mpf(q)
            power = 1 + z if direction == "remove" else -z

            def ratio(m):
                return (1 - q + q * mp.exp(m)) ** power

            middle = mp.quad(lambda m: mp.exp(-(m + a) / 2) / 4 * ratio(m), mp.linspace(-a, a, 30))
            return middle + ratio(-a) / 2 + mp.exp(-a) / 2 * ratio(a)
        case _:
            atomic = pair._exact() if isinstance(pair, SampledPair) else pair
            losses, masses = atomic.atoms()
            return mp.fsum(
                mp.mpf(p) * mp.exp(z * mp.mpf(l)) for l, p in zip(losses, masses, strict=True)
            )


@pytest.mark.parametrize("pair", WITH_MOMENTS, ids=ids)
@pytest.mark.parametrize("z", [0.3 + 0j, 2 + 0j, 2 + 1.7j, 6 + 40j])
def test_moments_are_within_their_stated_error(pair, z):
    value, error = pair.log_mgf(np.array([z]))
    truth = precise_mgf(pair, z)
    found = mp.exp(mp.mpc(value[0]) + mp.mpc(z) * mp.mpf(pair.origin()))
    assert abs(truth / found - 1) <= mp.expm1(mp.mpf(error[0]))
    lost = abs(truth) < 1e-11 * abs(precise_mgf(pair, z.real))
    assert lost or error[0] < 1e-9


def test_moments_with_a_wrong_digit_would_be_caught():
    pair = GaussianPair(mu=0.7)
    value, error = pair.log_mgf(np.array([2 + 1.7j]))
    truth = precise_mgf(pair, 2 + 1.7j)
    assert abs(mp.exp(mp.mpc(value[0] + 1e-13)) / truth - 1) > mp.expm1(mp.mpf(error[0]))


@pytest.mark.parametrize("pair", [*EVERY[3:9], *EVERY[11:13]], ids=ids)
def test_moments_of_atoms_on_the_real_line_are_never_below_the_truth(pair):
    """Without its allowance for rounding about every other one would be below."""
    with mp.workdps(30):
        for c in (0.0625, 0.3, 0.7, 1.0, 1.9, 3.3, 7.0, 12.1, 25.0):
            truth = mp.log(precise_mgf(pair, c).real)
            assert truth <= pair.log_moment(c) <= truth + 1e-9 * (1 + abs(truth))


@pytest.mark.parametrize("pair", [*EVERY[:2], *EVERY[3:13]], ids=ids)
@pytest.mark.parametrize("c", [0.3, 2.0, 7.0])
def test_a_rough_moment_is_near_the_exact_one(pair, c):
    rough = pair.rough_log_mgf(c) + c * pair.origin()
    assert rough == pytest.approx(pair.log_moment(c), abs=1e-6)


@pytest.mark.parametrize("pair", EVERY, ids=ids)
def test_masses_are_those_of_two_distributions(pair):
    low, high = pair.support(1e-13)
    cells = pair.masses(np.linspace(low - 1e-6, high + 1e-6, 4001))
    assert math.isclose(cells.p.sum() + pair.infinite_mass(), 1, abs_tol=1e-9)
    assert cells.q.sum() <= 1 + 1e-9
    edges = np.linspace(low - 1e-6, high + 1e-6, 4001)
    inside = cells.p > 1e-12
    ratio = np.log(cells.p[inside] / cells.q[inside])
    assert (ratio >= edges[:-1][inside] - 1e-6).all()
    assert (ratio <= edges[1:][inside] + 1e-6).all()


@pytest.mark.parametrize("pair", EVERY, ids=ids)
def test_the_error_of_a_mass_is_a_small_part_of_it(pair):
    low, high = pair.support(1e-13)
    cells = pair.masses(np.linspace(low - 1e-6, high + 1e-6, 4001))
    for mass, error in ((cells.p, cells.p_error), (cells.q, cells.q_error)):
        assert (error >= 2.0**-52 * mass).all()
        assert (error <= 1e-11 * mass).all()


def precise_masses(pair, low, high):
    """P and Q of a loss between two ends, from the densities of a pair without atoms there."""
    low, high = mp.mpf(low), mp.mpf(high)
    match pair:
        case GaussianPair(mu=mu):
            mu = mp.mpf(mu)
            ends = [(x / mu - mu / 2, x / mu + mu / 2) for x in (low, high)]
            return tuple(mp.ncdf(b) - mp.ncdf(a) for a, b in zip(*ends, strict=True))
        case LaplacePair(ratio=a):
            density = mp.exp(-mp.mpf(a) / 2) / 4
        case BoundedRangePair(epsilon=e):
            density = mp.exp(mp.mpf(e) / 2) / 2 / mp.expm1(mp.mpf(e))
        case SampledPair(inner=inner, rate=q, direction=direction):
            sign, q = (1 if direction == "remove" else -1), mp.mpf(q)
            ends = [mp.log1p(mp.expm1(sign * x) / q) for x in (low, high)]
            first, second = precise_masses(inner, *sorted(ends))
            return ((1 - q) * second + q * first, second)[::sign]
    return tuple(
        2 * density * abs(mp.expm1((high - low) / 2)) * mp.exp(x / 2) for x in (low, -high)
    )


@pytest.mark.parametrize("inner", EVERY[:3], ids=ids)
@pytest.mark.parametrize("direction", ["", "remove", "add"])
def test_masses_between_two_ends_are_within_their_stated_error(inner, direction):
    rate = 0.3
    pair = SampledPair(inner=inner, rate=rate, direction=direction) if direction else inner
    edges = np.linspace(-0.12, 0.12, 12)
    cells = pair.masses(edges)
    with mp.workdps(40):
        for i, ends in enumerate(itertools.pairwise(edges)):
            p, q = precise_masses(pair, *map(float, ends))
            assert abs(p - mp.mpf(cells.p[i])) <= cells.p_error[i]
            assert abs(q - mp.mpf(cells.q[i])) <= cells.q_error[i]


@pytest.mark.parametrize("pair", EVERY, ids=ids)
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.3, 0.9])
def test_a_single_use_costs_what_the_masses_say(pair, epsilon):
    low, high = pair.support(1e-13)
    edges = np.linspace(low - 1e-6, high + 1e-6, 40001)
    cells = pair.masses(edges)
    middle = (edges[1:] + edges[:-1]) / 2
    by_masses = float(cells.p @ -np.expm1(np.minimum(0, epsilon - middle)))
    assert pair.delta_alone(epsilon) == pytest.approx(by_masses, abs=(high - low) / 2e4)


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("rate", [0.003, 0.2])
@pytest.mark.parametrize("c", [0.5, 5.0])
def test_the_modulus_never_exceeds_the_stated_decay(added, rate, c):
    pair = SampledPair(
        inner=GaussianPair(mu=0.8), rate=rate, direction="add" if added else "remove"
    )
    t = np.concatenate([[0.0], np.geomspace(0.1, 600, 60)])
    modulus = np.exp((pair.log_mgf(c + 1j * t)[0] - pair.log_mgf(np.array([c + 0j]))[0]).real)
    tail = np.maximum.accumulate(modulus[::-1])[::-1]
    stated = np.array([pair.decay(c, float(s)) for s in t])
    assert (tail <= stated + 1e-12).all()
    assert stated[-1] < (1 if rate < 0.01 else 0.5)


def test_a_decay_much_faster_would_be_caught():
    pair = SampledPair(inner=GaussianPair(mu=0.8), rate=0.2)
    ends = pair.log_mgf(np.array([5 + 0j, 5 + 2j]))[0].real
    assert ends[1] - ends[0] > 8 * math.log(pair.decay(5.0, 2.0))


@pytest.mark.parametrize("pair", EVERY, ids=ids)
def test_pairs_survive_a_ledger(pair):
    both = Pairs(remove=pair, add=GaussianPair(mu=1.0))
    assert Pairs.from_dict(json.loads(json.dumps(both.to_dict()))) == both
    assert Pairs.from_dict(Pairs.symmetric(pair).to_dict()) == Pairs.symmetric(pair)
    assert hash(Pair.from_dict(pair.to_dict())) == hash(pair)


def test_discrete_laplace_at_one_step_is_randomized_response():
    losses, masses = DiscreteLaplacePair(scale=2.0).atoms()
    others, weights = ApproxPair(epsilon=0.5).atoms()
    assert losses == pytest.approx(others)
    assert masses == pytest.approx(weights)


def test_a_discrete_gaussian_costs_far_more_than_the_formula_of_the_continuous_one():
    discrete, smooth = DiscreteGaussianPair(sigma=1.0), GaussianPair(mu=1.0)
    ratios = [discrete.delta_alone(e) / smooth.delta_alone(e) for e in np.linspace(0.1, 4.6, 400)]
    assert 1.5 < max(ratios) < 2.5
    wide = DiscreteGaussianPair(sigma=40.0)
    assert wide.delta_alone(0.05) == pytest.approx(
        GaussianPair(mu=1 / 40).delta_alone(0.05), rel=2e-3
    )


@given(st.floats(0.05, 4), st.floats(-0.99, 0.99), st.floats(0, 1))
def test_every_bounded_range_mechanism_lies_under_the_envelope(epsilon, share, place):
    """Two-point losses {t, t − ε} are the worst cases [DDR20]; the pair covers each at every x."""
    x, t = share * epsilon, place * epsilon
    high = (math.exp(epsilon) - math.exp(t)) / math.expm1(epsilon)
    delta = high * max(0, 1 - math.exp(x - t)) + (1 - high) * max(0, 1 - math.exp(x - t + epsilon))
    envelope = (math.exp(epsilon / 2) - math.exp(x / 2)) ** 2 / math.expm1(epsilon)
    assert delta <= envelope + 1e-12
    if x >= 0:
        assert BoundedRangePair(epsilon=epsilon).delta_alone(x) == pytest.approx(
            envelope, abs=1e-12
        )


@settings(max_examples=10, deadline=None)
@given(st.floats(0.1, 3), st.floats(0.05, 0.95))
def test_staircase_atoms_are_those_of_its_density(epsilon, fraction):
    """P(L = ε) from the density itself: f(x)/f(x − Δ) = e^ε exactly where the steps differ."""
    shrink = math.exp(-epsilon)
    level = (1 - shrink) / (2 * (fraction + shrink * (1 - fraction)))
    x = (np.arange(400_000) + 0.5) / 2e4 - 10
    density = level * shrink ** (np.floor(np.abs(x)) + (np.abs(x) % 1 >= fraction))
    moved = level * shrink ** (np.floor(np.abs(x - 1)) + (np.abs(x - 1) % 1 >= fraction))
    mass = density[density > moved * 1.0001].sum() / 2e4
    losses, masses = StaircasePair(epsilon=epsilon, fraction=fraction).atoms()
    assert masses[-1] == pytest.approx(mass, abs=2e-4 + shrink**9)
    assert math.fsum(masses * np.exp(-losses)) == pytest.approx(1, abs=1e-9)


def test_sampling_nobody_costs_nothing_and_everybody_costs_all():
    pairs = Pairs.symmetric(GaussianPair(mu=1.0))
    assert sampled(pairs, rate=1.0) == pairs
    assert sampled(pairs, rate=0.0).remove.largest_loss() == 0
    twice = sampled(sampled(pairs, rate=0.5), rate=0.25)
    assert twice.remove.rate == pytest.approx(0.125)
    assert twice.remove.inner == GaussianPair(mu=1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: GaussianPair(mu=math.nan),
        lambda: LaplacePair(ratio=0.0),
        lambda: ApproxPair(epsilon=-1.0),
        lambda: ApproxPair(epsilon=1.0, delta=2.0),
        lambda: ResponsePair(epsilon=1.0, categories=1),
        lambda: DiscreteLaplacePair(scale=1.0, shift=0),
        lambda: DiscreteGaussianPair(sigma=1e9),
        lambda: SampledPair(inner=GaussianPair(mu=1.0), rate=1.5),
        lambda: SampledPair(inner=GaussianPair(mu=1.0), rate=0.5, direction="sideways"),
        lambda: AtomsPair(losses=(1.0,), probabilities=(0.9, 0.1)),
        lambda: AtomsPair(losses=(-1.0,), probabilities=(1.0,)),
        lambda: Pair.from_dict({"pair": "nonsense"}),
    ],
)
def test_nonsense_is_refused(wrong):
    with pytest.raises(BadParameter):
        wrong()


def test_groups_are_priced_where_proved_and_refused_elsewhere():
    assert GaussianPair(mu=0.5).group(3).mu == pytest.approx(1.5)
    assert DiscreteLaplacePair(scale=1.0).group(4).shift == 4
    doubled = ApproxPair(epsilon=1.0, delta=1e-6).group(2)
    assert doubled.delta == pytest.approx(1e-6 * (1 + math.e))
    with pytest.raises(NoBound):
        SampledPair(inner=GaussianPair(mu=1.0), rate=0.5).group(2)


@settings(deadline=None)
@given(
    st.one_of(st.floats(0, 3), st.floats(0, 2000)),
    st.one_of(st.just(0.0), st.floats(1e-300, 1.0)),
    st.integers(1, 400),
)
def test_groups_of_a_black_box_are_priced_exactly_and_never_below(epsilon, delta, size):
    """δ·(1 + e^ε + … + e^((k−1)ε)), with exponents beyond the floats."""
    grown = ApproxPair(epsilon=epsilon, delta=delta).group(size)
    with mp.mp.workdps(60):
        exact = mp.mpf(delta) * mp.fsum(mp.exp(mp.mpf(epsilon) * i) for i in range(size))
        assert mp.mpf(grown.epsilon) >= mp.mpf(epsilon) * size
        assert mp.mpf(grown.delta) >= min(1, exact)
        assert grown.delta == 1 or mp.mpf(grown.delta) <= exact * (1 + mp.mpf(10) ** -9)
    assert grown.epsilon <= epsilon * size * (1 + 1e-9)


def test_groups_too_large_for_floats_are_hopeless_or_refused():
    assert ApproxPair(epsilon=0.0, delta=1e-9).group(10**400).delta == 1
    with pytest.raises(BadParameter):
        ApproxPair(epsilon=1.0, delta=1e-9).group(10**400)


GOOD = {
    GaussianPair: {"mu": 1.0}, LaplacePair: {"ratio": 1.0}, BoundedRangePair: {"epsilon": 1.0},
    ApproxPair: {"epsilon": 1.0}, ResponsePair: {"epsilon": 1.0, "categories": 3},
    StaircasePair: {"epsilon": 1.0, "fraction": 0.5}, DiscreteLaplacePair: {"scale": 1.0},
    DiscreteGaussianPair: {"sigma": 1.0},
}  # fmt: skip


@pytest.mark.parametrize("kind", GOOD)
def test_every_parameter_of_a_pair_is_checked(kind):
    kind(**GOOD[kind])
    for name in GOOD[kind]:
        for bad in (math.nan, math.inf, -1.0, 0.0, "1"):
            if bad != 0 or (kind, name) not in ((ApproxPair, "epsilon"), (GaussianPair, "mu")):
                with pytest.raises(BadParameter):
                    kind(**GOOD[kind] | {name: bad})
