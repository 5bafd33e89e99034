"""A public coin that picks a mechanism: everything is the weighted sum over the branches."""

import math

import mpmath as mp
import numpy as np
import pytest
from tests.losses import figures

from deniable.errors import BadParameter
from deniable.losses.pairs import (
    ApproxPair,
    AtomsPair,
    BranchedPair,
    GaussianPair,
    LaplacePair,
    ResponsePair,
    SampledPair,
)

ATOMS = AtomsPair(losses=(-1.0, 0.5), probabilities=(0.15, 0.7))
RESPONSE = ResponsePair(epsilon=2.0, categories=3)
COIN = BranchedPair(parts=(ATOMS, RESPONSE), weights=(0.25, 0.625), reveals=0.125)
MIXED = BranchedPair(parts=(GaussianPair(mu=0.8), LaplacePair(ratio=1.5)), weights=(0.4, 0.6))
SMOOTH = BranchedPair(parts=(GaussianPair(mu=0.8), GaussianPair(mu=0.3)), weights=(0.4, 0.6))


def test_atoms_are_those_of_all_branches_counted_from_the_highest():
    assert COIN.origin() == COIN.largest_loss() == 2.0
    deficits, masses = COIN.point_masses()
    expected = sorted(
        (2.0 - loss, weight * mass)
        for part, weight in zip(COIN.parts, COIN.weights, strict=True)
        for loss, mass in zip(*part.atoms(), strict=True)
    )
    assert deficits == pytest.approx([deficit for deficit, _ in expected])
    assert masses == pytest.approx([mass for _, mass in expected])
    deficits, masses = MIXED.point_masses()
    assert deficits == pytest.approx([0.0, 3.0])
    assert masses == pytest.approx([0.3, 0.3 * math.exp(-1.5)])
    assert SMOOTH.point_masses() is None


@pytest.mark.parametrize("coin", [COIN, MIXED, SMOOTH], ids=["atoms", "mixed", "smooth"])
@pytest.mark.parametrize("z", [0.5 + 0j, 3 + 0j, 3 + 2j, 1 + 30j])
def test_moments_are_the_weighted_sums_of_the_branches(coin, z):
    value, bound = coin.log_mgf(np.array([z]))
    exact = mp.mpf(0)
    for part, weight in zip(coin.parts, coin.weights, strict=True):
        inner, _ = part.log_mgf(np.array([z]))
        shift = mp.mpc(z) * (mp.mpf(part.origin()) - mp.mpf(coin.origin()))
        exact += mp.mpf(weight) * mp.exp(mp.mpc(complex(inner[0])) + shift)
    assert abs(mp.exp(mp.mpc(complex(value[0]))) / exact - 1) <= mp.expm1(bound[0])
    assert bound[0] < 1e-12


def test_masses_support_and_decay_cover_every_branch():
    edges = np.linspace(-2, 2.5, 10)
    cells = [part.masses(edges) for part in MIXED.parts]
    found = MIXED.masses(edges)
    for name in ("p", "q"):
        whole = 0.4 * getattr(cells[0], name) + 0.6 * getattr(cells[1], name)
        assert getattr(found, name) == pytest.approx(whole)
        inner = 0.4 * getattr(cells[0], f"{name}_error") + 0.6 * getattr(cells[1], f"{name}_error")
        assert getattr(found, f"{name}_error") == pytest.approx(inner + 2.0**-49 * whole)
    ends = [part.support(1e-9) for part in MIXED.parts]
    assert MIXED.support(1e-9) == (ends[0][0], ends[0][1])
    assert COIN.support(1e-9) == (-2.0, 2.0)
    assert SMOOTH.decay(1.0, 2.0) == GaussianPair(mu=0.3).decay(1.0, 2.0)
    assert MIXED.decay(1.0, 2.0) == 1.0
    assert MIXED.largest_loss() == math.inf


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 1.9, 2.5])
def test_a_single_use_costs_the_weighted_sum_and_never_less(epsilon):
    parts = zip(COIN.parts, COIN.weights, strict=True)
    exact = mp.fsum(mp.mpf(w) * mp.mpf(part.delta_alone(epsilon)) for part, w in parts)
    assert exact <= COIN.delta_alone(epsilon) <= exact * (1 + mp.mpf(2) ** -48)
    told = mp.mpf(0.125) + mp.mpf(0.25) * mp.mpf(ATOMS.infinite_mass())
    assert told < COIN.infinite_mass() <= told * (1 + mp.mpf(2) ** -48)


def test_what_one_branch_does_not_know_is_not_known():
    inner = SampledPair(inner=GaussianPair(mu=1.0), rate=0.5).trimmed(1e-9)
    nothing = type("Nothing", (GaussianPair,), {"delta_alone": lambda self, epsilon: None})(mu=1.0)
    for parts in ((nothing, inner), (inner, nothing)):
        assert BranchedPair(parts=parts, weights=(0.5, 0.5)).delta_alone(0.5) is None


def test_groups_keep_the_coin_and_grow_every_branch():
    pair = BranchedPair(parts=MIXED.parts, weights=(0.4, 0.5), reveals=0.1).group(2)
    assert pair.weights == (0.4, 0.5)
    assert pair.reveals == 0.1
    assert pair.parts == tuple(part.group(2) for part in MIXED.parts)


def coin(*mus, weights=(0.5, 0.5), reveals=0.0):
    return BranchedPair(
        parts=tuple(GaussianPair(mu=mu) for mu in mus), weights=weights, reveals=reveals
    )


SMALL = coin(1.0, 2.0)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (SMALL, coin(1.0, 2.0), True),
        (coin(1.5, 2.0), SMALL, True),
        (coin(0.5, 9.0), SMALL, False),
        (coin(9.0, 0.5), SMALL, False),
        (coin(9.0, 9.0, weights=(0.25, 0.75)), SMALL, False),
        (coin(9.0, weights=(1.0,)), SMALL, False),
        (coin(9.0, weights=(0.9,), reveals=0.1), coin(1.0, weights=(1.0,)), True),
        (coin(9.0, weights=(1.0,)), coin(1.0, weights=(0.9,), reveals=0.1), False),
        (
            coin(1.0, 2.0, weights=(0.5, 0.4), reveals=0.1),
            coin(1.0, 2.0, weights=(0.5, 0.4), reveals=0.1),
            True,
        ),
        (SMALL, GaussianPair(mu=0.1), False),
    ],
)
def test_one_coin_dominates_another_branch_by_branch(one, other, expected):
    assert one.dominates(other) is expected


@pytest.mark.parametrize(
    ("weights", "reveals"),
    [((0.5,), 0.5), ((0.5, 0.5, 0.0), 0.0), ((1.0, 0.0), 0.0), ((0.5, 0.4), 0.0), ((), 1.0)],
)
def test_a_coin_has_a_chance_above_zero_for_each_branch_and_one_in_all(weights, reveals):
    with pytest.raises(BadParameter):
        BranchedPair(parts=MIXED.parts, weights=weights, reveals=reveals)
    with pytest.raises(BadParameter):
        BranchedPair(parts=(), weights=(), reveals=1.0)


def test_the_sum_of_the_chances_may_be_off_by_a_billionth():
    BranchedPair(parts=MIXED.parts, weights=(0.5, 0.5 - 0.9e-9))
    for off in (-1.1e-9, 1.1e-9):
        with pytest.raises(BadParameter):
            BranchedPair(parts=MIXED.parts, weights=(0.5, 0.5 + off))


PART = "branched"
Z = np.array([2 + 0j, 2 + 1.5j])
EDGES = np.linspace(-2, 2.5, 6)
FOUR = BranchedPair(parts=(ATOMS, ApproxPair(epsilon=0.3, delta=0.2)), weights=(0.5, 0.5))
CASES = {
    "atoms": COIN.point_masses,
    "moments": lambda: [each.log_mgf(Z) for each in (COIN, MIXED, SMOOTH)],
    "masses": lambda: [MIXED.masses(EDGES), COIN.masses(EDGES)],
    "infinite": lambda: [COIN.infinite_mass(), FOUR.infinite_mass()],
    "alone": lambda: [COIN.delta_alone(0.3), MIXED.delta_alone(0.3)],
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case])
