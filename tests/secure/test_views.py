"""What a coalition sees is what it could have made up from the sum alone.

The coordinator pools everything with colluding parties. They lift every mask that they know; what
is left of each honest vector must be uniform, and independent of all others but for their sum. The
family alarms falsely with probability below 1e-7.
"""

import numpy as np
import pytest
from tests import goodness

from deniable.secure import Round
from deniable.secure.keys import KEY_BYTES, KeyPair, mask
from deniable.secure.shamir import joined

from .rounds import Play

LENGTH = 20_000
CELLS = np.full(256, 1 / 256)


def view(vectors, colluders, gone=(), **facts):
    """Honest vectors as a coalition sees them, and the parties that are honest and still there."""
    play = Play(vectors, dropouts=1, colluding=len(colluders), **facts)
    messages = play.to(3, ((), (), gone, (), ()))
    masked = {int.from_bytes(m[22:26], "big"): np.frombuffer(m[26:], "<u4") for m in messages}
    play.coordinator.receive(*messages)
    play.finish()
    known = {i: play.parties[i]._masks_key for i in colluders}
    for i in gone:  # rebuilt by the coordinator
        known[i] = KeyPair(joined(play.coordinator._revealed[i], threshold=threshold(play)))
    honest = [i for i in masked if i not in colluders]
    return {i: peeled(play, i, masked[i], known) for i in honest}, play


def threshold(play):
    return play.round.shape.threshold


def peeled(play, party, words, keys):
    """A masked vector without the masks that the holders of these keys can compute."""
    words = words.copy()
    seed = joined(play.coordinator._revealed[party], threshold=threshold(play))
    words -= mask(seed, length=len(words), bits=32)
    public = play.coordinator._keys[party][KEY_BYTES : 2 * KEY_BYTES]
    for other, pair in keys.items():
        if other != party and other in play.round.near(party):
            use = b"masks" + play.round.id
            stream = mask(
                pair.agreed(public, use=use, ends=(other, party)), length=len(words), bits=32
            )
            (np.subtract if party < other else np.add)(words, stream, out=words)
    return words


def vectors(first, second):
    made = np.zeros((5, LENGTH), np.int64)
    made[0], made[1], made[2] = first, second, 7
    return made


@pytest.mark.statistical
@pytest.mark.parametrize("inputs", [(0, 9_000), (9_000, 0), (4_500, 4_500)])
def test_all_that_a_coalition_below_the_threshold_sees_is_the_sum(inputs):
    seen, _ = view(vectors(*inputs), colluders=[3], gone=(4,))
    assert sorted(seen) == [0, 1, 2]
    total = sum(seen.values(), np.zeros(LENGTH, np.uint32))
    assert (total == sum(inputs) + 7).all()
    for one, other in ((0, 1), (1, 2), (0, 2)):
        for shift in (0, 12, 24):
            byte = (seen[one] >> shift).astype(np.uint8)
            pair = (byte & 15) << 4 | ((seen[other] >> shift).astype(np.uint8) & 15)
            for cells in (byte, pair):
                assert goodness.cells(np.bincount(cells, minlength=256), CELLS) > 1e-9


@pytest.mark.statistical
def test_the_same_test_tells_a_protocol_without_masks_between_honest_parties():
    seen, play = view(vectors(0, 9_000), colluders=[3], gone=(4,))
    keys = {i: play.parties[i]._masks_key for i in range(5)}
    rest = {j: keys[j] for j in (0, 1, 2)}
    # As if nobody had added the masks that the coalition does not know.
    masked = {i: peeled_pairs(play, i, words, rest) for i, words in seen.items()}
    byte = masked[1].astype(np.uint8)
    assert goodness.cells(np.bincount(byte, minlength=256), CELLS) < 1e-9
    assert (masked[1] == 9_000).all()


@pytest.mark.statistical
def test_on_a_ring_all_but_one_of_a_party_s_neighbours_see_uniform_words():
    """The worst choice: two neighbours collude, and the key of a third, which is gone, is known."""
    made, nonce = np.zeros((66, LENGTH), np.int64), bytes(16)
    made[0], facts = 9_000, {"dropouts": 1, "colluding": 2, "limit": 10_000, "nonce": nonce}
    near = Round(parties=66, length=LENGTH, **facts).near(0)
    assert len(near) == 4
    seen, play = view(made, colluders=near[:2], gone=near[2:3], nonce=nonce)
    assert len(seen) == 63
    assert (sum(seen.values(), np.zeros(LENGTH, np.uint32)) == 9_000).all()
    for shift in (0, 12, 24):
        byte = (seen[0] >> shift).astype(np.uint8)
        assert goodness.cells(np.bincount(byte, minlength=256), CELLS) > 1e-9
    last = {near[3]: play.parties[near[3]]._masks_key}  # with the fourth, nothing would be hidden
    assert (peeled_pairs(play, 0, seen[0], last) == 9_000).all()


def peeled_pairs(play, party, words, keys):
    words = words.copy()
    public = play.coordinator._keys[party][KEY_BYTES : 2 * KEY_BYTES]
    for other, pair in keys.items():
        if other != party:
            use = b"masks" + play.round.id
            stream = mask(
                pair.agreed(public, use=use, ends=(other, party)), length=len(words), bits=32
            )
            (np.subtract if party < other else np.add)(words, stream, out=words)
    return words


def test_below_the_threshold_shares_fit_every_secret():
    """Whatever the secret is, t − 1 shares are those of some polynomial: they tell nothing."""
    from deniable.secure.shamir import PRIME, split

    shares = split(bytes(32), places=[1, 2, 3, 4], threshold=3)
    two = [int.from_bytes(s, "big") for s in shares[:2]]
    for secret in (0, 1, 2**255 + 5):
        # The line of degree 2 through (0, secret), (1, two[0]), (2, two[1]) exists and is one.
        a = (secret - 2 * two[0] + two[1]) * pow(2, -1, PRIME) % PRIME
        b = (two[0] - secret - a) % PRIME
        assert (secret + b + a) % PRIME == two[0]
        assert (secret + 2 * b + 4 * a) % PRIME == two[1]


@pytest.mark.statistical
def test_a_share_is_uniform_whatever_the_secret():
    from deniable.secure.shamir import split

    for secret in (bytes(32), b"\xff" * 32):
        bytes_seen = [split(secret, places=[9], threshold=2)[0][-1] for _ in range(20_000)]
        assert goodness.cells(np.bincount(bytes_seen, minlength=256), CELLS) > 1e-9


def test_a_party_that_lies_moves_the_sum_anywhere_in_the_range_of_honest_sums():
    """The risk that remains: masks hide a lie, so one party counts like all of them together."""
    play = Play(vectors(1, 2), dropouts=1, colluding=1)
    messages = play.to(3)
    words = np.frombuffer(messages[2][26:], "<u4") + np.uint32(40_000)
    messages[2] = messages[2][:26] + words.tobytes()
    play.coordinator.receive(*messages)
    assert (play.finish() == 1 + 2 + 7 + 40_000).all()
