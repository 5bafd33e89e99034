"""Queries and values that arrive one at a time.

known     a known number of ranges: each by itself, or all from one release
weights   without a limit: private multiplicative weights, tested by a sparse vector
streams   running totals, of streams of known and of unknown length
"""

from .known import Answer, arriving
from .streams import Stream, stream
from .weights import multiplicative_weights

__all__ = ["Answer", "Stream", "arriving", "multiplicative_weights", "stream"]
