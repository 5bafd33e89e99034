"""Mechanisms that count over time: a running total after every step."""

from .binary_tree import BinaryTreeCounter
from .toeplitz import ToeplitzCounter

__all__ = ["BinaryTreeCounter", "ToeplitzCounter"]
