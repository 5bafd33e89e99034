"""Steps are taken one at a time, and only where they were begun."""

import os

import pytest

from deniable.errors import MessageRejected
from deniable.secure.turns import SPENT, Turns, spending, step


class Counter(Turns):
    def __init__(self):
        super().__init__()
        self.taken = 0

    @step
    def take(self, act=None):
        """One step, in which something may happen."""
        if act is not None:
            act()
        self.taken += 1
        return self.taken


def in_a_fork(act):
    """What an act says in a forked process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told = str(act())
        except BaseException as error:
            told = str(error)
        os.write(writing, told.encode()[:500])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told


def test_a_forked_process_takes_no_step_of_what_was_made_before():
    counter = Counter()
    assert counter.take() == 1
    assert "in a forked process" in in_a_fork(counter.take)
    assert in_a_fork(lambda: Counter().take()) == "1"  # what it made itself is its own
    assert counter.take() == 2


def test_no_step_is_taken_inside_another_and_a_failed_one_can_be_taken_again():
    counter = Counter()
    with pytest.raises(MessageRejected, match="inside another step"):
        counter.take(counter.take)
    assert counter.taken == 0
    with pytest.raises(KeyError):
        counter.take(lambda: {}["nothing"])
    assert counter.take() == 1


@pytest.mark.parametrize("revealed", [True, False])
def test_a_rejection_says_that_the_round_is_spent_once_shares_may_be_known(revealed):
    with pytest.raises(MessageRejected) as rejected, spending(may_be_revealed=revealed):
        raise MessageRejected("no")
    assert (rejected.value.cost == SPENT) == revealed
    with pytest.raises(KeyError), spending():
        raise KeyError
