"""A private value hides itself from every way Python has of looking."""

import copy
import json
import logging
import math
import operator
import pickle
import traceback

import numpy as np
import pytest

import deniable as dp
from deniable.sensitive import compute

SECRET = 123456789


@pytest.fixture
def value() -> dp.Sensitive:
    return dp.Sensitive(lambda: SECRET, l1=1)


LOOKS = {
    "bool": bool,
    "hash": hash,
    "len": len,
    "iter": iter,
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "bytes": bytes,
    "sorted": lambda v: sorted([v, v]),
    "eq": lambda v: v == SECRET,
    "lt": lambda v: v < 1,
    "in": lambda v: 3 in v,
    "getitem": lambda v: v[0],
    "call": lambda v: v(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
    "array": np.asarray,
    "isnan": math.isnan,
    "dict key": lambda v: {v: 1},
    "max": lambda v: max(v, v),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
def test_looking_is_refused(look, value: dp.Sensitive):
    with pytest.raises(dp.HiddenValue):
        look(value)


@pytest.mark.parametrize(
    "look", [json.dumps, lambda v: v + 1, lambda v: sum([v]), lambda v: -v, round, vars]
)
def test_other_ways_find_nothing(look, value: dp.Sensitive):
    with pytest.raises(TypeError):
        look(value)


@pytest.mark.parametrize("show", [repr, str, "{}".format, "{:>50}".format, ascii])
def test_printing_shows_only_the_bounds(show, value: dp.Sensitive):
    assert show(value) == "Sensitive(hidden, l1=1)"


def test_neither_logs_nor_tracebacks_show_it(value: dp.Sensitive, caplog):
    logging.getLogger("x").warning("got %s and %r", value, value)
    assert str(SECRET) not in caplog.text
    try:
        float(value)
    except dp.HiddenValue as error:
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
        assert str(SECRET) not in "".join(shown.format())


def test_nothing_is_computed_until_it_is_asked_for():
    ran = []
    lazy = dp.Sensitive(lambda: ran.append(1), l1=1)
    repr(lazy)
    assert not ran
    compute(lazy)
    assert ran == [1]


def test_bounds_in_stronger_norms_bound_the_weaker():
    assert dp.Sensitive(list, l1=3).bound("linf") == 3
    assert dp.Sensitive(list, l1=3, l2=2).bound("l2") == 2
    assert dp.Sensitive(list, l2=2).bound("l1") is None


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), "1", True])
def test_a_bound_is_a_finite_number(bad: object):
    with pytest.raises(dp.BadParameter, match="l1 must be"):
        dp.Sensitive(list, l1=bad)


def test_a_value_without_any_bound_is_refused():
    with pytest.raises(dp.BadParameter, match="at least one of l1=, l2=, linf="):
        dp.Sensitive(list)


def test_a_bare_value_is_refused_without_showing_it():
    with pytest.raises(dp.BadParameter) as caught:
        dp.Sensitive(SECRET, l1=1)
    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize("bad", ["", 3, b"arrivals", True])
def test_a_stream_is_named(bad: object):
    with pytest.raises(dp.BadParameter, match="stream"):
        dp.Sensitive(lambda: 1, l1=1, stream=bad)
    assert dp.Sensitive(lambda: 1, l1=1, stream="arrivals").stream == "arrivals"
