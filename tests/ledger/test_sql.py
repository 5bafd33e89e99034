"""While a process forks, no other thread holds or takes a connection."""

import os
import threading

from deniable.ledger.stores import sql
from deniable.ledger.stores.sql import OneConnection


class Connection:
    def __init__(self):
        self.closed = False

    def close(self):
        self.closed = True


def taken_elsewhere(one):
    """Whether another thread can take the lock."""
    found = []

    def take():
        found.append(one.lock.acquire(blocking=False))
        if found[0]:
            one.lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return found[0]


def test_every_connection_is_held_from_before_a_fork_until_after_it():
    connections = [OneConnection(Connection) for _ in range(3)]
    assert all(map(taken_elsewhere, connections))
    sql._before()
    try:
        assert not any(map(taken_elsewhere, connections))
    finally:
        sql._in_parent()
    assert all(map(taken_elsewhere, connections))


def test_a_fork_waits_for_who_uses_a_connection_and_the_child_opens_its_own():
    one = OneConnection(Connection)
    first = one.get()
    assert one.get() is first is one.now
    child = os.fork()
    if child == 0:
        code = 1
        try:
            fresh = one.now is None and one.get() is not first and not first.closed
            code = 0 if fresh and taken_elsewhere(one) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert one.now is first
    one.close()
    assert first.closed
    assert one.now is None
