"""Frameworks that spend less noise where the data allow it, and a specimen of what δ may hide."""

from .catastrophe import Catastrophe
from .propose_test_release import ProposeTestRelease
from .smooth_noise import SmoothNoise

__all__ = ["Catastrophe", "ProposeTestRelease", "SmoothNoise"]
