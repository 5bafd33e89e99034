"""Numbers as they were declared: of every type and shape, exact, and read as arrays."""

from decimal import Decimal
from fractions import Fraction
from itertools import count

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import forms
from deniable.forms import Form, read_numbers, read_real


@pytest.mark.parametrize(
    ("shape", "keys", "read", "size"),
    [
        (None, None, (), 1), (3, None, (3,), 3), ((2, 3), None, (2, 3), 6), ([4], None, (4,), 4),
        (0, None, (0,), 0), ((2, 0), None, (2, 0), 0), (None, ["a", "b"], (2,), 2),
        (2, ["a", "b"], (2,), 2), ((2,), ("a", "b"), (2,), 2),
    ],
)  # fmt: skip
def test_a_declared_shape_says_how_many_numbers_there_are(shape, keys, read, size):
    form = Form.of(whole=None, shape=shape, keys=keys)
    assert (form.shape, form.size, form.statistic) == (read, size, None)
    assert Form.of(whole=None, shape=shape, keys=keys, statistic=max).statistic is max
    for dimensions in (1, 2):
        asked = {"dimensions": dimensions, "what": "numbers", "example": "3"}
        if len(read) == dimensions and size:
            forms.needs_shape("it", form, **asked)
        else:
            with pytest.raises(dp.BadParameter, match="not declared"):
                forms.needs_shape("it", form, **asked)


def test_only_what_a_float_holds_is_read_as_floats():
    assert forms.read_floats([0.5, Decimal("0.25"), 3], Form(shape=(3,))).tolist() == [0.5, 0.25, 3]
    assert forms.read_pair((1, Fraction(1, 2))) == (1.0, 0.5)
    for wrong in (Fraction(1, 3), 2**53 + 1, Decimal("0.1")):
        with pytest.raises(dp.BadParameter, match="that a float can hold"):
            forms.read_floats(wrong, Form())


def test_numbers_that_were_read_are_made_exact_in_their_shape():
    for array, kind in ((np.array([[1, 2]]), int), (np.array([[0.5, 2.0]]), Fraction)):
        made = forms.exact(array)
        assert made.shape == (1, 2)
        assert {type(x) for x in made.flat} == {kind}
        assert made.tolist() == array.tolist()


ENDS = [0, 7, 2**62 + 1, 2**63 - 1, 2**63, 2**64 - 1]
WIDE = np.longdouble(2) ** 62 + 1, np.longdouble(1) + np.longdouble(2) ** -60


def test_whole_numbers_of_every_width_are_held_at_the_ends_and_read_exactly():
    assert forms.read_whole(np.array(ENDS, dtype=np.uint64)).tolist() == [
        min(n, 2**63 - 1) for n in ENDS
    ]
    floats = [0.0, -3.0, 2.0**62, -(2.0**63), 2.0**63, -1e300, 2.0**63 - 1024]
    held = [max(-(2**63), min(int(x), 2**63 - 1)) for x in floats]
    assert forms.read_whole(np.array(floats)).tolist() == held
    assert forms.read_whole(np.array(WIDE[:1])).tolist() == [int(WIDE[0])]
    assert [Fraction(x) for x in read_real(np.array(WIDE)).tolist()] == [
        Fraction(*map(int, x.as_integer_ratio())) for x in WIDE
    ]


@pytest.mark.parametrize("mixed", [[1, Fraction(1, 2)], [Decimal("0.5"), 3], np.array([1.5, 2.0])])
def test_one_fraction_among_whole_numbers_is_refused(mixed):
    with pytest.raises(dp.BadParameter):
        read_numbers(mixed, Form(whole=True, shape=(2,)))


@pytest.mark.parametrize("dtype", ["?", "i1", "i8", "u1", "u8", "f2", "f4", "f8"])
def test_arrays_of_numbers_are_not_read_one_by_one(dtype, monkeypatch):
    """Millions of them are read as fast as NumPy copies them."""
    monkeypatch.setattr(forms, "_exact", None)
    numbers = np.array([[0, 1]], dtype=dtype)
    form = {"shape": (1, 2)}
    for kind, read in ((True, np.int64), (False, np.float64)):
        found = read_numbers(numbers, Form(whole=kind, **form))
        assert found.dtype == read
        assert found.tolist() == [[0, 1]]
    for listed in ([0, True], [0.0, 1.0], [0, 1.0], [0.5, 1e300]):
        assert read_numbers(listed, Form(whole=False, shape=(2,))).tolist() == listed


@pytest.mark.parametrize(
    ("value", "shape", "read"),
    [
        (list, (0,), []), (lambda: iter([1, 2]), (2,), [1, 2]), (lambda: iter([]), (0,), []),
        (lambda: (3, 4), (2,), [3, 4]), (lambda: pa.scalar(5), (), 5),
        (lambda: [pa.scalar(5)], (1,), [5]), (lambda: [np.longdouble(3)], (1,), [3]),
        (lambda: [np.array(4), np.int8(2)], (2,), [4, 2]), (lambda: [[1], [3]], (2, 1), [[1], [3]]),
        (lambda: pa.scalar([1, 2]), (2,), [1, 2]), (lambda: [WIDE[0], 1], (2,), [int(WIDE[0]), 1]),
    ],
)  # fmt: skip
def test_numbers_are_read_from_whatever_holds_them(value, shape, read):
    for kind in (True, False):
        assert read_numbers(value(), Form(whole=kind, shape=shape)).tolist() == read


def test_an_array_in_the_place_of_a_number_is_refused():
    within = np.empty(1, dtype=object)
    within[0] = np.array([4])
    with pytest.raises(dp.BadParameter):
        read_numbers(within, Form(shape=(1,)))


@pytest.mark.parametrize(
    ("value", "shape"),
    [(count, (3,)), (lambda: iter([1]), ()), (lambda: iter([1]), (2,)), (lambda: iter([]), (2, 2))],
)
def test_an_iterator_of_another_length_is_refused_and_an_endless_one_too(value, shape):
    with pytest.raises(dp.BadParameter):
        read_numbers(value(), Form(whole=True, shape=shape))


@pytest.mark.parametrize(
    ("denominator", "places"),
    [(1, 0), (2, 1), (5, 1), (40, 3), (5**7, 7), (2 * 5**3, 3), (3, None), (30, None), (10, 1),
     (2**4300, 4300), (2**4301, None), (5**4300, 4300), (5**4301, None)],
    ids=lambda n: str(n)[:9],
)  # fmt: skip
def test_a_fraction_has_as_many_decimals_as_write_it_exactly(denominator, places):
    assert forms.decimal_places(Fraction(1, denominator)) == places
    assert forms.decimal_places(Fraction(-7 * denominator - 1, denominator)) == places
