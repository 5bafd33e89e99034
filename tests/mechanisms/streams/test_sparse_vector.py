"""An opened sparse vector: a value for each yes, if values are asked for, and none for a no."""

import pytest

from deniable.mechanisms import SparseVector


@pytest.mark.parametrize("values", [False, True])
def test_each_yes_is_counted_and_shown_as_asked(values):
    """At ε = 1000 noise beyond 100 has odds below e⁻¹⁰⁰⁰."""
    opened = SparseVector(epsilon=1000.0, answers=2, values=values, threshold=500.0).begin()
    for query, above in ((0, False), (1000, True), (0, False), (1000.0, True)):
        assert opened.answering() is not None
        answer = opened.ask(query)
        if values:
            assert answer == pytest.approx(1000, abs=100) if above else answer is None
        else:
            assert answer is above
    assert opened.answering() is None
