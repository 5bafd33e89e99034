"""The two pictures that attacks draw: curves over common places, and who is found."""

import numpy as np
import pytest

import deniable as dp
from deniable.plots import curves, roc


def test_curves_are_named_marked_and_hold_their_numbers():
    ax = curves(
        [1, 10, 100], {"one": [1, 2, 3], "two": [3, 2, 1]}, x="noise", y="found", title="A title",
        marks={"√n": 10}, logarithmic=True, unit="n = 5",
    )  # fmt: skip
    lines = {line.get_label(): list(line.get_ydata()) for line in ax.get_lines()}
    assert lines["one"] == [1, 2, 3]
    assert ax.get_xscale() == "log"
    assert "n = 5" in ax.get_xlabel()
    assert "√n" in [text.get_text() for text in ax.texts]
    ax.figure.canvas.draw()


def test_the_shaded_region_is_what_epsilon_allows():
    ax = roc({"test": ([0.0, 0.1, 1.0], [0.0, 0.2, 1.0])}, epsilon=1.0)
    (shade,) = ax.collections
    corners = shade.get_paths()[0].vertices
    low = corners[np.isclose(corners[:, 0], 1e-3)][:, 1].max()
    assert low == pytest.approx(np.e * 1e-3)
    assert corners[:, 1].max() <= 1 + 1e-12
    ax.figure.canvas.draw()


def test_curves_of_another_length_are_refused():
    with pytest.raises(dp.BadParameter):
        curves([1, 2], {"short": [1]}, x="x", y="y")
    with pytest.raises(dp.BadParameter):
        roc({"short": ([0, 1], [0])})
