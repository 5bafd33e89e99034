"""Packed Paillier sums are exact, fresh each time, and only for vectors that fit."""

import dataclasses
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.errors import MessageRejected
from deniable.secure.homomorphic.paillier import Encrypted, PrivateKey, PublicKey

LIMIT = 1000


@pytest.fixture(scope="module")
def key():
    return PrivateKey.generate(parties=3, length=250, limit=LIMIT)


def test_keys_have_at_least_3072_bits_and_many_numbers_fit_in_a_ciphertext(key):
    assert key.public.n.bit_length() == 3072
    assert key.public.slot == 13
    assert key.public.packed == 236
    assert len(key.public.encrypt(np.zeros(250, int)).ciphers) == 2
    with pytest.raises(dp.BadParameter):
        PrivateKey.generate(parties=3, length=4, limit=9, bits=2048)


def test_the_sum_of_ciphertexts_is_the_sum_of_vectors(key):
    made = np.arange(3 * 250).reshape(3, 250) * 7 % 2001 - LIMIT
    made[0, 0] = made[1, 0] = made[2, 0] = LIMIT
    made[0, 1] = made[1, 1] = made[2, 1] = -LIMIT
    total = Encrypted.sum([key.public.encrypt(v) for v in made])
    assert key.decrypt(total).tolist() == made.sum(axis=0).tolist()


@settings(max_examples=3)
@given(st.lists(st.integers(-5000, 5000), min_size=250, max_size=250))
def test_what_was_encrypted_is_read_clipped(key, values):
    read = key.decrypt(key.public.encrypt(values))
    assert read.tolist() == np.clip(values, -LIMIT, LIMIT).tolist()


def test_the_same_vector_is_never_encrypted_the_same(key):
    same = [key.public.encrypt(np.ones(250, int)).ciphers for _ in range(2)]
    assert not set(same[0]) & set(same[1])


def test_more_vectors_than_there_are_parties_are_refused(key):
    box = key.public.encrypt(np.ones(250, int))
    with pytest.raises(dp.BadParameter):
        box + box + box + box
    n, first = key.public.n, box.ciphers[0]
    outside = [0, -1, n, 2 * n, n * n - n, n * n, n * n + 1]
    wrong = [(each, first) for each in outside] + [(first, each) for each in outside]
    for bad in (*({"ciphers": c} for c in wrong), {"ciphers": box.ciphers[:1]}, {"added": 0}):
        with pytest.raises(dp.BadParameter):
            dataclasses.replace(box, **bad)
    with pytest.raises(dp.BadParameter):
        key.public.encrypt([1, 2])
    other = dataclasses.replace(
        box, key=PublicKey(n=key.public.n, parties=3, length=250, limit=LIMIT - 1)
    )
    with pytest.raises(dp.BadParameter, match="same key"):
        box + other


@pytest.mark.parametrize(
    ("parties", "limit"), [(1, 2**63), (2, 2**62), (3, 2**62), (3, 2**63 - 1), (2, 2**64)]
)
def test_a_key_whose_sums_may_not_fit_is_refused_whatever_the_data(key, parties, limit):
    n = key.public.n
    with pytest.raises(dp.BadParameter, match="64 bits"):
        PublicKey(n=n, parties=parties, length=1, limit=limit)


@pytest.mark.parametrize(("parties", "limit"), [(1, 2**63 - 1), (2, 2**62 - 1)])
def test_the_largest_sums_are_read(key, parties, limit):
    public = PublicKey(n=key.public.n, parties=parties, length=2, limit=limit)
    made = dataclasses.replace(key, public=public)
    for numbers in ([2**63 - 1, 2**53 + 1], [-(2**70), 0], [2**53 + 1, 2**64]):
        total = Encrypted.sum([made.public.encrypt(numbers)] * parties)
        exact = [parties * max(-limit, min(int(x), limit)) for x in numbers]
        assert made.decrypt(total).tolist() == exact


def hidden(public, plain):
    """Any plaintext below n, as a party that lies can encrypt it."""
    square = public.n**2
    blind = pow(int.from_bytes(os.urandom(384), "big") % public.n, public.n, square)
    cipher = (1 + public.n * plain) * blind % square
    others = public.encrypt(np.zeros(public.length, int)).ciphers[1:]
    return Encrypted(key=public, ciphers=(cipher, *others), added=1)


@pytest.mark.parametrize(("parties", "limit"), [(3, LIMIT), (1, 2**63 - 1), (2, 2**62 - 1)])
def test_a_sum_that_no_honest_parties_can_have_sent_is_rejected(key, parties, limit):
    """Counters too large, bits beside the counters, or all of them."""
    public = PublicKey(n=key.public.n, parties=parties, length=3, limit=limit)
    holder = dataclasses.replace(key, public=public)
    slot, most = public.slot, 2 * limit * parties
    honest = [public.encrypt([1, 2, 3]) for _ in range(parties - 1)]
    zeros = sum(limit << slot * i for i in range(3))
    told = holder.decrypt(Encrypted.sum([*honest, hidden(public, zeros + 1)]))
    assert told.tolist() == [parties, 2 * (parties - 1), 3 * (parties - 1)]
    too_much = most + 1 - parties * limit - 2 * (parties - 1)
    for plain in (
        zeros + (too_much << slot),
        zeros + (1 << slot * 3),
        zeros + (1 << slot * (public.packed - 1)),
        zeros + (1 << slot * public.packed),
        public.n // 2,
    ):
        with pytest.raises(MessageRejected, match="no honest sum") as rejected:
            holder.decrypt(Encrypted.sum([*honest, hidden(public, plain)]))
        assert "counts as spent" in rejected.value.cost


def test_what_is_no_ciphertext_and_no_key_is_refused(key):
    box = key.public.encrypt(np.ones(250, int))
    for bad in ((1.5, 2), ("1", 2), (None, 2)):
        with pytest.raises(dp.BadParameter):
            dataclasses.replace(box, ciphers=bad)
    with pytest.raises(dp.BadParameter):
        Encrypted.sum([])
    with pytest.raises(dp.BadParameter):
        PublicKey(n="text", parties=2, length=1, limit=1)


def test_the_primes_do_not_show(key):
    assert str(key.p) not in repr(key)
