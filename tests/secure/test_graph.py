"""Who masks with whom: no coalition and no drop-outs within their limits break a round."""

import itertools
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.secure import Round, graph
from deniable.secure.graph import EVERYONE, Shape, around, failing, ring, shape_of

from .rounds import Play

COUNTS = [
    (n, d, c)
    for n in range(5, 13)
    for d in range(n - 1)
    for c in range(n - 1 - d)
    if ring(dropouts=d, colluding=c).degree < n - 1
]
"""All facts of small rings."""


def neighbours(parties, degree):
    """Of each party on a ring in the order of their numbers."""
    return [around(list(range(parties)), at, degree) for at in range(parties)]


def connected(near, left):
    reached, edge = set(), [min(left)]
    while edge:
        party = edge.pop()
        reached.add(party)
        edge += [i for i in near[party] if i in left and i not in reached]
    return reached == left


@pytest.mark.parametrize("facts", COUNTS, ids=str)
def test_no_chosen_dropouts_and_colluders_part_the_honest_parties(facts):
    """Every choice of them: whatever is left is one piece."""
    parties, dropouts, colluding = facts
    shape = ring(dropouts=dropouts, colluding=colluding)
    near = neighbours(parties, shape.degree)
    for gone in itertools.combinations(range(parties), dropouts + colluding):
        assert connected(near, set(range(parties)) - set(gone))


def test_two_neighbours_fewer_could_be_parted():
    """So the check above can fail: k parties, k/2 on either side, cut out the one between them."""
    near = neighbours(12, 4)
    assert not connected(near, set(range(12)) - {11, 10, 1, 2})


@given(st.integers(2, 3000), st.data())
def test_colluders_cannot_rebuild_a_secret_and_dropouts_cannot_block_it(parties, data):
    dropouts = data.draw(st.integers(0, parties - 2))
    colluding = data.draw(st.integers(0, parties - 2 - dropouts))
    shape = shape_of(parties=parties, dropouts=dropouts, colluding=colluding)
    assert colluding < shape.threshold <= shape.degree - dropouts
    if shape.degree < parties - 1:
        assert shape.degree % 2 == 0
        assert dropouts + max(colluding, 1) + 1 <= shape.degree <= dropouts + max(colluding, 1) + 2
        assert shape.threshold == max(colluding, 1) + 1
    else:
        assert (shape.degree, shape.threshold) == (parties - 1, parties - 1 - dropouts)


@pytest.mark.parametrize("facts", [(70, 3, 2), (90, 12, 6), (150, 0, 0)])
def test_in_a_round_even_dropouts_chosen_on_the_ring_leave_one_piece(facts):
    """Every segment of the ring, cut out on both sides by as many as may drop out or collude."""
    parties, dropouts, colluding = facts
    round_ = Round(parties=parties, length=1, dropouts=dropouts, colluding=colluding)
    assert round_.shape.degree < parties - 1
    near = [round_.near(i) for i in range(parties)]
    order = [0]
    while len(order) < parties:  # along the ring: the one that shares most neighbours comes next
        here = set(near[order[-1]])
        rest = [i for i in here if i not in order]
        order.append(max(rest, key=lambda i: len(here & set(near[i]))))
    most = dropouts + colluding
    for length in (1, 2, 5):
        for left in range(most + 1):
            right = most - left
            gone = {order[-1 - i] for i in range(left)} | {order[length + i] for i in range(right)}
            assert connected(near, set(range(parties)) - gone)


@given(st.integers(5, 40), st.integers(1, 6))
def test_neighbours_on_a_ring_are_mutual_and_equally_many(parties, half):
    degree = min(2 * half, parties - 1)
    near = neighbours(parties, degree)
    for party, mine in enumerate(near):
        assert len(mine) == len(set(mine)) == (min(parties - 1, degree))
        assert all(party in near[other] for other in mine)


@pytest.mark.parametrize("facts", [(3, 1, 1), (2, 0, 1), (2, 1, 0), (10, 5, 4), (4, 4, 0)])
def test_coalitions_that_could_finish_without_the_others_are_refused(facts):
    parties, dropouts, colluding = facts
    with pytest.raises(dp.BadParameter, match="cannot tolerate"):
        shape_of(parties=parties, dropouts=dropouts, colluding=colluding)


def test_few_parties_are_all_neighbours():
    for parties in (7, EVERYONE):
        shape = shape_of(parties=parties, dropouts=2, colluding=3)
        assert (shape.degree, shape.threshold) == (parties - 1, parties - 3)
    assert shape_of(parties=EVERYONE + 1, dropouts=2, colluding=3).degree == 6


# ---- sparser rings, by chance


def broken(near, threshold, gone, known):
    """Whether a ring exposes, blocks or parts the honest parties that stay."""
    parties = len(near)
    left = set(range(parties)) - gone - known
    return (
        any(len(known & set(near[i])) >= threshold for i in range(parties))
        or any(len(set(near[i]) - gone) < threshold for i in range(parties))
        or not connected(near, left)
    )


@pytest.mark.parametrize(
    ("parties", "dropouts", "colluding", "degree", "threshold"),
    [(9, 2, 2, 4, 2), (9, 1, 3, 4, 2), (9, 3, 1, 4, 3), (10, 2, 3, 4, 3), (10, 4, 1, 4, 3)],
)
def test_a_ring_fails_no_more_often_than_is_stated(parties, dropouts, colluding, degree, threshold):
    """Every choice of drop-outs and colluders, which is every order of the ring."""
    near = neighbours(parties, degree)
    tried = bad = 0
    for gone in itertools.combinations(range(parties), dropouts):
        rest = [i for i in range(parties) if i not in gone]
        for known in itertools.combinations(rest, colluding):
            tried += 1
            bad += broken(near, threshold, set(gone), set(known))
    stated = failing(
        Shape(degree=degree, threshold=threshold),
        parties=parties,
        dropouts=dropouts,
        colluding=colluding,
    )
    assert 0 < Fraction(bad, tried) <= stated


def gaps(parties, removed, half):
    """How often at least two gaps between those who stay are as wide as half the neighbours."""
    tried = bad = 0
    for gone in itertools.combinations(range(parties), removed):
        stay = [i for i in range(parties) if i not in gone]
        wide = sum((b - a) % parties > half for a, b in itertools.pairwise([*stay, stay[0]]))
        tried, bad = tried + 1, bad + (wide >= 2)
    return Fraction(bad, tried)


@pytest.mark.parametrize(("parties", "removed", "degree"), [(12, 4, 4), (12, 5, 4), (13, 6, 6)])
def test_how_often_a_ring_is_cut_is_exact_where_no_third_gap_fits(parties, removed, degree):
    from deniable.secure.graph import _cut

    assert removed < 3 * degree // 2
    assert _cut(parties, removed, degree) == gaps(parties, removed, degree // 2)


@pytest.mark.parametrize("facts", [(1000, 50, 50), (300, 30, 20), (10_000, 500, 0)])
@pytest.mark.parametrize("chance", [2**-40, 2**-64])
def test_the_ring_by_chance_is_the_sparsest_that_keeps_it(facts, chance):
    counts = dict(zip(("parties", "dropouts", "colluding"), facts, strict=True))
    shape = shape_of(**counts, chance=chance)
    assert shape.degree < shape_of(**counts).degree
    assert 0 < failing(shape, **counts) <= chance
    for threshold in range(2, shape.degree - 2):
        sparser = Shape(degree=shape.degree - 2, threshold=threshold)
        assert failing(sparser, **counts) > chance


def test_a_round_by_chance_says_how_often_it_fails_and_is_announced_so():
    sure = Round(parties=1000, length=1, dropouts=50, colluding=50)
    round_ = Round(parties=1000, length=1, dropouts=50, colluding=50, chance=2**-40)
    assert (sure.failing, sure.shape.degree) == (0.0, 102)
    assert 0 < round_.failing <= 2**-40
    assert round_.shape == Shape(degree=36, threshold=18)
    again = Round.from_bytes(round_.to_bytes())
    assert again == round_
    assert again.shape == round_.shape
    assert b"chance" not in sure.to_bytes()
    few = Round(parties=20, length=1, dropouts=2, colluding=2, chance=2**-40)
    assert (few.failing, few.shape.degree) == (0.0, 19)


@pytest.mark.parametrize("chance", [0, -1e-9, 1e-3, float("nan"), "small", 1])
def test_a_chance_that_protects_nobody_is_refused(chance):
    with pytest.raises(dp.BadParameter):
        Round(parties=1000, length=1, chance=chance)


def test_a_sum_on_a_ring_by_chance_is_exact():
    facts = {"dropouts": 15, "colluding": 15, "chance": 2**-21}
    play = Play([[i, -i] for i in range(200)], **facts)
    assert play.round.shape.degree < ring(dropouts=15, colluding=15).degree
    gone = ((), (), (3, 77), (), ())
    kept = sum(i for i in range(200) if i not in (3, 77))
    assert play.total(gone).tolist() == [kept, -kept]


def test_no_ring_by_chance_is_as_dense_as_the_sure_one_or_the_densest_that_is_tried(monkeypatch):
    facts = (1000, 50, 50, 2**-40)
    found = graph.by_chance.__wrapped__(*facts, most=102)
    assert found == graph.Shape(degree=36, threshold=18)
    assert graph.by_chance.__wrapped__(*facts, most=36) is None
    monkeypatch.setattr(graph, "DENSEST", 37)
    assert graph.by_chance.__wrapped__(*facts, most=102) == found
    monkeypatch.setattr(graph, "DENSEST", 36)
    assert graph.by_chance.__wrapped__(*facts, most=102) is None


def test_a_ring_that_fails_exactly_as_often_as_allowed_is_taken(monkeypatch):
    by_chance = graph.by_chance.__wrapped__
    monkeypatch.setattr(graph, "failing", lambda shape, **facts: Fraction(1, 2**30))
    assert by_chance(100, 1, 1, 2.0**-30, most=10) == graph.Shape(degree=4, threshold=2)
    assert by_chance(100, 1, 1, 2.0**-31, most=10) is None


@pytest.mark.parametrize(
    ("n", "d", "c", "k", "t"),
    [
        (100, 10, 7, 12, 5),
        (100, 7, 10, 12, 8),
        (70, 0, 9, 6, 3),
        (70, 9, 0, 6, 3),
        (80, 3, 2, 8, 4),
    ],
)
def test_how_often_a_ring_fails_is_the_sum_of_three_terms(n, d, c, k, t):
    """Colluders among k of the n − 1 others, drop-outs among them, and two wide gaps."""

    def at_least(least, marked):
        ways = (comb(marked, x) * comb(n - 1 - marked, k - x) for x in range(least, k + 1))
        return Fraction(sum(ways), comb(n - 1, k))

    gaps, others = n - c - d, c + d
    cut = Fraction(comb(gaps, 2))
    for i in range(k):
        cut *= Fraction(max(0, others - i), others + gaps - 1 - i)
    exact = n * (at_least(t, c) + at_least(k - t + 1, d)) + cut
    assert failing(Shape(degree=k, threshold=t), parties=n, dropouts=d, colluding=c) == exact
