"""Exhaustive search and linear programming: the attacks of the theorems [DN03, DMT07]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.attacks.tables import Floats
from deniable.errors import BadParameter

MOST_EXHAUSTIVE = 20


def all_subsets(n: int) -> NDArray[np.uint8]:
    """Every subset of n people, a row each: row s holds the binary digits of s.

    >>> all_subsets(2).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    if not 1 <= n <= MOST_EXHAUSTIVE:
        raise BadParameter.of("n", n, must=f"from 1 to {MOST_EXHAUSTIVE}: there are 2ⁿ subsets")
    return (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(np.uint8)


def exhaustive(queries: Floats, answers: Floats) -> tuple[Floats, float]:
    """The table of bits whose largest misfit is least, among all 2ⁿ; and that misfit.

    If all 2ⁿ subset questions were answered within E, the true table has a misfit of at most E, so
    the one found has too, and it differs from the truth in at most 4E rows: both counts over the
    rows where the found one is 1 and the true one 0 (and the other way round) are within 2E
    [DN03; DR14].
    """
    best, found = np.inf, np.zeros(queries.shape[1])
    tables = all_subsets(queries.shape[1])
    step = max(1, 8_000_000 // max(1, queries.shape[0]))
    for start in range(0, tables.shape[0], step):
        block = tables[start : start + step]
        misfit = np.abs(queries @ block.T.astype(np.float64) - answers[:, None]).max(axis=0)
        least = int(np.argmin(misfit))
        if misfit[least] < best:
            best, found = float(misfit[least]), block[least].astype(np.float64)
    return found, best


def linear_program(queries: Floats, answers: Floats) -> Floats:
    """Least absolute values over the box by linear programming (HiGHS), to the last digit.

    minimise Σ t subject to −t ≤ Qx − a ≤ t, 0 ≤ x ≤ 1 [DMT07]. Exact, and slow beyond n ≈ 1,000.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    m, n = queries.shape
    eye = sparse.eye_array(m, format="csr")
    matrix = sparse.csr_array(queries)
    result = linprog(  # type: ignore[call-overload]
        np.concatenate([np.zeros(n), np.ones(m)]),
        A_ub=sparse.block_array([[matrix, -eye], [-matrix, -eye]], format="csr"),
        b_ub=np.concatenate([answers, -answers]),
        bounds=[(0, 1)] * n + [(0, None)] * m,
        method="highs-ipm",
    )
    assert result.x is not None, result.message
    return np.asarray(result.x[:n], dtype=np.float64)
