"""Operations made of several: what is constant is computed, and nothing else changes."""

import pytest

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Column, Domain, Kind, Literal, call, evaluate, literal
from deniable.query.bind.spelling import cast, condition, fold, spelled


def column(name, kind):
    return Column(name=name, domain=Domain(kind=kind))


TEXT, INT, DATE = column("t", Kind.TEXT), column("i", Kind.INT), column("d", Kind.DATE)
FLOAT, BOOL = column("f", Kind.FLOAT), column("b", Kind.BOOL)


@pytest.mark.parametrize("terms", [1, 2, 98, 99, 100, 101])
def test_constants_of_up_to_a_hundred_nodes_are_computed(terms):
    made = fold("coalesce", *[literal(None, kind=Kind.INT)] * (terms - 1), literal(7))
    assert isinstance(made, Literal) == (terms + 1 <= 100)
    assert evaluate(made, {}) == 7


@pytest.mark.parametrize(
    ("op", "text", "kind"),
    [("to_int", "x", "int"), ("to_date", "2021-02-29", "date"), ("to_bool", "maybe", "bool"),
     ("to_float", "1,5", "float")],
)  # fmt: skip
def test_a_constant_that_cannot_be_cast_is_refused_before_rows_are_read(op, text, kind):
    with pytest.raises(UnsupportedQuery, match=f"{text!r} is not of type {kind}"):
        cast(op, literal(text))


def test_other_casts_are_made_as_they_are():
    assert cast("to_int", literal("12")) == literal(12)
    assert evaluate(cast("to_int", literal(None, kind=Kind.TEXT)), {}) is None
    assert cast("to_int", TEXT) == call("to_int", TEXT)
    assert evaluate(cast("to_int", TEXT), {"t": "x"}) is None


def test_text_is_joined_as_it_is_and_other_values_are_written_out():
    assert spelled("concat", TEXT, TEXT) == call("concat", TEXT, TEXT)
    made = spelled("concat", TEXT, INT, BOOL, DATE)
    written = [call("to_text", each) for each in (INT, BOOL, DATE)]
    assert made == call("concat", TEXT, *written)
    with pytest.raises(UnsupportedQuery):
        spelled("concat", TEXT, FLOAT)


def test_a_condition_is_true_or_false():
    assert condition(BOOL) is BOOL
    with pytest.raises(UnsupportedQuery, match="not int"):
        condition(INT)
