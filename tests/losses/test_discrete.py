"""Pairs with atoms: each law against its definition, and what it allows for rounding."""

import math

import mpmath as mp
import numpy as np
import pytest
from tests.losses import figures

from deniable.errors import BadParameter
from deniable.losses.pairs import (
    ApproxPair,
    AtomsPair,
    BoundedRangePair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    ResponsePair,
    StaircasePair,
)
from deniable.losses.pairs.discrete import ComputedAtoms, up

ULP = 2.0**-53
LOSSES, MASSES = np.array([-1.0, 0.25, 0.5, 2.0]), np.array([0.0, 0.5, 0.25, 0.125])
COMPUTED = ComputedAtoms(LOSSES, MASSES, lost=0.125)


def exact_atoms(pair):
    """Rising losses and their masses, from the definition."""
    e = mp.mpf
    match pair:
        case AtomsPair(losses=losses, probabilities=chances):
            kept = sorted({loss for loss, p in zip(losses, chances, strict=True) if p})
            both = list(zip(losses, chances, strict=True))
            return [(e(loss), mp.fsum(p for l, p in both if l == loss)) for loss in kept]
        case ApproxPair(epsilon=x, delta=d) if x == 0:
            return [(e(0), 1 - e(d))]
        case ApproxPair(epsilon=x, delta=d):
            return [(s * e(x), (1 - e(d)) / (1 + mp.exp(-s * e(x)))) for s in (-1, 1)]
        case ResponsePair(epsilon=x, categories=k):
            one = 1 / (mp.exp(e(x)) + k - 1)
            return [(-e(x), one), (e(0), (k - 2) * one), (e(x), one * mp.exp(e(x)))]
        case DiscreteLaplacePair(scale=b, shift=n):
            shrink = mp.exp(-1 / e(b))
            here = [(1 - shrink) / (1 + shrink) * shrink ** abs(x) for x in range(n + 1)]
            tail = 1 / (1 - shrink)
            here[0], here[-1] = here[0] * tail, here[-1] * tail
            return [((n - 2 * x) / e(b), here[x]) for x in range(n, -1, -1)]
        case DiscreteGaussianPair(sigma=s, shift=n):
            reach = math.ceil(38 * s)
            weights = {x: mp.exp(-(e(x) ** 2) / (2 * e(s) ** 2)) for x in range(-reach, reach + 1)}
            whole = mp.fsum(weights.values())
            return [
                ((n * n - 2 * n * x) / (2 * e(s) ** 2), weights[x] / whole)
                for x in range(reach, -reach - 1, -1)
            ]
    raise AssertionError(pair)


LAWS = [
    AtomsPair(losses=(0.5, -0.25, 0.5, 3.0), probabilities=(0.25, 0.3, 0.125, 0.0)),
    ApproxPair(epsilon=0.0, delta=0.1),
    ApproxPair(epsilon=1.7, delta=0.1),
    ResponsePair(epsilon=1.7, categories=2),
    ResponsePair(epsilon=0.3, categories=7),
    DiscreteLaplacePair(scale=0.7, shift=1),
    DiscreteLaplacePair(scale=3.0, shift=4),
    DiscreteGaussianPair(sigma=0.8, shift=1),
    DiscreteGaussianPair(sigma=1.5, shift=3),
]


@pytest.mark.parametrize("pair", LAWS, ids=repr)
def test_atoms_are_those_of_the_definition_and_rounded_up(pair):
    losses, masses = pair.atoms()
    assert pair.largest_loss() == losses[-1]
    assert pair.support(1e-9) == (losses[0], losses[-1])
    losses, masses = losses[masses > 0], masses[masses > 0]
    with mp.workdps(40):
        exact = [(l, p) for l, p in exact_atoms(pair) if p > mp.mpf("1e-320")]
    assert len(losses) == len(exact)
    assert (np.diff(losses) > 0).all()
    for loss, mass, (l, p) in zip(losses, masses, exact, strict=True):
        assert l <= loss <= l + abs(l) * mp.mpf(2) ** -48 + 5e-324
        far = 1 + abs(math.log(p))
        assert p * (1 - mp.mpf(2) ** -60) <= mass or mass < 1e-305
        assert mass <= p * (1 + 64 * ULP * far) + 64 * ULP


def test_odds_beyond_the_floats_leave_an_atom_that_is_rounded_up():
    losses, masses = ApproxPair(epsilon=800.0).atoms()
    assert losses.tolist() == [-800.0, 800.0]
    assert masses == pytest.approx([math.exp(-700), 1.0])


@pytest.mark.parametrize(
    ("epsilon", "fraction"), [(1.0, 0.25), (1.0, 0.5), (1.0, 0.75), (3.0, 0.05)]
)
def test_a_staircase_says_the_truth_as_often_as_its_density(epsilon, fraction):
    """(1 − e^(−ε))·P(L = ε) = P(|X| ≤ ½) at Δ = 1, whose steps fall by e^(−ε) at γ."""
    pair = StaircasePair(epsilon=epsilon, fraction=fraction)
    shrink = math.exp(-epsilon)
    top = (1 - shrink) / 2 / (fraction + shrink * (1 - fraction))
    neither = 1 - pair.truth() * (1 + shrink)
    assert pair.neither() == pytest.approx(max(0.0, neither), abs=1e-15)
    inside = min(fraction, 0.5) * top * 2 + max(0.5 - fraction, 0) * 2 * top * shrink
    assert (1 - shrink) * pair.truth() == pytest.approx(inside)


def test_what_is_missing_to_one_is_an_infinite_loss():
    assert LAWS[0].infinite_mass() == 1 - 0.675
    assert AtomsPair(losses=(0.0,), probabilities=(1 - 2.0**-51,)).infinite_mass() == 0.0
    assert AtomsPair(losses=(0.0,), probabilities=(1 - 2.0**-50,)).infinite_mass() == 0.0
    assert AtomsPair(losses=(0.0,), probabilities=(1 - 2.0**-49,)).infinite_mass() == 2.0**-49
    assert ApproxPair(epsilon=1.0, delta=0.25).infinite_mass() == 0.25
    assert DiscreteGaussianPair(sigma=2.0).infinite_mass() == 2.0**-1022
    assert LAWS[3].infinite_mass() == 0
    assert COMPUTED.infinite_mass() == 0.125


@pytest.mark.parametrize(
    ("losses", "chances"),
    [
        ((), ()),
        ((0.0,), (0.5, 0.5)),
        ((0.0, 1.0), (0.75, 0.25 + 2.0**-49)),
        ((-1.0,), (0.5,)),
        ((-math.log1p(3e-9), -1e-12), (0.5, 0.5)),
        ((math.nan,), (0.5,)),
        ((1.0,), (1.5,)),
    ],
)
def test_atoms_that_are_not_those_of_two_distributions_are_refused(losses, chances):
    with pytest.raises(BadParameter):
        AtomsPair(losses=losses, probabilities=chances)


def test_sums_of_chances_may_be_off_by_rounding():
    AtomsPair(losses=(0.0, 1.0), probabilities=(0.75, 0.25 + 2.0**-51))
    AtomsPair(losses=(-math.log1p(1e-9), -1e-12), probabilities=(0.5, 0.5))


def test_sigma_is_at_most_as_large_as_stated():
    DiscreteGaussianPair(sigma=2.0**14)
    with pytest.raises(BadParameter):
        DiscreteGaussianPair(sigma=2.0**14 * (1 + 2**-50))


def test_atoms_count_from_the_largest_unless_it_is_too_rare():
    deficits, masses = COMPUTED.point_masses()
    assert deficits.tolist() == [0.0, 1.5, 1.75]
    assert masses.tolist() == [0.125, 0.25, 0.5]
    assert COMPUTED.origin() == COMPUTED.largest_loss() == 2.0
    other = ComputedAtoms(LOSSES, MASSES, 0.0)
    assert other.origin() == 0.0
    assert other.infinite_mass() == 0.0
    assert other.point_masses()[0].tolist() == [-2.0, -0.5, -0.25]
    assert DiscreteGaussianPair(sigma=2.0).origin() == 0.0


def test_a_trimmed_law_loses_its_rarest_large_losses_and_no_more_than_allowed():
    for mass, kept in [(0.1, 4), (0.125, 3), (0.3, 3), (0.375, 2), (0.874, 2), (0.9, 1), (9.0, 1)]:
        fewer = COMPUTED.trimmed(mass)
        losses, masses = fewer.atoms()
        assert losses.tolist() == LOSSES[:kept].tolist()
        assert masses.tolist() == MASSES[:kept].tolist()
        lost = float(MASSES[kept:].sum())
        assert fewer.infinite_mass() == pytest.approx(0.125 + lost, rel=2e-9)
        assert fewer.infinite_mass() >= 0.125 + lost
        assert (fewer is COMPUTED) == (kept == 4)
        assert fewer.origin() == losses[-1]
    assert ComputedAtoms(LOSSES, MASSES, 0.0).trimmed(0.2).origin() == 0.0


def test_intervals_hold_the_atoms_above_their_left_ends_up_to_their_right_ones():
    cells = COMPUTED.masses(np.array([-1.0, 0.25, 0.4, 0.5, 1.0]))
    assert cells.p.tolist() == [0.5, 0.0, 0.25, 0.0]
    assert cells.q == pytest.approx([0.5 * math.exp(-0.25), 0.0, 0.25 * math.exp(-0.5), 0.0])
    for mass, error in ((cells.p, cells.p_error), (cells.q, cells.q_error)):
        assert error == pytest.approx(8 * ULP * (4 + 4 + 2) * mass)
    cells = COMPUTED.masses(np.array([-2.0, -1.0, 3.0]))
    assert cells.p.tolist() == [0.0, 0.875]


@pytest.mark.parametrize("pair", [COMPUTED, *LAWS], ids=["computed", *map(repr, LAWS)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 5.0])
def test_a_single_use_costs_the_sum_over_atoms_and_never_less(pair, epsilon):
    losses, masses = pair.atoms()
    both = zip(losses.tolist(), masses.tolist(), strict=True)
    exact = mp.fsum(p * -mp.expm1(min(mp.mpf(0), epsilon - mp.mpf(l))) for l, p in both)
    assert min(exact, 1) <= pair.delta_alone(epsilon) <= exact * (1 + 32 * ULP)


@pytest.mark.parametrize("pair", [COMPUTED, *LAWS], ids=["computed", *map(repr, LAWS)])
@pytest.mark.parametrize("c", [0.1, 1.0, 6.0])
def test_moments_on_the_real_line_are_the_sums_and_their_rough_ones_near(pair, c):
    losses, masses = pair.atoms()
    both = zip(losses.tolist(), masses.tolist(), strict=True)
    exact = mp.log(mp.fsum(p * mp.exp(c * mp.mpf(l)) for l, p in both))
    found = pair.log_moment(c)
    assert exact <= found <= exact + 1e-9 + 1e-12 * abs(exact)
    assert pair.rough_log_mgf(c) + c * pair.origin() == pytest.approx(found, rel=1e-9, abs=1e-9)


def test_rough_moments_of_many_atoms_are_near_too():
    pair = DiscreteGaussianPair(sigma=300.0)
    assert len(pair.atoms()[0]) > 4 * 4096
    assert pair.rough_log_mgf(2.0) == pytest.approx(pair.log_moment(2.0), rel=1e-3)


@pytest.mark.parametrize("size", [2, 5, 40])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.0, 1e-3), (0.3, 0.0), (0.3, 1e-7)])
def test_groups_of_a_black_box_are_those_of_the_theorem(epsilon, delta, size):
    grown = ApproxPair(epsilon=epsilon, delta=delta).group(size)
    exact = mp.mpf(delta) * mp.fsum(mp.exp(mp.mpf(epsilon) * i) for i in range(size))
    assert mp.mpf(epsilon) * size <= grown.epsilon <= mp.mpf(epsilon) * size * (1 + 32 * ULP)
    assert exact <= grown.delta <= exact * (1 + mp.mpf(2) ** -36)
    assert (grown.delta == 0) == (delta == 0)


def test_groups_of_one_and_groups_without_end():
    pair = ApproxPair(epsilon=0.3, delta=1e-7)
    assert pair.group(1) is pair
    assert pair.group(10_000).delta == 1.0
    assert ApproxPair(epsilon=0.0, delta=0.25).group(9).delta == 1.0
    huge = ApproxPair(epsilon=0.0, delta=0.0).group(2**1001)
    assert (huge.epsilon, huge.delta) == (0.0, 0.0)
    assert ApproxPair(epsilon=2.0**-1001).group(2**1000 - 1).epsilon == pytest.approx(0.5)


def test_groups_of_lattice_noise_are_moved_that_much_further():
    assert DiscreteLaplacePair(scale=2.0, shift=3).group(4) == DiscreteLaplacePair(
        scale=2.0, shift=12
    )
    assert DiscreteGaussianPair(sigma=2.0, shift=3).group(4) == DiscreteGaussianPair(
        sigma=2.0, shift=12
    )


@pytest.mark.parametrize(
    ("box", "other", "expected"),
    [
        (ApproxPair(epsilon=1.0), ApproxPair(epsilon=1.0), True),
        (ApproxPair(epsilon=1.0, delta=0.1), ApproxPair(epsilon=0.5, delta=0.1), True),
        (ApproxPair(epsilon=1.0, delta=0.1), ApproxPair(epsilon=0.5, delta=0.2), False),
        (ApproxPair(epsilon=1.0, delta=0.1), ApproxPair(epsilon=1.5, delta=0.0), False),
        (ApproxPair(epsilon=1.0), LaplacePair(ratio=1.0), True),
        (ApproxPair(epsilon=1.0), LaplacePair(ratio=1.1), False),
        (ApproxPair(epsilon=1.0), BoundedRangePair(epsilon=0.9), True),
        (ApproxPair(epsilon=1.0), ResponsePair(epsilon=1.0, categories=3), True),
        (ApproxPair(epsilon=9.0), GaussianPair(mu=0.0), False),
        (ApproxPair(epsilon=9.0), AtomsPair(losses=(0.0,), probabilities=(0.5,)), False),
    ],
)
def test_a_black_box_dominates_all_within_its_bounds(box, other, expected):
    assert box.dominates(other) is expected


def test_up_moves_away_from_zero_on_the_safe_side():
    assert up(1.0) == 1 + 16 * ULP
    assert up(-1.0) == -1 + 16 * ULP
    assert up(0.0) == 0.0


def test_divergences_of_black_boxes_and_responses():
    assert ApproxPair(epsilon=1.0, delta=1e-300).divergence(2.0) == math.inf
    wider = ApproxPair(epsilon=1.0).divergence(2.0)
    pair = ResponsePair(epsilon=1.0, categories=4)
    assert pair.divergence(2.0) < wider
    top = mp.exp(1) / (mp.exp(1) + 3)
    moment = top * mp.exp(1) + top * mp.exp(-2) + 1 - top * (1 + mp.exp(-1))
    assert pair.divergence(2.0) == pytest.approx(float(mp.log(moment)))
    most = max(pair.divergence(order) / order for order in 1 + np.geomspace(1e-5, 30, 4000))
    assert most <= pair.concentration() <= most * (1 + 1e-6)


PART = "discrete"
Z = np.array([2 + 0j, 2 + 1.5j, 2 + 40j])
EDGES = np.linspace(-1.5, 2.4, 6)
STAIRS = StaircasePair(epsilon=1.5, fraction=0.3)
SOME = [COMPUTED, LAWS[0], LAWS[2], LAWS[4], LAWS[6], STAIRS]
BOX = ApproxPair(epsilon=0.3, delta=1e-7)
CASES = {
    "atoms": lambda: [pair.atoms() for pair in SOME],
    "atoms of a Gaussian": lambda: [part[::9] for part in LAWS[7].atoms()],
    "moments": lambda: [pair.log_mgf(Z) for pair in SOME],
    "moment": lambda: [pair.log_moment(c) for pair in SOME for c in (0.5, 4.0)],
    "rough": lambda: DiscreteGaussianPair(sigma=300.0).rough_log_mgf(0.5),
    "masses": lambda: [pair.masses(EDGES) for pair in SOME],
    "alone": lambda: [pair.delta_alone(x) for pair in SOME for x in (0.0, 0.4)],
    "trimmed": lambda: COMPUTED.trimmed(0.2).infinite_mass(),
    "groups": lambda: [(g.epsilon, g.delta) for g in (BOX.group(2), BOX.group(30))],
    "groups at 0": lambda: [ApproxPair(epsilon=0.0, delta=0.1).group(3).delta],
    "divergence": lambda: [pair.divergence(a) for pair in (LAWS[4], STAIRS) for a in (1.5, 5.0)],
    "concentration": lambda: [pair.concentration() for pair in (LAWS[4], STAIRS)],
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case])
