"""What is drawn never costs more than was offered, and errs as little as can be."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.losses.filters import filter_for
from deniable.workload.split import Vector, noise_for, together

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
