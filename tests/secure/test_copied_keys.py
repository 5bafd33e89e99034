"""A party that announces another's public key as its own cancels no mask."""

import itertools

import pytest

from deniable.errors import MessageRejected
from deniable.secure import wire
from deniable.secure.keys import KEY_BYTES, KeyPair, is_canonical
from deniable.secure.wire import Kind

from .rounds import Play
from .test_protocol import SEVEN

PRIME = 2**255 - 19


def flipped(key):
    return key[:31] + bytes([key[31] ^ 0x80])


def test_every_pair_has_its_own_key_whatever_public_keys_are_copied():
    """All ways in which five parties can hold two key pairs between them."""
    held = KeyPair(), KeyPair()
    for owned in itertools.product(held, repeat=5):
        keys = {
            owned[i].agreed(owned[j].public, use=b"masks", ends=(i, j))
            for i, j in itertools.combinations(range(5), 2)
        }
        assert len(keys) == 10


def test_both_ends_agree_and_every_fact_of_the_pair_matters():
    one, other = KeyPair(), KeyPair()
    key = one.agreed(other.public, use=b"masks", ends=(3, 1))
    assert key == other.agreed(one.public, use=b"masks", ends=(1, 3))
    changed = [
        one.agreed(other.public, use=b"letters", ends=(3, 1)),
        one.agreed(other.public, use=b"masks", ends=(1, 3)),
        one.agreed(other.public, use=b"masks", ends=(3, 2)),
        one.agreed(flipped(other.public), use=b"masks", ends=(3, 1)),
    ]
    assert len({key, *changed}) == 5


def copies(own, honest):
    """Announcements made of an honest party's keys."""
    letters, masks = honest[:KEY_BYTES], honest[KEY_BYTES : 2 * KEY_BYTES]
    mine = own[:KEY_BYTES]
    return [
        mine + masks,
        mine + letters,
        masks + own[KEY_BYTES : 2 * KEY_BYTES],
        mine + mine,
        mine + flipped(masks),
        mine + flipped(own[KEY_BYTES : 2 * KEY_BYTES]),
        mine + (PRIME + 9).to_bytes(32, "little"),
    ]


@pytest.mark.parametrize("which", range(7))
def test_copied_or_ambiguous_keys_are_rejected_by_coordinator_and_parties(which):
    play = Play(SEVEN, dropouts=1, colluding=1)
    messages = play.to(1)
    own, honest = messages[6][26:], messages[2][26:]
    bad = copies(own, honest)[which] + own[2 * KEY_BYTES :]
    play.coordinator.receive(*messages[:6])
    with pytest.raises(MessageRejected, match="announced twice"):
        play.coordinator.receive(messages[6][:26] + bad)
    play.coordinator.receive(messages[6])
    rosters = play.coordinator.rosters()
    for victim in (0, 2):  # one that sees the copy beside the original, and the one copied
        entries = wire.read_table(rosters[victim][26:], size=wire.KEYS_BYTES, known=range(7))
        roster = wire.written(Kind.ROSTER, play.round, victim, wire.table(entries | {6: bad}))
        with pytest.raises(MessageRejected, match="announced twice"):
            play.parties[victim].share(roster)


def test_a_point_has_one_canonical_encoding():
    assert all(is_canonical(KeyPair().public) for _ in range(50))
    for number in (PRIME, PRIME + 9, 2**255 - 1, 2**255, 2**255 + 9, 2**256 - 1):
        assert not is_canonical(number.to_bytes(32, "little"))
    assert is_canonical((PRIME - 1).to_bytes(32, "little"))
