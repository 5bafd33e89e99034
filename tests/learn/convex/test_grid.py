"""The grid of pure ε: its candidates lie in the set and cover it."""

import numpy as np
import pytest

import deniable as dp
from deniable.learn.convex import Ball, Box, Simplex
from deniable.learn.convex.grid import LATTICE, Grid
from deniable.sampling import PublicRandom

SETS = [
    (Ball(2.0), 1),
    (Ball(2.0), 2),
    (Ball(0.1), 3),
    (Box(-1.0, 0.5), 2),
    (Box((0.0, -1.0, 2.0), (0.1, 1.0, 9.0)), 3),
    (Simplex(), 2),
    (Simplex(3.0), 3),
    (Simplex(), 4),
]


def grid(domain, coordinates):
    return Grid(domain=domain, coordinates=coordinates, lipschitz=1.0, epsilon=1.0, unit=dp.rows())


@pytest.mark.parametrize(("domain", "coordinates"), SETS, ids=str)
def test_every_point_of_the_set_has_a_candidate_within_the_cover(domain, coordinates):
    """Points inside, and as many on the boundary, where a lattice covers worst."""
    made, generator = grid(domain, coordinates), PublicRandom(11).generator
    candidates = made.points()
    middle = domain.center(coordinates)
    assert all(np.allclose(domain.project(x), x, atol=1e-9) for x in candidates[::7])
    arrows = generator.normal(size=(150, coordinates))
    inside = [domain.project(middle + domain.reach(coordinates) * 0.4 * a) for a in arrows]
    edge = [domain.project(middle + 9 * domain.reach(coordinates) * a) for a in arrows]
    poles = [domain.farthest(a) for a in (*np.eye(coordinates), *-np.eye(coordinates))]
    for x in [*inside, *edge, *poles]:
        near = np.linalg.norm(candidates - x, axis=1).min()
        assert near <= made.cover * (1 + 1e-9)
    assert made.cover <= domain.diameter(coordinates) / 12


def test_the_stated_excess_includes_the_cover_and_the_rounding_of_scores():
    made = grid(Ball(2.0), 2)
    assert made.excess(1e12) >= made.cover + 2 * 2.0 / LATTICE
