"""Lattice sums are exact; products are right up to a depth, and silently wrong after it."""

import numpy as np
import pytest
import tenseal

import deniable as dp
from deniable.errors import MessageRejected
from deniable.secure.homomorphic.lattice import MODULUS, Lattice, depth


def test_sums_of_vectors_are_exact():
    made = np.arange(5 * 3000).reshape(5, 3000) % 2001 - 1000
    keys = Lattice(parties=5, limit=1000)
    boxes = [keys.encrypt(v) for v in made]
    total = boxes[0]
    for box in boxes[1:]:
        total = total + box
    assert keys.decrypt(total, length=3000).tolist() == made.sum(axis=0).tolist()


def test_parties_encrypt_without_the_secret_key():
    keys = Lattice(parties=3, limit=1000)
    public = keys.public
    assert not public.context.has_secret_key()
    total = public.encrypt([1, -2]) + public.encrypt([10, 20]) + keys.encrypt([100, 200])
    with pytest.raises(dp.BadParameter, match="secret key"):
        public.decrypt(total, length=2)
    assert keys.decrypt(total, length=2).tolist() == [111, 218]
    sent = tenseal.bfv_vector_from(keys.context, total.serialize())
    assert keys.decrypt(sent, length=2).tolist() == [111, 218]


def test_a_sum_that_no_honest_parties_can_have_sent_is_rejected():
    keys = Lattice(parties=3, limit=1000)
    most = keys.encrypt([1000, -1000]) * 3
    assert keys.decrypt(most, length=2).tolist() == [3000, -3000]
    strange = Lattice(parties=3, limit=1000).encrypt([1, 2])  # random under this key, P < 1e-10
    for lie in (most + keys.encrypt([1, 0]), most + keys.encrypt([0, -1]), most * 99, strange):
        with pytest.raises(MessageRejected, match="no honest sum") as rejected:
            keys.decrypt(lie, length=2)
        assert "counts as spent" in rejected.value.cost
    for length in (1, 3, 0, -1):
        with pytest.raises(dp.BadParameter):
            keys.decrypt(most, length=length)
    with pytest.raises(dp.BadParameter):
        keys.decrypt([1, 2], length=2)


def test_a_levelled_scheme_fails_past_its_depth_and_larger_parameters_are_deeper():
    small, large = depth(4096), depth(8192)
    assert 1 <= small < large < 12


def test_sums_that_do_not_fit_are_refused():
    with pytest.raises(dp.BadParameter):
        Lattice(parties=2, limit=MODULUS // 4 + 1)
    with pytest.raises(dp.BadParameter):
        Lattice(parties=2, limit=5).encrypt(np.zeros(8193, int))
    with pytest.raises(dp.BadParameter):
        depth(2)
