"""Privacy does not rest on the number of rows that is declared: a wrong one moves no bound."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.query.executing import execute
from tests.query.whole.sized import ASKED, ENDS, LN20, REPLACE, N, opened, table

import deniable as dp
from deniable.errors import BadParameter

SIZES = [1, 2, N - 1, N, 10**6, 2**53]


@pytest.mark.parametrize("count", [0, 2, N])
def test_a_wrong_size_changes_no_noise_and_fails_nowhere(count):
    noises = set()
    for size in SIZES:
        query = opened(size=size, data=table(count=count)).sql(ASKED)
        noises.add(query._allocate(dp.epsilon(1), None, None).noise)
        (answer,) = query.release(spend=dp.epsilon(1)).rows()
        assert all(math.isfinite(value) for value in answer.values())
        assert answer["n"] == size
        assert 0 <= answer["a"] <= 100
    assert len(noises) == 1


def test_a_size_beyond_what_a_table_can_have_is_refused():
    with pytest.raises(BadParameter, match="2\\^53"):
        dp.Schema(size=2**53 + 1)


def test_an_answer_with_another_declared_size_is_another_answer(tmp_path):
    path = tmp_path / "ledger.db"
    spent = []
    for size in (N, N, N + 1):
        with dp.open(
            table(),
            unit=REPLACE,
            budget=dp.epsilon(9),
            schema=dp.Schema(columns={"x": dp.bounds(0, 100, missing=0)}, size=size),
            ledger=path,
            name="t",
        ) as session:
            session.sql("SELECT AVG(x) AS a FROM t").release(spend=dp.epsilon(1))
            spent.append(session.spent.epsilon)
    assert spent == pytest.approx([1, 1, 2])


VALUE = st.sampled_from([None, math.nan, -1e300, -3.0, -1.0, 0.25, 1.0, math.inf])
QUESTIONS = [
    ASKED,
    "SELECT AVG(x) AS a FROM t",
    "SELECT SUM(x) AS s, COUNT(*) AS n FROM t",
    "SELECT VAR_POP(x * 3) AS v FROM (SELECT x FROM t) AS t",
    "SELECT SUM(CASE WHEN k = 'a' THEN x ELSE 1 END) AS s, AVG(x) AS a FROM t",
]


def _vectors(session, sql):
    query = session.sql(sql)
    allocation = query._allocate(dp.epsilon(1), None, None)
    cells = execute(query.integers, tables=session.tables)
    return [(part.vector, part.numbers(cells)) for part in allocation.parts]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(VALUE, max_size=4), VALUE, VALUE, st.sampled_from(QUESTIONS), st.sampled_from(SIZES)
)
def test_a_replaced_row_moves_what_gets_noise_no_further_than_declared(rest, one, other, sql, size):
    tables = (
        pa.table({"x": pa.array([*rest, x], pa.float64()), "k": ["a"] * (len(rest) + 1)})
        for x in (one, other)
    )
    first, second = (
        _vectors(
            dp.open(
                each,
                unit=REPLACE,
                budget=dp.epsilon(9),
                schema=dp.Schema(
                    columns={
                        "x": dp.bounds(-3.0, 1.0, missing=0.0),
                        "k": dp.keys(["a"], missing="a"),
                    },
                    size=size,
                ),
                name="t",
            ),
            sql,
        )
        for each in tables
    )
    for (vector, before), (_, after) in zip(first, second, strict=True):
        change = np.abs(after - before).astype(float)
        assert change.sum() <= vector.l1
        assert math.sqrt((change**2).sum()) <= vector.l2


@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_and_reaches_it(ends):
    """Bounds that nothing reaches would be noise for nothing; one step is for rounding."""
    for sql in ("SELECT AVG(x) AS q FROM t", "SELECT SUM(x) AS q FROM t"):
        ((vector, before),), ((_, after),) = (
            _vectors(opened(ends, data=pa.table({"x": [end], "y": [0], "k": ["a"]})), sql)
            for end in ends
        )
        assert abs(int(after[0]) - int(before[0])) >= vector.l1 - 1


def test_a_broken_line_of_a_file_moves_no_more(tmp_path):
    """It may stand in for any row: a sum that is not centred would move by more than the width."""
    found = []
    for name, line in {"low": "50.0", "high": "60.0", "broken": '"5'}.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(f"x\n55.0\n{line}\n")
        schema = dp.Schema(columns={"x": dp.bounds(50, 60, missing=50)}, size=2)
        session = dp.open(path, unit=REPLACE, budget=dp.epsilon(9), schema=schema, name="t")
        found.append(_vectors(session, "SELECT SUM(x) AS s FROM t"))
    for (first,), (second,) in itertools.combinations(found, 2):
        assert abs(int(first[1][0]) - int(second[1][0])) <= first[0].l1
    wide = session.sql("SELECT SUM(x) AS s FROM t").explain(spend=dp.epsilon(1)).errors["s"]
    assert wide == pytest.approx(10 * LN20, rel=1e-5)
