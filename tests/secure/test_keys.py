"""Codes, signatures and keys are those of the standards, and every part of them counts."""

import hashlib
import hmac

import pytest

from deniable.secure.keys import Identity, KeyPair, code, is_signed, same

# The first, second and sixth case of RFC 4231.
CASES = [
    ("0b" * 20, b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (
        b"Jefe".hex(),
        b"what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ),
    (
        "aa" * 131,
        b"Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ),
]


@pytest.mark.parametrize(("key", "data", "wanted"), CASES, ids=range(len(CASES)))
def test_a_code_is_the_hmac_of_all_parts(key, data, wanted):
    key = bytes.fromhex(key)
    assert code(key, data).hex() == wanted
    assert code(key, data[:5], data[5:]).hex() == wanted
    assert code(key, data, b"more") == hmac.new(key, data + b"more", hashlib.sha256).digest()


def test_codes_are_equal_only_if_every_byte_is():
    one = bytes(range(32))
    assert same(one, bytes(one))
    assert not any(same(one, one[:i] + bytes([one[i] ^ 1]) + one[i + 1 :]) for i in range(32))


def test_a_signature_is_for_its_owner_and_its_data():
    one, two = Identity(), Identity()
    signed = one.sign(b"data")
    assert is_signed(one.public, signed, b"data")
    assert not is_signed(one.public, signed, b"other")
    assert not is_signed(two.public, signed, b"data")
    assert not is_signed(b"short", signed, b"data")
    assert is_signed(one.public, Identity(one.private).sign(b"data"), b"data")


def test_two_ends_agree_on_a_key_that_depends_on_use_numbers_and_keys():
    one, two, three = KeyPair(), KeyPair(), KeyPair()

    def agreed(own, other, *, use=b"masks", ends=(4, 7)):
        return own.agreed(other.public, use=use, ends=ends)

    both = agreed(one, two)
    assert both == agreed(two, one, ends=(7, 4)) == agreed(KeyPair(one.private), two)
    others = [
        agreed(one, two, use=b"letters"),
        agreed(one, two, ends=(4, 8)),
        agreed(one, two, ends=(5, 7)),
        agreed(one, two, ends=(7, 4)),
        agreed(one, three),
    ]
    assert len({both, *others}) == 6
