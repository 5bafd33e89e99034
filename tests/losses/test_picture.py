"""Connected dots keep the masses of both distributions."""

import math

import numpy as np
import pytest

from deniable.losses import picture
from deniable.losses.pairs import GaussianPair


def test_connected_dots_keep_both_masses():
    pair = GaussianPair(mu=0.8)
    first, masses, lost = picture.connect(pair, 1e-2, 1e-12)
    losses = 1e-2 * (first + np.arange(len(masses)))
    assert math.fsum(masses) + lost == pytest.approx(1, abs=1e-11)
    assert math.fsum(masses * np.exp(-losses)) == pytest.approx(1, abs=1e-9)
