"""The errors that a session states before it spends are those of its answers, for every workload.

A question is explained and released once. Then its noise is drawn `RELEASES` times more and read as
the session reads it: the root of the mean square is that of the plan, and every ± of the release
covers. How seldom it may do so follows from the binomial law: all answers together give a false
alarm with probability below 1e-6.
"""

import datetime as dt
from contextlib import ExitStack
from itertools import combinations
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import deniable as dp
from deniable import workload
from deniable.sensitive import compute

answers = attrgetter("values")
RELEASES = 4_000
ANSWERS = 5_000
"""More than all cases have together."""
FIRST = dt.date(2025, 1, 1)
DAYS = 12
CITIES, PAGES = ["a", "b", "c"], [f"page {i}" for i in range(200)]
COAST = {"coast": {"a": "yes", "b": "no", "c": "yes"}}
SCHEMA = dp.Schema(
    columns={
        "age": dp.bounds(0, 99, type="int", missing="drop"),
        "stars": dp.keys([1, 2, 3]),
        "sex": dp.keys(["F", "M"]),
        "city": dp.keys(CITIES),
        "pay": dp.bounds(0.0, 100.0, missing="drop"),
        "day": dp.bounds(FIRST, FIRST + dt.timedelta(DAYS - 1), type="date", missing="drop"),
        "page": dp.keys(PAGES),
    }
)
UNITS = {
    "rows": dp.rows(),
    "replace": dp.rows(relation="replace"),
    "person": dp.person("who", rows=3),
}
SPENDS = {"ρ": dp.rho(0.5), "ε": dp.epsilon(1.0), "ε, δ": dp.epsilon(1.0, delta=1e-6)}


def visits(rows=360):
    """Everyone has 3 rows, so nobody counts for less than they have."""
    rng = np.random.default_rng(11)
    return pd.DataFrame(
        {
            "who": np.arange(rows) // 3,
            "age": rng.integers(0, 100, rows),
            "stars": rng.integers(1, 4, rows),
            "sex": rng.choice(["F", "M"], rows),
            "city": rng.choice(CITIES, rows),
            "pay": rng.integers(0, 101, rows).astype(float),
            "day": [FIRST + dt.timedelta(int(d)) for d in rng.integers(0, DAYS, rows)],
            "page": rng.choice(PAGES, rows),
        }
    )


TABLE = visits()


def opened(unit, spend):
    budgets = {"ρ": dp.rho(1e3), "ε": dp.epsilon(1e3), "ε, δ": dp.epsilon(3.0, delta=1e-5)}
    return dp.open(TABLE, unit=UNITS[unit], budget=budgets[spend], schema=SCHEMA)


def tables(*columns):
    """All two-way tables of some columns, each cell by cell, and with a cell for what is missing.

    Ages are in tens, as they have bins; nothing else has.
    """
    codes = {"sex": 3, "city": 4, "age": 11}
    places = {
        "sex": TABLE.sex.map({"F": 0, "M": 1}),
        "city": TABLE.city.map({name: i for i, name in enumerate(CITIES)}),
        "age": TABLE.age // 10,
    }
    return np.concatenate(
        [
            np.bincount(places[a] * codes[b] + places[b], minlength=codes[a] * codes[b])
            for a, b in combinations(columns, 2)
        ]
    )


def by_day(values=None):
    place = [(day - FIRST).days for day in TABLE.day]
    return np.bincount(place, weights=values, minlength=DAYS)


def days_of(s):
    (counts,) = s.sql("SELECT day, COUNT(*) AS n FROM data GROUP BY day").vectors()
    return counts


CELLS = {
    "ranges of whole numbers": (
        lambda s: s.ranges("age", bins=10),
        lambda: np.bincount(TABLE.age // 10, minlength=10),
    ),
    "ranges of numbers": (
        lambda s: s.ranges("pay", bins=[0, 20, 50, 100]),
        lambda: np.histogram(TABLE.pay, bins=[0, 20, 50, 100])[0],
    ),
    "ranges of dates": (lambda s: s.ranges("day"), by_day),
}
LISTED = {
    "marginals": (
        lambda s: s.marginals(["sex", "city", "age"], bins=10),
        lambda: tables("sex", "city", "age"),
    ),
    "running count": (lambda s: s.running("day"), lambda: by_day().cumsum()),
    "running sum": (lambda s: s.running("day", of="pay"), lambda: by_day(TABLE.pay).cumsum()),
    "running sum of whole numbers": (
        lambda s: s.running("day", of="age"),
        lambda: by_day(TABLE.age).cumsum(),
    ),
    "hierarchy": (lambda s: s.hierarchy(["stars", "city"]), None),
    "crossing hierarchy": (lambda s: s.hierarchy(["stars", "city"], groups=COAST), None),
}
ASKED = CELLS | LISTED


def least(confidence, releases=RELEASES):
    """So many releases are covered but for a false alarm, of all answers and both confidences."""
    return int(binom.ppf(1e-6 / (2 * ANSWERS), releases, confidence))


def drawn(measured, releases=RELEASES):
    """The answers without noise, and by how much those of many releases are off.

    What is drawn is read by a linear map, which is found by reading one number at a time.
    """
    with ExitStack() as stack:
        for each in dict.fromkeys(r for step in measured.steps for r in step.value.ready):
            stack.enter_context(each)
        exact = [np.asarray(compute(step.value)) for step in measured.steps]
    ends = np.cumsum([len(vector) for vector in exact])[:-1]
    noisy = [
        np.reshape(step.mechanism.release(np.tile(vector, releases)), (releases, -1)) - vector
        for step, vector in zip(measured.steps, exact, strict=True)
    ]
    units = np.eye(sum(map(len, exact)))
    read = np.array([answers(measured.read(np.split(unit, ends))) for unit in units])
    return answers(measured.read(exact)), np.concatenate(noisy, axis=1) @ read


def covers(off, halves, confidence):
    """Sums of floats are off by units in the last place where a ± may be 0."""
    slack = 1e-9 * np.abs(off).max()
    covered = (np.abs(off) <= np.asarray(halves) + slack).sum(axis=0)
    assert covered.min() >= least(confidence, len(off)), covered.min() / len(off)


def stated(plan):
    """The root mean squared error that an explanation prints, and what it is a mean over."""
    (line,) = [note for note in plan.notes if note.startswith("root mean squared error")]
    over, _, number = line.rpartition(": ")
    return float(number.replace(",", "")), over.removeprefix("root mean squared error over ")


@pytest.mark.parametrize("spend", SPENDS)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", ASKED)
def test_errors_are_those_explained_and_each_is_covered(name, unit, spend):
    """Over 4,000 releases a mean square has a relative standard error of at most √(5/4000) = 0.036.

    That is of a single Laplace noise; of all ranges over three of them it is 0.023, and no case has
    fewer. So 10 % of the root are 8 standard errors of the square: odds below 1e-13.
    """
    ask, truth = ASKED[name]
    asked = ask(opened(unit, spend))
    expected, over = stated(asked.explain(spend=SPENDS[spend]))
    measured = asked.measure(asked.about.session.spending(SPENDS[spend]))
    values, off = drawn(measured)
    if truth is not None:
        assert values * asked.worth == pytest.approx(truth(), abs=0.01)
    off *= asked.worth
    found = asked.release(spend=SPENDS[spend])
    if name in CELLS:
        off, halves = every_range(found, off)
    else:
        halves = {c: found.answers[asked.name].errors(c) for c in (0.5, 0.95)}
        assert max(halves[0.95]) == pytest.approx(
            asked.explain(spend=SPENDS[spend]).errors[asked.name]
        )
    squares = np.square(off).mean(axis=0)
    if over == "levels, weighted equally":
        squares = pd.Series(squares).groupby(list(found.keys["level"])).mean()
    else:
        assert over == "the workload"
    assert np.sqrt(squares.mean()) == pytest.approx(expected, rel=0.1)
    for confidence, each in halves.items():
        covers(off, each, confidence)


def every_range(found, off):
    """By how much all ranges are off, and the ± of each at two confidences."""
    ranges = [(i, j) for j in range(off.shape[1]) for i in range(j + 1)]
    sums = np.stack([off[:, i : j + 1].sum(axis=1) for i, j in ranges], axis=1)
    halves = {
        c: [found.estimates.between(i, j, confidence=c)[1] * found.worth for i, j in ranges]
        for c in (0.5, 0.95)
    }
    return sums, halves


MATRIX = np.tri(3, DAYS, 4)
VECTORS = {
    "prefixes": (workload.prefixes(DAYS), np.tri(DAYS)),
    "matrix": (workload.matrix(MATRIX), MATRIX),
    "groupings": (
        workload.groupings(DAYS, {"half": [i // 6 for i in range(DAYS)]}),
        np.concatenate([np.eye(DAYS), np.kron(np.eye(2), np.ones(6)), np.ones((1, DAYS))]),
    ),
}


@pytest.mark.parametrize("spend", SPENDS)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", VECTORS)
def test_workloads_over_the_counts_of_a_query_err_as_planned(name, unit, spend):
    """The odds of a false alarm are those of the test before."""
    w, matrix = VECTORS[name]
    s = opened(unit, spend)
    counts, own = days_of(s), s.spending(SPENDS[spend])
    flat = counts.value.then(np.ravel, l1=counts.value.bound("l1"), whole=True, shape=DAYS)
    measured = w.measure(flat, spend=own, filter=s.ledger.filter)
    values, off = drawn(measured)
    worth = float(counts.worth)
    assert values * worth == pytest.approx(matrix @ by_day(), abs=0.01)
    squares = np.square(off).mean(axis=0)
    if name == "groupings":  # every level counts alike
        squares = np.array([part.mean() for part in np.split(squares, [DAYS, DAYS + 2])])
    assert np.sqrt(squares.mean()) == pytest.approx(measured.plan.rmse, rel=0.1)
    found = s.run(w.on(flat, spend=own, filter=s.ledger.filter))
    for confidence in (0.5, 0.95):
        covers(off, found.error(confidence), confidence)


@pytest.mark.parametrize(
    ("of", "unit", "spend"),
    [
        (None, "rows", "ρ"),
        (None, "person", "ε"),
        (None, "replace", "ε, δ"),
        ("pay", "person", "ρ"),
        ("pay", "rows", "ε"),
    ],
)
def test_totals_of_a_growing_table_err_as_explained(of, unit, spend):
    """Over 2,000 releases the mean square of 12 totals has a relative standard error below 0.03.

    Totals share their noise, so it is that of about four independent errors a release. 10 % of the
    root are more than 6 standard errors of the square: false alarms have odds below 1e-8.
    """
    following = opened(unit, spend).follow("day", of=of)
    counter, plan, worth = following._counter(SPENDS[spend])
    values = np.rint(by_day(TABLE.pay if of else None) / worth).astype(np.int64)
    totals = np.array([counter.release(values) for _ in range(2000)])
    off = (totals - np.cumsum(values)) * worth
    found = following.open(spend=SPENDS[spend]).next(through=FIRST + dt.timedelta(DAYS))
    for confidence in (0.5, 0.95):
        covers(off, found.answers["total"].errors(confidence), confidence)
    most = following.explain(spend=SPENDS[spend]).errors["total"]
    assert max(found.answers["total"].errors(0.95)) == pytest.approx(most)
    ratio = np.sqrt(np.square(off).mean()) / np.sqrt(np.square(plan.deviations * worth).mean())
    assert ratio == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize("spend", SPENDS)
@pytest.mark.parametrize("unit", UNITS)
def test_counts_of_heavy_hitters_err_as_explained(unit, spend):
    """All 200 values are shown, so that none is chosen for its noise."""
    truth = TABLE.page.value_counts().reindex(PAGES, fill_value=0)
    off, halves = [], []
    for _ in range(8):
        found = opened(unit, spend).top_k("page", k=len(PAGES) + 1, spend=SPENDS[spend])
        frame = found.to_pandas().dropna(subset="page")
        off.append(frame["count"].to_numpy() - truth[frame.page].to_numpy())
        halves.append([found.answers["count"].errors(c)[0] for c in (0.5, 0.95)])
    assert halves == halves[:1] * 8
    errors = np.concatenate(off)[:, None]
    assert len(errors) == 8 * len(PAGES)
    for confidence, half in zip((0.5, 0.95), halves[0], strict=True):
        covers(errors, half, confidence)
