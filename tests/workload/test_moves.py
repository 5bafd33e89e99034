"""How far a unit moves cells, against every way in which it can come, go or be replaced."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.units import Relation
from deniable.workload.moves import Moves, moves, moves_of_presence


def added(*, values, weight, cells, sets, always):
    """What a unit may add to the cells of all sets: each step of weight is in one cell of each."""
    one = [] if always else [np.zeros((sets, cells), dtype=int)]
    for value, places in itertools.product(values, itertools.product(range(cells), repeat=sets)):
        row = np.zeros((sets, cells), dtype=int)
        row[np.arange(sets), places] = value
        one.append(row)
    taken = itertools.combinations_with_replacement(one, weight)
    return np.unique([sum(rows).ravel() for rows in taken], axis=0)


def farthest(points, relation):
    """The norms of the largest changes."""
    if relation is Relation.REPLACE:
        points = (points[:, None, :] - points[None, :, :]).reshape(-1, points.shape[-1])
    sizes = np.abs(points)
    return Moves(
        l1=int(sizes.sum(axis=1).max()),
        l2_squared=int((sizes**2).sum(axis=1).max()),
        linf=int(sizes.max()),
    )


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("sets", [1, 2])
@pytest.mark.parametrize("weight", [1, 2])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 3), (-3, 1), (-1, 4), (2, 5), (-5, -2)])
def test_the_bounds_are_the_farthest_moves(low, high, weight, sets, relation):
    points = added(values=(low, high), weight=weight, cells=2, sets=sets, always=False)
    found = moves(low=low, high=high, weight=weight, relation=relation, sets=sets)
    assert found == farthest(points, relation)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("weight", [1, 2])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 3), (-1, 4), (2, 5), (-5, -2), (1, 1)])
def test_in_a_single_cell_too(low, high, weight, always, relation):
    points = added(values=(low, high), weight=weight, cells=1, sets=1, always=always)
    found = moves(
        low=low, high=high, weight=weight, relation=relation, one_cell=True, always=always
    )
    assert found == farthest(points, relation)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize(("cells", "there"), [(1, 1), (1, 4), (2, 4), (3, 6)])
def test_a_unit_is_there_or_not_in_so_many_cells(cells, there, relation):
    points = [p for p in itertools.product((0, 1), repeat=there) if sum(p) <= cells]
    found = moves_of_presence(cells=cells, relation=relation, one_cell=there == 1)
    assert found == farthest(np.array(points), relation)


@pytest.mark.parametrize("square", [0, 1, 2, 3, 9, 10, 2**53 + 1, 3 * 2**80 + 1, 10**30, 7**60])
def test_a_root_is_rounded_up_to_the_nearest_float(square):
    found = Moves(l1=1, l2_squared=square, linf=1).l2
    assert Fraction(found) ** 2 >= square
    assert found == 0 or Fraction(math.nextafter(found, 0.0)) ** 2 < square
