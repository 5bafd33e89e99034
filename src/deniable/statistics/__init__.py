"""One-line statistics on a session, each a question of its own.

    building       from names of columns to questions
    numbers        count, sum, mean, variance, std, median, quantile
    tables         histogram, crosstab, top_k
    ranges         bounds found privately
    summary        describe
    contributions  rows and groups per person
    sampled        any function, on disjoint parts of the rows
    workloads/     ranges, marginals, hierarchies and running totals

They build the same questions that SQL does, and are bounded, priced and answered in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.loading import on_first_use

if TYPE_CHECKING:
    from .building import About, ask
    from .numbers import count, quantile, statistic
    from .ranges import bounds
    from .summary import describe
    from .tables import crosstab, histogram, top_k
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "building": "About ask",
            "numbers": "count quantile statistic",
            "ranges": "bounds",
            "summary": "describe",
            "tables": "crosstab histogram top_k",
        },
    )

__all__ = [
    "About",
    "ask",
    "bounds",
    "count",
    "crosstab",
    "describe",
    "histogram",
    "quantile",
    "statistic",
    "top_k",
]
