"""Products of a stream with a Toeplitz matrix: exact, and not quadratic."""

import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deniable.mechanisms.counting import _online
from deniable.mechanisms.counting._online import Online, inverse
from deniable.mechanisms.counting.toeplitz import _square_root

INPUTS = st.integers(-(2**63), 2**63 - 1)


def direct(column, inputs):
    """Σ cₖ·xₜ₋ₖ, as it is written."""
    return [
        sum(c * x for c, x in zip(column, reversed(inputs[: t + 1]), strict=False))
        for t in range(len(inputs))
    ]


@settings(max_examples=25)
@given(
    st.lists(INPUTS, max_size=12),
    st.integers(0, 400),
    st.integers(1, 500),
    st.integers(1, 2**41),
)
@example([2**63 - 1, -(2**63)], 300, 300, 2**41)
def test_whole_numbers_of_any_size_are_multiplied_exactly(ends, length, columns, largest):
    inputs = (ends * (length // max(len(ends), 1) + 1))[:length] if ends else [1] * length
    column = [(largest * (k + 1)) % (2**41) - 2**40 for k in range(columns)]
    running = Online(column, exact=True)
    assert [running(x) for x in inputs] == direct(column, inputs)


def test_floats_are_multiplied_within_their_precision():
    rng = np.random.default_rng(1)
    inputs, column = rng.normal(size=700), rng.normal(size=600)
    running = Online(column.tolist(), exact=False)
    found = [running(x) for x in inputs.tolist()]
    assert np.allclose(found, np.convolve(inputs, column)[:700], atol=1e-10)


def test_a_long_stream_takes_little_more_than_linear_work(monkeypatch):
    """The lengths of all products together are below T·log₂(T)/2; term by term it is T²/2."""
    steps, worked = 1 << 13, []
    product = _online._whole
    monkeypatch.setattr(
        _online, "_whole", lambda a, b: worked.append(len(a)) or product(a[:1] * len(a), b)
    )
    running = Online(_square_root(steps, 40), exact=True)
    for _ in range(steps):
        running(1)
    assert max(worked) == steps // 2
    assert sum(worked) <= steps * math.log2(steps) / 2


def test_an_inverse_undoes_its_column():
    column = np.cumprod([1.0] + [1 - 1 / (2 * k) for k in range(1, 1000)])
    unit = np.convolve(column, inverse(column))[:1000]
    assert np.allclose(unit, [1.0] + [0.0] * 999, atol=1e-12)
