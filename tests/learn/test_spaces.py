"""Sums over rows are exact, so one row moves them by its own term, wherever it stands."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.learn.engine import links
from deniable.learn.engine.cells import Cells
from deniable.learn.engine.descent import Descent, gradient
from deniable.learn.engine.examples import Examples
from deniable.learn.engine.groups import Groups
from deniable.learn.engine.spaces import Dense, chunks, on_lattice, up, weighed

CELLS = Cells(sizes=(2, 3, 5))
BLOCKS = Cells(sizes=(130, 130, 3))
"""So many cells that they do not all fit in one block."""
HOSTILE = [0.0, -0.0, 1.0, -1.0, 1e-320, 1e308, -1e308, np.nan, np.inf, -np.inf, 0.3, 1e-9]


def cells(seed: int, rows: int, space: Cells = CELLS) -> np.ndarray:
    random = np.random.default_rng(seed)
    return space.packed([random.integers(size, size=rows) for size in space.sizes])


def dense(seed: int, rows: int, width: int = 4) -> np.ndarray:
    random = np.random.default_rng(seed)
    values = random.choice(HOSTILE, (rows, width)) * random.choice([1.0, 0.5], (rows, width))
    return Dense(dimension=width).rounded(values)


def spaces(seed: int, rows: int, classes: int, weighted: bool):
    random = np.random.default_rng(seed + 1)
    y = random.integers(-1, classes, size=rows)
    w = random.integers(0, 2**20 + 1, size=rows) if weighted else None
    for space in (CELLS, BLOCKS):
        yield space, Examples(x=cells(seed, rows, space), y=y, w=w), 1
    yield Dense(dimension=4), Examples(x=dense(seed, rows), y=y, w=w), 0


def without(rows: Examples, place: int, axis: int) -> Examples:
    keep = np.arange(len(rows.y)) != place
    x = rows.x[:, keep] if axis else rows.x[keep]
    return Examples(x=x, y=rows.y[keep], w=None if rows.w is None else rows.w[keep])


def alone(rows: Examples, place: int, axis: int) -> Examples:
    x = rows.x[:, [place]] if axis else rows.x[[place]]
    return Examples(x=x, y=rows.y[[place]], w=None if rows.w is None else rows.w[[place]])


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 40),
    classes=st.sampled_from([2, 3, 5]),
    weighted=st.booleans(),
    scale=st.sampled_from([0.0, 0.1, 3.0, 1e3, 1e12]),
)
def test_a_row_moves_a_gradient_by_its_own_bounded_term(seed, rows, classes, weighted, scale):
    random = np.random.default_rng(seed)
    for space, examples, axis in spaces(seed, rows, classes, weighted):
        how = Descent(space=space, classes=classes, steps=1, clip=0.5)
        theta = on_lattice(scale * random.normal(size=(space.dimension, *how.columns)))
        place = int(random.integers(rows))
        whole = gradient(how, theta, examples)
        rest = gradient(how, theta, without(examples, place, axis))
        own = gradient(how, theta, alone(examples, place, axis))
        assert (whole - rest == own).all()
        assert sum(Fraction(int(v)) ** 2 for v in own.flat) <= Fraction(how.gradient_l2) ** 2
        if weighted:
            most = Fraction(int(examples.w[place]), 2**20) * Fraction(how.gradient_l2)
            assert sum(Fraction(int(v)) ** 2 for v in own.flat) <= most**2


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 40), weighted=st.booleans())
def test_a_row_moves_second_moments_by_its_own_bounded_term(seed, rows, weighted):
    for space, examples, axis in spaces(seed, rows, 2, weighted):
        place = seed % rows
        parts = (examples, without(examples, place, axis), alone(examples, place, axis))
        whole, rest, own = (space.moments(part.x, part.w) for part in parts)
        assert (whole - rest == own).all()
        limit = Fraction(space.moments_l2) * space.moment_unit(weighted=weighted)
        if weighted:
            limit *= Fraction(int(examples.w[place]), 2**20)
        assert sum(Fraction(int(v)) ** 2 for v in own) <= limit**2
        assert len(own) == space.moments_size


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 30), squares=st.booleans())
def test_a_row_moves_the_sums_of_its_group_by_its_own_bounded_term(seed, rows, squares):
    random = np.random.default_rng(seed)
    width = int(random.integers(1, 6))
    space = Dense(dimension=width)
    x = space.rounded(random.choice([-1.0, 1.0, 0.5, 0.0], (rows, width)) / np.sqrt(width))
    how = Groups(space=space, groups=3, squares=squares)
    examples = Examples(x=x, y=random.integers(-1, 3, size=rows))
    place = int(random.integers(rows))
    parts = (examples, without(examples, place, 0), alone(examples, place, 0))
    whole, rest, own = (how.sums(part, part.y) for part in parts)
    assert (whole - rest == own).all()
    assert sum(Fraction(int(v)) ** 2 for v in own.flat) <= Fraction(how.l2) ** 2


@given(seed=st.integers(0, 10**6), rows=st.integers(0, 30))
def test_no_row_is_longer_than_the_norm_of_its_space(seed, rows):
    x = dense(seed, rows)
    assert ((x.astype(object) ** 2).sum(axis=1) <= (1 << 13) ** 2).all()


def test_margins_are_exact_at_the_largest_parameters():
    space = Dense(dimension=3)
    x = space.rounded(np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, 0.5]]))
    theta = on_lattice(np.array([1e30, -3e29, 7e29]))
    exact = x.astype(object) @ theta.astype(object)
    assert space.linear(theta)(x).tolist() == exact.tolist()


@settings(max_examples=40)
@given(
    sizes=st.lists(st.sampled_from([1, 2, 7, 21, 300, 20_000]), min_size=1, max_size=5),
    rows=st.integers(0, 40),
    classes=st.sampled_from([None, 3]),
    seed=st.integers(0, 10**6),
)
def test_blocks_of_columns_give_the_sums_of_single_columns(sizes, rows, classes, seed):
    """Codes come back; what is not a code is the nearest one; margins and totals are by column."""
    random = np.random.default_rng(seed)
    space, columns = Cells(sizes=tuple(sizes)), () if classes is None else (classes,)
    wild = [random.integers(-2, size + 2, size=rows) for size in sizes]
    codes = [np.clip(code, 0, size - 1) for code, size in zip(wild, sizes, strict=True)]
    x = space.packed(wild)
    assert all((a == b).all() for a, b in zip(space.codes(x), codes, strict=True))
    theta = random.integers(-(2**38), 2**38, (space.dimension, *columns))
    numbered = [start + code for start, code in zip(space.starts, codes, strict=True)]
    margins = sum(theta[each] for each in numbered)
    assert (space.linear(theta)(x) == margins).all()
    residuals = random.integers(-(2**17), 2**17, (rows, *columns)).astype(float)
    expected = np.zeros((space.dimension, *columns))
    for each in numbered:
        np.add.at(expected, each, residuals)
    cut = rows // 3
    parts = [(x[:, :cut], residuals[:cut]), (x[:, cut:], residuals[cut:])]
    assert (space.total(parts, columns) == expected).all()
    assert space.total([], columns).shape == expected.shape


def test_second_moments_are_those_of_the_features():
    for space in (CELLS, BLOCKS):
        x = cells(3, 50, space)
        hot = np.zeros((50, space.dimension))
        for start, code in zip(space.starts, space.codes(x), strict=True):
            hot[np.arange(50), start + code] = 1
        assert (space.matrix(space.moments(x, None).astype(float)) == hot.T @ hot).all()
    rows = dense(3, 50)
    space = Dense(dimension=4)
    found = space.matrix(space.moments(rows, None).astype(float))
    assert (found == rows.astype(float).T @ rows.astype(float)).all()


@pytest.mark.parametrize("exponent", [-20, -33])
def test_residuals_are_those_of_the_model_to_four_digits(exponent):
    margins = np.random.default_rng(0).normal(0, 3, (500, 3))
    whole = np.rint(np.ldexp(margins, -exponent)).astype(np.int64)
    labels = np.arange(500) % 3
    weights = np.exp(margins)
    expected = weights / weights.sum(axis=1, keepdims=True)
    expected[np.arange(500), labels] -= 1
    found = np.ldexp(links.softmax(whole, labels, exponent=exponent), -links.BITS)
    assert np.abs(found - expected).max() < 2e-3
    binary = np.ldexp(
        links.logistic(whole[:, 0], labels % 2, exponent=exponent, most=np.inf), -links.BITS
    )
    assert np.abs(binary - (1 / (1 + np.exp(-margins[:, 0])) - labels % 2)).max() < 2e-4


def test_nonsense_parameters_become_zero():
    assert on_lattice(np.array([np.nan, np.inf, -np.inf, 1.0])).tolist() == [0, 0, 0, 1 << 20]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_the_same_however_rows_are_cut(classes, weighted, monkeypatch):
    """In chunks of three rows, as in one."""
    for space, examples, _ in spaces(5, 20, classes, weighted):
        how = Descent(space=space, classes=classes, steps=1, clip=0.5)
        theta = on_lattice(np.random.default_rng(5).normal(size=(space.dimension, *how.columns)))

        def found(space=space, examples=examples, how=how, theta=theta):
            fresh = Examples(x=examples.x, y=examples.y, w=examples.w)
            return gradient(how, theta, fresh), space.moments(fresh.x, fresh.w)

        whole = found()
        with monkeypatch.context() as patch:
            patch.setattr("deniable.learn.engine.spaces._CHUNK", 3)
            assert all((a == b).all() for a, b in zip(found(), whole, strict=True))


# ---- one number after the other


def test_rows_are_shortened_and_rounded_towards_zero_however_large():
    space = Dense(dimension=2)
    given = [[0.5, 0.25], [-0.99999, 0.0], [1.0, 0.0], [30.0, -40.0], [1e300, 0.0], [2e12, 2e12]]
    given += [[np.inf, 0.0], [np.nan, -1.0], [-np.inf, np.inf]]
    found = space.rounded(np.array(given)).tolist()
    half = int(8192 / 2**0.5)
    assert found == [
        [4096, 2048], [-8191, 0], [8192, 0], [4915, -6553], [8192, 0], [half, half],
        [8192, 0], [0, -8192], [-half, half],
    ]  # fmt: skip


@pytest.mark.parametrize("width", [1, 2, 3, 7, 300, 3000])
def test_no_rounding_makes_a_row_longer_than_its_space_allows(width):
    """Rows along whole numbers whose length is a power of 2: there is nothing to round away."""
    space = Dense(dimension=width)
    draw = np.random.default_rng(width)
    rows = draw.normal(size=(40, width)) * 2.0 ** draw.integers(0, 30, (40, 1))
    rows[:20] = draw.choice([-1.0, 1.0], (20, width)) * draw.uniform(1, 9, (20, 1))
    found = space.rounded(rows).astype(np.int64)
    assert (found * found).sum(axis=1).max() <= space.norm**2
    assert space.lengths(found.astype(np.int16)) == pytest.approx(np.linalg.norm(found, axis=1))


def test_lengths_are_at_least_one():
    x = np.array([[0, 0], [3, 4], [0, 1]], dtype=np.int16)
    assert Dense(dimension=2).lengths(x).tolist() == [1.0, 5.0, 1.0]


def test_parameters_are_put_on_the_lattice_and_shrunk_where_they_are_too_long():
    assert on_lattice(np.array([0.0, 0.0])).tolist() == [0, 0]
    assert on_lattice(np.array([1.5, -(2.0**-20), 0.7 * 2.0**-20])).tolist() == [3 << 19, -1, 1]
    small = np.array([2.0**17, -(2.0**17)])
    assert on_lattice(small).tolist() == [1 << 37, -(1 << 37)]
    assert on_lattice(np.array([3 * 2.0**20, 4 * 2.0**20])) == pytest.approx(
        [0.6 * 2**38, 0.8 * 2**38]
    )
    columns = np.array([[1.0, 3 * 2.0**20], [0.5, 4 * 2.0**20]])
    found = on_lattice(columns)
    assert np.sqrt((found.astype(float) ** 2).sum(axis=0).max()) == pytest.approx(2.0**38)


def test_a_number_moved_up_is_above_what_it_was_computed_from():
    for number in (1 / 3, 1.0, 7.0, 1e300):
        assert Fraction(number) * (1 + Fraction(1, 2**51)) < Fraction(up(number))
        assert Fraction(up(number)) <= Fraction(number) * (1 + Fraction(1, 2**49))


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        (0, [0]),
        (1, [0]),
        (1 << 16, [0]),
        ((1 << 16) + 1, [0, 1 << 16]),
        (3 << 16, [0, 1 << 16, 2 << 16]),
    ],
)
def test_rows_come_in_parts_and_no_rows_in_an_empty_one(rows, parts):
    assert list(chunks(rows)) == [slice(start, start + (1 << 16)) for start in parts]


def test_weights_are_taken_off_towards_zero():
    assert weighed(np.array([10.0, -10.0, 3.0]), np.array([1 << 19, 1 << 18, 0])).tolist() == [
        5.0, -2.0, 0.0,
    ]  # fmt: skip
    space = Dense(dimension=3)
    assert (space.moments_size, space.moment_unit(weighted=True), space.exponent) == (6, 2**26, -33)


@pytest.mark.parametrize("columns", [(), (2,)])
def test_sums_of_dense_rows_are_those_of_whole_numbers(columns, monkeypatch):
    monkeypatch.setattr("deniable.learn.engine.spaces._CHUNK", 3)
    space, draw = Dense(dimension=3), np.random.default_rng(2)
    x = draw.integers(-5000, 5000, (7, 3))
    theta = draw.integers(-(2**30), 2**30, (3, *columns))
    residuals = draw.integers(-(2**20), 2**20, (7, *columns))
    small = x.astype(np.int16)
    assert space.linear(theta)(small).tolist() == (x @ theta).tolist()
    parts = [(small[:4], residuals[:4].astype(float)), (small[4:], residuals[4:].astype(float))]
    assert space.total(parts, columns).tolist() == (x.T @ residuals).tolist()
    weights = draw.integers(0, 2**20, 7)
    for own in (None, weights):
        taken = (
            x
            if own is None
            else np.array(
                [
                    [int(v * int(w) / 2**20) for v in row]
                    for row, w in zip(x.tolist(), own, strict=True)
                ]
            )
        )
        found = space.moments(small, own)
        assert found.tolist() == (x.T @ taken)[np.triu_indices(3)].tolist()
        matrix = space.matrix(found.astype(float))
        assert (matrix == matrix.T).all()
        assert matrix[np.triu_indices(3)].tolist() == found.tolist()
