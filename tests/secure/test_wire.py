"""Messages byte by byte: what is read is what was written, and nothing else is accepted."""

import pytest

from deniable.errors import MessageRejected
from deniable.secure import wire
from deniable.secure.shamir import PRIME

SIZE = wire.REVEAL_BYTES


def entry(is_key, number):
    return bytes([int(is_key)]) + number.to_bytes(SIZE - 1, "big")


NUMBERS = {2: 0, 5: PRIME - 1, 9: 0x0102030405, 11: 1 << 120}
KEYS = {2, 9}


def revealed(entries, **given):
    payload = wire.table(entries)
    return wire.read_revealed(payload, known=NUMBERS, is_key=lambda p: p in KEYS, **given)


def test_a_revealed_share_is_read_whole():
    found = revealed({p: entry(p in KEYS, n) for p, n in NUMBERS.items()})
    assert {p: int.from_bytes(e, "big") for p, e in found.items()} == NUMBERS
    assert {len(e) for e in found.values()} == {SIZE - 1}


@pytest.mark.parametrize("party", NUMBERS)
def test_a_share_of_the_other_secret_or_beyond_the_prime_is_refused(party):
    entries = {p: entry(p in KEYS, n) for p, n in NUMBERS.items()}
    for wrong in (entry(party not in KEYS, 1), entry(party in KEYS, PRIME)):
        with pytest.raises(MessageRejected):
            revealed(entries | {party: wrong})
    with pytest.raises(MessageRejected):
        revealed(entries | {3: entry(False, 1)})


@pytest.mark.parametrize("count", [1, 7, 8, 9, 64, 65])
def test_a_bitmap_names_exactly_those_who_are_meant(count):
    for chosen in (set(), {0}, {count - 1}, set(range(0, count, 2)), set(range(count))):
        written = wire.bitmap(chosen, count=count)
        assert wire.read_bitmap(written, count=count) == chosen
        for bad in (written + b"\0", written[:-1]):
            with pytest.raises(MessageRejected):
                wire.read_bitmap(bad, count=count)
    if count % 8:
        with pytest.raises(MessageRejected):
            wire.read_bitmap(bytes(-(-count // 8) - 1) + b"\x01", count=count)


def test_shares_come_with_their_commitment():
    letters = {3: bytes([7]) * wire.LETTER_BYTES, 4: bytes([9]) * wire.LETTER_BYTES}
    commitment = bytes(range(wire.KEY_BYTES))
    payload = commitment + wire.table(letters)
    assert wire.read_shares(payload, known=letters) == (commitment, letters)
    with pytest.raises(MessageRejected):
        wire.read_shares(commitment[:-1], known=letters)
    with pytest.raises(MessageRejected):
        wire.read_shares(payload[:-1], known=letters)


def test_a_payload_has_exactly_its_size():
    assert wire.exactly(b"abc", 3) == b"abc"
    for wrong in (2, 4):
        with pytest.raises(MessageRejected, match="must carry"):
            wire.exactly(b"abc", wrong)


def test_a_table_names_known_parties_once_and_in_rising_order():
    one, two = (wire._COUNT.pack(p) + b"ab" for p in (1, 2))
    count = wire._COUNT.pack
    assert wire.read_table(count(2) + one + two, size=2, known=[1, 2]) == {1: b"ab", 2: b"ab"}
    assert wire.read_table(count(0), size=2, known=[]) == {}
    for bad in (
        b"", count(1), count(2) + one, count(1) + one + two, count(2) + two + one,
        count(2) + one + one, count(1) + one[:-1],
    ):  # fmt: skip
        with pytest.raises(MessageRejected):
            wire.read_table(bad, size=2, known=[1, 2])
    with pytest.raises(MessageRejected):
        wire.read_table(count(2) + one + two, size=2, known=[1])
