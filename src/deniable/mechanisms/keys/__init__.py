"""Mechanisms that say which keys of a private list may be shown."""

from .gaussian_threshold import GaussianThreshold
from .laplace_threshold import LaplaceThreshold
from .partition_selection import PartitionSelection

__all__ = ["GaussianThreshold", "LaplaceThreshold", "PartitionSelection"]
