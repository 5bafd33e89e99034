"""Mechanisms that each person runs on their own answer."""

from .randomized_response import Estimate, RandomizedResponse
from .support_response import SupportResponse
from .unary_response import UnaryResponse

__all__ = ["Estimate", "RandomizedResponse", "SupportResponse", "UnaryResponse"]
