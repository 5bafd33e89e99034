"""A server that runs for long holds no more than one that began: objects are counted, not bytes."""

import gc
import threading
from collections import Counter
from pathlib import Path

import pytest

import deniable as dp
from deniable.server import house as houses
from deniable.server.accounts import Person
from deniable.server.app import Application
from deniable.server.jobs.asking import Asking

from .test_asking import SQL, ask_of


def open_files(path):
    links = Path("/proc/self/fd").iterdir()
    return sum(link.is_symlink() and link.readlink() == path for link in links)


def in_threads(count, act):
    """Each in a thread of its own, some at once, as a web server's threads come and go."""
    for start in range(0, count, 10):
        threads = [threading.Thread(target=act, args=(start + i,)) for i in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def test_threads_that_end_leave_no_connection_behind(house):
    home = house()
    in_threads(60, lambda i: home.log("ann", "test", number=i))
    assert len(home.logged(100)) >= 60
    assert len(home.database._opened) <= 2
    assert (
        open_files(home.database._path) <= 12
    )  # as many as there were at once: SQLite uses them again


def test_few_accounts_are_remembered_however_many_ask(house):
    home = house()
    group = next(iter(home.groups))
    for number in range(3 * houses._ACCOUNTS):
        person = Person(name=f"analyst {number}", role="analyst")
        home.ledgers[group].share(person.name, amount=dp.epsilon(0.01))
        assert home.books(group, person).left.epsilon == pytest.approx(0.01)
    assert len(home._accounts) == houses._ACCOUNTS


def test_an_answer_leaves_at_most_its_own_line_in_memory(house):
    """A line of the ledger and a few dozen objects per ask at most."""
    home = house(processes=True)
    app = Application(home)
    ask_of(home)
    person = home.accounts.find("ann")

    def asked(numbers):
        for number in numbers:
            ask = ask_of(
                home, key=f"key-{number:05}", sql=f"{SQL} WHERE age > {number}", spend=0.01
            )
            assert Asking(home).ask(ask).state == "stored"
            app.views.ledger(person)
        gc.collect()
        return Counter(type(each).__name__ for each in gc.get_objects())

    before = asked(range(8))
    after = asked(range(8, 20))
    more = {name: after[name] - count for name, count in before.items()}
    assert more["Entry"] <= 12
    assert sum(more.values()) <= 12 * 60, {n: c for n, c in more.items() if c > 12}
