"""Sums by group: what a row adds, how long that is, and what is read from the sums again."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from deniable.learn.engine import groups as module
from deniable.learn.engine import spaces
from deniable.learn.engine.examples import Examples
from deniable.learn.engine.groups import Groups, means
from deniable.learn.engine.spaces import DENSE, Dense

UNIT = 1 << DENSE


def of(dimension, squares, groups=3):
    return Groups(space=Dense(dimension=dimension), groups=groups, squares=squares)


def made_up(dimension, rows=50, weighted=False, seed=2):
    draw = np.random.default_rng(seed)
    end = math.floor(UNIT / math.sqrt(dimension))
    x = draw.integers(-end, end + 1, (rows, dimension)).astype(np.int16)
    w = draw.integers(0, 2**20 + 1, rows) if weighted else None
    return Examples(x=x, y=draw.integers(-1, 3, rows), w=w)


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("dimension", [1, 2, 3, 7])
def test_no_row_is_longer_than_the_bound_and_one_nearly_is(dimension, squares):
    """A row at the ends: 1 for its count, up to 1 for its numbers, and ½ᵈ… for its squares."""
    held = of(dimension, squares)
    end = math.floor(UNIT / math.sqrt(dimension))
    ends = np.array(
        [[end] * dimension, [-end] * dimension, [0] * dimension, [end + 999] * dimension]
    )
    terms = held._terms(np.vstack([ends, made_up(dimension).x]).astype(float))
    assert (terms == np.trunc(terms)).all()
    lengths = [sum(Fraction(v) ** 2 for v in row) for row in terms.tolist()]
    assert max(lengths) <= Fraction(held.l2) ** 2
    assert math.sqrt(max(lengths)) >= held.l2 * (1 - 2e-3)
    assert terms[0].tolist() == terms[3].tolist()
    assert held.shape == (3, 1 + dimension * (2 if squares else 1))
    wanted = (1.5 if squares else math.sqrt(2)) * UNIT
    assert wanted < held.l2 < wanted * (1 + 1e-11)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("chunk", [1 << 16, 7])
def test_sums_by_group_are_read_as_counts_sums_and_sums_of_squares(
    squares, weighted, chunk, monkeypatch
):
    monkeypatch.setattr(spaces, "_CHUNK", chunk)
    held, rows = of(3, squares), made_up(3, weighted=weighted)
    found = held.sums(rows, rows.y)
    assert found.dtype == np.int64
    share = np.ones(50) if rows.w is None else rows.w / 2**20
    count, total, square = held.read(found)
    x = rows.x / UNIT
    for group in range(3):
        own = share * (rows.y == group)
        assert count[group] == pytest.approx(own.sum(), abs=0.02)
        assert total[group] == pytest.approx(own @ x, abs=0.02)
        wanted = own @ (x * x) if squares else np.zeros(3)
        assert square[group] == pytest.approx(wanted, abs=0.02)


def test_a_row_adds_a_unit_its_numbers_and_their_squares_around_their_middle():
    held = of(4, squares=True)
    x = np.array([[0.0, 4096.0, -2048.0, 1.0]])
    root = 2.0
    squares = [math.trunc(v * v / UNIT * root - UNIT / (2 * root)) for v in x[0]]
    assert held._terms(x).tolist() == [[UNIT, *x[0], *squares]]


def test_what_is_paid_for_is_the_sums_so_many_times():
    held = of(2, squares=True)
    (part,) = held.parts(SimpleNamespace(rows=3), times=4)
    assert (part.share, part.numbers, part.times) == (1.0, 15, 4)
    assert Fraction(part.l2) >= 3 * Fraction(held.l2)
    assert part.l2 == pytest.approx(3 * held.l2)


def test_means_are_sums_over_counts_that_stand_out_from_the_noise():
    count, total = np.array([10.0, 3.0, -2.0, 0.5]), np.array([[20.0], [6.0], [6.0], [6.0]])
    assert means(count, total, noise=4.0).ravel().tolist() == [2.0, 1.5, 1.5, 1.5]
    assert means(count, total, noise=0.1).ravel().tolist() == [2.0, 2.0, 6.0, 6.0]


def test_means_and_variances_by_group_come_from_one_question(monkeypatch):
    held, rows = of(3, squares=True), made_up(3, rows=400)
    asked = []

    def on(sums):
        asked.append(sums)
        return "step"

    def sums(function, *, l2, shape):
        assert (l2, shape) == (held.l2, held.shape)
        return function(rows)

    handle = SimpleNamespace(on=on)
    monkeypatch.setattr(module, "noises", lambda given: [SimpleNamespace(sigma=2.0 * UNIT)])
    steps = held.measured(SimpleNamespace(handle=handle), SimpleNamespace(sum=sums))
    assert next(steps) == "step"
    (exact,) = asked
    with pytest.raises(StopIteration) as ended:
        steps.send(exact)
    count, centre, spread, noise = ended.value.value
    x = rows.x / UNIT
    assert noise == 2.0
    for group in range(3):
        mine = x[rows.y == group]
        assert count[group] == pytest.approx(len(mine))
        assert centre[group] == pytest.approx(mine.mean(axis=0), abs=1e-9)
        assert spread[group] == pytest.approx(mine.var(axis=0), abs=1e-3)


def test_means_are_clipped_to_the_bounds(monkeypatch):
    held = of(4, squares=True, groups=2)
    monkeypatch.setattr(module, "noises", lambda given: [SimpleNamespace(sigma=float(UNIT))])
    bought = SimpleNamespace(handle=SimpleNamespace(on=lambda sums: "step"))
    steps = held.measured(bought, SimpleNamespace(sum=lambda *a, **k: None))
    next(steps)
    noisy = np.zeros(held.shape)
    noisy[0, 1:5], noisy[1, 1:5] = 9.0 * UNIT, -9.0 * UNIT
    with pytest.raises(StopIteration) as ended:
        steps.send(noisy)
    assert ended.value.value[1].tolist() == [[0.5] * 4, [-0.5] * 4]
