"""What a party says is bound to its round, its number, its keys and what it was told."""

import itertools
from types import SimpleNamespace

import pytest

from deniable.errors import BadParameter, MessageRejected
from deniable.mechanisms import Skellam, SkellamShares
from deniable.secure import Identity, Party, Round, wire
from deniable.secure.keys import CODE_BYTES
from deniable.secure.party import commitment, noisy_words, signing, take_keys
from deniable.secure.wire import Kind

from .rounds import Play

THREE = [[1, 2], [10, 20], [100, 200]]


def rounds():
    return Round(parties=3, length=1), Round(parties=3, length=1)


def test_what_is_signed_differs_by_round_by_party_and_by_keys():
    given = list(itertools.product(rounds(), (0, 1, 256), (b"k" * 64, b"l" * 64)))
    assert len({signing(*each) for each in given}) == len(given)
    for round_, index, keys in given:
        said = signing(round_, index, keys)
        assert said.endswith(round_.id + index.to_bytes(4, "big") + keys)


def test_a_seed_is_committed_to_for_one_round():
    given = list(itertools.product(rounds(), (b"a" * 32, b"b" * 32)))
    assert len({commitment(*each) for each in given}) == len(given)


def test_keys_signed_for_another_round_or_number_are_refused():
    """A coordinator keeps what a party once signed, and shows it again."""
    old, new = rounds()
    known = [Identity(), Identity(), Identity()]
    directory = {i: each.public for i, each in enumerate(known)}

    def said(round_, index):
        party = Party(round_, index, identity=known[index], directory=directory)
        return party, wire.read(party.advertise(), round_)[2]

    fresh = {i: said(new, i)[1] for i in (1, 2)}
    for replayed in (said(old, 1)[1], fresh[2]):
        party, _ = said(new, 0)
        entries = {1: replayed, 2: said(new, 2)[1]}
        roster = wire.written(Kind.ROSTER, new, 0, wire.table(entries))
        with pytest.raises(MessageRejected, match="party 1 are not signed"):
            party.share(roster)
    party, _ = said(new, 0)
    party.share(wire.written(Kind.ROSTER, new, 0, wire.table(fresh)))


def test_a_confirmation_is_for_one_round_one_way_and_one_list_of_survivors():
    plays = [Play(THREE), Play(THREE)]
    codes = set()
    for play in plays:
        play.to(4)
        one, two = play.parties[0], play.parties[1]
        one._sealing[1] = two._sealing[0] = b"s" * 32  # the same in both rounds
        for told in (b"\7", b"\3"):
            there = one._code(told, sender=0, receiver=1)
            back = one._code(told, sender=1, receiver=0)
            assert two._code(told, sender=0, receiver=1) == there
            assert two._code(told, sender=1, receiver=0) == back
            codes |= {there, back}
    assert len(codes) == 8


@pytest.mark.parametrize("index", [-1, 3, 4])
def test_a_party_has_a_number_of_the_round(index):
    with pytest.raises(BadParameter):
        Party(Round(parties=3, length=1), index)
    assert Party(Round(parties=3, length=1), 2).index == 2


def test_a_party_says_how_much_noise_it_needs():
    noisy = Round(parties=3, length=1, noise=SkellamShares(of=Skellam(variance=50.0), parties=3))
    enough = 50.0
    assert Party(noisy, 0, least=enough).index == 0
    for round_, least in ((noisy, enough * 1.001), (Round(parties=3, length=1), 1e-9)):
        with pytest.raises(MessageRejected, match="does not promise noise"):
            Party(round_, 0, least=least)


def told(play, there, party=0):
    bits = wire.bitmap(there, count=play.round.parties)
    return wire.written(Kind.SURVIVORS, play.round, party, bits)


@pytest.mark.parametrize(
    ("there", "says"),
    [
        ({1, 2, 3, 4}, "vector is missing"),
        ({0, 1, 2}, "3 vectors arrived, and 4 are needed"),
        ({0, 1, 2, 3}, None),
        ({0, 1, 2, 3, 4}, None),
    ],
)
def test_a_party_confirms_its_own_vector_among_enough(there, says):
    play = Play([[1], [2], [3], [4], [5]], dropouts=1)
    play.to(3)
    if says is None:
        kind, party, payload = wire.read(play.parties[0].confirm(told(play, there)), play.round)
        assert (kind, party) == (Kind.CONFIRMED, 0)
        assert sorted(wire.read_table(payload, size=CODE_BYTES, known=range(5))) == sorted(
            there - {0}
        )
    else:
        with pytest.raises(MessageRejected, match=says):
            play.parties[0].confirm(told(play, there))


def test_of_each_neighbour_one_share_is_revealed_of_its_seed_if_its_vector_arrived():
    play = Play([[1], [2], [3], [4], [5]], dropouts=1)
    messages = play.to(5, gone=((), (), (4,), (4,), (4,)))
    for message in messages:
        _, party, payload = wire.read(message, play.round, kind=Kind.REVEALED)
        known = [who for who in range(5) if who != party]
        shares = wire.read_table(payload, size=wire.REVEAL_BYTES, known=known)
        assert {who: share[0] for who, share in shares.items()} == {
            who: int(who == 4) for who in known
        }


def test_a_key_is_announced_once():
    one, two = (Party(Round(parties=3, length=1), 0)._own_keys for _ in range(2))
    seen = set()
    take_keys(one, seen)
    take_keys(two, seen)
    assert seen == {one[:32], one[32:], two[:32], two[32:]}
    for again in (one, two[:32] + one[32:], one[:32] + two[32:], one[32:] + one[:32]):
        with pytest.raises(MessageRejected, match="announced twice"):
            take_keys(again, set(seen))
    for twin in (one[:32] * 2, b"\xff" * 32 + one[32:]):
        with pytest.raises(MessageRejected, match="canonical form"):
            take_keys(twin, set())


def test_each_step_is_taken_once_and_in_order_and_is_refused_as_that():
    play = Play(THREE)
    party, replies = play.parties[0], [b""]
    acts = [
        lambda said: party.advertise(),
        party.share,
        lambda said: party.mask(said, THREE[0]),
        party.confirm,
        party.reveal,
    ]
    messages = play.keys(without=(0,))
    for turn, (act, (close, speak)) in enumerate(zip(acts, play.steps(), strict=False)):
        for other in (*acts[:turn], *acts[turn + 1 :]):
            with pytest.raises(MessageRejected, match="once, in order"):
                other(replies[-1])
        play.coordinator.receive(act(replies[-1]), *messages)
        told = close()
        replies.append(told[0])
        messages = speak(told, without=(0,))
    party.reveal(replies[-1])
    for act, reply in zip(acts, replies, strict=True):
        with pytest.raises(MessageRejected, match="once, in order") as refused:
            act(reply)
        assert refused.value.fix == "start another round"


@pytest.mark.parametrize("other", ["text", None, 7, Identity()])
def test_a_directory_in_which_one_entry_is_no_key_is_refused(other):
    directory = {0: Identity().public, 1: other}
    with pytest.raises(BadParameter, match="public bytes"):
        Party(Round(parties=2, length=1), 0, directory=directory)


@pytest.mark.parametrize("step", [2, 3])
def test_a_party_goes_on_with_as_many_neighbours_as_hold_a_secret_and_no_fewer(step):
    """Of seven, with two dropouts: four shares tell a secret."""
    play = Play([[i] for i in range(7)], dropouts=2, colluding=1)
    play.coordinator.receive(*play.to(step - 1))
    told = play.steps()[step - 2][0]()[0]
    act, size = {
        2: (play.parties[0].share, wire.KEYS_BYTES),
        3: (lambda said: play.parties[0].mask(said, [0]), wire.LETTER_BYTES),
    }[step]
    entries = wire.read_table(told[26:], size=size, known=range(7))

    def only(count):
        return told[:26] + wire.table(dict(list(entries.items())[:count]))

    assert play.round.shape.threshold == 4
    with pytest.raises(MessageRejected, match="only 3 neighbours hold shares; 4 are needed"):
        act(only(3))
    act(only(4))


@pytest.mark.parametrize(
    ("noise", "bits", "words"),
    [
        (None, 32, [3, 10, 2**32 - 10]),
        ((0, 0, 0), 64, [3, 10, 2**64 - 10]),
        ((5, -7, 1), 32, [8, 3, 2**32 - 9]),
        ((-5, 7, -1), 64, [2**64 - 2, 17, 2**64 - 11]),
    ],
)
def test_a_vector_is_clipped_and_then_carries_its_share_of_the_noise(noise, bits, words):
    share = SimpleNamespace(draw=lambda values: values + noise)
    held = None if noise is None else SimpleNamespace(share=share)
    round_ = SimpleNamespace(length=3, limit=10, bits=bits, noise=held)
    found = noisy_words(round_, [3, 99, -11])
    assert (found.tolist(), found.dtype) == (words, f"<u{bits // 8}")


@pytest.mark.parametrize("liar", [1, 2])
def test_a_party_reveals_nothing_if_a_neighbour_was_told_something_else(liar):
    play = Play(THREE)
    play.coordinator.receive(*play.to(4))
    told = play.coordinator.confirmations()[0]
    codes = wire.read_table(told[26:], size=CODE_BYTES, known=range(3))
    changed = codes | {liar: codes[liar][:-1] + bytes([codes[liar][-1] ^ 1])}
    with pytest.raises(MessageRejected, match=f"party {liar} received a different list"):
        play.parties[0].reveal(told[:26] + wire.table(changed))
    play.parties[0].reveal(told)
