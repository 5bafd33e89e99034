"""Five hospitals, one histogram: what the demo says is true of what ran."""

import re

import numpy as np

from deniable.cli import hospitals, main


def test_the_story_is_told_with_true_figures(capsys):
    assert main(["demo", "hospitals"]) == 0
    told = capsys.readouterr().out
    for name in hospitals.NAMES:
        assert name in told
    noisy = [int(n) for n in re.findall(r"(-?\d+) ± (?:\d+)", told)]
    error = int(re.findall(r"± (\d+)", told)[0])
    true = [int(n) for n in re.search(r"true sum\*(.*)", told).group(1).split()]
    assert len(noisy) == len(true) == 5
    assert np.abs(np.subtract(noisy, true)).max() < 6 * error
    assert "ε = 1" in told


def test_the_coalition_of_the_story_learns_nothing_of_its_victim():
    """Its left-over words are uniform: five below 2²⁰ has a chance of 2⁻⁶⁰."""
    counts = np.full((5, 5), 7)
    text = "\n".join(hospitals.story(counts))
    left = [int(n) for n in re.search(r"left over(.*)", text).group(1).split()]
    assert max(left) > 2**20


def test_an_unknown_story_is_refused(capsys):
    assert main(["demo", "nonsense"]) != 0
