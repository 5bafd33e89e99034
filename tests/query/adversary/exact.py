"""Answers without noise: what neighbours are compared by."""

from tests.query.whole.asking import without_noise

import deniable as dp
from deniable.curator import open as open_curator


def exact(source, sql, **options):
    """The rows of an answer without noise; a failure over the data is raised."""
    given = {"unit": dp.rows(), "budget": dp.epsilon(100, delta=1e-6)} | options
    session = open_curator(source, **given)
    with without_noise():
        return session.sql(sql).release(spend=dp.epsilon(1)).rows()


def number(source, sql, **options):
    """The one number `n` of an answer."""
    (row,) = exact(source, sql, **options)
    return row["n"]


def moves(source, sql, **options):
    """How far one unit may move the first tally, as the plan declares."""
    given = {"unit": dp.rows(), "budget": dp.epsilon(100, delta=1e-6)} | options
    return open_curator(source, **given).sql(sql).integers.tallies[0].moves
