"""Sampled pairs: which law each of them has, where its losses end, and how it is trimmed."""

import math

import mpmath as mp
import numpy as np
import pytest
from tests.losses import figures

from deniable.errors import BadParameter, NoBound
from deniable.losses.pairs import (
    ApproxPair,
    AtomsPair,
    BoundedRangePair,
    BranchedPair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pairs,
    ResponsePair,
    SampledPair,
    sampled,
)
from deniable.losses.pairs.discrete import ComputedAtoms
from deniable.losses.pairs.sampled import TrimmedPair, _unsampled

ULP = 2.0**-53
GAUSSIAN, LAPLACE, RANGE = GaussianPair(mu=0.9), LaplacePair(ratio=1.2), BoundedRangePair(epsilon=1)
BOX, GRID = ApproxPair(epsilon=1.0, delta=0.01), DiscreteGaussianPair(sigma=1.5)
REVEALING = AtomsPair(losses=(-0.5, 0.25), probabilities=(0.25, 0.5))
INNER = [GAUSSIAN, LAPLACE, RANGE, BOX, GRID, REVEALING]
EVERY = {
    f"{inner.name} {direction}": SampledPair(inner=inner, rate=0.3, direction=direction)
    for inner in INNER
    for direction in ("remove", "add")
} | {
    f"{inner.name} replace": SampledPair(inner=inner, rate=0.3, direction="replace")
    for inner in (GAUSSIAN, LAPLACE, GRID, DiscreteLaplacePair(scale=2.0, shift=2))
}


def image(loss, direction, q=0.3):
    sign = 1 if direction == "remove" else -1
    return sign * mp.log(1 - mp.mpf(q) + mp.mpf(q) * mp.exp(sign * mp.mpf(float(loss))))


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(
    "inner", [BOX, REVEALING, ResponsePair(epsilon=1.0, categories=3)], ids=repr
)
def test_atoms_are_images_and_what_is_missing_lies_where_the_other_law_ends(inner, direction):
    """An inner loss of ∞ is ∞ with q when removing, and −ln(1 − q) when adding; −∞ is ln(1 − q)."""
    losses, masses = inner.atoms()
    under_q = masses * np.exp(-losses)
    wanted = [float(image(loss, direction)) for loss in losses]
    if direction == "remove":
        law = dict(zip(wanted, 0.3 * masses + 0.7 * under_q, strict=True))
        rest, at = 0.7 * (1 - under_q.sum()), math.log1p(-0.3)
    else:
        law = dict(zip(wanted, masses, strict=True))
        rest, at = inner.infinite_mass(), -math.log1p(-0.3)
    if rest > 1e-12:
        law[at] = rest
    pair = SampledPair(inner=inner, rate=0.3, direction=direction)
    deficits, chances = pair.point_masses()
    assert pair.origin() - deficits == pytest.approx(sorted(law, reverse=True), abs=1e-12)
    assert chances == pytest.approx([law[loss] for loss in sorted(law, reverse=True)], abs=1e-12)
    told = 0.3 * inner.infinite_mass() if direction == "remove" else 0.0
    assert told <= pair.infinite_mass() <= told * (1 + 8 * ULP)
    assert pair.largest_loss() == pytest.approx(max(law))
    assert pair.support(0.1) == pytest.approx((min(law), max(law)))
    assert math.fsum(chances) + told >= 1 - 1e-15


def test_what_rounding_may_hide_is_counted_where_no_mass_is_missing():
    """2⁻⁴⁶ at the least loss when removing; more than that has a place of its own."""
    inner = ApproxPair(epsilon=1.0)
    found = SampledPair(inner=inner, rate=0.3).point_masses()[1][-1]
    losses, masses = inner.atoms()
    least = 0.3 * masses[0] + 0.7 * masses[0] * math.exp(1.0)
    assert 2.0**-46 <= found - least <= 2.0**-46 + 200 * ULP
    assert len(losses) == 2
    added = SampledPair(inner=ApproxPair(epsilon=1.0, delta=2.0**-60), rate=0.3, direction="add")
    assert len(added.point_masses()[0]) == 3


@pytest.mark.parametrize("name", EVERY)
def test_losses_end_and_start_where_the_inner_ones_do(name):
    pair, direction = EVERY[name], EVERY[name].direction
    inner = pair.inner.largest_loss()
    if direction == "replace":
        assert pair.largest_loss() == pair._exact().largest_loss()
    elif isinstance(pair.inner, GaussianPair):
        ends = math.inf if direction == "remove" else -math.log1p(-0.3)
        assert pair.largest_loss() == pytest.approx(ends)
        assert pair.origin() == pytest.approx(0.0 if direction == "remove" else ends)
    elif pair.inner.infinite_mass() == 0:
        exact = image(inner, direction)
        assert exact < pair.largest_loss() <= exact * (1 + 64 * ULP)
        assert pair.origin() == pytest.approx(float(exact))
    else:
        assert pair.largest_loss() == pair._exact().atoms()[0][-1]
    assert pair.decay(1.0, 5.0) == (
        pair._exact().decay(1.0, 5.0)
        if isinstance(pair.inner, GaussianPair) and direction != "replace"
        else 1.0
    )
    share = {"remove": 0.3, "add": 0.0, "replace": 1.0}[direction]
    assert pair.infinite_mass() == pytest.approx(share * pair.inner.infinite_mass())


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("mass", [1e-3, 1e-9])
def test_outside_of_the_support_lies_no_more_than_stated(name, mass):
    pair = EVERY[name]
    low, high = pair.support(mass)
    edges = np.array([-90.0, low - 1e-3, high + 1e-3, 90.0])
    cells = pair.masses(edges)
    assert cells.p[0] <= mass * 1.01
    assert cells.p[2] <= mass * 1.01
    assert cells.p[1] >= 1 - 2.02 * mass - pair.infinite_mass() - 1e-4


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("inner", INNER, ids=repr)
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.2, 0.3, 0.7])
def test_a_single_use_costs_what_the_inner_pair_does_at_the_loss_it_came_from(
    inner, direction, epsilon
):
    """q·δ(ε′) or (1 − e^ε(1 − q))·δ(ε′); infinite losses apart, and when adding those of Q too."""
    pair = SampledPair(inner=inner, rate=0.3, direction=direction)
    q, odds = mp.mpf(0.3), mp.exp(mp.mpf(epsilon))
    if direction == "remove":
        factor, back = q, mp.log(1 + (odds - 1) / q)
    else:
        factor = 1 - odds * (1 - q)
        back = -mp.log((1 / odds - 1 + q) / q) if factor > 0 else mp.inf
    exact = factor * inner.delta_alone(float(back)) if factor > 0 else mp.mpf(0)
    if direction == "add" and factor > 0:
        exact += factor * inner.infinite_mass()
    found = pair.delta_alone(epsilon)
    assert found == pytest.approx(float(exact), rel=1e-9, abs=1e-15)
    assert found >= exact * (1 - mp.mpf(10) ** -15)


@pytest.mark.parametrize("epsilon", [0.1, 0.35, 0.356674, 0.35667494, -math.log1p(-0.3)])
def test_near_the_end_of_the_losses_a_price_keeps_its_digits_and_is_never_below(epsilon):
    pair = SampledPair(inner=GaussianPair(mu=3.0), rate=0.3, direction="add")
    with mp.workdps(60):
        odds, q = mp.exp(mp.mpf(epsilon)), mp.mpf(0.3)
        factor = 1 - odds * (1 - q)
        back = -mp.log((1 / odds - 1 + q) / q) if factor > 0 else mp.inf
        inner = mp.ncdf(1.5 - back / 3) - mp.exp(back) * mp.ncdf(-1.5 - back / 3)
        exact = factor * inner if factor > 0 else mp.mpf(0)
    assert exact <= pair.delta_alone(epsilon) <= exact * (1 + mp.mpf(10) ** -4) + 1e-15


@pytest.mark.parametrize("direction", ["remove", "replace"])
@pytest.mark.parametrize("mass", [1e-3, 0.1, 0.3, 1e-12])
@pytest.mark.parametrize("rate", [0.3, 0.01])
def test_a_trimmed_gaussian_loses_no_more_than_allowed(direction, mass, rate):
    pair = SampledPair(inner=GAUSSIAN, rate=rate, direction=direction).trimmed(mass)
    assert isinstance(pair, TrimmedPair)
    exact = (1 - mp.mpf(rate)) * mp.ncdf(-pair.cut) + mp.mpf(rate) * mp.ncdf(0.9 - pair.cut)
    assert exact <= pair.infinite_mass() <= exact * (1 + mp.mpf(10) ** -8)
    assert pair.infinite_mass() <= mass * 1.01
    loss = -float(pair._exact().deficits(np.array([pair.cut]))[0])
    assert loss < pair.largest_loss() <= loss * (1 + 128 * ULP) + 128 * ULP


def test_other_laws_are_trimmed_as_their_atoms_are_or_not_at_all():
    box = EVERY["discrete_gaussian remove"]
    fewer = box.trimmed(1e-3)
    assert isinstance(fewer, ComputedAtoms)
    assert fewer.infinite_mass() > box.infinite_mass()
    assert box.trimmed(0.0) is box
    for name in ("laplace remove", "gaussian add", "bounded_range remove"):
        assert EVERY[name].trimmed(0.5) is EVERY[name]


@pytest.mark.parametrize("loss", [0.05, 0.4, 2.0])
@pytest.mark.parametrize("mass", [0.0, 1e-3])
def test_the_upper_part_of_a_sampled_gaussian_starts_at_its_loss_or_below(loss, mass):
    pair = EVERY["gaussian remove"]
    pair = pair.trimmed(mass) if mass else pair
    upper = pair.above(loss)
    cut = getattr(pair, "cut", math.inf)
    assert upper.cut == cut
    at = -float(upper._exact().deficits(np.array([upper.start]))[0])
    assert at <= loss
    assert at == pytest.approx(loss) or upper.start == cut - 1e-3
    assert upper.largest_loss() == (pair.largest_loss() if mass else math.inf)
    for name in ("gaussian add", "laplace remove", "gaussian replace"):
        assert EVERY[name].above(loss) is None


def mixed(inner, rate, direction="remove"):
    return SampledPair(inner=inner, rate=rate, direction=direction)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (mixed(GAUSSIAN, 0.3), mixed(GAUSSIAN, 0.3), True),
        (mixed(GAUSSIAN, 0.3), mixed(GaussianPair(mu=0.5), 0.2), True),
        (mixed(GAUSSIAN, 0.3), mixed(GaussianPair(mu=1.5), 0.2), False),
        (mixed(GAUSSIAN, 0.3), mixed(GaussianPair(mu=0.5), 0.4), False),
        (mixed(GAUSSIAN, 0.3), mixed(GAUSSIAN, 0.2, "add"), False),
        (mixed(GAUSSIAN, 0.3), GaussianPair(mu=0.0), False),
    ],
)
def test_more_of_a_larger_pair_dominates_in_its_direction_alone(one, other, expected):
    assert one.dominates(other) is expected


def test_samples_of_samples_and_of_coins():
    pairs = sampled(Pairs.symmetric(GAUSSIAN), rate=0.5)
    twice = sampled(pairs, rate=0.3)
    for pair, direction in ((twice.remove, "remove"), (twice.add, "add")):
        assert pair.direction == direction
        assert pair.inner == GAUSSIAN
        assert mp.mpf(0.5) * mp.mpf(0.3) < pair.rate <= 0.15 * (1 + 8 * ULP)
    with pytest.raises(BadParameter):
        sampled(Pairs(remove=pairs.add, add=pairs.remove), rate=0.3)
    coin = BranchedPair(parts=(GAUSSIAN, LAPLACE), weights=(0.5, 0.25), reveals=0.25)
    both = sampled(Pairs.symmetric(coin), rate=0.3)
    for pair, direction in ((both.remove, "remove"), (both.add, "add")):
        assert pair.parts[:2] == (mixed(GAUSSIAN, 0.3, direction), mixed(LAPLACE, 0.3, direction))
        assert pair.weights[:2] == (0.5, 0.25)
    assert both.remove.reveals == pytest.approx(0.075)
    assert both.remove.reveals > 0.25 * 0.3
    assert both.remove.weights[2] == pytest.approx(0.175)
    assert both.remove.parts[2] == AtomsPair(losses=(0.0,), probabilities=(1.0,))
    assert both.add.reveals == 0
    assert both.add.weights[2] == 0.25
    assert both.add.parts[2] == AtomsPair(losses=(-math.log1p(-0.3),), probabilities=(1.0,))
    quiet = BranchedPair(parts=(GAUSSIAN, LAPLACE), weights=(0.5, 0.5))
    assert len(sampled(Pairs.symmetric(quiet), rate=0.3).remove.parts) == 2


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_replaced_units_keep_log_concave_noise_and_turn_the_rest_to_responses(rate):
    def noise(pairs):
        found = sampled(pairs, rate=rate, relation="replace")
        assert found.remove == found.add
        return found.remove.inner if rate < 1 else found.remove

    moved = (lambda pair: pair) if rate < 1 else lambda pair: pair.group(2)
    for inner in (GAUSSIAN, LAPLACE, GRID, DiscreteLaplacePair(scale=2.0)):
        assert noise(Pairs.symmetric(inner)) == moved(inner)
    for remove, add in [(ApproxPair(epsilon=0.5), LAPLACE), (LAPLACE, ApproxPair(epsilon=0.5))]:
        response = noise(Pairs(remove=remove, add=add))
        assert 1 / mp.mpf(response.scale) >= mp.mpf(1.2)
        assert response == moved(DiscreteLaplacePair(scale=math.nextafter(1 / 1.2, 0.0)))
    for bad in (BOX, GaussianPair(mu=0.5), REVEALING):
        for remove, add in [(LAPLACE, bad), (bad, LAPLACE)]:
            with pytest.raises(NoBound):
                noise(Pairs(remove=remove, add=add))


@pytest.mark.parametrize("rate", [5e-324, 1e-300, 1e-9, 0.3, 0.99])
@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 0.5, 0.999, 1.0, 50.0, 800.0])
def test_the_loss_before_sampling_is_right_at_any_size(rate, epsilon):
    with mp.workdps(700):
        exact = mp.log(1 + (mp.exp(mp.mpf(epsilon)) - 1) / mp.mpf(rate))
    assert _unsampled(epsilon, rate) == pytest.approx(float(exact), rel=1e-14, abs=1e-300)


PART = "sampled"
EDGES, Z = np.linspace(-0.8, 0.9, 5), np.array([2 + 0j, 2 + 1.5j])
CASES = {
    "alone": lambda: [p.delta_alone(x) for p in EVERY.values() for x in (0.0, 0.2, 0.6)],
    "masses": lambda: [p.masses(EDGES) for n, p in EVERY.items() if "replace" not in n],
    "ends": lambda: [
        (p.origin(), p.largest_loss(), p.support(1e-3), p.infinite_mass()) for p in EVERY.values()
    ],
    "atoms": lambda: [
        [part[::7] for part in p._exact().atoms()]
        for p in EVERY.values()
        if isinstance(p._exact(), ComputedAtoms)
    ],
    "moments": lambda: [p.log_mgf(Z) for p in EVERY.values()],
    "rough": lambda: [p.rough_log_mgf(3.0) for p in EVERY.values()],
    "trimmed": lambda: [
        (p.cut, p.lost, p.largest_loss())
        for direction in ("remove", "replace")
        for mass in (0.5, 1e-3)
        for p in [EVERY[f"gaussian {direction}"].trimmed(mass)]
    ],
    "upper": lambda: [EVERY["gaussian remove"].above(x).start for x in (0.1, 0.7, 3.0)],
    "twice": lambda: sampled(sampled(Pairs.symmetric(GAUSSIAN), rate=0.5), rate=0.3).add.rate,
    "response": lambda: sampled(Pairs.symmetric(RANGE), rate=0.3, relation="replace").add.inner,
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case])
