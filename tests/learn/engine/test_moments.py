"""Noisy moments: what is paid for, and what is read from one or two questions."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import deniable as dp
from deniable.learn.engine import moments
from deniable.learn.engine.cells import Cells
from deniable.learn.engine.descent import Descent
from deniable.learn.engine.examples import Examples, Held
from deniable.learn.engine.groups import Groups
from deniable.learn.engine.spaces import Dense
from deniable.mechanisms import Gaussian
from deniable.mechanisms.combine import Composed


def made_up(kind, weighted):
    draw = np.random.default_rng(4)
    if kind == "dense":
        space = Dense(dimension=3)
        x = space.rounded(draw.normal(size=(30, 3)))
        dense = x.astype(float) / space.unit
    else:
        space = Cells(sizes=(2, 3))
        codes = [draw.integers(0, n, 30) for n in space.sizes]
        x = space.packed(codes)
        dense = np.zeros((30, 5))
        for column, start in zip(codes, (0, 2), strict=True):
            dense[np.arange(30), start + column] = 1
    y = draw.integers(-(1 << 16), (1 << 16) + 1, 30)
    w = draw.integers(0, 2**20 + 1, 30) if weighted else None
    rows = Examples(x=x, y=y, w=w)
    asked = []

    def summed(function, *, l2, shape):
        asked.append((l2, shape))
        return function(rows)

    held = SimpleNamespace(space=space, rows=2, weighted=weighted, sum=summed)
    return held, rows, dense, asked


@pytest.mark.parametrize("kind", ["dense", "cells"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("target", [False, True])
def test_moments_and_products_are_those_of_the_rows(kind, weighted, target):
    held, rows, dense, asked = made_up(kind, weighted)
    space, sigmas = held.space, [3.0, 5.0][: 1 + target]
    unit = space.moment_unit(weighted=weighted)
    plan = Composed(parts=tuple((Gaussian(sigma=sigma), 1) for sigma in sigmas))
    handle = SimpleNamespace(on=lambda sums: sums, mechanism=plan)
    steps = moments.measured(handle, held, target=target)
    answer = next(steps)
    if target:
        answer = steps.send(answer)
    with pytest.raises(StopIteration) as ended:
        steps.send(answer)
    found = ended.value.value
    share = np.ones(30) if rows.w is None else rows.w / 2**20
    assert found.matrix == pytest.approx(dense.T @ (dense * share[:, None]), abs=0.01)
    assert found.noise == pytest.approx(3.0 / unit)
    products = dense.T @ (share * rows.y) / 2**16
    scale = space.unit * 2.0**16
    assert found.products == pytest.approx(
        products if target else np.zeros(len(products)), abs=0.01
    )
    assert found.products_noise == pytest.approx(5.0 / scale if target else 0.0)
    assert len(asked) == 1 + target
    assert asked[0] == (moments.moments_l2(held), space.moments_size)
    if target:
        assert asked[1] == (moments.products_l2(held), space.dimension)


@pytest.mark.parametrize("kind", ["dense", "cells"])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_paid_for_is_what_one_unit_moves(kind, weighted):
    held, *_ = made_up(kind, weighted)
    space = held.space
    unit = space.moment_unit(weighted=weighted)
    assert moments.moments_l2(held) == space.moments_l2 * unit
    assert moments.products_l2(held) == pytest.approx(space.norm * 2**16)
    assert Fraction(moments.products_l2(held)) >= Fraction(space.norm) * 2**16
    (alone,) = moments.parts(held, share=0.3, target=False)
    first, second = moments.parts(held, share=0.3, target=True)
    assert alone == first
    assert (first.share, second.share) == (0.3, 0.7)
    assert (first.numbers, second.numbers) == (space.moments_size, space.dimension)
    for part, l2 in ((first, moments.moments_l2(held)), (second, moments.products_l2(held))):
        assert Fraction(part.l2) >= 2 * Fraction(l2)
        assert part.l2 == pytest.approx(2 * l2)
    assert math.isfinite(first.l2)


@pytest.mark.parametrize(
    "space", [Dense(dimension=3), Cells(sizes=(2, 3, 7))], ids=["dense", "cells"]
)
def test_the_noises_that_are_paid_for_cover_what_sums_declare(space):
    held = Held(lambda _: None, space=space, unit=dp.person("who", rows=3))
    first, second = moments.parts(held, share=0.5, target=True)
    for part, l2 in ((first, moments.moments_l2(held)), (second, moments.products_l2(held))):
        assert 3 * Fraction(l2) < Fraction(held.sum(len, l2=l2, shape=1).bound("l2"))
        assert held.sum(len, l2=l2, shape=1).bound("l2") <= part.l2
    how = Descent(space=space, classes=3, steps=2, clip=0.3)
    assert held.sum(len, l2=how.gradient_l2, shape=1).bound("l2") <= how.parts(held)[1].l2
    if isinstance(space, Dense):
        groups = Groups(space=space, groups=2, squares=True)
        assert held.sum(len, l2=groups.l2, shape=1).bound("l2") <= groups.parts(held)[0].l2
