"""Statistics that one unit can change only so much, and algorithms that a session runs.

    columns             one number per row, whatever the rows hold
    clip                public bounds: clipped sums, counts and means on a lattice
    bounds              bounds found privately; the automatic average
    local               how far one unit moves a statistic on data near these
    smooth              noise sized to the data, by smooth sensitivity
    propose_test        propose a bound, test that it holds, release
    sample_aggregate    any function, run on disjoint parts
    sample_range        the same, where its range is found privately

Algorithms are generators: each `yield` hands a step to the session, which charges it, computes
it, draws the noise and sends the answer back. An algorithm holds no ledger and cannot spend unseen.
"""

from .bounds import automatic_mean, bounds_by_magnitude, doubling, linear, upper_bound
from .clip import GridSum, clipped_sum, mean, row_count
from .local import Mean, Quantile, Statistic, TrimmedMean
from .propose_test import distance_to_instability, propose_test_release
from .sample_aggregate import sample_and_aggregate, sample_and_aggregate_median
from .sample_range import sample_and_aggregate_anywhere
from .smooth import smooth_bound, smooth_release

__all__ = [
    "GridSum",
    "Mean",
    "Quantile",
    "Statistic",
    "TrimmedMean",
    "automatic_mean",
    "bounds_by_magnitude",
    "clipped_sum",
    "distance_to_instability",
    "doubling",
    "linear",
    "mean",
    "propose_test_release",
    "row_count",
    "sample_and_aggregate",
    "sample_and_aggregate_anywhere",
    "sample_and_aggregate_median",
    "smooth_bound",
    "smooth_release",
    "upper_bound",
]
