"""Examples: parts, weights, samples and batches of them, and what one unit may do to a sum."""

import dataclasses
import pickle
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from tests.learn import told

import deniable as dp
from deniable.learn.engine import examples as module
from deniable.learn.engine import spaces
from deniable.learn.engine.cells import Cells
from deniable.learn.engine.examples import Examples, Held, unlabelled
from deniable.learn.engine.spaces import Dense
from deniable.sensitive import Sensitive, compute

DENSE, CELLS = Dense(dimension=2), Cells(sizes=(3, 2))
THIRD = 1 / 3
"""Times 3 it is rounded down in floats, so that a bound must be moved up to be one."""


def made(space, *, count=7, full=True):
    """Rows that can be told apart, in the form of the space."""
    places = np.arange(count)
    if space is DENSE:
        x = np.stack([places * 100, -places * 7], axis=1).astype(np.int16)
    else:
        x = CELLS.packed([places % 3, places % 2])
    more = {"w": places * 1000 + 1, "who": places * 11} if full else {}
    return Examples(x=x, y=places * 10, **more)


def lines(rows, space):
    """Each row as a tuple, to be compared."""
    x = rows.x if space is DENSE else rows.x.T
    columns = [each for each in (rows.y, rows.w, rows.who) if each is not None]
    return [(*own.tolist(), *(int(each[i]) for each in columns)) for i, own in enumerate(x)]


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("space", [DENSE, CELLS], ids=["dense", "cells"])
def test_parts_are_all_rows_in_order_with_their_lengths(space, full, monkeypatch):
    monkeypatch.setattr(spaces, "_CHUNK", 3)
    rows = made(space, full=full)
    parts = list(rows.parts(space))
    assert [len(part.y) for part in parts] == [3, 3, 1]
    assert [line for part in parts for line in lines(part, space)] == lines(rows, space)
    assert all((part.w is None, part.who is None) == (not full, not full) for part in parts)
    monkeypatch.setattr(type(space), "lengths", None)
    own = [part.lengths(space) for part in parts]  # known already: nothing is computed twice
    if space is CELLS:
        assert own == [CELLS.norm] * 3
    else:
        long = np.sqrt(np.maximum((rows.x.astype(float) ** 2).sum(axis=1), 1.0))
        assert [len(each) for each in own] == [3, 3, 1]
        assert np.concatenate(own) == pytest.approx(long)


def test_lengths_are_computed_once(monkeypatch):
    rows = made(DENSE)
    first = rows.lengths(DENSE)
    monkeypatch.setattr(Dense, "lengths", None)
    assert rows.lengths(DENSE) is first


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("space", [DENSE, CELLS], ids=["dense", "cells"])
def test_rows_are_kept_where_they_are_wanted(space, full):
    rows = made(space, full=full)
    kept = np.array([True, False, True, True, False, False, True])
    found = rows.where(kept, space.axis)
    assert lines(found, space) == [
        line for line, stays in zip(lines(rows, space), kept, strict=True) if stays
    ]
    assert rows.where(np.ones(7, dtype=bool), space.axis) is rows, "nothing is copied in vain"


def test_terms_are_weighed_row_by_row_and_towards_zero():
    half, third = 1 << 19, (1 << 20) // 3
    rows = dataclasses.replace(made(DENSE, count=3), w=np.array([half, third, 1 << 20]))
    assert rows.taken(np.array([9.0, -9.0, 5.0])).tolist() == [4.0, -2.0, 5.0]
    square = np.array([[9.0, -9.0, 1.0], [9.0, -9.0, 3.0], [7.0, 0.0, -1.0]])
    wanted = [[4.0, -4.0, 0.0], [2.0, -2.0, 0.0], [7.0, 0.0, -1.0]]
    assert rows.taken(square).tolist() == wanted
    plain = made(DENSE, count=3, full=False)
    assert plain.taken(square) is square


def test_rows_without_a_target_are_of_one_group():
    x = np.ones((4, 2), dtype=np.int16)
    assert unlabelled(x).y.tolist() == [0, 0, 0, 0]


# ---- held


def held(rows, *, unit=None, space=DENSE, reading=None):
    unit = unit or dp.rows()
    return Held(lambda _: rows, space=space, unit=unit, rows=reading)


UNITS = {
    "rows": (dp.rows(), 1),
    "replaced": (dp.rows(relation="replace"), 2),
    "people": (dp.person("who", rows=3), 3),
    "people replaced": (dp.person("who", rows=3, relation="replace"), 6),
}


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_moves_a_sum_by_all_of_its_rows_on_both_sides(name):
    unit, rows = UNITS[name]
    own = held(made(DENSE), unit=unit)
    assert own.rows == rows
    assert own.weighted == ("people" in name)
    for length in (THIRD, 5.0):
        value = own.sum(lambda rows: rows.y.sum(), l2=length, shape=())
        batch = own.batch(lambda rows: rows.y.sum(), number=0, of=2, l2=length, shape=())
        for each in (value, batch):
            assert Fraction(each.bound("l2")) > rows * Fraction(length)
            assert each.bound("l2") == pytest.approx(rows * length, rel=1e-12)
    assert compute(value) == 210


@pytest.mark.parametrize("name", UNITS)
def test_samples_are_of_rows_that_come_or_go(name):
    unit, _ = UNITS[name]
    own = held(made(DENSE), unit=unit)
    if name == "rows":
        value = own.sampled(lambda rows: rows.y.sum(), l2=THIRD, shape=())
        assert Fraction(value.bound("l2")) > Fraction(THIRD)
        assert value.bound("l2") == pytest.approx(THIRD, rel=1e-12)
        places = compute(value)
        assert places.tolist() == list(range(7))
        assert value.form.statistic(places[[1, 4]]) == 50
        assert lines(own.at(np.array([5, 2])), DENSE) == [
            lines(made(DENSE), DENSE)[i] for i in (5, 2)
        ]
        return
    for ask in (own.check_sampled, lambda: own.sampled(len, l2=1.0, shape=())):
        with pytest.raises(dp.BadParameter, match="samples of rows need"):
            ask()


def test_people_are_in_the_batch_of_their_hash_and_rows_in_one_drawn_once(monkeypatch):
    def asked(own):
        values = [
            own.batch(lambda rows: rows.y, number=number, of=3, l2=1.0, shape=())
            for number in (0, 1, 2, 0)
        ]
        assert [each.stream for each in values[:3]] == [f"batch {i} of 3" for i in range(3)]
        return [compute(value).tolist() for value in values]

    monkeypatch.setattr(module, "below", None)
    rows = made(DENSE)
    wanted = [
        [y for y, who in zip(rows.y, rows.who, strict=True) if who % 3 == i] for i in range(3)
    ]
    assert asked(held(rows)) == [*wanted, wanted[0]]
    drawn = []

    def below(count, size):
        assert (count, size, drawn) == (3, 7, [])
        drawn.append(np.array([2, 0, 1, 1, 0, 2, 2]))
        return drawn[0]

    monkeypatch.setattr(module, "below", below)
    assert asked(held(made(DENSE, full=False))) == [[10, 40], [20, 30], [0, 50, 60], [10, 40]]


class Parts:
    """Rows in two parts of a session, here or elsewhere."""

    def __init__(self, space, *, full=True, apart=False):
        self.apart, self.read = apart, 0
        rows = made(space, full=full)
        first = np.arange(7) < 4
        self.parts = [rows.where(kept, space.axis) for kept in (first, ~first)]

    def in_parts(self, function, **declared):
        def each(read):
            self.read += 1
            return [read(part) for part in self.parts]

        return Sensitive(lambda: function(each), unit=dp.rows(), **declared)

    def total(self, function, **declared):
        assert self.apart
        again = pickle.loads(pickle.dumps(function))
        return Sensitive(
            lambda: sum(again(part) for part in self.parts), unit=dp.rows(), **declared
        )


def same(part):
    """What reads a part: it is there already."""
    return part


def added(rows):
    return rows.y.sum() + 1


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("space", [DENSE, CELLS], ids=["dense", "cells"])
def test_parts_of_a_session_are_joined_once_and_let_go(space, full):
    parts = Parts(space, full=full)
    own = Held(same, space=space, unit=dp.rows(), rows=parts)
    assert lines(told.examples(own), space) == lines(made(space, full=full), space)
    assert compute(own.sum(added, l2=1.0, shape=())) == 211
    assert parts.read == 1
    assert all(getattr(part, name) is None for part in parts.parts for name in ("x", "y", "w"))


def test_one_part_is_taken_as_it_is():
    rows = made(DENSE)
    assert told.examples(held(rows)) is rows
    assert rows.x is not None


def test_rows_elsewhere_are_added_up_where_they_are():
    own = Held(same, space=DENSE, unit=dp.rows(), rows=Parts(DENSE, apart=True))
    assert compute(own.sum(added, l2=1.0, shape=())) == 212


def test_a_session_says_what_must_be_ready():
    ready = [SimpleNamespace()]
    rows = SimpleNamespace(in_parts=lambda _, **declared: SimpleNamespace(ready=ready), apart=False)
    assert held(made(DENSE), reading=rows).ready is ready
    assert held(made(DENSE)).ready == ()
