"""Pictures show what they are given, and can be told apart without colour."""

import math
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import to_rgb

import deniable as dp
from deniable import plots
from deniable.plots import style

GRID = np.linspace(0, 1, 50)


def draw_all():
    who = {"unit": "one person"}
    heights = {"one": GRID, "two": GRID**2}
    counts = {"a": [1, 10, 100], "b": [1, 5, 20]}
    rates = {"one": 1 - GRID, "two": (1 - GRID) ** 2}
    beliefs = {"one": (GRID**2, np.sqrt(GRID)), "two": (GRID**3, np.cbrt(GRID))}
    return {
        "privacy_loss": plots.privacy_loss(GRID, heights, epsilon=0.5, delta=1e-6, **who),
        "accountants": plots.accountants([1, 10, 100], counts, delta=1e-6, **who),
        "trade_off": plots.trade_off(GRID, rates, epsilon=1.0, **who),
        "belief": plots.belief(GRID, beliefs, **who),
    }


@pytest.fixture(scope="module")
def pictures():
    return draw_all()


def curves(ax):
    return [line for line in ax.get_lines() if not line.get_label().startswith("_")]


@pytest.mark.parametrize("name", ["privacy_loss", "accountants", "trade_off", "belief"])
def test_every_picture_names_its_axes_its_curves_and_its_unit(pictures, name):
    ax = pictures[name]
    assert "one person" in ax.get_xlabel()
    assert ax.get_title(loc="left")
    assert len(curves(ax)) == 2
    ax.figure.canvas.draw()


@pytest.mark.parametrize("name", ["privacy_loss", "accountants", "trade_off", "belief"])
def test_curves_carry_the_numbers_they_were_given(pictures, name):
    first = curves(pictures[name])[0]
    expected = {
        "privacy_loss": GRID,
        "accountants": [1, 10, 100],
        "trade_off": 1 - GRID,
        "belief": np.sqrt(GRID),
    }[name]
    assert np.array_equal(first.get_ydata(), expected)


def test_the_promise_and_its_failure_are_said_in_the_caption(pictures):
    assert "ε = 0.5 · δ = 1e-06" in pictures["privacy_loss"].get_xlabel()
    assert style.EPSILON_AXIS in pictures["accountants"].get_ylabel()


def test_no_two_lines_look_alike_in_grey():
    def grey(color):
        return float(np.dot(to_rgb(color), (0.299, 0.587, 0.114)))

    for i, one in enumerate(style.LINES):
        for two in style.LINES[i + 1 :]:
            assert one.dashes != two.dashes or abs(grey(one.color) - grey(two.color)) > 0.3


def test_pictures_can_be_drawn_on_axes_of_ones_own():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert plots.belief(GRID, {"one": (GRID, GRID)}, ax=ax) is ax


def test_names_at_the_ends_of_curves_do_not_touch():
    ax = plots.accountants([1, 10], {name: [1, 10 + i / 100] for i, name in enumerate("abcde")})
    heights = sorted(text.xy[1] for text in ax.texts)
    assert min(np.diff(heights)) > 0.05


@pytest.mark.parametrize("name", ["privacy_loss", "trade_off"])
def test_curves_of_another_length_are_refused(name):
    with pytest.raises(dp.BadParameter, match="49 values for 50 places"):
        getattr(plots, name)(GRID, {"short": GRID[:-1]})


def test_without_matplotlib_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.figure'] = None\n"
        "import deniable as dp; from deniable.plots import belief\n"
        "try: belief([0, 1], {})\n"
        "except dp.MissingExtra as error: print(error.fix)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "deniable[plots]"' in done.stdout


def test_infinite_figures_do_not_break_a_picture():
    ax = plots.accountants([1, 10, 100], {"a": [1, 10, 100], "b": [math.inf, 5, 20]})
    ax.figure.canvas.draw()


def test_a_caption_fits_the_picture_and_keeps_epsilon_with_its_number():
    unit = "any one person (patient_id; counted as at most 10 rows in 3 groups), added or removed"
    for spare in range(40):
        caption = f"protects {unit}{'x' * spare}; ε 0.5, δ 1e-07; 95 % confidence"
        name, *lines = style.captioned("n", caption).split("\n")
        assert (name, " ".join(lines)) == ("n", caption)
        assert max(map(len, lines)) <= 72 + spare
        assert not any(line.endswith(("ε", "δ")) for line in lines)
