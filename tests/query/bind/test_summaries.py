"""Sums and means of one person's rows: whole numbers on a grid that is fine enough."""

import math
from types import SimpleNamespace

import pytest

from deniable.errors import MissingBounds, UnsupportedQuery
from deniable.query.algebra import Column, Domain, Function, Kind, Summary, evaluate, literal
from deniable.query.bind.scope import Names
from deniable.query.bind.summaries import Summaries, _step

ENDS = [
    (0.0, 1.0), (-3.0, 100.0), (-100.0, 3.0), (0.0, 1e-300), (-1e300, 1e300), (5.0, 6.0),
    (0.0, 0.0), (-4.0, 4.0), (0.0, 4.1),
]  # fmt: skip


def column(low, high, *, kind=Kind.FLOAT):
    return Column(name="x", domain=Domain(kind=kind, low=low, high=high, nullable=True))


@pytest.mark.parametrize("ends", ENDS)
def test_the_grid_has_2_to_the_40_steps_up_to_the_farther_bound(ends):
    step, most = _step(column(*ends)), max(map(abs, ends))
    assert math.frexp(step)[0] == 0.5
    if most == 0:
        assert step == 2.0**-40
    elif most > 2.0**-800:
        assert 2**39 <= most / step < 2**40
    else:
        assert step == 2.0**-900


def summarised(function, argument, *, where=None):
    asked = SimpleNamespace(
        function=function,
        argument=None if argument is None else (lambda: argument),
        where=where,
        what="SUM(x)",
        snippet=None,
    )
    made = Summaries(Names())
    return made, made.of(asked)


def totals(made, values):
    """What an engine finds for each summary of these values."""
    found = {}
    for each in made.made:
        numbers = [
            1 if each.argument is None else evaluate(each.argument, {"x": v}) for v in values
        ]
        known = [n for n in numbers if n is not None]
        assert each.argument is None or {type(n) for n in known} <= {int}
        found[each.name] = {
            Summary.COUNT: len, Summary.SUM: sum, Summary.MIN: min, Summary.MAX: max,
        }[each.summary](known)  # fmt: skip
    return found


@pytest.mark.parametrize("ends", ENDS[:3] + ENDS[4:6])
@pytest.mark.parametrize("function", [Function.SUM, Function.AVG])
def test_sums_and_means_of_fractions_are_right_to_a_trillionth_of_their_bounds(ends, function):
    low, high = ends
    values = [low, high, low / 2 + high / 2, low / 3 + high / 1.5, None]
    made, column_ = summarised(function, column(*ends))
    truth = math.fsum(v for v in values if v is not None)
    found = evaluate(column_, totals(made, values))
    wanted = truth if function is Function.SUM else min(max(truth / 4, low), high)
    assert abs(found - wanted) <= 4 * 2.0**-39 * max(map(abs, ends))


@pytest.mark.parametrize("function", [Function.SUM, Function.AVG])
def test_sums_of_whole_numbers_are_exact(function):
    made, column_ = summarised(function, column(-3, 9, kind=Kind.INT))
    found = evaluate(column_, totals(made, [9, -3, 5, None, 1]))
    assert found == (12 if function is Function.SUM else 3.0)
    if function is Function.SUM:
        assert isinstance(column_, Column), "as the engine adds it up, times nothing"


@pytest.mark.parametrize("function", [Function.SUM, Function.AVG])
@pytest.mark.parametrize("ends", [(None, None), (0.0, None), (None, 1.0)])
@pytest.mark.parametrize("kind", [Kind.INT, Kind.FLOAT])
def test_without_both_bounds_nothing_is_added_up(function, ends, kind):
    with pytest.raises(MissingBounds):
        summarised(function, column(*ends, kind=kind))


def test_a_mean_is_held_in_its_bounds():
    made, column_ = summarised(Function.AVG, column(0.0, 2.0))
    names = {each.summary: each.name for each in made.made}
    much = {names[Summary.SUM]: 2**60, names[Summary.COUNT]: 1}
    assert evaluate(column_, much) == 2.0
    assert evaluate(column_, {**much, names[Summary.SUM]: -(2**60)}) == 0.0


def test_truths_are_counted_when_they_are_added_up():
    made, column_ = summarised(Function.SUM, column(False, True, kind=Kind.BOOL))
    assert evaluate(column_, totals(made, [True, False, True])) == 2


def test_each_summary_is_computed_once():
    made = Summaries(Names())
    x, true = column(0, 9, kind=Kind.INT), literal(True)
    both = [(Summary.SUM, x), (Summary.COUNT, x), (Summary.COUNT, None)]
    wishes = [(*each, where) for each in both for where in (None, true)]
    names = [made.once(*each, wish="n").name for each in wishes * 2]
    assert names[: len(wishes)] == names[len(wishes) :]
    assert len(set(names)) == len(made.made) == len(wishes)


def test_what_is_not_a_number_is_not_added_up_and_other_functions_are_refused():
    with pytest.raises(UnsupportedQuery, match="need numbers"):
        summarised(Function.SUM, Column(name="x", domain=Domain(kind=Kind.TEXT)))
    with pytest.raises(UnsupportedQuery, match="per person"):
        summarised(Function.VAR_POP, column(0.0, 1.0))
    made, _ = summarised(Function.COUNT, None)
    assert [(each.summary, each.argument) for each in made.made] == [(Summary.COUNT, None)]


@pytest.mark.parametrize("function", [Function.COUNT, Function.MIN, Function.SUM])
def test_a_summary_that_nobody_named_is_called_after_its_function(function):
    made, _ = summarised(function, column(0, 9, kind=Kind.INT))
    assert [each.name for each in made.made] == [function.value]
