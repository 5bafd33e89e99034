"""Short lists of atoms cost what enumerating every outcome says: at each atom, below and above."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses import figures

import deniable as dp
from deniable.losses import Profile
from deniable.losses.pairs import (
    ApproxPair,
    AtomsPair,
    DiscreteLaplacePair,
    LaplacePair,
    Pairs,
    ResponsePair,
    StaircasePair,
    atoms,
    sampled,
)


def outcomes(pair):
    """Losses and masses to forty digits, from the definition of the pair; what is missing is ∞."""
    e = mp.mpf
    match pair:
        case ApproxPair(epsilon=x, delta=d):
            low = (1 - e(d)) / (1 + mp.exp(e(x)))
            return [(-e(x), low), (e(x), 1 - e(d) - low)]
        case ResponsePair(epsilon=x, categories=k):
            part = 1 / (mp.exp(e(x)) + k - 1)
            return [(-e(x), part), (e(0), (k - 2) * part), (e(x), mp.exp(e(x)) * part)]
        case DiscreteLaplacePair(scale=b, shift=n):
            law = [mp.exp(-abs(e(x)) / e(b)) for x in range(-60 * n, 60 * n + 1)]
            norm = 1 / mp.tanh(1 / (2 * e(b)))
            found = {}
            for x in range(-40 * n, 41 * n):
                loss = (abs(x - n) - abs(x)) / e(b)
                found[loss] = found.get(loss, e(0)) + law[x + 60 * n] / norm
            # Beyond the window losses are the extreme ones.
            tails = mp.exp(-(40 * n + 1) / e(b)), mp.exp(-41 * n / e(b))
            for loss, tail in zip((max(found), min(found)), tails, strict=True):
                found[loss] += tail / -mp.expm1(-1 / e(b)) / norm
            return sorted(found.items())
        case AtomsPair(losses=losses, probabilities=masses):
            return [(e(l), e(p)) for l, p in zip(losses, masses, strict=True)]
    raise AssertionError(pair)


def enumerated(pairs, epsilon):
    """δ(ε) of the list by going through every combination of outcomes."""
    total, finite = mp.mpf(0), mp.mpf(1)
    laws = [outcomes(pair) for pair, times in pairs for _ in range(times)]
    for law in laws:
        finite *= mp.fsum(p for _, p in law)
    for combination in itertools.product(*laws):
        loss = mp.fsum(l for l, _ in combination)
        if loss > epsilon:
            total += mp.fprod(p for _, p in combination) * -mp.expm1(epsilon - loss)
    return total + 1 - finite


KINDS = st.one_of(
    st.builds(ApproxPair, epsilon=st.sampled_from([0.1, 0.5, 1.0, 2.0]), delta=st.just(0.0)),
    st.builds(ApproxPair, epsilon=st.floats(0.05, 2), delta=st.sampled_from([0.0, 1e-9, 0.1])),
    st.builds(ResponsePair, epsilon=st.floats(0.05, 2), categories=st.integers(3, 6)),
    st.builds(DiscreteLaplacePair, scale=st.floats(1, 4), shift=st.integers(1, 3)),
)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(KINDS, st.integers(1, 2)), min_size=1, max_size=3), st.data())
def test_delta_is_exact_at_around_and_between_atoms_and_never_below(pairs, data):
    profile = sum((times * Profile.of(pair) for pair, times in pairs), Profile(()))
    places = {0.0}
    laws = [outcomes(pair) for pair, times in pairs for _ in range(times)]
    for combination in itertools.islice(itertools.product(*laws), 400):
        places.add(max(0.0, float(mp.fsum(l for l, _ in combination))))
    atom = data.draw(st.sampled_from(sorted(places)))
    asked = [atom, atom * (1 - 1e-15), atom * (1 - 1e-9), atom * (1 + 1e-15), atom * (1 + 1e-9)]
    asked += [data.draw(st.floats(0, max(places) * 1.2 + 0.1))]
    found = {}
    for epsilon in asked:
        exact = enumerated(pairs, mp.mpf(epsilon))
        found[epsilon] = profile.delta_at(epsilon)
        assert found[epsilon] >= exact - mp.mpf(10) ** -30
        # Within a millionth, and a few units in the last place of the losses themselves.
        assert found[epsilon] <= exact * (1 + 1e-6) + 1e-13 * (1 + epsilon)
    prices = [found[epsilon] for epsilon in sorted(found)]
    assert all(a >= b * (1 - 1e-12) for a, b in itertools.pairwise(prices))


@pytest.mark.parametrize(
    ("profile", "largest", "infinite"),
    [
        (Profile.of(LaplacePair(ratio=1.0)) + Profile.of(LaplacePair(ratio=0.5)), 1.5, 0.0),
        (Profile.of(LaplacePair(ratio=0.1)) + Profile.of(LaplacePair(ratio=0.2)), 0.3, 0.0),
        (3 * Profile.of(StaircasePair(epsilon=0.7, fraction=0.3)), 2.1, 0.0),
        (
            Profile.of(ApproxPair(epsilon=1.0, delta=0.1))
            + Profile.of(ApproxPair(epsilon=2.0, delta=0.2)),
            3.0,
            0.28,
        ),
    ],
    ids=str,
)
def test_above_the_largest_loss_only_infinite_losses_are_left(profile, largest, infinite):
    above = largest * (1 + 1e-15)
    assert profile.delta_at(above) == pytest.approx(infinite, rel=1e-12, abs=1e-15)
    below = [profile.delta_at(largest * (1 - gap)) for gap in (1e-12, 1e-9, 1e-6, 1e-3)]
    assert below == sorted(below)
    assert below[0] <= infinite + 1e-11
    for price, gap in zip(below[1:], (1e-9, 1e-6, 1e-3), strict=True):
        assert 1e-3 < (price - infinite) / (largest * gap) < 1


def test_a_peer_agrees_on_its_own_example():
    ours = Profile.of(ApproxPair(epsilon=1.0, delta=0.1))
    ours += Profile.of(ApproxPair(epsilon=2.0, delta=0.2))
    theirs = pld.from_privacy_parameters(pld.common.DifferentialPrivacyParameters(1.0, 0.1))
    theirs = theirs.compose(
        pld.from_privacy_parameters(pld.common.DifferentialPrivacyParameters(2.0, 0.2))
    )
    for epsilon in (0.0, 0.5, 1.0, 1.7, 3.0):
        peer = theirs.get_delta_for_epsilon(epsilon)
        assert ours.delta_at(epsilon) == pytest.approx(peer, abs=1e-4)
    assert ours.delta_at(3.0) == pytest.approx(0.28)


@pytest.mark.parametrize("times", [1, 7, 300])
def test_the_heaviest_atoms_are_those_of_the_binomial_law(times):
    pair = ApproxPair(epsilon=0.4)
    found = atoms.heaviest([(pair, times)], 2.0)
    chance = 1 / (1 + math.exp(-0.4))
    j = np.round(found.deficits / 0.8)
    exact = [
        math.comb(times, int(k)) * chance ** (times - int(k)) * (1 - chance) ** int(k) for k in j
    ]
    assert found.masses == pytest.approx(exact, rel=1e-9)
    assert found.left < 1e-9


def test_small_deltas_of_sampled_laplace_noise_cost_its_largest_loss():
    profile = 3 * Profile.of(sampled(Pairs.symmetric(LaplacePair(ratio=0.5)), rate=0.2))
    largest = 3 * math.log1p(0.2 * math.expm1(0.5))
    assert profile.epsilon_at(1e-20) == pytest.approx(largest, rel=1e-12)
    assert profile.epsilon_at(1e-6) == pytest.approx(largest - 1e-6 / 0.0403, rel=1e-5)
    assert profile.epsilon_at(1e-3) < largest


@pytest.mark.parametrize("epsilon", [1e-9, 1.0, 700.0, 1e9, 1e15])
def test_atoms_too_rare_for_a_float_are_no_reason_to_warn(epsilon):
    each = dp.Laplace.calibrate(epsilon=epsilon)
    assert (each + each).epsilon_at(1e-6) <= 2 * epsilon * (1 + 1e-12)


PART = "atoms"
BOX, MANY = ApproxPair(epsilon=0.4), DiscreteLaplacePair(scale=3.0, shift=4)
LISTS = {"binomial": [(BOX, 300)], "both": [(BOX, 3), (MANY, 5)], "many": [(MANY, 40)]}


def summary(pairs, c):
    found = atoms.heaviest(pairs, c)
    gaps = (0.5, 3.0, 9.0)
    return [
        (found.left, found.slack, found.blur, found.log_d, len(found.masses)),
        [(found.log_delta(gap), found.delta(gap)) for gap in gaps],
        found.deficits[:5],
        found.masses[:5],
    ]


CASES = {
    f"{name} at {c}": lambda pairs=pairs, c=c: summary(pairs, c)
    for name, pairs in LISTS.items()
    for c in (0.5, 4.0)
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case], within=1e-8)
