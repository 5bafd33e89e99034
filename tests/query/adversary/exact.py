"""Answers without noise: what neighbours are compared by."""

import deniable as dp
from deniable.curator import open as open_curator
from deniable.session.drawing import watched


class _Exact:
    """A replay in which numbers come without noise, and all keys that anybody has."""

    def charged(self, entry):
        pass

    def answer(self, draw, value, compute):
        exact = compute()
        return sorted(exact[0]) if isinstance(exact, tuple) else exact


def exact(source, sql, **options):
    """The rows of an answer without noise; a failure over the data is raised."""
    given = {"unit": dp.rows(), "budget": dp.epsilon(100, delta=1e-6)} | options
    session = open_curator(source, **given)
    with watched(_Exact()):
        return session.sql(sql).release(spend=dp.epsilon(1)).rows()


def number(source, sql, **options):
    """The one number `n` of an answer."""
    (row,) = exact(source, sql, **options)
    return row["n"]


def moves(source, sql, **options):
    """How far one unit may move the first tally, as the plan declares."""
    given = {"unit": dp.rows(), "budget": dp.epsilon(100, delta=1e-6)} | options
    return open_curator(source, **given).sql(sql).integers.tallies[0].moves
