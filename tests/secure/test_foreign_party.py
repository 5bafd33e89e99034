"""A party written from docs/reference/secure-sum-messages.md alone takes part in a round.

It uses `hashlib`, `hmac` and `cryptography`, and nothing of deniable: what the page leaves out, or
says otherwise than the code does, keeps it from being understood.
"""

import hashlib
import hmac
import json
import secrets

import numpy as np
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from deniable.secure import Coordinator, Party, Round

PRIME = 2**256 + 297


def four(number):
    return number.to_bytes(4, "big")


def table(entries):
    return four(len(entries)) + b"".join(four(i) + entries[i] for i in sorted(entries))


def read(payload, size):
    count = int.from_bytes(payload[:4], "big")
    rows = [payload[4 + i * (size + 4) :][: size + 4] for i in range(count)]
    return {int.from_bytes(row[:4], "big"): row[4:] for row in rows}


def shared(secret, places, threshold):
    line = [
        int.from_bytes(secret, "big"),
        *(secrets.randbelow(PRIME) for _ in range(threshold - 1)),
    ]
    values = (sum(a * place**power for power, a in enumerate(line)) % PRIME for place in places)
    return [value.to_bytes(33, "big") for value in values]


class Foreign:
    """A party by its number, from the bytes of an announcement; its sums fit in 32 bits."""

    def __init__(self, announcement, index):
        self.index, self.facts = index, json.loads(announcement)
        self.id = hashlib.sha256(b"deniable secure sum round" + announcement).digest()[:16]
        self.letters, self.masks = X25519PrivateKey.generate(), X25519PrivateKey.generate()
        self.seed = secrets.token_bytes(32)
        n, c, d = self.facts["parties"], max(self.facts["colluding"], 1), self.facts["dropouts"]
        even = c + d + 1 + (c + d + 1) % 2
        ring = n > 64 and even < n - 1
        self.threshold = c + 1 if ring else n - 1 - d
        order = sorted(range(n), key=lambda i: hashlib.sha256(self.id + four(i)).digest())
        at, half = order.index(index), even // 2
        near = [order[(at + step) % n] for step in range(-half, half + 1) if step]
        self.near = set(near) if ring else set(range(n)) - {index}

    def header(self, kind):
        return b"dnsa" + bytes([2, kind]) + self.id + four(self.index)

    def payload(self, message, kind):
        assert message[:26] == self.header(kind)
        return message[26:]

    @property
    def publics(self):
        return self.letters.public_key().public_bytes_raw() + (
            self.masks.public_key().public_bytes_raw()
        )

    def key(self, use, own, who, public):
        ends = {self.index: own.public_key().public_bytes_raw(), who: public}
        info = use + self.id + b"".join(four(i) + ends[i] for i in sorted(ends))
        secret = own.exchange(X25519PublicKey.from_public_bytes(public))
        return HKDF(hashes.SHA256(), 32, salt=None, info=info).derive(secret)

    def words(self, key):
        stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        return np.frombuffer(stream.update(bytes(4 * self.facts["length"])), "<u4")

    def advertise(self):
        return self.header(1) + self.publics + bytes(64)

    def share(self, roster):
        self.keys = {i: e[:64] for i, e in read(self.payload(roster, 2), 128).items()}
        assert set(self.keys) <= self.near
        self.sealing = {
            i: self.key(b"letters", self.letters, i, k[:32]) for i, k in self.keys.items()
        }
        places = [i + 1 for i in self.keys]
        seeds = shared(self.seed, places, self.threshold)
        privates = shared(self.masks.private_bytes_raw(), places, self.threshold)
        sealed = {
            i: AESGCM(self.sealing[i]).encrypt(
                self.index.to_bytes(6, "big") + i.to_bytes(6, "big"),
                one + other,
                self.id + self.publics + self.keys[i],
            )
            for i, one, other in zip(self.keys, seeds, privates, strict=True)
        }
        return (
            self.header(3) + hashlib.sha256(b"seed" + self.id + self.seed).digest() + table(sealed)
        )

    def mask(self, delivery, vector):
        self.held = {
            i: AESGCM(self.sealing[i]).decrypt(
                i.to_bytes(6, "big") + self.index.to_bytes(6, "big"),
                letter,
                self.id + self.keys[i] + self.publics,
            )
            for i, letter in read(self.payload(delivery, 4), 82).items()
        }
        words = np.array(vector, "<i4").view("<u4") + self.words(self.seed)
        for i in self.held:
            stream = self.words(self.key(b"masks", self.masks, i, self.keys[i][32:]))
            words = words + stream if i > self.index else words - stream
        return self.header(5) + words.tobytes()

    def code(self, sender, receiver):
        said = b"survivors" + self.id + four(sender) + four(receiver) + self.told
        other = receiver if sender == self.index else sender
        return hmac.digest(self.sealing[other], said, "sha256")

    def confirm(self, survivors):
        self.told = self.payload(survivors, 6)
        bits = np.unpackbits(np.frombuffer(self.told, np.uint8))
        self.there = set(np.flatnonzero(bits).tolist())
        left = self.there & set(self.held)
        return self.header(7) + table({i: self.code(self.index, i) for i in left})

    def reveal(self, confirmations):
        codes = read(self.payload(confirmations, 8), 32)
        assert len(codes) >= self.threshold
        assert all(given == self.code(i, self.index) for i, given in codes.items())
        shares = {
            i: b"\0" + pair[:33] if i in self.there else b"\1" + pair[33:]
            for i, pair in self.held.items()
        }
        return self.header(9) + table(shares)


@pytest.mark.parametrize(
    ("parties", "dropouts", "colluding"), [(5, 1, 1), (3, 0, 0), (70, 3, 2), (66, 2, 0)]
)
@pytest.mark.parametrize("foreign", ["every second", "all"])
def test_a_party_written_from_the_page_takes_part(parties, dropouts, colluding, foreign):
    round_ = Round(parties=parties, length=2, limit=1000, dropouts=dropouts, colluding=colluding)
    told = round_.to_bytes()
    taking_part = [
        Foreign(told, i) if foreign == "all" or i % 2 else Party(Round.from_bytes(told), i)
        for i in range(parties)
    ]
    coordinator = Coordinator(round_)
    coordinator.receive(*(p.advertise() for p in taking_part))
    rosters = coordinator.rosters()
    coordinator.receive(*(p.share(rosters[p.index]) for p in taking_part))
    letters = coordinator.deliveries()
    left = taking_part[dropouts:]
    coordinator.receive(*(p.mask(letters[p.index], [p.index, -5]) for p in left))
    survivors = coordinator.survivors()
    coordinator.receive(*(p.confirm(survivors[p.index]) for p in left))
    codes = coordinator.confirmations()
    coordinator.receive(*(p.reveal(codes[p.index]) for p in left))
    assert coordinator.total().tolist() == [sum(range(dropouts, parties)), -5 * len(left)]
