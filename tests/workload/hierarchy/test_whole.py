"""Whole numbers that add up, against the definition worked out family by family in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from deniable.workload.hierarchy.nesting import Chain
from deniable.workload.hierarchy.whole import _held, _projected, _ranks, divided, whole


def projected(total, wanted):
    """max(x − τ, 0) with the τ at which it adds up: the largest that some first few allow."""
    exact = sorted((Fraction(x) for x in wanted), reverse=True)
    taus = [(sum(exact[:n]) - total) / n for n in range(1, len(exact) + 1)]
    tau = next(t for n, t in reversed(list(enumerate(taus))) if exact[n] > t or n == 0)
    return [max(Fraction(x) - tau, Fraction(0)) for x in wanted]


def rounded(total, reals):
    """By largest remainders."""
    floors = [r.numerator // r.denominator for r in reals]
    by_rest = sorted(range(len(reals)), key=lambda i: floors[i] - reals[i])
    for i in by_rest[: total - sum(floors)]:
        floors[i] += 1
    return floors


def families(seed):
    """Children of 4 nodes, in no order, with estimates of which some are negative."""
    rng = np.random.default_rng(seed)
    parent = rng.permutation(np.append(np.arange(4), rng.integers(0, 4, 9)))
    return rng.integers(0, 30, 4), parent, rng.normal(4, 8, parent.size)


@pytest.mark.parametrize("seed", range(25))
def test_each_total_is_divided_at_the_nearest_point_and_by_largest_remainders(seed):
    totals, parent, wanted = families(seed)
    near = _projected(totals.astype(float), parent, wanted)
    found = divided(totals, parent, wanted)
    for node, total in enumerate(totals.tolist()):
        own = np.flatnonzero(parent == node)
        exact = projected(total, wanted[own].tolist())
        assert near[own] == pytest.approx([float(x) for x in exact], abs=1e-9)
        assert sum(exact) == total
        assert found[own].tolist() == rounded(total, exact)


def test_places_are_counted_within_families():
    assert _ranks(np.array([0, 0, 2, 2, 2, 3]), 5).tolist() == [0, 1, 0, 1, 2, 0]


def test_the_last_of_a_family_give_way_where_the_floors_exceed_its_total():
    family, totals = np.array([0, 0, 0, 1, 1, 2]), np.array([5, 9, 0])
    held = _held(np.array([3, 4, 2, 4, 5, 1]), family, totals)
    assert held.tolist() == [3, 2, 0, 4, 5, 0]


CHAIN = Chain(sizes=(4, 2, 1), parents=(np.array([0, 0, 1, 1]), np.array([0, 0])))


def test_the_top_is_rounded_and_every_level_adds_up():
    values = [np.array([2.2, -3.0, 4.4, 4.4]), np.array([2.6, 8.0]), np.array([11.4])]
    leaves, middle, top = whole(CHAIN, values)
    assert top.tolist() == [11]
    assert middle.tolist() == [3, 8]
    assert leaves.tolist() == [3, 0, 4, 4]


@pytest.mark.parametrize(("top", "held"), [(-5.0, 0), (1e30, 2**62), (2.0**61, 2**61)])
def test_a_top_beyond_all_counts_is_held_between_zero_and_what_integers_hold(top, held):
    leaves, middle, total = whole(CHAIN, [np.zeros(4), np.zeros(2), np.array([top])])
    assert total.tolist() == [held]
    for level in (leaves, middle):
        assert sum(level.tolist()) == held
        assert min(level.tolist()) >= 0


def test_many_tops_together_stay_within_what_integers_hold():
    flat = Chain(sizes=(3,), parents=())
    (found,) = whole(flat, [np.array([1e30, 1e30, 2.5])])
    assert found.tolist() == [float(2**62 // 3), float(2**62 // 3), 2]
    assert sum(found.tolist()) <= 2**62


@pytest.mark.parametrize("nodes", [1, 3, 1000])
def test_tops_are_held_so_that_all_of_them_together_fit_in_62_bits(nodes):
    """Whatever the noise was."""
    chain = Chain(sizes=(nodes,), parents=())
    for far, held in ((1e300, float(2**62 // nodes)), (-1e300, 0), (7.4, 7)):
        (found,) = whole(chain, [np.full(nodes, far)])
        assert set(found.tolist()) == {int(held)}
        assert sum(found.tolist()) <= 2**62
