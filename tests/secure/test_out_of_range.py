"""Parties who lie about their numbers: what is rejected, and how far a lie that passes can go.

Masks hide each vector, so nobody can check one by itself; the sum is checked. A party can move it
anywhere in the range of honest sums, and lies that leave that range are rejected.
"""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import secure
from deniable.errors import BadParameter, MessageRejected
from deniable.mechanisms import Skellam, SkellamShares
from deniable.secure.two_servers import Server, shares

from .rounds import Play
from .test_two_servers import total

PARTIES, LIMIT = 5, 1000
NOISE = SkellamShares(of=Skellam(variance=20.0), parties=PARTIES, dropouts=0, colluding=1)


def totals(lie, noise=None):
    """The sum of a round in which party 0 adds a lie to its masked vector, after the limit."""
    facts = {"limit": LIMIT, "colluding": 1, "noise": noise}
    play = Play(np.full((PARTIES, 3), 100), **facts)
    coordinator = play.coordinator
    coordinator.receive(*play.keys())
    coordinator.receive(*play.shares(coordinator.rosters()))
    letters = coordinator.deliveries()
    first, *rest = play.masked(letters)
    size = play.round.bits // 8
    words = np.frombuffer(first[-3 * size :], dtype=f"<u{size}").copy()
    words += np.array(lie, dtype=np.int64).astype(words.dtype)
    coordinator.receive(first[: -3 * size] + words.tobytes(), *rest)
    coordinator.receive(*play.confirmed(coordinator.survivors()))
    coordinator.receive(*play.revealed(coordinator.confirmations()))
    return coordinator.total(), play.round


@pytest.mark.parametrize("noise", [None, NOISE], ids=["exact", "noisy"])
def test_a_lie_that_leaves_the_range_of_honest_sums_is_rejected(noise):
    for lie in ([10**6, 0, 0], [0, -(10**6), 0], [0, 0, 2**31 - 1], [2**30, 2**30, 2**30]):
        with pytest.raises(MessageRejected, match="no honest sum") as refused:
            totals(lie, noise)
        assert "counts as spent" in refused.value.cost


def test_a_lie_within_the_range_passes_and_moves_the_sum_by_no_more_than_twice_its_reach():
    """The risk that is left: one of n parties counts like n of them, not like 2³² of them."""
    found, round_ = totals([PARTIES * LIMIT - 500, 0, 0])
    assert found.tolist() == [PARTIES * LIMIT, 500, 500]
    assert np.abs(found).max() <= round_.reach


def test_random_words_are_rejected_nearly_always():
    """A word passes with probability (2·5,000 + 1)/2³¹ < 5e-6, so three of one vector < 2e-16."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        with pytest.raises(MessageRejected):
            totals(rng.integers(2**20, 2**31, 3))


def test_two_servers_reject_the_same_lies():
    round_ = secure.Round(parties=3, length=2, limit=LIMIT)
    for lie, refused in ((2500, False), (10**6, True)):
        servers = Server(round_, first=True), Server(round_, first=False)
        for i in range(3):
            own, other = shares(round_, i, [10, 10])
            if i == 0:
                words = np.frombuffer(own[-8:], dtype="<u4") + np.uint32(lie)
                own = own[:-8] + words.astype("<u4").tobytes()
            servers[0].receive(own)
            servers[1].receive(other)
        if refused:
            with pytest.raises(MessageRejected, match="no honest sum"):
                total(*servers)
        else:
            assert total(*servers).tolist() == [30 + lie, 30 + lie]


def test_an_honest_party_clips_what_it_sends():
    vectors = [[10**9, -(10**9)], [1, 1], [1, 1]]
    r = secure.aggregate(vectors, spend=dp.epsilon(100, delta=1e-6), l1=1, limit=50)
    assert np.abs(r.value - np.array([52, -48])).max() < 30  # ± at variance 0.1: P < 1e-9


@pytest.mark.parametrize("kind", ["f4", "f8", "c16", "U3", "M8[D]"])
def test_arrays_that_are_not_of_whole_numbers_are_refused_before_the_charge(kind):
    good = np.array([1, 2])
    with pytest.raises(BadParameter, match="whole numbers") as refused:
        secure.aggregate(
            [good, good, np.zeros(2, dtype=kind)], spend=dp.epsilon(1, delta=1e-6), l1=1
        )
    assert refused.value.cost == "nothing was spent"


def test_the_certificate_says_that_the_parties_made_the_noise():
    r = secure.aggregate([[1], [2], [3]], spend=dp.epsilon(1, delta=1e-6), l1=1)
    assert r.certificate().record["registry"]["deployment"]["model"]["model_name"] == "Distributed"
    s = dp.open(pa.table({"x": [1, 2, 3]}), unit=dp.rows(), budget=dp.epsilon(1))
    central = s.count(spend=dp.epsilon(0.1)).certificate().record
    assert central["registry"]["deployment"]["model"]["model_name"] == "Central"
