"""What learners pay for: as many numbers as they ask for, each moved no further than is said."""

import math
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.errors import BadParameter, BudgetExceeded, MixedLosses
from deniable.learn.engine import moments
from deniable.learn.engine.budget import (
    MOST_NUMBERS,
    MOST_PASSES,
    Part,
    _blocked,
    batched,
    check_work,
    gaussian,
    needs_delta,
    paid,
    plan,
    sampled,
)
from deniable.learn.engine.cells import Cells
from deniable.learn.engine.descent import MOMENTS, Descent, gradient
from deniable.learn.engine.examples import Examples
from deniable.learn.engine.groups import Groups
from deniable.learn.engine.spaces import Dense
from deniable.losses.filters import ApproxFilter

DENSE, CELLS = Dense(dimension=3), Cells(sizes=(2, 4))
SPACES = [DENSE, CELLS]
NAMES = ["dense", "cells"]


def rows_of(space, count=40):
    rng = np.random.default_rng(5)
    if space is CELLS:
        return space.packed([rng.integers(0, size, count) for size in space.sizes])
    directions = rng.normal(size=(count, 3))
    return space.rounded(directions / np.linalg.norm(directions, axis=1)[:, None])


def one(space, x, place, y):
    part = x[:, place : place + 1] if space is CELLS else x[place : place + 1]
    return Examples(x=part, y=np.array([y]))


@pytest.mark.parametrize("space", SPACES, ids=NAMES)
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_a_gradient_has_so_many_numbers_and_no_row_moves_it_further(space, classes):
    how = Descent(space=space, classes=classes, steps=7, clip=0.5)
    x, rng = rows_of(space), np.random.default_rng(1)
    theta = rng.integers(-(2**22), 2**22, (space.dimension, *how.columns))
    moved = []
    for place in range(40):
        found = gradient(how, theta, one(space, x, place, place % classes))
        assert found.size == how.numbers
        moved.append(math.sqrt(sum(int(each) ** 2 for each in found.ravel())))
    assert 0.5 * how.gradient_l2 < max(moved) <= how.gradient_l2
    held = SimpleNamespace(space=space, rows=2, weighted=False)
    first, second = how.parts(held)
    assert (first.share, second.share) == (MOMENTS, 1 - MOMENTS)
    assert (first.times, second.times) == (1, 7)
    assert second.numbers == how.numbers
    assert 2 * how.gradient_l2 <= second.l2 <= 2 * how.gradient_l2 * (1 + 1e-9)


@pytest.mark.parametrize("space", SPACES, ids=NAMES)
@pytest.mark.parametrize("target", [False, True])
def test_moments_have_so_many_numbers_and_no_row_moves_them_further(space, target):
    held = SimpleNamespace(space=space, rows=3, weighted=False)
    first, *rest = moments.parts(held, share=0.4, target=target)
    x, moved, products = rows_of(space), [], []
    for place in range(40):
        row = one(space, x, place, 1 << moments.TARGET)
        found = space.moments(row.x, None)
        assert found.size == first.numbers
        moved.append(math.sqrt(sum(int(each) ** 2 for each in found.ravel())))
        found = space.total([(row.x, row.y.astype(np.float64))])
        products.append(math.sqrt(sum(int(each) ** 2 for each in found.ravel())))
    assert 0.5 * moments.moments_l2(held) < max(moved) <= moments.moments_l2(held)
    assert 3 * moments.moments_l2(held) <= first.l2 <= 3 * moments.moments_l2(held) * (1 + 1e-9)
    assert first.share == 0.4
    assert len(rest) == target
    for part in rest:
        limit = moments.products_l2(held)
        assert 0.99 * limit < max(products) <= limit
        assert 3 * limit <= part.l2 <= 3 * limit * (1 + 1e-9)
        assert (part.share, part.numbers, part.times) == (0.6, space.dimension, 1)


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_sums_by_group_have_so_many_numbers_and_no_row_moves_them_further(dimension, squares):
    how = Groups(space=Dense(dimension=dimension), groups=3, squares=squares)
    held = SimpleNamespace(rows=2)
    end = how.space.unit / math.sqrt(dimension)
    moved = []
    for share in (-2.0, -1.0, -0.7, 0.0, 0.3, 1.0, 2.0):
        x = np.full((1, dimension), round(share * end))
        found = how.sums(Examples(x=x, y=np.array([1])), np.array([1]))
        assert found.shape == how.shape
        assert not found[[0, 2]].any()
        moved.append(math.sqrt(sum(int(each) ** 2 for each in found.ravel())))
    assert 0.99 * how.l2 < max(moved) <= how.l2
    (part,) = how.parts(held, times=4)
    assert (part.share, part.numbers, part.times) == (1.0, 3 * (1 + dimension * (1 + squares)), 4)
    assert 2 * how.l2 <= part.l2 <= 2 * how.l2 * (1 + 1e-9)


@pytest.mark.parametrize("mu", [0.01, 0.5, 3.0])
def test_the_noises_compose_to_what_was_asked_and_each_part_has_its_share(mu):
    parts = [
        Part(share=0.2, l2=3.0, numbers=10),
        Part(share=0.5, l2=1.0, numbers=4, times=30),
        Part(share=0.1, l2=7.0, numbers=1, times=2),
    ]
    made = plan(parts, mu=mu)
    assert mu * (1 - 1e-9) < made.gdp() <= mu
    for (noise, times), part in zip(made.parts, parts, strict=True):
        assert (noise.sensitivity, times) == (part.l2, part.times)
        own = times * (part.l2 / noise.sigma) ** 2
        assert own == pytest.approx(part.share / 0.8 * mu**2)


@pytest.mark.parametrize("times", [1, 3, 7, 50])
def test_however_the_shares_are_rounded_the_noises_compose_to_no_more(times):
    parts = [Part(share=s, l2=1 / s, numbers=1, times=times) for s in (0.1, 0.2, 0.7)]
    for mu in np.linspace(0.1, 3.0, 40).tolist():
        assert mu * (1 - 1e-9) < plan(parts, mu=mu).gdp() <= mu


def test_what_would_take_hours_is_refused_and_no_less():
    check_work(passes=MOST_PASSES, numbers=MOST_NUMBERS)
    with pytest.raises(BadParameter, match="would read the rows"):
        check_work(passes=MOST_PASSES + 1, numbers=1)
    with pytest.raises(BadParameter, match="add noise to"):
        check_work(passes=1, numbers=MOST_NUMBERS + 1)
    half = Part(share=1.0, l2=1.0, numbers=MOST_NUMBERS // 4, times=2)
    plan([half, half], mu=1.0)
    with pytest.raises(BadParameter, match="add noise to"):
        plan([half, half, Part(share=1.0, l2=1.0, numbers=1)], mu=1.0)
    many = Part(share=1.0, l2=1.0, numbers=1, times=MOST_PASSES)
    with pytest.raises(BadParameter, match="would read the rows"):
        plan([many, Part(share=1.0, l2=1.0, numbers=1)], mu=1.0)


@pytest.mark.parametrize("loss", [dp.mu(0.7), dp.rho(0.3), dp.epsilon(1.2, delta=1e-6)])
def test_the_largest_gaussian_loss_is_within_the_loss_and_hardly_below(loss):
    mu = gaussian(loss)
    noise = dp.Gaussian(sigma=1 / mu, sensitivity=1.0)
    more = dp.Gaussian(sigma=(1 - 1e-6) / mu, sensitivity=1.0)
    if isinstance(loss, dp.losses.Gdp):
        assert mu == loss.mu, "nothing is computed, so nothing is rounded"
        assert noise.gdp() <= loss.mu * (1 + 1e-15) < more.gdp()
    elif isinstance(loss, dp.losses.Zcdp):
        assert noise.zcdp() <= loss.rho < more.zcdp()
    else:
        at = {"delta": loss.delta}
        assert noise.epsilon_at(**at) <= loss.epsilon < more.epsilon_at(**at)


@pytest.mark.parametrize("loss", [dp.epsilon(1.0), dp.rho(0.1), dp.mu(1.0)])
def test_what_has_no_delta_is_refused_where_one_is_needed(loss):
    with pytest.raises(MixedLosses, match="is proved only in"):
        needs_delta(loss, "Poisson samples")
    needs_delta(dp.epsilon(1.0, delta=1e-6), "Poisson samples")
    if isinstance(loss, dp.losses.Pure):
        with pytest.raises(MixedLosses, match="needs a δ"):
            gaussian(loss)


@pytest.mark.parametrize("epochs", [1, 4])
def test_of_disjoint_batches_one_per_epoch_is_paid_for(epochs):
    made = batched(l2=2.0, batches=10, epochs=epochs, to=dp.mu(0.8))
    assert (made.batches, made.epochs, made.of.sensitivity) == (10, epochs, 2.0)
    assert epochs * (2.0 / made.of.sigma) ** 2 == pytest.approx(0.64)
    assert epochs * (2.0 / made.of.sigma) ** 2 <= 0.64


def test_samples_are_priced_at_the_rate_and_need_a_delta():
    made = sampled(l2=5.0, rate=0.1, times=3, to=dp.epsilon(1.0, delta=1e-6))
    ((noise, times),) = made.parts
    assert (times, noise.rate, noise.of.sensitivity) == (3, 0.1, 5.0)
    assert 1e-6 * 0.9 < made.delta_at(1.0) <= 1e-6
    with pytest.raises(MixedLosses, match="Poisson samples"):
        sampled(l2=5.0, rate=0.1, times=3, to=dp.mu(1.0))
    with pytest.raises(MixedLosses):
        needs_delta(dp.losses.Approx(1.0, delta=0.0), "Poisson samples")


# ---- blocks


def session_of(reserve, left, budget=1e-6):
    rule = ApproxFilter(budget=dp.losses.Approx(1.0, delta=budget), order=8.0, reserve=reserve)
    kept = dp.losses.Approx(1.0, delta=left)
    return SimpleNamespace(ledger=SimpleNamespace(filter=rule), left=kept)


@pytest.mark.parametrize(("reserve", "share"), [(2.5e-7, 0.25), (1e-6, 1.0), (1e-7, 0.1)])
def test_a_block_takes_the_part_of_the_reserve_that_its_spend_is_of_the_budget(reserve, share):
    loss, delta = _blocked(session_of(reserve, reserve), dp.epsilon(0.5, delta=3e-7))
    assert delta == pytest.approx(share * 3e-7)
    assert (loss.epsilon, loss.delta) == (0.5, pytest.approx(delta))


def test_the_last_block_takes_what_rounding_left_and_no_more():
    spend = dp.epsilon(1.0, delta=1e-6)
    for short in (0.0, 2.0**-40, 2.0**-31):
        left = 2.5e-7 * (1 - short)
        found, delta = _blocked(session_of(2.5e-7, left), spend)
        assert delta <= session_of(2.5e-7, left).left.delta
        assert found.delta == pytest.approx(2.5e-7)
    for left, reserve in ((2.5e-7 * (1 - 2.0**-29), 2.5e-7), (0.0, 2.5e-7), (0.0, 0.0)):
        with pytest.raises(BudgetExceeded, match="is left for blocks"):
            _blocked(session_of(reserve, left), spend)


@pytest.mark.parametrize("loss", [dp.epsilon(0.5), dp.mu(0.5), dp.losses.Approx(0.5, delta=0.0)])
def test_what_has_no_delta_is_no_block(loss):
    assert _blocked(session_of(2.5e-7, 2.5e-7), loss) == (loss, None)
    other = SimpleNamespace(ledger=SimpleNamespace(filter=object()), left=None)
    spend = dp.epsilon(0.5, delta=1e-7)
    assert _blocked(other, spend) == (spend, None)


def test_the_data_are_ready_while_a_fit_is_paid_for_and_until_it_ends():
    seen = []

    @contextmanager
    def ready():
        seen.append("ready")
        yield
        seen.append("closed")

    frame = pd.DataFrame({"x": [0.5]})
    facts = dp.Schema(columns={"x": dp.bounds(0, 1)})
    session = dp.open(frame, unit=dp.rows(), budget=dp.mu(1.0), schema=facts)
    held = SimpleNamespace(ready=[ready()])
    with paid(session, held, [Part(share=1.0, l2=1.0, numbers=1)], spend=dp.mu(0.5)) as bought:
        assert seen == ["ready"]
        assert len(session.ledger.entries) == 1
        assert bought.loss == dp.mu(0.5)
        assert bought.plan.gdp() == pytest.approx(0.5)
    assert seen == ["ready", "closed"]
