"""The sum is exact whoever drops out when, and whatever is wrong with a message, it is rejected."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.errors import MessageRejected
from deniable.secure import Coordinator, Identity, Party, Round, run, wire
from deniable.secure.wire import Kind

from .rounds import Play

SEVEN = np.arange(7 * 4).reshape(7, 4) * np.array([1, -1, 100, 7])


@settings(max_examples=25)
@given(st.data())
def test_the_sum_is_exact_whoever_drops_out_at_whichever_step(data):
    count, length = data.draw(st.integers(5, 9)), data.draw(st.integers(1, 5))
    vectors = data.draw(
        st.lists(
            st.lists(st.integers(-10_000, 10_000), min_size=length, max_size=length),
            min_size=count,
            max_size=count,
        )
    )
    who = data.draw(st.permutations(range(count)))[:2]
    when = [data.draw(st.integers(0, 4)) for _ in who]
    gone = [tuple(w for w, step in zip(who, when, strict=True) if step == n) for n in range(5)]
    play = Play(vectors, dropouts=2, colluding=1)
    late = {*gone[3], *gone[4]}  # their vectors had arrived
    kept = [i for i in range(count) if i not in set(who) - late]
    assert play.total(gone).tolist() == np.array(vectors)[kept].sum(axis=0).tolist()


@pytest.mark.parametrize("limit", [10, 2**40])
def test_words_are_as_wide_as_the_sum_needs_and_values_beyond_the_limit_are_clipped(limit):
    vectors = np.array([[limit, -limit, 10 * limit], [limit, -limit, 0], [limit, 5, 0]])
    play = Play(vectors, limit=limit)
    assert play.round.bits == (32 if limit == 10 else 64)
    assert play.total().tolist() == np.clip(vectors, -limit, limit).sum(axis=0).tolist()


def test_a_sparse_round_gives_the_same_sum():
    vectors = np.arange(70 * 3).reshape(70, 3)
    round_ = Round(parties=70, length=3, limit=1000, dropouts=3, colluding=2)
    assert round_.shape.degree < 69
    missing = frozenset({0, 17, 69})
    kept = [i for i in range(70) if i not in missing]
    total = run(round_, vectors, missing=missing)
    assert total.tolist() == vectors[kept].sum(axis=0).tolist()


def test_neighbours_are_mutual_and_known_from_the_round_alone():
    round_ = Round(parties=70, length=3, dropouts=3, colluding=2)
    again = Round.from_bytes(round_.to_bytes())
    assert again == round_
    for party in range(70):
        near = round_.near(party)
        assert again.near(party) == near
        assert len(near) == round_.shape.degree
        assert party not in near
        assert all(party in round_.near(other) for other in near)


# ---- too few


@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_with_too_few_parties_a_step_does_not_end(step):
    play = Play(SEVEN, dropouts=1, colluding=1)
    gone = [(), (), (), (), ()]
    gone[step] = (2, 5)
    with pytest.raises(MessageRejected, match="are needed"):
        play.total(gone)


def test_with_too_few_shares_nothing_is_unmasked_and_later_ones_still_count():
    play = Play(SEVEN, dropouts=1, colluding=1)
    messages = play.to(5)
    play.coordinator.receive(*messages[:5])
    with pytest.raises(MessageRejected, match="shares"):
        play.coordinator.total()
    play.coordinator.receive(*messages[5:])
    assert play.coordinator.total().tolist() == SEVEN.sum(axis=0).tolist()


def test_a_party_refuses_to_unmask_a_sum_with_less_noise_than_promised():
    play = Play(SEVEN, dropouts=1, colluding=1)
    play.coordinator.receive(*play.to(3))
    said = wire.written(Kind.SURVIVORS, play.round, 0, wire.bitmap(range(5), count=7))
    with pytest.raises(MessageRejected, match="less noise"):
        play.parties[0].confirm(said)
    missing = wire.written(Kind.SURVIVORS, play.round, 0, wire.bitmap(range(1, 7), count=7))
    with pytest.raises(MessageRejected, match="vector is missing"):
        play.parties[0].confirm(missing)


def test_a_party_never_answers_a_second_request():
    """Else one request for the seed and one for the key of the same party would unmask it."""
    play = Play(SEVEN, dropouts=1, colluding=1)
    play.coordinator.receive(*play.to(3))
    first = wire.written(Kind.SURVIVORS, play.round, 0, wire.bitmap(range(7), count=7))
    second = wire.written(Kind.SURVIVORS, play.round, 0, wire.bitmap(range(6), count=7))
    play.parties[0].confirm(first)
    for again in (first, second):
        with pytest.raises(MessageRejected, match="once, in order"):
            play.parties[0].confirm(again)


def test_a_late_vector_is_rejected_and_still_covered_by_its_seed():
    play = Play(SEVEN, dropouts=1, colluding=1)
    messages = play.to(3)
    late = messages.pop(3)
    play.coordinator.receive(*messages)
    play.coordinator.receive(*play.confirmed(play.coordinator.survivors()))
    with pytest.raises(MessageRejected, match="another step"):
        play.coordinator.receive(late)
    play.coordinator.receive(*play.revealed(play.coordinator.confirmations()))
    without = SEVEN[[0, 1, 2, 4, 5, 6]].sum(axis=0)
    assert play.coordinator.total().tolist() == without.tolist()
    # All pairwise masks of party 3 can be lifted now; its own mask remains.
    words = np.frombuffer(late[26:], "<u4").copy()
    play.coordinator._sum += words
    with pytest.raises(MessageRejected, match="no honest sum"):
        play.coordinator.total()


# ---- wrong messages


def changed(message, kind):
    """Ways in which a message can be wrong without anyone knowing its meaning."""
    header, payload = message[:26], message[26:]
    yield "empty", b""
    yield "not bytes", "text"
    yield "half a header", header[:13]
    yield "no payload", header
    yield "too long", message + b"\0"
    yield "too short", message[:-1]
    yield "another protocol", b"xxxx" + message[4:]
    yield "another version", message[:4] + b"\1" + message[5:]
    yield "unknown kind", message[:5] + b"\x63" + message[6:]
    yield "another kind", message[:5] + bytes([kind % 9 + 1]) + message[6:]
    yield "another round", message[:6] + bytes(16) + message[22:]
    yield "no such party", message[:22] + b"\xff\xff\xff\xff" + payload


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_whatever_is_wrong_with_a_message_the_coordinator_rejects_it_and_goes_on(step):
    play = Play(SEVEN, dropouts=1, colluding=1)
    messages = play.to(step)
    kind = Kind([1, 3, 5, 7, 9][step - 1])
    for name, wrong in changed(messages[2], kind):
        with pytest.raises(MessageRejected):
            assert play.coordinator.receive(wrong), name
    play.coordinator.receive(*messages)
    with pytest.raises(MessageRejected, match="already"):
        play.coordinator.receive(messages[2])  # a duplicate
    rest = Play(SEVEN, dropouts=1, colluding=1)
    rest.total()
    with pytest.raises(MessageRejected, match="another round"):
        rest.coordinator.receive(messages[2])  # a replay


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_whatever_is_wrong_with_a_message_a_party_rejects_it_and_goes_on(step):
    play = Play(SEVEN, dropouts=1, colluding=1)
    messages = play.to(step)
    play.coordinator.receive(*messages)
    replies = play.steps()[step - 1][0]()
    ways = [Party.share, lambda p, m: p.mask(m, SEVEN[p.index]), Party.confirm, Party.reveal]
    act = ways[step - 1]
    for name, wrong in changed(replies[2], [2, 4, 6, 8][step - 1]):
        with pytest.raises(MessageRejected):
            assert not act(play.parties[2], wrong), name
    with pytest.raises(MessageRejected, match="is for party"):
        act(play.parties[2], replies[3])
    act(play.parties[2], replies[2])


@settings(max_examples=60)
@given(st.data())
def test_no_changed_byte_of_a_message_makes_another_sum(data):
    """A flipped bit is rejected, or is in the masked vector itself, which carries no signature."""
    play = Play(SEVEN[:5], dropouts=1, colluding=1)
    step = data.draw(st.sampled_from([1, 2, 4, 5]))
    messages = play.to(step)
    victim = data.draw(st.integers(0, len(messages) - 1))
    place = data.draw(st.integers(0, len(messages[victim]) - 1))
    bent = bytearray(messages[victim])
    bent[place] ^= 1 << data.draw(st.integers(0, 7))
    messages[victim] = bytes(bent)
    try:
        play.coordinator.receive(*messages)
        for close, speak in play.steps()[step - 1 :]:
            play.coordinator.receive(*speak(close()))
        total = play.coordinator.total()
    except MessageRejected:
        return
    assert total.tolist() == SEVEN[:5].sum(axis=0).tolist()


def test_tables_with_strangers_doubles_or_gaps_are_rejected():
    play = Play(SEVEN, dropouts=1, colluding=1)
    play.coordinator.receive(*play.to(1))
    rosters = play.coordinator.rosters()
    entries = wire.read_table(rosters[0][26:], size=128, known=range(7))
    one = entries[1]
    for wrong in (
        wire.table({0: one} | entries),
        wire.table(entries)[:4] + wire.table(entries)[4 + 132 :] + wire.table({2: one})[4:],
        wire.table({1: one, 2: one}),
    ):
        with pytest.raises(MessageRejected):
            play.parties[0].share(wire.written(Kind.ROSTER, play.round, 0, wrong))


def test_a_public_key_of_small_order_is_rejected():
    play = Play(SEVEN, dropouts=1, colluding=1)
    play.coordinator.receive(*play.to(1))
    entries = wire.read_table(play.coordinator.rosters()[0][26:], size=128, known=range(7))
    small = bytes(32) + (1).to_bytes(32, "little") + bytes(64)
    bad = wire.written(Kind.ROSTER, play.round, 0, wire.table(entries | {3: small}))
    with pytest.raises(MessageRejected, match="point"):
        play.parties[0].share(bad)


def test_a_party_that_shares_another_secret_is_found_out():
    play = Play(SEVEN, dropouts=1, colluding=1)
    liar = play.parties[4]
    play.coordinator.receive(*play.to(1))
    rosters = play.coordinator.rosters()
    liar_message = liar.share(rosters[4])
    other = liar_message[:26] + bytes(32) + liar_message[58:]  # another commitment
    play.coordinator.receive(other, *play.shares(rosters, without=(4,)))
    play.coordinator.receive(*play.masked(play.coordinator.deliveries()))
    with pytest.raises(MessageRejected, match="party 4"):
        play.finish()


@pytest.mark.parametrize("vector", [[1, 2], [[1, 2, 3, 4]], [1.5, 2, 3, 4], "abcd", None])
def test_a_vector_of_the_wrong_length_or_kind_is_refused_by_its_own_party(vector):
    play = Play(SEVEN, dropouts=1, colluding=1)
    play.coordinator.receive(*play.to(2))
    letters = play.coordinator.deliveries()
    with pytest.raises((dp.BadParameter, TypeError)):
        play.parties[0].mask(letters[0], vector)
    play.parties[0].mask(letters[0], [1, 2, 3, 4])


# ---- a coordinator that lies


def told(play, party, there):
    bits = wire.bitmap(there, count=play.round.parties)
    return wire.written(Kind.SURVIVORS, play.round, party, bits)


def test_a_coordinator_that_tells_parties_different_things_unmasks_nothing():
    """Five parties, one colluding: told so, four honest ones would give away the sum of two."""
    play = Play(SEVEN[:5], dropouts=1, colluding=1)
    assert play.round.agreed
    play.coordinator.receive(*play.to(3))
    lies = {0: {0, 1, 3, 4}, 3: {0, 1, 3, 4}, 1: {0, 1, 2, 4}, 2: {0, 1, 2, 4}}
    codes = {
        i: wire.read_table(
            play.parties[i].confirm(told(play, i, there))[26:], size=32, known=range(5)
        )
        for i, there in lies.items()
    }
    for i, there in lies.items():
        others = {j: codes[j][i] for j in codes if i in codes[j] and j in there}
        honest = {j: c for j, c in others.items() if lies[j] == there}
        for sent in (others, honest):  # with wrong codes, or with too few
            message = wire.written(Kind.CONFIRMATIONS, play.round, i, wire.table(sent))
            with pytest.raises(MessageRejected):
                play.parties[i].reveal(message)


@pytest.mark.parametrize(
    ("facts", "agreed"), [((5, 1, 1), True), ((6, 2, 1), False), ((4, 1, 1), False)]
)
def test_which_rounds_find_out_a_lying_coordinator(facts, agreed):
    parties, dropouts, colluding = facts
    round_ = Round(parties=parties, length=1, dropouts=dropouts, colluding=colluding)
    assert round_.agreed is agreed


def test_with_a_directory_nobody_can_pretend_to_be_another():
    round_ = Round(parties=3, length=1)
    known = [Identity(), Identity(), Identity()]
    directory = {i: each.public for i, each in enumerate(known)}
    for signer, right in ((known[1], True), (Identity(), False), (None, False)):
        signers = [known[0], signer, known[2]]
        parties = [
            Party(round_, i, identity=each, directory=directory) for i, each in enumerate(signers)
        ]
        coordinator = Coordinator(round_)
        coordinator.receive(*(p.advertise() for p in parties))
        roster = coordinator.rosters()[0]
        if right:
            parties[0].share(roster)
        else:
            with pytest.raises(MessageRejected, match="not signed"):
                parties[0].share(roster)
    assert Identity(known[0].private).public == known[0].public
    assert "hidden" in repr(known[0])


def test_secrets_do_not_show():
    play = Play(SEVEN[:3])
    play.total()
    for text in (repr(play.parties[0]), repr(play.parties[0]._masks_key)):
        assert "hidden" in text
    assert isinstance(play.coordinator, Coordinator)
