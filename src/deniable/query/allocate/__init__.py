"""Allocate: which noise on which numbers, for an amount or for a ±; free, and without data.

basis         in which numbers tallies are released: themselves, or what a row moves less
part          a vector: whole numbers that are rounded and get noise of one scale
allocation    which vectors a question needs, how much each matters, and all of its noise
remarks       what the schema shows: columns that are clipped first, conditions that no row can meet
foresight     the ± of every answer, in advance
within        the least loss for a ±
words         the plan as people read it
"""

from __future__ import annotations

from .allocation import Allocation, allocate, emphasis
from .within import least
from .words import explained, noise_of, title

__all__ = ["Allocation", "allocate", "emphasis", "explained", "least", "noise_of", "title"]
