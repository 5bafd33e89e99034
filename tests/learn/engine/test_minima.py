"""Minima of penalised losses: the gradient against fractions and mpmath, and what bounds it."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from mpmath import exp, mp, mpf

from deniable.learn.engine import minima
from deniable.learn.engine.cells import Cells
from deniable.learn.engine.examples import Examples
from deniable.learn.engine.minima import Penalised, _Exactly
from deniable.learn.engine.spaces import Dense

ULP = 2.0**-53


def made_up(kind, rows=40, weighted=True, clip=0.4, ridge=3.0):
    draw = np.random.default_rng(7)
    if kind == "dense":
        space = Dense(dimension=3)
        x = space.rounded(draw.normal(size=(rows, 3)))
        dense = x.astype(float) / space.unit
    else:
        space = Cells(sizes=(2, 3, 2))
        codes = [draw.integers(0, size, rows) for size in space.sizes]
        x = space.packed(codes)
        dense = np.zeros((rows, space.dimension))
        for column, start in zip(codes, space.starts, strict=True):
            dense[np.arange(rows), start + column] = 1
    y = draw.integers(-1, 2, rows)
    w = draw.integers(0, 2**20 + 1, rows) if weighted else None
    slope = draw.normal(size=space.dimension)
    held = Examples(x=x, y=y, w=w)
    return Penalised(rows=held, space=space, clip=clip, ridge=ridge, slope=slope), dense


def exactly(held, dense, theta):
    """∇F and ℓ″ of each row, in 40 digits."""
    with mp.workdps(40):
        total = [mpf(held.ridge) * mpf(t) + mpf(b) for t, b in zip(theta, held.slope, strict=True)]
        curvature = []
        for i, row in enumerate(dense.tolist()):
            y = int(held.rows.y[i])
            w = (
                mpf(0)
                if y < 0
                else mpf(1)
                if held.rows.w is None
                else mpf(int(held.rows.w[i])) / 2**20
            )
            margin = sum(mpf(a) * mpf(t) for a, t in zip(row, theta.tolist(), strict=True))
            wrong = 1 / (1 + exp(margin if y == 1 else -margin))
            residual = min(wrong, mpf(held.clip)) * (-1 if y == 1 else 1)
            for j, a in enumerate(row):
                total[j] += w * residual * a
            curvature.append(w * wrong * (1 - wrong) if wrong <= held.clip else mpf(0))
        return [float(t) for t in total], [float(c) for c in curvature]


@pytest.mark.parametrize("kind", ["dense", "cells"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("chunk", [1 << 14, 16])
def test_the_gradient_and_curvature_are_those_of_the_loss(kind, weighted, chunk, monkeypatch):
    monkeypatch.setattr(minima, "_CHUNK", chunk)
    monkeypatch.setattr(minima, "_PART", 8)
    held, dense = made_up(kind, weighted=weighted)
    theta = np.random.default_rng(1).normal(size=held.space.dimension)
    found = held._at(theta)
    gradient, curvature = exactly(held, dense, theta)
    assert found.gradient == pytest.approx(gradient, rel=1e-12)
    assert found.curvature == pytest.approx(curvature, rel=1e-10, abs=1e-15)
    assert np.any(found.curvature == 0)
    length = math.sqrt(sum(g * g for g in gradient))
    assert length <= found.bound <= length * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["dense", "cells"])
def test_what_floats_miss_is_bounded_by_the_rows_the_clip_and_theta(kind):
    held, _ = made_up(kind)
    size = 17.0
    for theta in (np.zeros(held.space.dimension), np.arange(1.0, held.space.dimension + 1)):
        if kind == "dense":
            long, terms, reach = 1.0, 3, float(np.linalg.norm(theta))
        else:
            columns = [
                np.abs(theta[s : s + n]).max() for s, n in zip((0, 2, 5), (2, 3, 2), strict=True)
            ]
            long, terms, reach = held.space.norm, 3, float(sum(columns))
        each = 0.4 * (2.0**-45 + (256 + 8) * ULP) + 0.25 * (terms + 2) * ULP * reach
        other = 3.0 * float(np.linalg.norm(theta)) + float(np.linalg.norm(held.slope))
        assert held._missed(theta, size) == pytest.approx(
            2 * (size * long * each + 4 * ULP * other), rel=1e-12, abs=0
        )
    small, _ = made_up(kind, clip=0.1)
    theta = np.full(held.space.dimension, 1e9)
    assert small._missed(theta, 1e9) == pytest.approx(
        0.4 * held._missed(theta, 1e9), rel=1e-3, abs=0
    )


@pytest.mark.parametrize("kind", ["dense", "cells"])
@pytest.mark.parametrize("rows", [1, 7, 8, 9, 40])
def test_totals_have_a_line_for_each_part(kind, rows, monkeypatch):
    monkeypatch.setattr(minima, "_PART", 8)
    held, dense = made_up(kind, rows=rows)
    residuals = np.random.default_rng(3).normal(size=rows)
    found = held._totals(slice(0, rows), residuals)
    parts = [residuals[i : i + 8] @ dense[i : i + 8] for i in range(0, rows, 8)]
    assert found == pytest.approx(np.array(parts))
    if rows > 10:
        some = held._totals(slice(2, 12), residuals[2:12])
        assert some.sum(axis=0) == pytest.approx(residuals[2:12] @ dense[2:12])


@pytest.mark.parametrize("kind", ["dense", "cells"])
@pytest.mark.parametrize("chunk", [1 << 14, 16])
def test_the_quadratic_form_is_that_of_weighted_rows(kind, chunk, monkeypatch):
    monkeypatch.setattr(minima, "_CHUNK", chunk)
    held, dense = made_up(kind)
    weights = np.random.default_rng(3).uniform(size=40)
    exact = dense.T @ (dense * weights[:, None])
    assert held._quadratic(weights) == pytest.approx(exact, abs=40 * 2.0**-20)
    assert np.linalg.eigvalsh(held._quadratic(weights)).min() > -1e-9


@pytest.mark.parametrize("kind", ["dense", "cells"])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-9])
def test_the_minimum_has_a_small_gradient_that_is_certified(kind, tolerance):
    held, dense = made_up(kind, rows=200)
    theta = held.minimum(tolerance)
    gradient, _ = exactly(held, dense, theta)
    assert math.sqrt(sum(g * g for g in gradient)) <= tolerance


def test_what_floats_cannot_certify_is_an_error():
    held, _ = made_up("dense")
    with pytest.raises(ArithmeticError, match="too many rows"):
        held.minimum(1e-18)


def test_a_point_of_exactly_the_tolerance_is_enough(monkeypatch):
    held, _ = made_up("dense")
    found = SimpleNamespace(bound=0.5, gradient=np.ones(3), curvature=np.zeros(40))
    monkeypatch.setattr(Penalised, "_at", lambda self, theta: found)
    assert held.minimum(0.5).tolist() == [0.0, 0.0, 0.0]
    monkeypatch.setattr(Penalised, "_share", lambda *given: 1.0)
    tried = []
    monkeypatch.setattr(Penalised, "_quadratic", lambda self, c: tried.append(1) or np.eye(3))
    with pytest.raises(ArithmeticError):
        held.minimum(math.nextafter(0.5, 0.0))
    assert len(tried) == 200
    tried.clear()
    for bound, steps in ((64.0 * math.sqrt(3), 200), (64.1 * math.sqrt(3), 0)):
        found.bound = bound
        tried.clear()
        with pytest.raises(ArithmeticError):
            held.minimum(0.1)
        assert len(tried) == steps


@pytest.mark.parametrize(
    ("slopes", "share"),
    [
        ([-9.0], 1.0),  # still falling at the end: all of it
        ([-0.5], 1.0),
        ([0.0], 1.0),
        ([3.0, -0.2], 0.5),
        ([3.0, -0.5], 0.5),  # exactly half as steep as at the start
        ([3.0, -0.6, -0.1], 0.75),
        ([3.0, 2.0, -0.1], 0.25),
        ([3.0, 2.0, -0.8, 0.0], 0.375),
    ],
)
def test_of_a_step_as_much_is_taken_as_halves_the_slope(slopes, share, monkeypatch):
    """From a slope of −1 at the start."""
    held, _ = made_up("dense")
    seen, step = iter(slopes), np.array([2.0, 0.0, 0.0])
    asked = []

    def at(self, theta):
        asked.append(float(theta[0] - 1) / 2)
        return SimpleNamespace(gradient=np.array([next(seen) / 2, 5.0, 5.0]))

    monkeypatch.setattr(Penalised, "_at", at)
    assert held._share(np.array([1.0, 0.0, 0.0]), step, -1.0) == share
    assert asked[-1] == share
    assert len(asked) == len(slopes)


def test_a_sum_keeps_what_its_additions_round_away():
    total = _Exactly(2)
    for some in ([1e16, 1.0], [1.0, 1e-20], [1.0, -1.0], [-1e16, 0.0], [2.0**-60, 3e-20]):
        total.add(np.array(some))
    assert total.value.tolist() == [2.0 + 2.0**-60, pytest.approx(4e-20, rel=1e-12, abs=0)]


def test_nothing_is_certified_on_a_machine_whose_floats_are_not_as_proved(monkeypatch):
    def wrong():
        raise ArithmeticError("exp is wrong here")

    monkeypatch.setattr(minima, "check_floats", wrong)
    with pytest.raises(ArithmeticError, match="exp is wrong"):
        made_up("dense")[0].minimum(1e9)


@pytest.mark.parametrize("kind", ["dense", "cells"])
def test_a_bound_is_the_length_of_the_gradient_and_what_floats_miss(kind):
    held, _ = made_up(kind, rows=200, weighted=False)
    size = float((held.rows.y >= 0).sum())
    nearly = held.minimum(1e-9)
    for theta in (nearly, nearly + 1e-3, nearly + 1e3):
        found, missed = held._at(theta), held._missed(theta, size)
        length = float(np.linalg.norm(found.gradient))
        own = Fraction(found.bound) - Fraction(missed)
        rounded = Fraction(found.bound) * Fraction(1, 2**52)
        assert Fraction(length) * (1 + Fraction(1, 2**41)) <= own + rounded
        assert own <= Fraction(length) * (1 + Fraction(1, 2**39)) + rounded
