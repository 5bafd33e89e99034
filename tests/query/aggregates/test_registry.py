"""Every function has one family, and front ends read their spellings from it."""

import pytest
from ibis.expr import operations as ops
from sqlglot import exp

from deniable.query.aggregates import FAMILIES, spelled
from deniable.query.algebra import Function


def test_every_function_has_a_family():
    assert set(FAMILIES) == set(Function)


@pytest.mark.parametrize("front", ["sql", "ibis"])
def test_no_spelling_means_two_things(front):
    families = dict.fromkeys(FAMILIES.values())
    every = [name for family in families for name in getattr(family, front)]
    assert len(every) == len(set(every)) == len(spelled(front))


def test_front_ends_know_what_is_spelled():
    assert all(hasattr(exp, name) for name in spelled("sql") if name[0].isupper())
    assert all(hasattr(ops, name.partition(".")[0]) for name in spelled("ibis"))


@pytest.mark.parametrize("front", ["sql", "ibis"])
def test_whatever_can_be_asked_in_one_front_end_can_be_asked_in_the_other(front):
    only = {Function.PERSONS, Function.HISTOGRAM}  # in Ibis a histogram is a key to group by
    assert set(spelled(front).values()) - only == set(Function) - only
