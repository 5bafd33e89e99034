"""A matrix of whole numbers: bounds that no rounding lowers, and queries only where they serve."""

from fractions import Fraction

import numpy as np
import pytest

from deniable.workload.strategies import Bounds, Dense, dense
from deniable.workload.strategies.dense import MOST_QUERIES, of_queries

MATRIX = np.array([[1, 2, 0], [1, 0, 1_000_003], [-1, 3, 999_983], [5, 0, 7]])


@pytest.mark.parametrize("most", [1.0, 0.1, 3 * 2.0**20, 2.0**33 + 1, 2.0**53 - 1, 1e30])
def test_no_rounding_lowers_a_bound(most):
    """By exact arithmetic, whether the product is a whole number, and beyond 2⁵³ too."""
    strategy = Dense(cells=3, bounds=Bounds(l1=most, l2=most), matrix=MATRIX)
    (vector,) = strategy.vectors
    columns = [[abs(int(x)) for x in column] for column in MATRIX.T]
    part = Fraction(1, 2**strategy.shift)
    rows = len(MATRIX) if strategy.shift else 0
    l1 = Fraction(most) * max(map(sum, columns)) * part + rows
    assert l1 <= Fraction(vector.l1) <= l1 * Fraction(1 + 2.0**-50)
    square = max(sum(x * x for x in column) for column in columns)
    moved = Fraction(vector.l2) - (2 if rows else 0)  # √4 rows
    assert (Fraction(most) * part) ** 2 * square <= moved**2
    assert moved**2 <= (Fraction(most) * part) ** 2 * (square + 2 * 10**7)


def test_no_rounding_lowers_a_bound_beyond_2_to_the_53_where_every_float_is_whole():
    """Products of any size, with bits dropped and without; seeded."""
    source, dropped = np.random.default_rng(1), set()
    for _ in range(400):
        entries, rows = int(source.integers(1, 41)), int(source.integers(1, 8))
        matrix = source.integers(-(2**entries), 2**entries, (rows, 3))
        matrix[0, 0] = 1
        most = float(source.uniform(1, 2)) * 2.0 ** int(source.integers(0, 60))
        strategy = Dense(cells=3, bounds=Bounds(l1=most, l2=most), matrix=matrix)
        (vector,) = strategy.vectors
        columns = [[abs(int(x)) for x in column] for column in matrix.T]
        part, extra = Fraction(most) / 2**strategy.shift, rows if strategy.shift else 0
        dropped.add(extra > 0)
        l1 = part * max(map(sum, columns)) + extra
        assert l1 <= Fraction(vector.l1) <= l1 * Fraction(1 + 2.0**-50)
        square = max(sum(x * x for x in column) for column in columns)
        least = part**2 * square  # (l2 − √rows)² ≥ least, without roots of fractions
        moved = Fraction(vector.l2) ** 2 + extra - least
        assert Fraction(vector.l2) ** 2 >= max(least, Fraction(extra))
        assert moved**2 >= 4 * Fraction(vector.l2) ** 2 * extra
        assert {type(vector.l1), type(vector.l2)} == {float}
    assert dropped == {False, True}


def test_queries_are_asked_themselves_only_if_they_are_few_whole_and_serve_all():
    bounds = Bounds()
    found = of_queries(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]), bounds)
    assert found is not None
    assert found.matrix.tolist() == [[1, 1, 0]], "once each, and none that asks nothing"
    assert of_queries(np.array([[0.5, 1.0, 0.0]]), bounds) is None
    assert of_queries(np.array([[2.0**31 + 1, 0.0]]), bounds) is None
    assert of_queries(np.array([[2.0**31, 0.0]]), bounds) is not None
    assert of_queries(np.tri(4)[:, :3], bounds) is not None
    assert of_queries(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), bounds) is None
    many = np.eye(MOST_QUERIES + 1)
    assert of_queries(many, bounds) is None
    assert of_queries(many[1:], bounds) is not None
    alike = 2.0**31 - np.eye(4)  # told apart by less than inverses are exact to
    assert of_queries(alike, bounds) is None


@pytest.mark.parametrize(("most", "combined"), [(2.0**20, True), (2.0**20 + 1, False), (1e300, 0)])
def test_only_small_whole_queries_are_combined_so_that_no_product_overflows(most, combined):
    queries = np.array([[most, 1.0, 0.0], [0.0, 1.0, 3.0]])
    found = dense._combined(np.array([[1.0, 0.5, 0.25], [0.0, 1.0, 2.0]]), queries)
    assert (found is not None) == bool(combined)
    if found is not None:
        assert np.abs(found).max() <= 2 * 2**10 * 2**20


@pytest.mark.parametrize(("queries", "rounds"), [(2, 22), (3, 22), (4, 4)])
def test_so_many_rounds_are_made_at_most_and_a_fifth_for_more_than_a_few_queries(
    queries, rounds, monkeypatch
):
    made, spectrum = [], dense._spectrum

    def counted(*given):
        made.append(1)
        assert len(made) <= rounds
        return spectrum(*given)

    monkeypatch.setattr(dense, "_spectrum", counted)
    monkeypatch.setattr(dense, "_ROUNDS", 22)
    monkeypatch.setattr(dense, "_FEW", 3)
    monkeypatch.setattr(dense, "_CLOSE", 0.0)  # never close enough
    dense._optimal(np.random.default_rng(1).normal(size=(queries, 6)))
    assert len(made) == rounds


def test_rounds_end_where_nothing_better_is_left(monkeypatch):
    made, spectrum = [], dense._spectrum
    monkeypatch.setattr(dense, "_spectrum", lambda *given: made.append(1) or spectrum(*given))
    dense._optimal(np.eye(4))
    assert len(made) == 1


@pytest.mark.parametrize(
    ("bits", "shift"), [(0, 0), (30, 0), (31, 9), (40, 18), (61, 39), (62, 40), (63, 40), (200, 40)]
)
def test_bits_are_dropped_where_one_unit_moves_the_product_beyond_36(bits, shift):
    """The longest column has 5 bits: 28 of all are kept, and 40 dropped at most."""
    matrix = np.array([[16, 0], [0, 1]])
    strategy = Dense(cells=2, bounds=Bounds(l1=2.0**bits, l2=2.0**bits), matrix=matrix)
    assert strategy.shift == shift
    counts = np.array([2**45, -3])
    assert strategy.encode(0, counts).tolist() == [2**49 >> shift, -3 >> shift]
    noisy = [np.array([6.0, -2.0])]
    assert strategy.decode(noisy, [1.0]).tolist() == pytest.approx(
        [6 / 16 * 2**shift, -2 * 2**shift]
    )
    assert strategy.cell_variances([3.0]).tolist() == pytest.approx(
        [(3 * 2**shift / 16) ** 2, (3 * 2**shift) ** 2]
    )


@pytest.mark.parametrize("seed", range(6))
def test_what_is_optimised_can_answer_every_query(seed):
    """Also where rows differ by many powers of ten, and a rounded matrix would miss some."""
    source = np.random.default_rng(seed)
    queries = source.normal(size=(3, 8)) * 10.0 ** source.integers(-5, 6, size=(3, 1))
    found = dense.optimised(queries)
    assert found
    lengths = queries / np.sqrt(np.square(queries).sum(axis=1, keepdims=True))
    for matrix in found:
        real = matrix.astype(float)
        fitted = np.linalg.lstsq(real.T, lengths.T, rcond=None)[0]
        assert np.abs(real.T @ fitted - lengths.T).max() < 1e-8
