"""Who is in the data, and what else is true of them."""

from __future__ import annotations

from ._membership import membership
from .attributes import AttributeInference, attributes
from .correlations import from_correlations
from .frequencies import from_frequencies
from .models import from_model
from .synthetic import from_synthetic

__all__ = [
    "AttributeInference",
    "attributes",
    "from_correlations",
    "from_frequencies",
    "from_model",
    "from_synthetic",
    "membership",
]
