"""Every step is taken once, however many threads ask for it at the same time."""

import contextlib
import copy
import multiprocessing
import pickle
import sys
import threading

import numpy as np
import pytest

from deniable.errors import MessageRejected
from deniable.mechanisms import Skellam, SkellamShares
from deniable.secure import Party, wire
from deniable.secure.two_servers import Server, shares
from deniable.secure.wire import Kind

from .rounds import Play
from .test_two_servers import saying

ROWS = np.arange(5 * 2000).reshape(5, 2000) % 1000


@pytest.fixture(autouse=True)
def _switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(calls):
    """What the calls return that are not rejected, all started together."""
    answers, start = [], threading.Barrier(len(calls))

    def go(call):
        start.wait()
        with contextlib.suppress(MessageRejected):
            answers.append(call())

    threads = [threading.Thread(target=go, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def noisy():
    noise = SkellamShares(of=Skellam(variance=14.0), parties=5, dropouts=1, colluding=1)
    return Play(ROWS, dropouts=1, colluding=1, noise=noise)


WAYS = [
    lambda p, _: p.advertise(),
    Party.share,
    lambda p, m: p.mask(m, ROWS[p.index]),
    Party.confirm,
    Party.reveal,
]


def asked_at(play, number):
    """What party 1 is asked at a step."""
    if not number:
        return None
    play.coordinator.receive(*play.to(number))
    return play.steps()[number - 1][0]()[1]


@pytest.mark.parametrize("number", range(5))
def test_a_party_answers_once_even_if_asked_by_many_threads(number):
    for _ in range(3):
        play = noisy()
        asked = asked_at(play, number)
        answers = at_once([lambda p=play, m=asked: WAYS[number](p.parties[1], m)] * 4)
        assert len(answers) == 1


def test_a_party_confirms_one_of_two_lists():
    for _ in range(10):
        play = noisy()
        play.coordinator.receive(*play.to(3))
        lists = [
            wire.written(Kind.SURVIVORS, play.round, 0, wire.bitmap(there, count=5))
            for there in ([0, 1, 2, 3], [0, 1, 2, 4])
        ]
        assert len(at_once([lambda p=play, m=m: p.parties[0].confirm(m) for m in lists])) == 1


@pytest.mark.parametrize("number", range(1, 6))
def test_a_coordinator_takes_each_message_once_and_loses_none(number):
    vectors = np.ones((5, 50_000), dtype=np.int64)
    play = Play(vectors, dropouts=1, colluding=1)
    messages = play.to(number)
    taken = at_once([lambda m=m: play.coordinator.receive(m) for m in messages * 2])
    assert len(taken) == len(messages)
    for close, speak in play.steps()[number - 1 :]:
        play.coordinator.receive(*speak(close()))
    assert (play.coordinator.total() == 5).all()


def test_a_coordinator_ends_each_step_once():
    play = Play(ROWS, dropouts=1, colluding=1)
    messages = play.keys()
    for close, speak in play.steps():
        play.coordinator.receive(*messages)
        answers = at_once([close] * 4)
        assert len(answers) == 1
        messages = speak(answers[0])


def test_a_server_gives_one_sum():
    play = Play(ROWS, dropouts=1)
    server = Server(play.round, first=True)
    for i in range(5):
        server.receive(shares(play.round, i, ROWS[i])[0])
    server.heard()
    lists = [saying(play.round, 1, set(range(5)) - {i}) for i in range(5)]
    answers = at_once([lambda m=m: server.total(m) for m in lists])
    assert len(answers) == 1


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_who_has_steps_cannot_be_copied(copied):
    """A copy could take each step again."""
    play = Play(ROWS)
    for each in (play.parties[0], play.coordinator, Server(play.round, first=True)):
        with pytest.raises(TypeError, match="only once"):
            copied(each)


def fork_of(act):
    """What an act answers in a forked process: the text of its error, or what it returned."""
    ends = multiprocessing.get_context("fork").Pipe()

    def child():
        try:
            ends[1].send(act())
        except BaseException as error:
            ends[1].send(str(error))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    try:
        assert ends[0].poll(60), "the fork hangs"
        return ends[0].recv()
    finally:
        process.kill()
        process.join()


@contextlib.contextmanager
def held(lock):
    """A lock that another thread holds: whoever forks meanwhile has it locked for ever."""
    taken, done = threading.Event(), threading.Event()

    def hold():
        with lock:
            taken.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("number", range(5))
def test_a_forked_process_takes_no_step_of_its_copy(number):
    """Two vectors under the same masks would tell how they differ, noise and all."""
    play = noisy()
    asked = asked_at(play, number)
    party = play.parties[1]
    assert "in a forked process" in fork_of(lambda: WAYS[number](party, asked))
    assert "in a forked process" in fork_of(play.coordinator.survivors)
    with held(party._lock):
        assert "in a forked process" in fork_of(lambda: WAYS[number](party, asked))
    assert isinstance(WAYS[number](party, asked), bytes)


def test_a_forked_process_can_have_parties_of_its_own():
    assert fork_of(lambda: Play(ROWS[:, :2]).total().tolist()) == ROWS[:, :2].sum(axis=0).tolist()


def test_a_vector_that_takes_a_step_while_it_is_read_does_not_take_it_twice():
    play = noisy()
    asked, party = asked_at(play, 2), play.parties[1]
    refused = []

    class Sly:
        def __array__(self, dtype=None, copy=None):
            try:
                party.mask(asked, ROWS[0])
            except MessageRejected as error:
                refused.append(str(error))
            return ROWS[1]

    assert isinstance(party.mask(asked, Sly()), bytes)
    assert refused
    assert all("inside another step" in text for text in refused)
    with pytest.raises(MessageRejected, match="once, in order"):
        party.mask(asked, ROWS[1])


def test_a_step_that_fails_can_be_taken_again():
    play = noisy()
    asked, party = asked_at(play, 2), play.parties[1]
    for _ in range(2):
        with pytest.raises(MessageRejected, match="another kind"):
            party.mask(asked[:5] + b"\x01" + asked[6:], ROWS[1])
    assert isinstance(party.mask(asked, ROWS[1]), bytes)
