"""Messages that are well-formed and cannot be true: left out, switched or impossible entries."""

import pytest

from deniable.errors import MessageRejected
from deniable.secure import wire
from deniable.secure.shamir import PRIME
from deniable.secure.wire import Kind

from .rounds import Play
from .test_protocol import SEVEN


def play():
    return Play(SEVEN, dropouts=2, colluding=1)


def again(message, payload):
    return message[:26] + payload


def test_a_party_does_not_mask_with_fewer_neighbours_than_the_threshold():
    p = play()
    p.coordinator.receive(*p.to(2))
    letters = p.coordinator.deliveries()[0]
    entries = wire.read_table(letters[26:], size=wire.LETTER_BYTES, known=range(7))
    few = dict(list(entries.items())[: p.round.shape.threshold - 1])
    with pytest.raises(MessageRejected, match="neighbours hold shares"):
        p.parties[0].mask(again(letters, wire.table(few)), SEVEN[0])
    p.parties[0].mask(letters, SEVEN[0])


def test_nobody_can_have_sent_a_vector_without_having_shared_secrets():
    p = play()
    p.coordinator.receive(*p.to(3, ((), (5,), (), (), ())))
    told = wire.written(Kind.SURVIVORS, p.round, 0, wire.bitmap(range(7), count=7))
    with pytest.raises(MessageRejected, match="did not share its secrets"):
        p.parties[0].confirm(told)


@pytest.mark.parametrize("step", [2, 4])
def test_an_entry_for_every_neighbour_is_needed(step):
    p = play()
    messages = p.to(step)
    head, size = (32, wire.LETTER_BYTES) if step == 2 else (0, 32)
    payload = messages[3][26:]
    entries = wire.read_table(payload[head:], size=size, known=range(7))
    del entries[6]
    with pytest.raises(MessageRejected, match=r"a code is missing|with all neighbours"):
        p.coordinator.receive(again(messages[3], payload[:head] + wire.table(entries)))
    p.coordinator.receive(*messages)


def revealed(message):
    return wire.read_table(message[26:], size=wire.REVEAL_BYTES, known=range(7))


def test_a_share_of_the_other_secret_or_of_no_secret_is_rejected():
    p = play()
    messages = p.to(5, ((), (), (6,), (), ()))
    entries = revealed(messages[0])
    assert {i: e[0] for i, e in entries.items()} == {1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 1}
    for owner in (1, 6):
        flag, share = entries[owner][:1], entries[owner][1:]
        for wrong in (bytes([1 - flag[0]]) + share, flag + PRIME.to_bytes(33, "big")):
            with pytest.raises(MessageRejected, match=r"wrong secret|below the prime"):
                p.coordinator.receive(again(messages[0], wire.table(entries | {owner: wrong})))
    p.coordinator.receive(*messages)
    assert p.coordinator.total().tolist() == SEVEN[:6].sum(axis=0).tolist()


def spoiled(messages, owner, by):
    """The messages, with wrong shares of the owner's secret from some."""
    messages = list(messages)
    for who in by:
        entries = revealed(messages[who])
        bent = entries[owner][:-1] + bytes([entries[owner][-1] ^ 1])
        messages[who] = again(messages[who], wire.table(entries | {owner: bent}))
    return messages


@pytest.mark.parametrize("owner", [3, 5])
@pytest.mark.parametrize("liar", [0, 1, 2, 4])
def test_one_wrong_share_of_a_seed_or_of_a_key_does_no_harm(owner, liar):
    p = play()
    p.coordinator.receive(*spoiled(p.to(5, ((), (), (5,), (), ())), owner, [liar]))
    kept = [0, 1, 2, 3, 4, 6]
    assert p.coordinator.total().tolist() == SEVEN[kept].sum(axis=0).tolist()


@pytest.mark.parametrize("owner", [3, 6])
def test_a_round_spoiled_by_wrong_shares_is_spent(owner):
    """Someone else may have the right shares: the mean over such rounds would have less noise."""
    p = play()
    p.coordinator.receive(*spoiled(p.to(5, ((), (), (6,), (), ())), owner, [0, 1, 2, 4]))
    with pytest.raises(MessageRejected, match=f"party {owner}'s secret") as raised:
        p.coordinator.total()
    assert "counts as spent" in str(raised.value)
    assert "nothing was spent" not in str(raised.value)


def test_no_rejection_after_confirmations_were_sent_claims_that_nothing_was_spent():
    p = play()
    messages = p.to(5)
    rejected = [
        p.coordinator.total,
        lambda: p.coordinator.receive(b""),
        lambda: p.coordinator.receive(messages[0], messages[0]),
        lambda: p.parties[0].reveal(b""),
        lambda: p.parties[0].reveal(messages[0]),
    ]
    for act in rejected:
        with pytest.raises(MessageRejected, match="counts as spent"):
            act()
    early = play()
    for act in (early.coordinator.total, lambda: early.coordinator.receive(b"")):
        with pytest.raises(MessageRejected) as raised:
            act()
        assert raised.value.cost == "nothing was spent"


@pytest.mark.parametrize("bits", [b"\xff", b"\x01", b"", b"\xfe\x00"])
def test_a_list_of_survivors_names_parties_that_exist(bits):
    with pytest.raises(MessageRejected):
        wire.read_bitmap(bits, count=7)
    assert wire.read_bitmap(b"\xfe", count=7) == set(range(7))
