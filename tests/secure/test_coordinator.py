"""The coordinator carries what neighbours said to neighbours, and nothing from who dropped out."""

import numpy as np
import pytest

from deniable.errors import MessageRejected
from deniable.secure import wire
from deniable.secure.keys import CODE_BYTES, KEY_BYTES
from deniable.secure.wire import Kind

from .rounds import Play
from .test_protocol import SEVEN

GONE = 6


def late(play, step):
    """What a party that has dropped out may still say in a step: complete, and well-formed."""
    others = range(GONE)
    kind, payload = {
        2: (Kind.SHARES, bytes(KEY_BYTES) + wire.table(dict.fromkeys(others, bytes(82)))),
        3: (Kind.MASKED, np.arange(4, dtype="<u4").tobytes()),
        4: (Kind.CONFIRMED, wire.table(dict.fromkeys(others, bytes(CODE_BYTES)))),
        5: (Kind.REVEALED, wire.table(dict.fromkeys(others, bytes(wire.REVEAL_BYTES)))),
    }[step]
    return wire.written(kind, play.round, GONE, payload)


@pytest.mark.parametrize("step", [2, 3, 4, 5])
def test_who_dropped_out_in_one_step_has_no_say_in_the_next(step):
    """A vector without shared secrets could never be unmasked, and would spoil the sum."""
    play = Play(SEVEN, dropouts=1, colluding=1)
    gone = [(), (), (), (), ()]
    gone[step - 2] = (GONE,)
    messages = play.to(step, gone)
    with pytest.raises(MessageRejected, match=f"party {GONE} dropped out"):
        play.coordinator.receive(late(play, step))
    play.coordinator.receive(*messages)
    for close, speak in play.steps()[step - 1 :]:
        play.coordinator.receive(*speak(close()))
    kept = SEVEN if step == 5 else SEVEN[:GONE]  # by then its vector had arrived
    assert play.coordinator.total().tolist() == kept.sum(axis=0).tolist()


def test_each_party_is_told_of_its_neighbours_who_are_left():
    """Parties 1, 2 and 3 drop out after one, two and three steps."""
    play = Play(np.ones((70, 1), int), dropouts=3, colluding=2)
    coordinator, left = play.coordinator, set(range(70)) - {1}
    ends = [coordinator.rosters, coordinator.deliveries, coordinator.survivors]
    sizes = [wire.KEYS_BYTES, wire.LETTER_BYTES]
    messages = play.to(1, [(1,)])
    for end, size, (_, speak), gone in zip(ends, sizes, play.steps(), (2, 3), strict=False):
        coordinator.receive(*messages)
        told = end()
        assert told.keys() == left
        for party, message in told.items():
            entries = wire.read_table(message[26:], size=size, known=range(70))
            assert entries.keys() == left & {*play.round.near(party)}
        messages = speak(told, (gone,))
        left -= {gone}
    coordinator.receive(*messages)
    told = coordinator.survivors()
    assert {message[26:] for message in told.values()} == {wire.bitmap(left, count=70)}
    coordinator.receive(*play.confirmed(told))
    told = coordinator.confirmations()
    for party, message in told.items():
        codes = wire.read_table(message[26:], size=CODE_BYTES, known=range(70))
        assert codes.keys() == left & {*play.round.near(party)}


def test_a_step_ends_once_and_in_its_turn():
    play = Play(SEVEN, dropouts=1, colluding=1)
    ends = [close for close, _ in play.steps()]
    messages = play.keys()
    for turn, (close, speak) in enumerate(play.steps()):
        play.coordinator.receive(*messages)
        for other in ends[:turn] + ends[turn + 1 :]:
            with pytest.raises(MessageRejected, match="once, in order"):
                other()
        with pytest.raises(MessageRejected, match="not at its last step"):
            play.coordinator.total()
        messages = speak(close())
    play.coordinator.receive(*messages)
    for other in ends:
        with pytest.raises(MessageRejected, match="once, in order"):
            other()
    assert play.coordinator.total().tolist() == SEVEN.sum(axis=0).tolist()
    assert play.coordinator.total().tolist() == SEVEN.sum(axis=0).tolist()
