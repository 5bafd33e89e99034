"""Connected dots keep the masses of both distributions."""

import math

import numpy as np
import pytest
from tests.losses import figures

from deniable.losses import picture
from deniable.losses.pairs import GaussianPair, LaplacePair, ResponsePair


def test_connected_dots_keep_both_masses():
    pair = GaussianPair(mu=0.8)
    first, masses, lost = picture.connect(pair, 1e-2, 1e-12)
    losses = 1e-2 * (first + np.arange(len(masses)))
    assert math.fsum(masses) + lost == pytest.approx(1, abs=1e-11)
    assert math.fsum(masses * np.exp(-losses)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("times", [1, 3, 40])
def test_a_picture_of_gaussian_losses_is_their_normal_law(times):
    """μ²/2 each on average, with variance μ²."""
    losses, chances = picture.picture([(GaussianPair(mu=0.8), times)], points=200)
    mean, spread = times * 0.8**2 / 2, 0.8 * math.sqrt(times)
    assert math.fsum(chances) == pytest.approx(1, abs=1e-6)
    assert chances @ losses == pytest.approx(mean, rel=1e-3)
    assert math.sqrt(chances @ (losses - mean) ** 2) == pytest.approx(spread, rel=1e-2)
    inside = np.abs(losses - mean) <= spread
    assert chances[inside].sum() == pytest.approx(0.6827, abs=0.03)


PART = "picture"
PAIRS = [(GaussianPair(mu=0.8), 2), (LaplacePair(ratio=0.5), 3), (ResponsePair(epsilon=1.0), 1)]
CASES = {
    "connected": lambda: [picture.connect(pair, 0.25, 1e-9) for pair, _ in PAIRS],
    "picture": lambda: picture.picture(PAIRS, points=16),
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case], within=1e-6)
