"""Known prices are met from above, whatever the engine, and lie within a peer's bracket."""

import itertools
import math

import mpmath as mp
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.losses import figures, truth

from deniable.calibration import looseness
from deniable.losses import pricing
from deniable.losses.contour import Saddle
from deniable.losses.pairs import (
    ApproxPair,
    AtomsPair,
    BoundedRangePair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    ResponsePair,
    SampledPair,
)


def sampled_gaussian(direction="remove", *, sigma=1.1, rate=0.01):
    return SampledPair(inner=GaussianPair(mu=1 / sigma), rate=rate, direction=direction)


# ε by an independent high-precision contour, rounded to the digits shown.
KNOWN = [
    ([(GaussianPair(mu=1 / 20), 1000)], 1e-6, 8.306225049955, 1e-12),
    ([(sampled_gaussian(), 10_000)], 1e-6, 5.806935026565, 1e-11),
    ([(sampled_gaussian("add"), 10_000)], 1e-6, 5.335585674315, 1e-11),
    ([(sampled_gaussian(), 10_000)], 1e-8, 6.8930716, 5e-8),
    ([(sampled_gaussian(), 10_000)], 1e-10, 7.8494912, 5e-8),
    ([(sampled_gaussian(), 10_000)], 1e-14, 9.5179060, 5e-8),
    ([(sampled_gaussian(), 10_000)], 1e-20, 11.6532694, 5e-8),
    ([(LaplacePair(ratio=0.1), 100)], 1e-6, 4.692667414679, 1e-11),
    (
        [(LaplacePair(ratio=0.1), 50), (GaussianPair(mu=0.05), 50), (sampled_gaussian(), 10)],
        1e-6,
        3.605310315322,
        1e-11,
    ),
]


@pytest.mark.parametrize(("pairs", "delta", "known", "digits"), KNOWN)
def test_known_prices_are_met_from_above_within_a_millionth(pairs, delta, known, digits):
    epsilon = pricing.epsilon_at(pairs, delta)
    assert known - digits <= epsilon <= known + digits + 1e-6
    assert pricing.delta_at(pairs, epsilon + 1e-9) <= delta * (1 + 1e-5)


@pytest.mark.parametrize(
    ("pair", "known"),
    [
        (LaplacePair(ratio=1.0), 258.30),
        (ApproxPair(epsilon=1.0), 311.77),
        (DiscreteLaplacePair(scale=1.0), 311.77),
    ],
)
def test_five_hundred_at_one(pair, known):
    assert pricing.epsilon_at([(pair, 500)], 1e-5) == pytest.approx(known, abs=6e-3)


@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-30, 1e-120])
def test_black_boxes_cost_what_the_optimal_composition_theorem_says(delta):
    epsilon = pricing.epsilon_at([(ApproxPair(epsilon=0.3), 200)], delta)
    assert truth.responses(0.3, 200, epsilon) <= delta
    assert truth.responses(0.3, 200, epsilon - 1e-6) > delta


def test_infinite_losses_are_added_exactly():
    pairs = [(ApproxPair(epsilon=0.3, delta=1e-4), 50)]
    missing = -math.expm1(50 * math.log1p(-1e-4))
    assert pricing.infinite_mass(pairs) == pytest.approx(missing, rel=1e-12)
    assert pricing.epsilon_at(pairs, 4e-3) == math.inf
    left = (6e-3 - missing) / (1 - missing)
    alone = pricing.epsilon_at([(ApproxPair(epsilon=0.3), 50)], left)
    assert pricing.epsilon_at(pairs, 6e-3) == pytest.approx(alone, abs=1e-8)


def test_at_no_delta_the_largest_loss_is_the_price():
    assert pricing.epsilon_at([(LaplacePair(ratio=0.5), 4)], 0.0) == pytest.approx(2.0)
    assert pricing.epsilon_at([(GaussianPair(mu=0.5), 1)], 0.0) == math.inf
    assert pricing.delta_at([(LaplacePair(ratio=0.5), 4)], 2.1) == 0


@pytest.mark.parametrize("rate", [1e-3, 1e-6, 1e-10, 1e-20, 1e-40, 1e-300])
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.3])
def test_rarely_sampled_noise_is_below_its_total_variation_and_above_one_release(rate, epsilon):
    pair = SampledPair(inner=GaussianPair(mu=1.0), rate=rate)
    found = pricing.delta_at([(pair, 3)], epsilon)
    assert found >= pair.delta_alone(epsilon) * (1 - 1e-9)
    assert found <= 3 * pair.delta_alone(0.0) * (1 + 1e-9)


@pytest.mark.parametrize("times", [2, 25])
@pytest.mark.parametrize(("mu", "rate"), [(0.3, 1e-3), (1.5, 1e-3), (3.0, 0.2)])
def test_trimming_raises_a_price_by_no_more_than_what_was_trimmed(mu, rate, times):
    pair = SampledPair(inner=GaussianPair(mu=mu), rate=rate)
    whole = [(pair, times)]
    cut = [(pair.trimmed(1e-7), times)]
    assert 0 < cut[0][0].infinite_mass() <= 1e-7
    for epsilon in (0.01, 0.5, 2.0):
        least = pricing.delta_at(whole, epsilon)
        found = pricing.delta_at(cut, epsilon)
        assert least * (1 - 1e-6) <= found <= least * (1 + 1e-6) + times * 1e-7


def test_bounded_range_is_priced_by_the_better_of_its_two_theorems():
    many, one = [(BoundedRangePair(epsilon=0.1), 100)], [(BoundedRangePair(epsilon=1.0), 1)]
    assert pricing.epsilon_at(many, 1e-6) == pytest.approx(2.4001988, abs=1e-6)
    assert pricing.delta_at(one, 0.0) == pytest.approx(math.tanh(0.25))
    free = [(ApproxPair(epsilon=0.1), 100)]
    assert pricing.epsilon_at(many, 1e-6) < pricing.epsilon_at(free, 1e-6)


def test_a_wide_discrete_gaussian_costs_what_the_continuous_one_costs():
    discrete = pricing.epsilon_at([(DiscreteGaussianPair(sigma=20.0), 1000)], 1e-6)
    assert 0 < discrete - 8.306225049955 < 2e-6


@pytest.mark.parametrize("times", [2, 30])
def test_sampling_from_atoms_agrees_with_the_same_atoms_written_out(times):
    pair = SampledPair(inner=ResponsePair(epsilon=1.0, categories=4), rate=0.3)
    losses, masses = pair._exact().atoms()
    total = math.fsum(masses)
    same = AtomsPair(losses=tuple(losses), probabilities=tuple(masses / total * (1 - 1e-15)))
    written = pricing.epsilon_at([(same, times)], 1e-4)
    assert pricing.epsilon_at([(pair, times)], 1e-4) == pytest.approx(written, abs=2e-6)


@settings(max_examples=15, deadline=None)
@given(st.floats(1e-12, 0.2), st.integers(1, 40), st.floats(0.05, 1.0))
def test_prices_are_monotone(delta, times, ratio):
    pairs = [(LaplacePair(ratio=ratio), times)]
    price = pricing.epsilon_at(pairs, delta)
    assert pricing.epsilon_at(pairs, delta / 2) >= price - 1e-6
    assert pricing.epsilon_at([(LaplacePair(ratio=ratio), times + 1)], delta) >= price - 1e-6
    assert pricing.epsilon_at([(LaplacePair(ratio=1.1 * ratio), times)], delta) >= price - 1e-6


KINDS = st.one_of(
    st.builds(lambda a: LaplacePair(ratio=a), st.sampled_from([0.25, 0.5, 1.0, 1.3])),
    st.builds(lambda e: ApproxPair(epsilon=e, delta=1e-3), st.sampled_from([0.5, 1.0])),
    st.builds(lambda e: ResponsePair(epsilon=e, categories=4), st.sampled_from([0.3, 1.0])),
    st.builds(lambda a: SampledPair(inner=LaplacePair(ratio=a), rate=0.2), st.just(0.5)),
    st.builds(lambda s: DiscreteLaplacePair(scale=s, shift=2), st.sampled_from([1.0, 2.5])),
)


@settings(max_examples=6, deadline=None)
@given(st.lists(st.tuples(KINDS, st.integers(1, 3)), min_size=1, max_size=3), st.floats(0, 1))
def test_delta_falls_with_epsilon_also_beside_atoms(pairs, share):
    """At sums of the losses with either sign, where atoms are, and a bit below and above them."""
    losses = [pair.largest_loss() for pair, times in pairs for _ in range(min(times, 2))]
    most = sum(times * pair.largest_loss() for pair, times in pairs)
    signs = list(itertools.product((-1, 1), repeat=len(losses)))
    sums = {most, share * most, *(sum(map(math.prod, zip(s, losses, strict=True))) for s in signs)}
    near = [x * (1 + e) for x in sorted(sums)[-4:] for e in (-1e-6, -1e-12, -2e-16, 0, 1e-15, 1e-9)]
    places = sorted({x for x in near if x >= 0})
    deltas = [pricing.delta_at(pairs, x) for x in places]
    # Each is at most 1e-6 above the truth, relatively, which falls: they may rise by that.
    for above, below in itertools.pairwise(deltas):
        assert below <= above * (1 + 1e-6)


def bracket(pairs, delta):
    """A peer's lower and upper bound on ε, on a grid of 1e-3."""
    ends = []
    for pessimistic in (False, True):
        plain = {"pessimistic_estimate": pessimistic, "value_discretization_interval": 1e-3}
        options = plain | {"use_connect_dots": pessimistic}
        total = pld.identity(1e-3, pessimistic_estimate=pessimistic)
        for pair, times in pairs:
            match pair:
                case GaussianPair(mu=mu):
                    law = pld.from_gaussian_mechanism(1 / mu, **options)
                case LaplacePair(ratio=ratio):
                    law = pld.from_laplace_mechanism(1 / ratio, **options)
                case ApproxPair(epsilon=epsilon):
                    law = pld.from_randomized_response(2 / (1 + math.exp(epsilon)), 2, **plain)
                case SampledPair(inner=GaussianPair(mu=mu), rate=rate):
                    law = pld.from_gaussian_mechanism(1 / mu, sampling_prob=rate, **options)
            total = total.compose(law.self_compose(times))
        ends.append(total.get_epsilon_for_delta(delta))
    return ends


@settings(max_examples=4, deadline=None, phases=[Phase.generate])
@given(st.data())
def test_random_lists_lie_within_the_bracket_of_a_peer(data):
    pairs = [
        (LaplacePair(ratio=data.draw(st.floats(0.05, 0.5))), data.draw(st.integers(1, 10))),
        (GaussianPair(mu=data.draw(st.floats(0.05, 0.5))), data.draw(st.integers(1, 10))),
        (ApproxPair(epsilon=data.draw(st.floats(0.05, 0.5))), data.draw(st.integers(1, 10))),
        (
            sampled_gaussian(
                sigma=data.draw(st.floats(0.8, 3)), rate=data.draw(st.floats(0.01, 0.5))
            ),
            data.draw(st.integers(1, 10)),
        ),
    ]
    add = [
        (sampled_gaussian("add", sigma=1 / p.inner.mu, rate=p.rate), k)
        if isinstance(p, SampledPair)
        else (p, k)
        for p, k in pairs
    ]
    ours = max(pricing.epsilon_at(pairs, 1e-6), pricing.epsilon_at(add, 1e-6))
    low, high = bracket(pairs, 1e-6)
    assert low - 1e-7 <= ours <= high + 1e-6
    half = [(p, max(1, k // 2)) for p, k in pairs]
    if half != pairs:
        assert pricing.epsilon_at(half, 1e-6) < ours


# ---- most of the law far below ε


@pytest.mark.parametrize(("mu", "rate", "epsilon"), [(0.8, 1e-3, 0.3), (0.8, 1e-3, 1.0)])
def test_rare_losses_are_priced_from_above_where_the_bulk_of_the_law_would_cancel(
    mu, rate, epsilon
):
    """Two samples at δ ≈ 4e-16 and 4e-23, where Chernoff's bound is e^20 times as much."""
    r, m = mp.mpf(rate), mp.mpf(mu)

    def part(x):
        ratio = 1 - r + r * mp.exp(m * x - m**2 / 2)
        rest = truth.sampled_gaussian(mu, rate, epsilon - mp.log(ratio))
        return mp.mpf(10) ** 20 * mp.npdf(x) * ratio * rest

    exact = mp.quad(part, mp.linspace(-9, 16, 60)) / mp.mpf(10) ** 20
    pairs = [(SampledPair(inner=GaussianPair(mu=mu), rate=rate), 2)]
    found = pricing.delta_at(pairs, epsilon)
    assert exact * (1 - mp.mpf(1e-7)) <= found <= exact * (1 + mp.mpf(2e-5))
    assert epsilon <= pricing.epsilon_at(pairs, float(exact)) * (1 + 1e-7) <= epsilon + 2e-3


def test_looser_prices_are_not_below_tighter_ones_by_more_than_their_tolerance():
    """Neither cancellation nor aliases may make the tight price the larger one."""
    sampled_often = [(SampledPair(inner=GaussianPair(mu=6 / 7.25), rate=1e-3), 25)]
    tight = pricing.epsilon_at(sampled_often, 1e-20)
    before = looseness.set(300.0)
    try:
        assert pricing.epsilon_at(sampled_often, 1e-20) >= tight * (1 - 1e-6)
    finally:
        looseness.reset(before)
    assert pricing.delta_at(sampled_often, tight) == pytest.approx(1e-20, rel=1e-4)


@pytest.mark.parametrize("epsilon", [0.1, 2.0, 20.0])
def test_a_bound_from_one_moment_is_of_all_mechanisms_together(epsilon):
    """Gaussians compose to one with μ² = Σ μ²."""
    several = [(GaussianPair(mu=0.3), 4), (GaussianPair(mu=0.7), 1), (GaussianPair(mu=0.1), 25)]
    one = [(GaussianPair(mu=math.sqrt(4 * 0.09 + 0.49 + 25 * 0.01)), 1)]
    assert pricing._chernoff(Saddle(several), epsilon) == pytest.approx(
        pricing._chernoff(Saddle(one), epsilon), abs=1e-9
    )


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("pair", [LaplacePair(ratio=0.7), LaplacePair(ratio=3.0)], ids=str)
def test_a_pair_by_itself_is_priced_by_its_own_formula(pair, delta, monkeypatch):
    """No search by contours comes near: it would be as sound, and slower and looser."""
    monkeypatch.setattr(pricing, "Saddle", lambda pairs: pytest.fail("a contour was begun"))
    found = pricing.epsilon_at([(pair, 1)], delta)
    assert pair.delta_alone(found) <= delta
    assert pair.delta_alone(found * (1 - 1e-6)) > delta


def test_a_mechanism_that_tells_nothing_changes_no_digit_of_a_price():
    pair, nothing = LaplacePair(ratio=0.5), AtomsPair(losses=(0.0,), probabilities=(1.0,))
    for other in ([(nothing, 3)], [(GaussianPair(mu=3.0), 0)]):
        both = [(pair, 1), *other]
        assert pricing.delta_at(both, 0.2) == pricing.delta_at([(pair, 1)], 0.2)
        assert pricing.epsilon_at(both, 1e-3) == pricing.epsilon_at([(pair, 1)], 1e-3)
        assert pricing.delta_at(other, 0.0) == pricing.epsilon_at(other, 1e-3) == 0


def test_a_pair_by_itself_without_a_formula_is_priced_by_a_contour():
    plain = type("Plain", (GaussianPair,), {"delta_alone": lambda self, epsilon: None})(mu=0.7)
    exact = truth.gaussian(0.7, 0.3)
    assert exact <= pricing.delta_at([(plain, 1)], 0.3) <= exact * (1 + 1e-5)
    assert pricing.epsilon_at([(plain, 1)], float(exact)) == pytest.approx(0.3, abs=1e-5)


def test_what_is_neglected_is_taken_from_delta():
    small, large = LaplacePair(ratio=1e-20), (LaplacePair(ratio=0.5), 2)
    kept, spent = pricing._without_the_negligible([(small, 3), large, (small, 5)], 1e-6)
    exact = 8 * truth.laplace(mp.mpf(1e-20), 0)
    assert kept == [large]
    assert exact <= spent <= exact * (1 + 1e-9)


def test_what_is_neglected_is_no_longer_there_to_be_spent(monkeypatch):
    pairs = [(LaplacePair(ratio=0.5), 1)]
    monkeypatch.setattr(pricing, "_without_the_negligible", lambda pairs, left: (pairs, left / 2))
    found = pricing.epsilon_at(pairs, 0.02)
    monkeypatch.undo()
    assert found == pytest.approx(pricing.epsilon_at(pairs, 0.01), rel=1e-9)


def test_one_answer_from_a_sample_with_next_to_no_noise_has_its_own_price():
    pair, beyond = sampled_gaussian(sigma=1 / 70, rate=0.1), 70**2 / 2 + 100
    exact = truth.sampled_gaussian(70, 0.1, beyond)
    assert exact <= pricing.delta_at([(pair, 1)], beyond) <= exact * (1 + 1e-6) < 0.05
    assert pricing.delta_at([(pair, 2)], beyond) >= 0.19


def test_a_spread_out_law_has_a_tight_price_also_at_a_tiny_delta():
    pairs = [(sampled_gaussian(sigma=1 / 0.9), 3000)]
    assert pricing.delta_at(pairs, pricing.epsilon_at(pairs, 1e-40) - 2e-6) > 1e-40


def test_total_variations_add_up():
    several = [(LaplacePair(ratio=0.1), 3), (GaussianPair(mu=0.05), 2)]
    exact = 3 * truth.laplace(0.1, 0) + 2 * truth.gaussian(0.05, 0)
    assert exact <= pricing._sum_at_nothing(several) <= exact * (1 + 1e-12)


def test_moments_help_wherever_one_pair_stands_for_many_mechanisms():
    range_, other = (BoundedRangePair(epsilon=0.5), 20), (LaplacePair(ratio=0.1), 1)
    assert pricing._moments_help([range_, other])
    assert pricing._moments_help([other, range_])
    assert not pricing._moments_help([other])


@pytest.mark.parametrize("asked", [-0.5, -7.0])
def test_moments_are_of_all_mechanisms_together_however_they_are_listed(asked):
    pair, other = BoundedRangePair(epsilon=0.5), (LaplacePair(ratio=0.1), 4)
    once, split = [(pair, 20), other], [(pair, 15), other, (pair, 5)]
    found = pricing._epsilon_by_moments(once, asked)
    assert pricing._delta_by_moments(once, found) == pytest.approx(asked, abs=1e-6)
    for bound, at in ((pricing._delta_by_moments, found), (pricing._epsilon_by_moments, asked)):
        assert bound(once, at) == pytest.approx(bound(split, at), rel=1e-9)
        assert bound(once, at) > bound([(pair, 20)], at)


@pytest.mark.parametrize("delta", [1.0, 1 - 2.0**-53, 0.75])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 1e3])
def test_what_tells_nearly_everything_has_a_price(epsilon, delta):
    told = [(ApproxPair(epsilon=epsilon, delta=delta), 3)]
    assert 1 - (1 - delta) ** 3 <= pricing.delta_at(told, 0.5) <= 1
    assert pricing.epsilon_at(told, 0.9) == math.inf


PART = "pricing"
BOXED = [(ApproxPair(epsilon=0.4, delta=1e-7), 12), (LaplacePair(ratio=0.2), 5)]
RARE = [(SampledPair(inner=GaussianPair(mu=1.2), rate=0.02), 9)]
RANGED = [(BoundedRangePair(epsilon=0.5), 20)]
LOUD = [(GaussianPair(mu=2e6), 2), (LaplacePair(ratio=0.5), 1)]
TOLD = [
    (SampledPair(inner=GaussianPair(mu=90.0), rate=0.02, direction=d), 3) for d in ("add", "remove")
]
FIXED = {"boxed": BOXED, "rare": RARE, "ranged": RANGED, "told": TOLD, "single": RARE[:1]}
CASES = (
    {
        f"ε of {n}": lambda p=p: [pricing.epsilon_at(p, d) for d in (1e-4, 1e-9)]
        for n, p in FIXED.items()
    }
    | {
        f"δ of {n}": lambda p=p: [pricing.delta_at(p, e) for e in (0.2, 2.0)]
        for n, p in FIXED.items()
    }
    | {
        f"parts of {n}": lambda p=p: [
            pricing.largest_loss(p),
            pricing.infinite_mass(p),
            pricing._sum_at_nothing(p),
            pricing._chernoff(Saddle(p), 2.0),
            pricing._without_the_negligible(p, 1e3)[1],
        ]
        for n, p in FIXED.items()
    }
    | {
        "loud": lambda: [pricing.epsilon_at(LOUD, 1e-6), pricing.delta_at(LOUD, 4e12)],
        "moments": lambda: [
            pricing._delta_by_moments(RANGED, 2.0),
            pricing._epsilon_by_moments(RANGED, -12.0),
        ],
        "least": lambda: [
            pricing._least(lambda x: 3 - x**2, target=t, start=s, slope=2.0)
            for t in (-1.0, 2.0, 4.0)
            for s in (0.1, 1.0, 9.0)
        ],
    }
)


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case], within=1e-7)
