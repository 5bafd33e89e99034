"""The earth mover's distance, against the linear programme that defines it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from deniable.anonymity import diversity
from deniable.anonymity.diversity import Pairs

SIZE = 5
TREE = (np.array([0, 0, 1, 1, 2]), np.array([0, 0, 0, 0, 1]), np.zeros(5, np.int64))
counts = st.lists(
    st.lists(st.integers(0, 4), min_size=SIZE, max_size=SIZE).filter(any), min_size=1, max_size=4
)


def pairs_of(table):
    table = np.array(table)
    classes, values = np.nonzero(table)
    return Pairs(classes=classes, values=values, counts=table[classes, values], size=SIZE)


def cost(kind):
    i, j = np.indices((SIZE, SIZE))
    if kind == "ordered":
        return np.abs(i - j) / (SIZE - 1)
    if kind == "equal":
        return (i != j).astype(float)
    high = np.zeros((SIZE, SIZE))
    for above in reversed(range(len(TREE))):
        high[TREE[above][i] == TREE[above][j]] = above + 1
    high[i == j] = 0
    return high / len(TREE)


def transport(p, q, price):
    """The least cost of moving p to q."""
    rows = np.kron(np.eye(SIZE), np.ones(SIZE))
    columns = np.kron(np.ones(SIZE), np.eye(SIZE))
    found = linprog(price.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([p, q]))
    return found.fun


@pytest.mark.parametrize("kind", ["ordered", "equal", "tree"])
@given(counts)
@settings(max_examples=25)
def test_the_distance_is_the_least_cost_of_moving(kind, table):
    table[0] = [n + 1 for n in table[0]]  # every value occurs, so all have a rank
    pairs = pairs_of(table)
    far = diversity.distance(pairs, ordered=kind == "ordered", tree=TREE if kind == "tree" else ())
    whole = np.sum(table, axis=0) / np.sum(table)
    for row, found in zip(np.array(table), far, strict=True):
        assert found == pytest.approx(transport(row / row.sum(), whole, cost(kind)), abs=1e-7)


def test_values_that_do_not_occur_have_no_rank():
    gap = pairs_of([[1, 0, 0, 0, 1], [2, 0, 0, 0, 0]])
    assert diversity.distance(gap, ordered=True) == pytest.approx([0.25, 0.25])


def test_blocks_of_classes_change_nothing(monkeypatch):
    table = np.random.default_rng(0).integers(0, 4, (40, SIZE)) + 1
    whole = diversity.distance(pairs_of(table), tree=TREE)
    monkeypatch.setattr(diversity, "_BLOCK", 7 * SIZE)
    assert np.allclose(diversity.distance(pairs_of(table), tree=TREE), whole)


def test_a_single_value_is_at_no_distance():
    one = Pairs(classes=np.array([0, 1]), values=np.zeros(2, np.int64), counts=np.ones(2), size=1)
    assert diversity.distance(one).tolist() == [0, 0]


def test_recursive_diversity_looks_at_the_commonest_value():
    pairs = pairs_of([[5, 2, 1, 0, 0]])
    assert diversity.recursive(pairs, l=2).tolist() == [5 / 3]
    assert diversity.recursive(pairs, l=3).tolist() == [5]
    assert np.isinf(diversity.recursive(pairs, l=4)).all()


def test_joining_can_spoil_entropy_but_not_where_all_pass():
    """Why entropy ℓ-diversity is searched without assuming that coarser is better."""
    apart, poor = [1, 1, 0, 0, 0], [100, 0, 0, 0, 0]
    assert diversity.entropy(pairs_of([apart]))[0] == pytest.approx(2)
    assert diversity.entropy(pairs_of([np.add(apart, poor).tolist()]))[0] < 1.1
