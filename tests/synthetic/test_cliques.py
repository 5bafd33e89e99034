"""Which marginals each method measures or chooses from: from names and sizes alone."""

from itertools import combinations

import pyarrow as pa
import pytest

import deniable as dp
from deniable.synthetic import Synthesis

SIZES = {"a": 2, "b": 3, "c": 5, "d": 40}  # and one cell more for what is missing


def synthesis(*, columns=tuple(SIZES), **wanted):
    facts = {name: dp.keys(list(range(size))) for name, size in SIZES.items()}
    rows = pa.table({name: [0] for name in SIZES})
    session = dp.open(rows, schema=dp.Schema(columns=facts), unit=dp.rows(), budget=dp.rho(1.0))
    return Synthesis(session=session, columns=list(columns), **wanted)


SINGLES = [(0,), (1,), (2,), (3,)]
TRIPLES = list(combinations(range(4), 3))


@pytest.mark.parametrize(
    ("method", "wanted", "cells", "found"),
    [
        ("independent", None, 10**6, SINGLES),
        ("adaptive", None, 10**6, TRIPLES),
        ("adaptive", None, 3 * 4 * 41 - 1, [(0, 1, 2)]),
        ("adaptive", None, 3 * 4 * 41, [(0, 1, 2), (0, 1, 3)]),
        ("adaptive", None, 3 * 4 * 6 - 1, SINGLES),
        ("adaptive", [["a", "b"]], 10**6, [(0, 1)]),
        ("marginals", [["a", "b"]], 10**6, [(0, 1), (2,), (3,)]),
        ("marginals", [["d", "b"], ["a"]], 10**6, [(1, 3), (0,), (2,)]),
        ("marginals", [["a", "b"], ["c", "d"]], 10**6, [(0, 1), (2, 3)]),
    ],
)
def test_cliques_of_a_method(method, wanted, cells, found):
    made = synthesis(method=method, marginals=wanted, cells=cells).cliques(method)
    assert sorted(made) == sorted(found)
    assert len(set(made)) == len(made)


def test_a_tree_chooses_from_all_pairs_that_fit():
    assert sorted(synthesis().cliques("tree")) == list(combinations(range(4), 2))
    few = synthesis(cells=3 * 41).cliques("tree")
    assert sorted(few) == [(0, 1), (0, 2), (0, 3), (1, 2)]


def test_of_two_columns_an_adaptive_choice_has_their_pair():
    assert synthesis(columns=["a", "b"]).cliques("adaptive") == [(0, 1)]
