"""A file that was refused something is free for others at once, even while the error is kept."""

import sqlite3
from contextlib import closing

import pytest

import deniable as dp
from deniable import local
from deniable.local import collection
from deniable.local.collection import Collection, submission

P = local.Direct(categories=["tea", "coffee"], epsilon=1.0)


def collected(path):
    """A ticket that comes again with another report."""
    drinks = Collection(P, path=path, name="drinks")
    ticket = collection.new_ticket()
    other = {P.encode("tea"): None}
    while len(other) < 2:
        other[P.encode("tea")] = None
    first, second = other
    drinks.accept(submission(P, "drinks", first, ticket=ticket))
    return lambda: drinks.accept(submission(P, "drinks", second, ticket=ticket))


def remembered(path):
    """A second period, for which nothing is left."""
    client = local.Client(P, memory=path, lifetime=1.0)
    client.encode("tea", period="one")
    return lambda: client.encode("tea", period="two")


@pytest.mark.parametrize("prepared", [collected, remembered])
def test_what_was_refused_holds_no_lock(prepared, tmp_path):
    refused = prepared(tmp_path / "file.db")
    with pytest.raises((dp.BadParameter, dp.BudgetExceeded)) as kept:
        refused()
    with closing(sqlite3.connect(tmp_path / "file.db", timeout=0)) as other:
        other.execute("BEGIN EXCLUSIVE")
        other.execute("ROLLBACK")
    assert kept.value.__traceback__ is not None
