"""The documented vectors of the wire format, byte for byte; and which vectors are read."""

import json
import re
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import deniable as dp
from deniable.secure import Coordinator, Party, Round, two_servers, wire
from deniable.secure.keys import KEY_BYTES, KeyPair, mask, sealed
from deniable.secure.party import commitment
from deniable.secure.shamir import joined
from deniable.secure.vectors import clipped
from deniable.secure.wire import Kind

PAGE = Path(__file__).parents[2] / "docs/reference/secure-sum-messages.md"


def vectors():
    """Everything that secrets of a known pattern determine, in a round of three parties."""
    round_ = Round(parties=3, length=2, limit=1000, nonce=bytes(range(16)))
    parties = [Party(round_, i) for i in range(3)]
    for i, party in enumerate(parties):
        party._letters_key = KeyPair(bytes([16 * i + 1]) * 32)
        party._masks_key = KeyPair(bytes([16 * i + 2]) * 32)
        party._seed = bytes([16 * i + 3]) * 32
    coordinator = Coordinator(round_)
    keys = [p.advertise() for p in parties]
    coordinator.receive(*keys)
    rosters = coordinator.rosters()
    coordinator.receive(*(p.share(rosters[i]) for i, p in enumerate(parties)))
    letters = coordinator.deliveries()
    masked = [p.mask(letters[i], [i + 1, -5]) for i, p in enumerate(parties)]
    coordinator.receive(*masked)
    survivors = coordinator.survivors()
    confirmed = [p.confirm(survivors[i]) for i, p in enumerate(parties)]
    coordinator.receive(*confirmed)
    codes = coordinator.confirmations()
    coordinator.receive(*(p.reveal(codes[i]) for i, p in enumerate(parties)))
    agreed = parties[0]._masks_key.agreed(
        keys[1][26 + KEY_BYTES : 90], use=b"masks" + round_.id, ends=(0, 1)
    )
    sealing = parties[0]._letters_key.agreed(
        keys[1][26 : 26 + KEY_BYTES], use=b"letters" + round_.id, ends=(0, 1)
    )
    about = round_.id + keys[0][26:90] + keys[1][26:90]
    with patch("deniable.secure.two_servers.seed", return_value=bytes([7]) * 32):
        sent = [two_servers.shares(round_, i, [i + 1, -5]) for i in range(3)]
    servers = [two_servers.Server(round_, first=first) for first in (True, False)]
    for server, messages in zip(servers, zip(*sent, strict=True), strict=True):
        for message in messages:
            server.receive(message)
    heard = [server.heard() for server in servers]
    return {
        "announcement": round_.to_bytes().decode(),
        "round id": round_.id.hex(),
        "keys of party 0": keys[0].hex(),
        "roster of party 0": rosters[0].hex(),
        "mask key of parties 0 and 1": agreed.hex(),
        "mask of parties 0 and 1": mask(agreed, length=2, bits=32).tobytes().hex(),
        "letter key of parties 0 and 1": sealing.hex(),
        "letter of 66 zero bytes from 0 to 1": sealed(
            sealing, bytes(66), sender=0, receiver=1, about=about
        ).hex(),
        "commitment of party 0": commitment(round_, parties[0]._seed).hex(),
        "masked vector [1, -5] of party 0": masked[0].hex(),
        "survivors for party 0": survivors[0].hex(),
        "confirmation by party 0": confirmed[0].hex(),
        "total": coordinator.total().tolist(),
        "two servers: party 0 to the first": sent[0][0].hex(),
        "two servers: party 0 to the second": sent[0][1].hex(),
        "two servers: whom the second heard": heard[1].hex(),
        "two servers: the sum of the first": servers[0].total(heard[1]).hex(),
    }


def test_the_documented_vectors_are_what_is_sent():
    stated = json.loads(re.search(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL).group(1))
    assert stated == vectors()


def test_a_secret_is_joined_from_documented_shares():
    """f(x) = 5 + 7x modulo the prime, at 1 and 3."""
    shares = {1: (12).to_bytes(33, "big"), 3: (26).to_bytes(33, "big")}
    assert joined(shares, threshold=2) == (5).to_bytes(32, "big")


def test_every_kind_of_message_is_documented_with_its_number():
    page = PAGE.read_text()
    for kind in Kind:
        assert re.search(rf"\| {kind.value} \| `{kind.name}`", page), kind


def test_a_bitmap_starts_at_the_highest_bit():
    assert wire.bitmap([0, 9], count=10) == b"\x80\x40"
    assert wire.read_bitmap(b"\x80\x40", count=10) == {0, 9}


@pytest.mark.parametrize(
    ("vector", "found"),
    [
        ([5, -5, 2**70], [3, -3, 3]),
        ((1, True, np.int8(-2)), [1, 1, -2]),
        (np.array([1, 2, 9], dtype=np.uint64), [1, 2, 3]),
        (np.array([True, False, True]), [1, 0, 1]),
        (np.array([1, 2, -(2**70)], dtype=object), [1, 2, -3]),
    ],
    ids=repr,
)
def test_whole_numbers_are_read_and_clipped(vector, found):
    assert clipped(vector, length=3, limit=3).tolist() == found


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        ([1, 2], "must have 3 whole"), ([1, 2, 3, 4], "must have 3 whole"),
        ([1, 2.0, 3], "of whole numbers"), (np.ones(3), "of whole numbers"),
        (np.array([1, 2.5, 3], dtype=object), "of whole numbers"),
        ([1, None, 3], "of whole numbers"),
        ("123", "must be a list"), (b"abc", "must be a list"), (7, "must be a list"),
        (np.zeros((3, 1), int), "must be a list"), ([1, [2], 3], "must be a list"),
        ([[1], [2], [3]], "must be a list"),
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), "must be a list"),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_not_a_vector_of_whole_numbers_is_refused_by_its_type(vector, message):
    with pytest.raises(dp.BadParameter, match=message):
        clipped(vector, length=3, limit=3)
