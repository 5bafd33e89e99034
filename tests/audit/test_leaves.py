"""Every text and every buffer can be taken apart; what cannot be looked into is refused."""

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.audit.leaves import leaves


@given(st.text() | st.text(alphabet="0123456789._eE+-٣", max_size=30))
def test_every_text_has_leaves(text):
    assert list(leaves(text))


@pytest.mark.parametrize("text", ["version 1.2.3", "2020.01.02", "10.0.7.1", "1_000.5_0e-3"])
def test_numbers_with_several_points_are_several_numbers(text):
    found = [value for path, value in leaves(text) if path and path[-1][0] == "number"]
    assert found
    assert all(isinstance(value, float) for value in found)


@pytest.mark.parametrize("kind", [bytes, bytearray, lambda data: memoryview(bytes(data))])
def test_buffers_are_read_as_their_bytes(kind):
    one, other = (list(leaves(kind([n]))) for n in (0, 1))
    assert one != other
    assert list(leaves(kind([1]))) == other


@pytest.mark.parametrize(
    "answer",
    [
        iter([1]),
        (n for n in [1]),
        lambda: 1,
        len,
        [].append,
        functools.partial(int, 1),
        map(int, "1"),
    ],
    ids=lambda answer: type(answer).__name__,
)
@pytest.mark.parametrize("held", [False, True])
def test_what_cannot_be_looked_into_is_refused(answer, held):
    with pytest.raises(dp.BadParameter, match="cannot look into"):
        list(leaves({"a": answer} if held else answer))
