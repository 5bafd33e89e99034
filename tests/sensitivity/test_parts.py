"""Sample and aggregate: noise covers what one unit moves, and nobody can foresee the parts."""

import datetime as dt
import decimal
import fractions

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dp
from deniable import sensitivity
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import using
from deniable.sensitive import compute
from deniable.sensitivity.sample_aggregate import _parts
from deniable.session import open as open_session

OTHERS = [f"person {i}" for i in range(40)]
LOW, HIGH, EPSILON = -1.0, 3.0, 0.5
ADD, REPLACE = dp.person("who", rows=1), dp.person("who", rows=1, relation="replace")
# Neighbours: Xi comes; or Xi goes and Yu comes.
NEIGHBOURS = {ADD: (OTHERS, [*OTHERS, "xi"]), REPLACE: ([*OTHERS, "xi"], [*OTHERS, "yu"])}


def extreme(part):
    """Xi pulls a part down and Yu pulls one up, as far as the range goes."""
    if "xi" in part or "yu" in part:
        return HIGH if "yu" in part else LOW
    return HIGH if OTHERS[0] in part else LOW


def asked(algorithm, names, unit):
    """The step that the algorithm would have the session take."""
    return next(
        algorithm(
            names,
            extreme,
            parts=8,
            low=LOW,
            high=HIGH,
            epsilon=EPSILON,
            people=names,
            unit=unit,
        )
    )


def pairs(algorithm, unit):
    """The values of neighbours under the same secret, for many secrets; and the mechanism."""
    steps = [asked(algorithm, names, unit) for names in NEIGHBOURS[unit]]
    found = []
    for seed in range(100):
        values = []
        for step in steps:
            with using(SeededSource(seed)):
                values.append(compute(step.value))
        found.append(values)
    return found, steps[0].mechanism


@pytest.mark.parametrize("unit", NEIGHBOURS, ids=str)
def test_the_noise_of_the_average_covers_the_farthest_move(unit):
    found, mechanism = pairs(sensitivity.sample_and_aggregate, unit)
    farthest = max(abs(first - second) for first, second in found)
    assert farthest / mechanism.scale <= EPSILON * (1 + 1e-9)
    assert farthest / mechanism.scale >= EPSILON * (1 - 1e-9)  # such a move there is


def score(pieces, points):
    edges, scores = pieces
    return np.asarray(scores)[np.searchsorted(edges[1:-1], points)]


@pytest.mark.parametrize("unit", NEIGHBOURS, ids=str)
def test_the_noise_of_the_median_covers_the_farthest_move(unit):
    found, mechanism = pairs(sensitivity.sample_and_aggregate_median, unit)
    points = np.linspace(LOW, HIGH, 101)
    moved = max(np.abs(score(one, points) - score(two, points)).max() for one, two in found)
    assert moved == mechanism.sensitivity


# ---- nobody can foresee the parts


def partition(people, unit=ADD):
    """Which people are together, as the function that is run on the parts sees them."""
    seen = []
    session = open_session(pa.table({"who": [1]}), unit=unit, budget=dp.epsilon(100))

    def look(part):
        seen.append(frozenset(part))
        return 0.0

    session.run(
        sensitivity.sample_and_aggregate(
            people, look, parts=8, low=0, high=1, epsilon=1.0, people=people, unit=unit
        )
    )
    return frozenset(seen)


def test_the_parts_are_drawn_anew_each_time():
    """40 people in 8 parts: that two drawings agree has a chance below 8!·8⁻⁴⁰ < 1e-31."""
    people = [f"p{i}" for i in range(40)]
    assert partition(people) != partition(people)


def test_the_parts_follow_from_the_secret_and_from_nothing_else():
    people = [f"p{i}" for i in range(40)]
    found = []
    for seed in (3, 3, 4):
        with using(SeededSource(seed)):
            found.append(partition(people))
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("unit", [None, dp.rows()])
def test_people_whose_unit_is_not_theirs_are_refused(unit):
    session = open_session(pa.table({"who": [1]}), unit=dp.rows(), budget=dp.epsilon(100))
    with pytest.raises(dp.MissingUnit):
        session.run(
            sensitivity.sample_and_aggregate(
                [1.0], np.mean, parts=1, low=0, high=1, epsilon=1.0, people=["a"], unit=unit
            )
        )
    assert not session.ledger.entries


# ---- one person, however written

NOON = dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC)
DAY = dt.datetime.fromisoformat("2020-01-01")
SPANS = [
    lambda ms: dt.timedelta(milliseconds=ms),
    lambda ms: pd.Timedelta(milliseconds=ms),
    lambda ms: np.timedelta64(ms, "ms"),
    lambda ms: np.timedelta64(1000 * ms, "us"),
]
EQUAL = {
    "decimals": [decimal.Decimal("1.50"), decimal.Decimal("1.5"), 1.5, np.float32(1.5)],
    "fractions": [fractions.Fraction(3, 2), 1.5],
    "truth": [True, 1, 1.0, np.True_, np.int8(1)],
    "tuples": [(1, 2), (1.0, 2), (np.int64(1), decimal.Decimal("2.0"))],
    "sets": [frozenset("abcdefgh"), frozenset("hgfedcba")],
    "texts": ["a", np.str_("a")],
    "bytes": [b"a", np.bytes_(b"a")],
    "zones": [NOON.astimezone(dt.timezone(dt.timedelta(minutes=15 * k))) for k in range(40)],
    "moments": [DAY, pd.Timestamp(DAY), np.datetime64(DAY)],
    "units": [np.datetime64("2020-01-01", unit) for unit in ("D", "h", "s", "ms", "us", "ns")],
    "days": [DAY.date(), np.datetime64("2020-01-01", "D")],
    "zoned": [NOON, pd.Timestamp(NOON), pd.Timestamp(NOON).tz_convert("Asia/Tokyo")],
    "parts of seconds": [kind(1500) for kind in SPANS],
    "negative parts": [kind(-1500) for kind in SPANS],
    "spans": [dt.timedelta(days=1), pd.Timedelta("1D"), np.timedelta64(24, "h")],
}
NOBODY = [
    None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"),
    np.timedelta64("NaT"), decimal.Decimal("NaN"), decimal.Decimal("sNaN"),
]  # fmt: skip


@pytest.mark.parametrize("people", EQUAL.values(), ids=list(EQUAL))
def test_equal_values_name_one_person(people):
    """No false alarms; two people would pass for one five times over with a chance of 1e-30."""
    assert all(person == people[0] for person in people)
    for _ in range(5):
        assert len(set(_parts(len(people), people, 10**6))) == 1


def test_other_values_name_other_people():
    """50 people in 10⁹ parts: two of them meet with a chance of 1.3e-6 at most, twice of 2e-12."""
    people = [*range(10), *"abcdefghij", *((k, "a") for k in range(30))]
    assert any(len(set(_parts(50, people, 10**9))) == 50 for _ in range(2))


def test_rows_that_are_nobodys_are_dropped():
    assert set(_parts(len(NOBODY), NOBODY, 10)) == {None}
