"""Every workload that a session answers, and a table that each can be asked about."""

import datetime as dt

import numpy as np
import pandas as pd

import deniable as dp
from deniable import workload

FIRST = dt.datetime.fromisoformat("2025-01-01")
LAST = dt.datetime.fromisoformat("2025-01-20T23:59:59")
ROWS = dp.rows()
PERSON = dp.person("who", rows=3, groups=2)
COLUMNS = {
    "age": dp.bounds(0, 99, type="int", missing="drop"),
    "sex": dp.keys(["F", "M"]),
    "city": dp.keys(["Ulm", "Köln", "東京"]),
    "pay": dp.bounds(-10.0, 100.0, missing="drop"),
    "day": dp.bounds(FIRST.date(), LAST.date(), type="date", missing="drop"),
    "at": dp.bounds(FIRST, LAST, type="timestamp", missing="drop"),
    "page": dp.column("text"),
}
SCHEMA = dp.Schema(tables={"data": dp.Schema(columns=COLUMNS)})
COAST = {"coast": {"Ulm": "no", "Köln": "no", "東京": "yes"}}
SPEND = dp.epsilon(1.0, delta=1e-6)


def visits(rows=300):
    rng = np.random.default_rng(7)
    seconds = rng.integers(0, 20 * 86_400 - 1, rows).tolist()
    at = [FIRST + dt.timedelta(seconds=s) for s in seconds]
    table = pd.DataFrame(
        {
            "who": rng.integers(0, rows // 5, rows),
            "age": rng.integers(-5, 110, rows),  # some outside the bounds
            "sex": rng.choice(["F", "M", None], rows),
            "city": rng.choice(["Ulm", "Köln", "東京"], rows),
            "pay": np.round(rng.normal(40, 40, rows), 3),
            "day": [each.date() for each in at],
            "at": at,
            "page": [f"page {i}" for i in np.minimum(rng.geometric(0.4, rows), 9)],
        }
    )
    table.loc[::17, "pay"] = np.nan
    return table


def by_day(s):
    (counts,) = s.sql("SELECT day, COUNT(*) AS n FROM data GROUP BY day").vectors()
    value = counts.value
    return value.then(np.ravel, l1=value.bound("l1"), whole=True, shape=value.form.size)


def days(counts):
    """The counts of the days, one after the other, which one unit moves together by their bound."""
    return [
        counts.then(lambda found, i=i: found[i], l1=counts.bound("l1"), whole=True, stream="days")
        for i in range(counts.form.size)
    ]


WORKLOADS = {
    "ranges of whole numbers": lambda s: s.ranges("age", spend=SPEND),
    "ranges of numbers": lambda s: s.ranges("pay", bins=11, spend=SPEND),
    "ranges of dates": lambda s: s.ranges("day", spend=SPEND),
    "ranges of times": lambda s: s.ranges("at", bins=20, spend=SPEND),
    "marginals": lambda s: s.marginals(["sex", "city", "age"], ways=2, bins=4, spend=SPEND),
    "hierarchy": lambda s: s.hierarchy(["sex", "city"], groups=COAST, spend=SPEND),
    "running count by day": lambda s: s.running("day", every="day", spend=SPEND),
    "running count by hour": lambda s: s.running("at", every="hour", spend=SPEND),
    "running sum by week": lambda s: s.running("at", every="week", of="pay", spend=SPEND),
    "running sum of whole numbers": lambda s: s.running("day", of="age", spend=SPEND),
    "growing count": lambda s: s.follow("day", spend=SPEND).next(through=LAST.date()),
    "growing sum by week": lambda s: s.follow("at", every="week", of="pay", spend=SPEND).next(),
    "known heavy hitters": lambda s: s.top_k("city", k=2, spend=SPEND),
    "unknown heavy hitters": lambda s: s.top_k("page", k=3, spend=SPEND),
    "prefixes": lambda s: s.run(
        workload.prefixes(20).on(by_day(s), spend=SPEND, filter=s.ledger.filter)
    ),
    "matrix": lambda s: s.run(
        workload.matrix(np.tri(3, 20, 7)).on(by_day(s), spend=SPEND, filter=s.ledger.filter)
    ),
    "stream": lambda s: s.run(
        workload.stream().on(days(by_day(s)), spend=SPEND, filter=s.ledger.filter)
    ),
    "known number of ranges": lambda s: s.run(
        workload.arriving(
            by_day(s), [(0, 3), (2, 9)], number=2, spend=SPEND, filter=s.ledger.filter
        )
    ),
    "multiplicative weights": lambda s: s.run(
        workload.multiplicative_weights(
            by_day(s), [(0, 3), (2, 9)], epsilon=1.0, updates=2, threshold=9
        )
    ),
}
