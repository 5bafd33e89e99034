"""Every function that takes a column: one row moves it as far as declared, and none can stop it."""

import array
import datetime as dt
import inspect
import itertools
import math
from collections import deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable import sensitivity
from deniable.mechanisms import Step
from deniable.sensitive import Sensitive, compute
from deniable.sensitivity.columns import floats

BOUNDS = {"low": 0.0, "high": 1.0}
RUNS = {
    "automatic_mean": lambda x: sensitivity.automatic_mean(x, epsilon=1.0),
    "bounds_by_magnitude": lambda x: sensitivity.bounds_by_magnitude(x, epsilon=1.0),
    "clipped_sum": lambda x, **b: sensitivity.clipped_sum(x, **(BOUNDS | b)).value,
    "distance_to_instability": lambda x, **b: sensitivity.distance_to_instability(
        x, sensitivity.Mean(), bound=0.5, **(BOUNDS | b)
    ),
    "mean": lambda x, **b: sensitivity.mean(x, epsilon=1.0, **(BOUNDS | b)),
    "propose_test_release": lambda x, statistic=None, **b: sensitivity.propose_test_release(
        x, statistic or sensitivity.Mean(), bound=1.0, epsilon=1.0, delta=1e-7, **(BOUNDS | b)
    ),
    "row_count": sensitivity.row_count,
    "smooth_bound": lambda x, **b: sensitivity.smooth_bound(
        x, sensitivity.Mean(), beta=0.1, **(BOUNDS | b)
    ),
    "smooth_release": lambda x, statistic=None, **b: sensitivity.smooth_release(
        x, statistic or sensitivity.Mean(), epsilon=1.0, delta=1e-7, **(BOUNDS | b)
    ),
    "upper_bound": lambda x: sensitivity.upper_bound(x, [0.5, 1.0], epsilon=1.0),
}
PARTS = {
    "sample_and_aggregate": sensitivity.sample_and_aggregate,
    "sample_and_aggregate_median": sensitivity.sample_and_aggregate_median,
}
OF_SORTED = {"distance_to_instability", "smooth_bound"}  # they take floats in order, not a column
OF_COLUMNS = sorted(set(RUNS) - OF_SORTED)
WITHOUT_RANGE = {"sample_and_aggregate_anywhere"}  # see test_sample_range.py


def test_every_function_of_a_column_is_here():
    listed = {
        name
        for name in sensitivity.__all__
        if inspect.isfunction(getattr(sensitivity, name))
        and next(iter(inspect.signature(getattr(sensitivity, name)).parameters))
        in ("values", "data", "rows")
    }
    assert listed == set(RUNS) | set(PARTS) | WITHOUT_RANGE


@pytest.fixture
def session():
    return dp.open(pa.table({"x": [1.0]}), unit=dp.rows(), budget=dp.epsilon(1e9, delta=1e-5))


def asked(session, made):
    """What a function of a column makes, asked of a session."""
    if inspect.isgenerator(made):
        return session.run(made)
    return session.release(dp.Laplace.calibrate(epsilon=1.0, sensitivity=2.0**33).on(made))


NOT_A_COLUMN = {
    "0-d": np.array(1.0),
    "a number": 1.0,
    "no rows, 2-d": np.empty((0, 3)),
    "one row, 2-d": np.ones((1, 3)),
    "(n, 1)": np.ones((20, 1)),
    "(n, 50)": np.ones((20, 50)),
    "(1, n)": np.ones((1, 20)),
    "3-d": np.ones((2, 3, 4)),
    "masked": np.ma.masked_array(np.ones((20, 2)), mask=False),
    "pandas": pd.DataFrame({"a": [1.0], "b": [2.0]}),
    "pandas, one column": pd.DataFrame({"a": [1.0]}),
    "polars": pl.DataFrame({"a": [1.0], "b": [2.0]}),
    "polars, lazy": pl.DataFrame({"a": [1.0]}).lazy(),
    "arrow": pa.table({"a": [1.0], "b": [2.0]}),
    "record batch": pa.record_batch({"a": [1.0]}),
    "text": "12",
    "bytes": b"12",
    "dict": {"a": 1.0},
    "set": {1.0},
    "generator": (x for x in [1.0]),
    "None": None,
    "complex": np.ones(3, dtype=complex),
    "moments": np.array(["2020-01-01"], dtype="datetime64[s]"),
    "durations": pd.Series(pd.to_timedelta(["1h"])),
    "records": np.zeros(3, dtype=[("a", float), ("b", float)]),
}


@pytest.mark.parametrize("shape", NOT_A_COLUMN)
def test_what_is_not_one_column_is_refused_before_the_charge(session, shape):
    for run in RUNS.values():
        with pytest.raises(dp.BadParameter, match=r"one column|must be numbers"):
            asked(session, run(NOT_A_COLUMN[shape]))
    assert session.spent.epsilon == 0


NO_ROWS = ["0-d", "a number", "pandas", "polars", "polars, lazy", "arrow", "record batch", "None"]


@pytest.mark.parametrize("shape", [*NO_ROWS, "generator"])
def test_what_is_not_a_sequence_of_rows_is_refused_before_the_charge(session, shape):
    for run in PARTS.values():
        made = run(NOT_A_COLUMN[shape], len, parts=2, epsilon=1.0, **BOUNDS)
        with pytest.raises(dp.BadParameter, match="rows must be"):
            session.run(made)
    assert session.spent.epsilon == 0


@pytest.mark.parametrize("people", [np.ones((2, 2)), pd.DataFrame({"a": [1, 2]}), np.array(1)])
@pytest.mark.parametrize("name", PARTS)
def test_people_come_as_one_column(name, people):
    unit = dp.person("x", rows=1)
    s = dp.open(pa.table({"x": [1]}), unit=unit, budget=dp.epsilon(1))
    made = PARTS[name]([1, 2], len, parts=2, epsilon=1.0, people=people, unit=unit, **BOUNDS)
    with pytest.raises(dp.BadParameter, match="people must be"):
        s.run(made)
    assert s.spent.epsilon == 0


class Sulks:
    def __float__(self) -> float:
        raise RuntimeError("no")

    __gt__ = __float__


class TooLarge(Sulks):
    def __float__(self) -> float:
        raise OverflowError


ODD = [
    *[None, math.nan, pd.NA, pd.NaT, "", "abc", "12", b"1", True, 10**400, -(10**400)],
    *[Decimal("NaN"), Decimal("sNaN"), Decimal("1e999"), Fraction(10**400), 1j, math.inf],
    *[[1.0, 2.0], [1.0], (), {}, {1}, np.ones(2), np.ones(1), np.array(1.0), object(), Sulks()],
    *[dt.date(2020, 1, 1), pd.Timestamp("2020"), np.datetime64("2020"), dt.timedelta(1), TooLarge],
    *[TooLarge(), np.longdouble("1e400"), np.float16(1), "9" * 5000, "\udc80", max, pa.scalar(1)],
]
ROWS = [1.0, 0.25, 0.5]
LISTS = {
    "list": list,
    "tuple": tuple,
    "objects": lambda rows: np.fromiter(rows, dtype=object, count=len(rows)),
    "pandas": lambda rows: pd.Series(rows, dtype=object),
    "deque": deque,
}


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:15].split(" at")[0])
def test_no_row_can_stop_the_others(session, odd):
    for name, held in itertools.product(OF_COLUMNS, LISTS.values()):
        asked(session, RUNS[name](held([*ROWS, odd])))


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:15].split(" at")[0])
def test_a_row_is_one_number_or_none_and_leaves_the_others_as_they_are(odd):
    made = [floats(held([*ROWS, odd])) for held in LISTS.values()]
    assert all(each.shape == (4,) for each in made)
    assert all(each[:3].tolist() == ROWS for each in made)
    assert len({repr(each[3]) for each in made}) == 1


@pytest.mark.parametrize("name", ["Int64", "boolean", "Float64", "int64[pyarrow]", "string"])
def test_missing_values_of_pandas_are_left_out(name):
    series = pd.Series([True, None, False], dtype="boolean").astype(name)
    assert floats(series).tolist()[1:] == pytest.approx([math.nan, 0.0], nan_ok=True) or (
        name == "string"
    )


COLUMNS = [
    pa.array([1, None, 3]),
    pa.chunked_array([[1], [None, 3]]),
    pa.array([Decimal("1.0"), None, Decimal("3.0")]),
    pl.Series([1, None, 3]),
    pd.Series([1, None, 3]),
    pd.Index([1, None, 3]),
    np.ma.masked_array([1, 2, 3], mask=[False, True, False]),
    [1, None, 3],
    ["1", "", "3"],
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__name__)
def test_a_column_of_any_library_is_read_alike(column):
    assert floats(column).tolist() == pytest.approx([1.0, math.nan, 3.0], nan_ok=True)


@pytest.mark.parametrize("column", [array.array("d", [1.0, 2.0]), range(1, 3), memoryview(b"\1\2")])
def test_buffers_and_ranges_are_columns(column):
    assert floats(column).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("rows", [[[1, 2], [3, 4]], [[1], [2, 3]], pl.Series([[1, 2], [3, 4]])])
def test_a_row_that_is_a_list_holds_no_number(rows):
    """Whether some row is a list is private: no refusal tells it, and it counts as missing."""
    assert compute(sensitivity.row_count(rows)) == 0
    arrays = pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2))
    assert compute(sensitivity.row_count(arrays)) == 0


@given(
    st.lists(st.sampled_from(ODD) | st.floats() | st.integers(), max_size=8),
    st.sampled_from(ODD) | st.floats() | st.integers(),
)
def test_one_row_of_any_kind_moves_counts_and_sums_as_declared(rows, extra):
    for made in (
        sensitivity.row_count,
        lambda x: sensitivity.clipped_sum(x, low=-1, high=2).value,
        _histogram,
    ):
        with_it, without = made([*rows, extra]), made(rows)
        moved = np.abs(np.subtract(compute(with_it), compute(without), dtype=object)).sum()
        assert moved <= with_it.bound("l1")


def _histogram(values) -> Sensitive:
    step: Step = next(sensitivity.bounds_by_magnitude(values, epsilon=1.0))
    return step.value


ENDS = [
    *[(1e308, 1.7e308), (-1.7e308, 1.7e308), (-8e307, 8e307), (0.0, 2.0**901), (1.0, 1.0)],
    *[(2.0, 1.0), (0.0, math.inf), (math.nan, 1.0), ("0", 1.0), (0.0, None)],
]
BOUNDED = [
    name for name in OF_COLUMNS if "low" in inspect.signature(getattr(sensitivity, name)).parameters
]


@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_bounds_that_floats_cannot_work_with_are_refused_before_the_charge(session, ends):
    bounds = {"low": ends[0], "high": ends[1]}
    for name in BOUNDED:
        with pytest.raises(dp.BadParameter, match=r"low|high"):
            asked(session, RUNS[name](ROWS, **bounds))
    for run in PARTS.values():
        with pytest.raises(dp.BadParameter, match=r"low|high"):
            session.run(run(ROWS, max, parts=1, epsilon=1.0, **bounds))
    assert session.spent.epsilon == 0


STATISTICS = [sensitivity.Mean(), sensitivity.Quantile(), sensitivity.TrimmedMean(trim=1)]


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
@pytest.mark.parametrize("ends", [(2.0**899, 2.0**900), (-(2.0**900), 2.0**900)], ids=str)
@pytest.mark.parametrize("name", ["smooth_release", "propose_test_release"])
def test_the_widest_bounds_give_an_answer_or_a_refusal_whatever_the_rows(
    session, name, ends, statistic
):
    outcomes = set()
    for rows in (0, 1, 2, 5, 1000):
        made = RUNS[name]([2.0**900] * rows, statistic, low=ends[0], high=ends[1])
        try:
            session.run(made)
            outcomes.add("answered")
        except dp.BadParameter:
            outcomes.add("refused")
    assert len(outcomes) == 1


@pytest.mark.parametrize("rows", [[], [1.2e270], [1.2e270, None]])
def test_a_sample_of_nobody_answers_with_the_middle_of_the_widest_range(session, rows):
    algorithm = sensitivity.sample_and_aggregate_median
    found = session.run(algorithm(rows, min, parts=1, low=2.0**899, high=2.0**900, epsilon=1.0))
    assert 2.0**899 <= found <= 2.0**900
