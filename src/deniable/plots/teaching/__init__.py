"""Charts that explain: what noise does, before anybody's data are at stake.

neighbours     output densities on two neighbouring data sets
clipping       noisy sums against the clipping bound
errors         histograms of errors over many trials
differences    what the difference of two series of answers reveals over time
"""

from __future__ import annotations

from .clipping import clipping
from .differences import differences
from .errors import errors
from .neighbours import neighbours

__all__ = ["clipping", "differences", "errors", "neighbours"]
