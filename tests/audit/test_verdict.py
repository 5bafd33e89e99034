import dataclasses
import math
import sys

import pytest

import deniable as dp
from deniable.audit import Verdict

FOUND = Verdict(
    violated=True,
    claim="ε = 1",
    epsilon_lower=1.234,
    epsilon_claimed=1.0,
    delta=0.0,
    witness="the answer is at most <3>",
    evidence="probability at least 0.5 on the first data set, at most 0.1 on the second",
    power=0.0412,
    samples=200_000,
    confidence=0.999,
    seconds=0.12,
    bars=(("first", 1.234), ("second", 0.8)),
    limit=1.0,
    axis="ε is at least",
)


def test_a_violation_reads_as_a_sentence_with_its_evidence():
    text = str(FOUND)
    assert text.startswith(
        "Violated: the claim is ε = 1; the audit proves at least ε = 1.23 (99.9 %"
    )
    assert "the answer is at most <3>" in text
    assert "noise 4.12 % too small would be caught 9 times in 10" in text
    assert "200,000" in text


def test_no_violation_is_not_called_a_proof():
    passed = dataclasses.replace(FOUND, violated=False, epsilon_lower=0.9, power=math.inf)
    assert str(passed).startswith("No violation found: ")
    assert "no error in noise scale would be caught" in str(passed)


def test_the_notebook_shows_the_same_facts_escaped():
    page = FOUND._repr_html_()
    assert "at most &lt;3&gt;" in page
    assert "Violated" in page


def test_the_picture_shows_every_bound_and_the_claim():
    ax = FOUND.plot()
    assert [bar.get_width() for bar in ax.patches] == [1.234, 0.8]
    assert ax.patches[0].get_facecolor() != ax.patches[1].get_facecolor()
    assert list(ax.lines[0].get_xdata()) == [1.0, 1.0]
    assert "ε = 1" in ax.get_title(loc="left")


def test_the_picture_can_be_drawn_into_axes_of_ones_own():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    ax = figure.add_subplot()
    assert FOUND.plot(ax) is ax


def test_without_matplotlib_the_fix_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(dp.MissingExtra, match="matplotlib"):
        FOUND.plot()
