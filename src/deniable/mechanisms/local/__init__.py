"""Mechanisms that each person runs on their own answer."""

from .randomized_response import Estimate, RandomizedResponse

__all__ = ["Estimate", "RandomizedResponse"]
