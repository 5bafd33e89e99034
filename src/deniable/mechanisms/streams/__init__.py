"""Mechanisms that answer a stream of questions for one price."""

from .above_threshold import AboveThreshold
from .sparse_vector import SparseVector

__all__ = ["AboveThreshold", "SparseVector"]
