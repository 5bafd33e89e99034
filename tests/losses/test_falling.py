"""Bounds that fall as the curve does, in whatever order they are asked for."""

import math
import threading

from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.losses import Profile, pricing
from deniable.losses.pairs import ApproxPair, GaussianPair, LaplacePair, Pairs, sampled
from deniable.losses.profile import Falling

TOLERANCE = 1e-6
places = st.lists(st.floats(0, 20), min_size=2, max_size=60)


def truth(x):
    """Falls, with a jump and a level part."""
    return math.exp(-x) + (0.25 if x < 3 else 0.0) if x < 15 else math.exp(-15)


@given(
    asked=places.flatmap(
        lambda xs: st.tuples(
            st.just(xs), st.lists(st.floats(0, 1), min_size=len(xs), max_size=len(xs))
        )
    )
)
def test_noisy_bounds_are_held_to_fall_and_stay_bounds_within_the_tolerance(asked):
    curve, said = Falling(), {}
    for x, noise in zip(*asked, strict=True):
        if curve.known(x) is None:
            said[x] = curve.held(x, truth(x) * (1 + TOLERANCE * noise))
        assert curve.known(x) == said[x]  # what was said is said again
    falling = [said[x] for x in sorted(said)]
    assert falling == sorted(falling, reverse=True)
    for x, bound in said.items():
        assert truth(x) <= bound <= truth(x) * (1 + TOLERANCE)


def test_what_was_said_first_stands():
    curve = Falling()
    assert [curve.held(1.0, 0.5), curve.held(1.0, 0.6), curve.held(1.0, 0.4)] == [0.5, 0.5, 0.5]
    assert curve.known(1.0) == 0.5
    assert [curve.held(math.inf, 0.1), curve.held(math.inf, 0.0)] == [0.1, 0.1]


def test_threads_agree_on_one_curve():
    curve, said = Falling(), {}

    def ask(start):
        for i in range(start, 400, 8):
            said[i] = curve.held(float(i), 1 / (1 + i) + 0.01 * (i * 7919 % 13))

    threads = [threading.Thread(target=ask, args=(start,)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    falling = [said[i] for i in range(400)]
    assert falling == sorted(falling, reverse=True)


PARTS = [
    Pairs.symmetric(LaplacePair(ratio=1.0)),
    Pairs.symmetric(LaplacePair(ratio=0.5)),
    Pairs.symmetric(GaussianPair(mu=0.7)),
    Pairs.symmetric(ApproxPair(epsilon=0.3, delta=1e-9)),
    sampled(Pairs.symmetric(LaplacePair(ratio=0.5)), rate=0.2),
    sampled(Pairs.symmetric(GaussianPair(mu=0.9)), rate=0.05),
]


@settings(max_examples=10)
@given(
    counts=st.dictionaries(st.integers(0, len(PARTS) - 1), st.integers(1, 4), min_size=1),
    start=st.floats(0, 3),
    steps=st.lists(st.sampled_from([0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-4, 0.1]), max_size=5),
    order=st.randoms(use_true_random=False),
)
def test_delta_of_a_list_never_rises_and_is_what_the_engines_say(counts, start, steps, order):
    loss = Profile(tuple((PARTS[i], times) for i, times in sorted(counts.items())))
    asked = [start]
    for step in steps:
        asked.append(asked[-1] + step)
    order.shuffle(asked)
    said = {}
    for epsilon in asked:
        said[epsilon] = loss.delta_at(epsilon)
    falling = [said[epsilon] for epsilon in sorted(said)]
    assert falling == sorted(falling, reverse=True)
    for epsilon, delta in said.items():
        alone = max(pricing.delta_at(pairs, epsilon) for pairs in loss._directions())
        assert math.isclose(delta, alone, rel_tol=1e-4, abs_tol=1e-12)


def test_equal_lists_have_one_curve_however_they_are_made():
    once = 3 * dp.Laplace(scale=2.0) + dp.Laplace(scale=3.0)
    again = dp.Laplace(scale=3.0) + dp.Laplace(scale=2.0) * 3
    asked = [0.5 + 1e-13 * i for i in range(40)]
    said = [(once if i % 2 else again).delta_at(epsilon) for i, epsilon in enumerate(asked)]
    assert said == sorted(said, reverse=True)
