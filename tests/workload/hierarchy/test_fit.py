"""The fit of levels that cross: least squares, and no more rounds than it takes."""

import numpy as np
import pytest

from deniable.workload.hierarchy import fit as fitting
from deniable.workload.hierarchy.fit import Fit
from deniable.workload.hierarchy.nesting import Chain

LEAVES = np.arange(12)
CODES = [LEAVES, LEAVES // 3, LEAVES % 5, np.zeros(12, dtype=int)]
SIZES = [12, 4, 5, 1]
CHAIN = Chain(sizes=(12, 4, 1), parents=(LEAVES // 3, np.zeros(4, dtype=int)))
CROSSED = Fit(codes=CODES, sizes=SIZES, chain=CHAIN, nested=[0, 1, 3])
VARIANCES = [1.0, 2.0, 0.5, 3.0]


def solved(noisy):
    grids = [np.eye(n)[:, c] for c, n in zip(CODES, SIZES, strict=True)]
    normal = sum(g.T @ g / v for g, v in zip(grids, VARIANCES, strict=True))
    right = sum(g.T @ y / v for g, y, v in zip(grids, noisy, VARIANCES, strict=True))
    return grids, np.linalg.solve(normal, right), np.linalg.inv(normal)


def noisy():
    rng = np.random.default_rng(4)
    return [rng.normal(50, 9, size) for size in SIZES]


def test_counts_and_variances_are_those_of_least_squares():
    given = noisy()
    grids, leaves, inverse = solved(given)
    values, spread = CROSSED(given, VARIANCES)
    for grid, value, variance in zip(grids, values, spread, strict=True):
        assert value == pytest.approx(grid @ leaves, rel=1e-4)
        assert variance == pytest.approx(np.diag(grid @ inverse @ grid.T))


def test_the_rounds_end_once_the_fit_is_close(monkeypatch):
    """Conjugate gradients on 12 leaves are done after 12 rounds but for rounding."""
    looks, fit = [], Chain.fit
    monkeypatch.setattr(Chain, "fit", lambda *given: looks.append(1) or fit(*given))
    CROSSED._solved(noisy(), VARIANCES, start=np.zeros(12))
    assert 2 <= len(looks) <= 13


def test_beyond_some_leaves_variances_are_those_of_the_nested_levels_or_of_the_noise(monkeypatch):
    monkeypatch.setattr(fitting, "EXACT", 11)
    _, spread = CROSSED(noisy(), VARIANCES)
    _, nested = CHAIN.fit([noisy()[i] for i in (0, 1, 3)], [1.0, 2.0, 3.0])
    assert spread[2].tolist() == [0.5] * 5
    for place, variance in zip((0, 1, 3), nested, strict=True):
        assert spread[place] == pytest.approx(variance)
    monkeypatch.setattr(fitting, "EXACT", 12)
    assert CROSSED(noisy(), VARIANCES)[1][2].max() < 0.5
