"""What `dp.open` returns: the session with SQL, Ibis and one-line statistics.

    options       the options of one-line statistics, each declared once
    searching     a statistic whose bounds are found privately first
    learning      models: fit, select, tune
    workloads     ranges, marginals, hierarchies and running totals
    synthesizing  synthetic tables
    curator       `dp.open`, and the session itself

import deniable as dp

s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(1.0))
s.count(spend=dp.epsilon(0.1))
"""

from .curator import Curator, open

Session = Curator
"""The usual name for what `dp.open` returns: the curator's session, or that of one asker."""

__all__ = ["Curator", "Session", "open"]
