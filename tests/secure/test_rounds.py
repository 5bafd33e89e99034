"""The public facts of a round: promises that cannot be kept and hostile words are refused."""

import json
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable import mechanisms
from deniable.errors import MessageRejected
from deniable.mechanisms import Mechanism, Skellam, SkellamL2, SkellamShares
from deniable.secure import Party, Round
from deniable.secure.graph import failing

from .rounds import Play
from .test_protocol import SEVEN


@pytest.mark.parametrize(
    "facts",
    [
        {"parties": 1},
        {"length": 0},
        {"limit": 0},
        {"limit": 2**62},
        {"parties": 2, "limit": 2**62},
        {"dropouts": -1},
        {"colluding": 4, "dropouts": 1},
        {"dropouts": 5},
        {"length": 2**27 + 1},
        {"length": 2**70},
        {"parties": 10**6 + 1},
        {"parties": 10**6, "colluding": 300_000},
        {"noise": SkellamShares(of=Skellam(variance=2.0, sensitivity=2**63), parties=5)},
        {"noise": SkellamShares(of=Skellam(variance=2.0, sensitivity=10**400), parties=5)},
        {"noise": SkellamShares(of=SkellamL2(variance=2.0, sensitivity=1e30), parties=5)},
        {"nonce": b"short"},
        {"nonce": "text"},
        {"noise": Skellam(variance=2.0)},
        {"noise": SkellamShares(of=Skellam(variance=2.0), parties=5, dropouts=1)},
    ],
    ids="-".join,
)
def test_rounds_that_cannot_keep_their_promise_are_refused(facts):
    with pytest.raises(dp.BadParameter):
        Round(**({"parties": 5, "length": 2} | facts))


@pytest.mark.parametrize(
    "facts", [{"limit": 2**62 - 1}, {"length": 2**27}, {"parties": 10**6}, {"limit": 1}]
)
def test_the_largest_and_the_smallest_rounds_are_taken(facts):
    made = Round(**({"parties": 2, "length": 1} | facts))
    assert {name: getattr(made, name) for name in facts} == facts
    assert made.reach == made.parties * made.limit < 2**63
    assert made.limit == facts.get("limit", np.iinfo(np.int32).max)


@pytest.mark.parametrize(
    "bent",
    [
        lambda text: text + b" ",
        lambda text: text.replace(b'"parties":5', b'"parties":"5"'),
        lambda text: text.replace(b'"version":2', b'"version":1'),
        lambda text: text.replace(b'"length":2,', b""),
        lambda text: b"[" * 100_000,
        lambda text: text.replace(b'"noise":null', b'"noise":{"mechanism":"laplace","of":"x"}'),
        lambda text: text.replace(b'"noise":null', b'"noise":[]'),
        lambda text: b"\xff",
    ],
)
def test_an_announcement_that_is_not_canonical_is_rejected(bent):
    text = Round(parties=5, length=2).to_bytes()
    with pytest.raises((MessageRejected, dp.BadParameter)):
        Round.from_bytes(bent(text))


@pytest.mark.parametrize("version", [b"1", b"3", b"null"])
def test_an_announcement_of_another_version_is_refused_as_that(version):
    text = Round(parties=5, length=2).to_bytes().replace(b'"version":2', b'"version":' + version)
    with pytest.raises(MessageRejected, match="rounds of version 2 only"):
        Round.from_bytes(text)


def test_an_announcement_makes_no_mechanism_but_skellam_shares(monkeypatch):
    """Whoever reads one would build what it names: of others, some take for ever to build."""
    made = []
    assert all(hasattr(mechanisms, name) for name in mechanisms.__all__)  # which loads them
    for kind in set(Mechanism.registry.values()) - {Skellam, SkellamL2, SkellamShares}:
        monkeypatch.setattr(kind, "from_record", classmethod(lambda cls, record: made.append(cls)))
    counter = {"mechanism": "open_ended_counter", "sigma": 1e-9, "sensitivity": 2**62}
    for noise in (
        counter | {"first": 10**400},
        {"mechanism": "skellam_shares", "of": counter | {"first": 10**400}, "parties": 5},
        {"mechanism": "composed", "of": {"mechanism": "skellam"}, "parts": [counter]},
        *({"mechanism": name, "of": {"mechanism": "skellam"}} for name in Mechanism.registry),
    ):
        record = json.loads(Round(parties=5, length=2).to_bytes()) | {"noise": noise}
        text = json.dumps(record, sort_keys=True, separators=(",", ":")).encode()
        with pytest.raises((MessageRejected, dp.BadParameter)):
            Round.from_bytes(text)
    assert len(Mechanism.registry) > 20
    assert not made


def test_one_party_of_many_does_not_need_the_memory_of_all():
    """A million parties have 2²⁷ pairs of neighbours: a gigabyte, for whoever reads of them."""
    round_ = Round(parties=200_000, length=1, dropouts=300, colluding=300)
    tracemalloc.start()
    assert len(round_.near(7)) == round_.shape.degree == 602
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * round_.parties  # bytes; all neighbours would take 4,800 for each


@pytest.mark.parametrize("variance", [None, 1e-9, 13.99, 14.0, 1e6])
def test_a_party_refuses_a_round_with_less_noise_than_it_needs(variance):
    noise = None if variance is None else SkellamShares(of=Skellam(variance=variance), parties=3)
    round_ = Round.from_bytes(Round(parties=3, length=1, noise=noise).to_bytes())
    Party(round_, 0)
    if variance is not None and variance >= 14:
        Party(round_, 0, least=14.0)
    else:
        with pytest.raises(MessageRejected, match="does not promise noise"):
            Party(round_, 0, least=14.0)


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16])
@pytest.mark.parametrize("name", ["parties", "length", "limit", "dropouts", "colluding"])
def test_whole_numbers_of_numpy_are_as_good_as_python_s(name, kind):
    facts = {"parties": 5, "length": 2, "limit": 100, "dropouts": 1, "colluding": 1}
    nonce = bytes(16)
    given = Round(nonce=nonce, **(facts | {name: kind(facts[name])}))
    assert given.to_bytes() == Round(nonce=nonce, **facts).to_bytes()
    assert type(getattr(given, name)) is int
    assert Play(SEVEN[:5, :2], nonce=nonce, **(facts | {name: kind(facts[name])})).total().size == 2


def test_a_ring_fails_at_most_once_in_a_million():
    facts = {"parties": 100, "length": 1, "colluding": 5}
    assert Round(**facts, chance=2**-20).chance == 2**-20
    for chance in (2**-20 * 1.001, 2**-19, 0.5, 1.0):
        with pytest.raises(dp.BadParameter, match="2⁻²⁰"):
            Round(**facts, chance=chance)


def test_as_many_edges_as_memory_holds_are_taken_and_one_more_is_not(monkeypatch):
    facts = {"parties": 7, "length": 1}
    edges = 7 * Round(**facts).shape.degree
    monkeypatch.setattr("deniable.secure.rounds.MOST_EDGES", edges)
    Round(**facts)
    monkeypatch.setattr("deniable.secure.rounds.MOST_EDGES", edges - 1)
    with pytest.raises(dp.BadParameter, match="too many"):
        Round(**facts)


@pytest.mark.parametrize(
    ("limit", "bits"), [(1000, 32), ((2**31 - 1) // 5, 32), (2**31 // 5 + 1, 64), (2**40, 64)]
)
def test_words_are_as_wide_as_the_farthest_sum(limit, bits):
    made = Round(parties=5, length=2, limit=limit)
    assert (made.reach, made.bits, made.least) == (5 * limit, bits, 5)
    for number in (0, 5 * limit, -5 * limit):
        words = (
            np.array([number, 0], dtype=np.int64).astype(f"<i{bits // 8}").view(f"<u{bits // 8}")
        )
        assert made.summed(words).tolist() == [number, 0]
        assert made.summed(words).dtype == np.int64
    for number in (5 * limit + 1, -5 * limit - 1):
        if abs(number) < 2 ** (bits - 1):
            words = np.array([0, number]).astype(f"<i{bits // 8}").view(f"<u{bits // 8}")
            with pytest.raises(MessageRejected, match="no honest sum"):
                made.summed(words)


def test_words_of_exactly_31_bits_are_short():
    assert Round(parties=1 + 2, length=1, limit=(2**31 - 2) // 3).bits == 32
    assert Round(parties=2, length=1, limit=2**30).bits == 64
    assert Round(parties=2, length=1, limit=2**30).reach == 2**31


def test_the_reach_of_a_sum_has_room_for_its_noise():
    noise = SkellamShares(of=Skellam(variance=1e6), parties=5)
    made = Round(parties=5, length=3, limit=10, noise=noise)
    assert made.reach == 50 + int(noise.error(1 - 1e-12, coordinates=3))
    assert made.reach > 50 + 7000


@pytest.mark.parametrize(
    ("facts", "agreed"),
    [
        ({"parties": 5, "dropouts": 1, "colluding": 1}, True),
        ({"parties": 4, "dropouts": 1, "colluding": 1}, False),
        ({"parties": 5, "dropouts": 1, "colluding": 2}, False),
        ({"parties": 200, "dropouts": 1, "colluding": 1}, False),
    ],
)
def test_lies_are_found_out_where_all_are_neighbours_and_most_are_honest(facts, agreed):
    """n > 2·dropouts + colluding + 1."""
    made = Round(length=1, **facts)
    assert made.agreed is agreed
    assert made.least == facts["parties"] - facts["dropouts"]


def test_how_often_a_ring_fails_is_rounded_up_and_0_unless_by_chance():
    nearest = set()
    for colluding in range(8, 13):
        facts = {"parties": 300, "dropouts": 10, "colluding": colluding}
        by_chance = Round(length=1, chance=2.0**-30, **facts)
        exact = failing(by_chance.shape, **facts)
        assert exact < Fraction(by_chance.failing) <= exact * (1 + Fraction(1, 2**50))
        nearest.add(float(exact) < exact)
        assert Round(length=1, **facts).failing == 0.0
        assert Round(length=1, chance=2.0**-20, **facts).failing <= 2.0**-20
    assert nearest == {True, False}  # the nearest number is too small for some
    assert Round(parties=9, length=1, chance=2.0**-30).failing == 0.0


def test_seats_are_a_ring_of_all_parties():
    made = Round(parties=100, length=1, dropouts=3, colluding=3)
    order, seats = made.seats
    assert sorted(order) == list(range(100))
    assert [order[seats[party]] for party in range(100)] == list(range(100))
    half = made.shape.degree // 2
    for party in (0, 50, 99):
        at = seats[party]
        wanted = {order[(at + s) % 100] for s in range(-half, half + 1)} - {party}
        assert made.near(party) == tuple(sorted(wanted))
    assert Round(parties=100, length=1, nonce=made.nonce).id != made.id
    assert len(made.id) == 16
