"""Packed Paillier sums are exact, fresh each time, and only for vectors that fit."""

import dataclasses
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.errors import MessageRejected
from deniable.secure.homomorphic import paillier
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


# ---- keys so small that everything can be enumerated


@pytest.fixture
def small(monkeypatch):
    """Keys of ten bits: nobody may use them."""
    monkeypatch.setattr(paillier, "LEAST_BITS", 10)
    return PrivateKey(p=29, q=31, public=PublicKey(n=899, parties=2, length=7, limit=2))


@pytest.mark.parametrize("name", ["parties", "length", "limit"])
def test_the_facts_of_a_key_are_whole_numbers_from_1_on(name, small):
    facts = {"n": 899, "parties": 2, "length": 7, "limit": 2}
    made = PublicKey(**(facts | {name: np.int8(facts[name])}))
    assert made == small.public
    assert type(getattr(made, name)) is int
    for wrong in (0, -1, 1.5, "2", None):
        with pytest.raises(dp.BadParameter, match=name):
            PublicKey(**(facts | {name: wrong}))


def test_primes_that_make_no_key_are_drawn_again(monkeypatch, small):
    """Equal ones; a product that is too short; and one that divides the other less 1."""
    drawn = iter([29, 29, 3, 5, 11, 67, 29, 31])
    asked = []
    monkeypatch.setattr(paillier, "_prime", lambda bits: asked.append(bits) or next(drawn))
    made = PrivateKey.generate(parties=2, length=7, limit=2, bits=10)
    assert (made.p, made.q, made.public) == (29, 31, small.public)
    assert asked == [5, 5] * 4


@pytest.mark.parametrize(("bits", "halves"), [(10, (5, 5)), (11, (5, 6))])
def test_the_halves_of_a_key_have_all_its_bits(bits, halves, monkeypatch):
    monkeypatch.setattr(paillier, "LEAST_BITS", 10)
    asked = []
    primes = {5: iter([31, 29]), 6: iter([59])}
    monkeypatch.setattr(paillier, "_prime", lambda b: asked.append(b) or next(primes[b]))
    made = PrivateKey.generate(parties=1, length=1, limit=1, bits=bits)
    assert tuple(asked) == halves
    assert made.public.n.bit_length() == bits


@pytest.mark.parametrize("bits", [8, 16, 33])
def test_a_prime_has_its_two_highest_bits_set(bits):
    for _ in range(20):
        prime = paillier._prime(bits)
        assert prime >> (bits - 2) == 3
        assert all(prime % d for d in range(2, min(prime, 300)))


def test_every_plaintext_of_a_small_key_is_read_from_every_encryption(small):
    n, square = 899, 899**2
    for plain in (0, 1, 28, 29, 500, 898):
        for r in (1, 2, 30, 898):
            assert small._plain((1 + n * plain) * pow(r, n, square) % square) == plain


@pytest.mark.parametrize(
    ("parties", "limit", "slot", "packed"), [(2, 2, 4, 2), (1, 1, 2, 4), (1, 2, 3, 3), (4, 2, 5, 1)]
)
def test_counters_are_as_wide_as_their_sum(parties, limit, slot, packed, small):
    public = PublicKey(n=899, parties=parties, length=7, limit=limit)
    assert (public.slot, public.packed) == (slot, packed)
    assert len(public.encrypt([0] * 7).ciphers) == -(-7 // packed)
    assert 1 << slot > 2 * limit * parties >= 1 << (slot - 1)


def test_counters_lie_side_by_side_lowest_first(small, monkeypatch):
    monkeypatch.setattr(PublicKey, "coprime", lambda self: 1)
    box = small.public.encrypt([-2, -1, 0, 1, 2, 9, -9])
    plains = [small._plain(c) for c in box.ciphers]
    assert plains == [0 + (1 << 4), 2 + (3 << 4), 4 + (4 << 4), 0]
    assert box.ciphers[0] == (1 + 899 * 16) % 899**2
    assert small.decrypt(box + box).tolist() == [-4, -2, 0, 2, 4, 4, -4]


def test_randomness_is_coprime_to_the_key(small, monkeypatch):
    drawn = iter([0, 29, 62, 30])
    monkeypatch.setattr(paillier, "below", lambda bound, count: [next(drawn)] * (bound == 899))
    assert small.public.coprime() == 30


def test_a_sum_is_made_anew(small, monkeypatch):
    box = small.public.encrypt([1] * 7)
    monkeypatch.setattr(PublicKey, "coprime", lambda self: 5)
    fresh = Encrypted.sum([box])
    assert fresh.ciphers == tuple(c * pow(5, 899, 899**2) % 899**2 for c in box.ciphers)
    assert fresh.added == 1
    assert Encrypted.sum([box, box]).added == 2


def test_only_its_own_key_reads_a_sum(small):
    other = PrivateKey(p=29, q=31, public=PublicKey(n=899, parties=2, length=7, limit=1))
    with pytest.raises(dp.BadParameter, match="another key"):
        other.decrypt(small.public.encrypt([1] * 7))
