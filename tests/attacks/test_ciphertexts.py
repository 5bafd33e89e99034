"""Multiplicative specimens leak; Paillier does not to the same attacks."""

import pytest

import deniable as dp
from deniable.attacks import ciphertexts
from deniable.secure.homomorphic.paillier import PrivateKey
from deniable.secure.homomorphic.specimens import GENERATOR, GROUP, PlainElGamal, UnpaddedRsa

SALARIES = range(30_000, 30_400)


def test_an_unpadded_rsa_ciphertext_is_read_by_whoever_can_guess():
    key = UnpaddedRsa.generate()
    found = ciphertexts.rsa(key.encrypt(30_123), n=key.n, e=key.e, candidates=SALARIES)
    assert found.message == 30_123
    assert "the message is 30123" in str(found)


def test_an_elgamal_ciphertext_tells_whether_its_message_is_a_square():
    """Both messages are tried often: never wrong, whatever the randomness."""
    key = PlainElGamal.generate()
    square = 4
    other = next(m for m in range(2, 99) if pow(m, (GROUP - 1) // 2, GROUP) != 1)
    for message in [square, other] * 4:
        found = ciphertexts.elgamal(
            key.encrypt(message), p=GROUP, g=GENERATOR, h=key.h, candidates=[square, other]
        )
        assert found.message == message


def test_anyone_can_change_what_the_specimens_encrypt():
    rsa, elgamal = UnpaddedRsa.generate(), PlainElGamal.generate()
    assert rsa.decrypt(rsa.encrypt(500) * rsa.encrypt(3) % rsa.n) == 1500
    first, second = elgamal.encrypt(500)
    assert elgamal.decrypt((first, second * 3 % GROUP)) == 1500


def test_the_defended_twin_gives_no_candidate_away():
    key = PrivateKey.generate(parties=2, length=1, limit=40_000)
    (cipher,) = key.public.encrypt([30_123]).ciphers
    again = {key.public.encrypt([m]).ciphers[0] for m in range(30_120, 30_126)}
    assert cipher not in again
    assert key.decrypt(key.public.encrypt([30_123])).tolist() == [30_123]


def test_what_the_attack_needs_is_checked():
    with pytest.raises(dp.BadParameter):
        ciphertexts.elgamal((1, 1), p=GROUP, g=4, h=1, candidates=[1, 2])
    with pytest.raises(dp.BadParameter):
        ciphertexts.rsa(1, n=15, e=3, candidates=[])
    with pytest.raises(dp.BadParameter):
        UnpaddedRsa.generate().encrypt(0)
