"""Projective spaces: as many points as counting vectors up to a factor finds."""

import itertools

import pytest

from deniable.local.protocols.fields import points


@pytest.mark.parametrize("g", [2, 3, 5])
def test_points_are_vectors_up_to_a_factor(g):
    for t in range(4):
        vectors = [v for v in itertools.product(range(g), repeat=t) if any(v)]
        lines = {frozenset(tuple(f * x % g for x in v) for f in range(1, g)) for v in vectors}
        assert points(g, t) == len(lines)
    assert points(g, -1) == points(g, -2) == 0
