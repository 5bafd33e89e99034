"""Messages byte by byte: what is read is what was written, and nothing else is accepted."""

import pytest

from deniable.errors import MessageRejected
from deniable.secure import wire
from deniable.secure.rounds import Round
from deniable.secure.shamir import PRIME
from deniable.secure.wire import Kind

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
        with pytest.raises(MessageRejected, match="bytes long, but is"):
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


ROUND = Round(parties=5, length=2)


def test_a_message_is_a_header_and_its_payload():
    sent = wire.written(Kind.MASKED, ROUND, 3, b"xyz")
    assert sent == b"dnsa" + bytes([2, 5]) + ROUND.id + (3).to_bytes(4, "big") + b"xyz"
    for form in (sent, bytearray(sent), memoryview(sent)):
        assert wire.read(form, ROUND) == (Kind.MASKED, 3, b"xyz")
        assert wire.read(form, ROUND, kind=Kind.MASKED) == (Kind.MASKED, 3, b"xyz")
    assert wire.read(wire.written(Kind.SUM, ROUND, 4, b""), ROUND) == (Kind.SUM, 4, b"")


def changed(place, number):
    sent = bytearray(wire.written(Kind.MASKED, ROUND, 3, b""))
    sent[place] = number
    return bytes(sent)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (changed(0, 0), "not a message of a secure sum"),
        (changed(4, 1), "not a message of a secure sum"),
        (changed(5, 0), "another kind"),
        (changed(5, 14), "another kind"),
        (changed(6, changed(6, 0)[7] ^ 1), "another round"),
        (changed(25, 5), "there is no party 5"),
        (changed(0, 100)[:25], "shorter than its header"),
        (b"", "shorter than its header"),
        ("text", "a message is bytes"),
        (7, "a message is bytes"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,  # a round is random
)
def test_a_message_of_anything_else_is_refused(message, why):
    assert len(wire.written(Kind.MASKED, ROUND, 3, b"")) == 26
    with pytest.raises(MessageRejected, match=why) as caught:
        wire.read(message, ROUND)
    assert "receive(*messages)" not in str(caught.value)


def test_of_several_messages_it_is_said_how_to_pass_them():
    sent = wire.written(Kind.MASKED, ROUND, 3, b"")
    for several in ([sent], (sent, sent)):
        with pytest.raises(MessageRejected, match=r"receive\(\*messages\)"):
            wire.read(several, ROUND)
    with pytest.raises(MessageRejected, match="another kind"):
        wire.read(sent, ROUND, kind=Kind.KEYS)


@pytest.mark.parametrize("count", [1, 8, 9])
def test_bits_are_written_from_the_highest_of_the_first_byte(count):
    for party in range(count):
        number = int.from_bytes(wire.bitmap([party], count=count), "big")
        assert number == 1 << (8 * -(-count // 8) - 1 - party)
