"""Rows for algorithms: clipped, weighed, hidden until a session has charged, and read once."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import psycopg
import pyarrow as pa
import pytest

import deniable as dp
from deniable.query.execute import Execution, RowByRow
from deniable.sensitive import compute

PEOPLE = [1, 1, 1, 1, 1, 2, 2, 3, None]
TABLE = pa.table(
    {
        "id": PEOPLE,
        "x": [-9.0, 0.5, 7.0, 99.0, None, 3.0, float("nan"), 2.5, 1.0],
        "k": ["a", "b", "a", "z", "b", "a", "b", "a", "a"],
    }
)
SCHEMA = dp.Schema(columns={"x": dp.bounds(0, 8, missing="drop"), "k": dp.keys(["b", "a"])})
SQL = "SELECT k, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY k"
UNITS = [dp.rows(), dp.person("id", rows=2), dp.person("id", rows=2, relation="replace")]


def opened(unit, source=TABLE):
    return dp.open(source, unit=unit, budget=dp.epsilon(100), schema=SCHEMA, name="t")


def matrix(query):
    """As a session computes it."""
    value = query.rows().then(lambda rows: rows, l1=1)
    with value.ready[0]:
        return compute(value)


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_rows_are_clipped_to_their_bounds_and_one_unit_weighs_so_much_at_most(unit):
    query = opened(unit).sql(SQL)
    rows, found = query.rows(), matrix(query)
    assert list(rows.keys.values()) == [("b", "a")]
    assert set(found.keys.ravel().tolist()) <= {0, 1}
    for number, points in zip(rows.numbers, found.points.T, strict=True):
        assert number.low <= points.min()
        assert points.max() <= number.high
    weights = Counter()
    for person, weight in zip(found.people.tolist(), found.weights.tolist(), strict=True):
        weights[person] += weight
    assert max(weights.values()) <= rows.most
    assert len(weights) == (8 if unit.column is None else 3)  # "z" is in no group, None is nobody


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_added_up_they_are_what_the_query_adds_up(unit):
    query = opened(unit).sql(SQL)
    found, vectors = matrix(query), query.vectors()
    with vectors[0].value.ready[0]:
        for j, vector in enumerate(vectors):
            sums = np.zeros(2, dtype=object)
            np.add.at(sums, found.keys[:, 0], (found.points[:, j] * found.weights).astype(object))
            exact = np.asarray(compute(vector.value)).astype(object)
            step = int(vector.worth / (query.rows().numbers[j].worth / query.rows().weight))
            assert (abs(exact * step - sums) <= step).all()  # a vector may round digits away


def test_postgres_gives_the_same_rows(server):
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS t; CREATE TABLE t (id int8, x float8, k text)")
        for row in TABLE.to_pylist():
            connection.execute("INSERT INTO t VALUES (%(id)s, %(x)s, %(k)s)", row)
    schema = dp.Schema(tables={"t": SCHEMA})
    unit = dp.person("id", rows=2)
    s = dp.open(server, unit=unit, budget=dp.epsilon(9), schema=schema)
    found = [matrix(each.sql(SQL)) for each in (opened(unit), s)]
    lines = [
        sorted(map(tuple, np.column_stack([m.keys, m.points, m.weights]).tolist())) for m in found
    ]
    assert lines[0] == lines[1]


@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_no_rows_have_the_form_of_one(unit, engine, server):
    """Whether anybody is there must not show in a failure or a type."""
    made = []
    for rows in (TABLE.slice(5, 1), TABLE.slice(0, 0)):
        s = opened(unit, rows)
        if engine == "postgres":
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute("DROP TABLE IF EXISTS t")
                connection.execute("CREATE TABLE t (id int8, x float8, k text)")
                for row in rows.to_pylist():
                    connection.execute("INSERT INTO t VALUES (%(id)s, %(x)s, %(k)s)", row)
            schema = dp.Schema(tables={"t": SCHEMA})
            s = dp.open(server, unit=unit, budget=dp.epsilon(9), schema=schema)
        made.append(matrix(s.sql(SQL)))
    one, none = (vars(each) for each in made)
    assert (one["digests"] is None) == (none["digests"] is None) == (unit == dp.rows())
    for name in [name for name in one if one[name] is not None]:
        assert one[name].dtype == none[name].dtype
        assert one[name].shape[1:] == none[name].shape[1:]
        assert (len(one[name]), len(none[name])) == (1, 0)


def test_a_learner_reads_the_rows_once_and_only_after_the_charge(monkeypatch):
    read = Counter()
    rows = RowByRow.rows
    monkeypatch.setattr(RowByRow, "rows", lambda self: read.update(["rows"]) or rows(self))
    s = opened(dp.person("id", rows=2))
    bounded = s.sql(SQL).rows()

    def mean_by_steps():
        total = 0.0
        for _ in range(3):
            value = bounded.then(lambda m: (m.points[:, 0] * m.weights).sum() / 2**20, l1=2)
            total += yield dp.Laplace(scale=0.08, sensitivity=2).on(value)
        return total / 3

    assert not read
    assert abs(s.run(mean_by_steps()) - 5) < 3  # 2 + 2 + 1 rows count; false alarm 3e^(−37)
    assert read == {"rows": 1}
    with pytest.raises(dp.BudgetExceeded):
        s.release(dp.Laplace(scale=0.01).on(s.sql(SQL).rows().then(lambda m: 0, l1=1)))
    assert read == {"rows": 1}


@pytest.mark.parametrize("rows", [0, 1, 9])
@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_rows_in_parts_are_the_same_rows(unit, rows, monkeypatch):
    """Of no rows there is a part too, so that what is made of parts always has a form."""
    monkeypatch.setattr("deniable.query.rows._IN_CACHE", 8)
    query = opened(unit, TABLE.slice(0, rows)).sql(SQL)
    value = query.rows().in_parts(lambda each: each(lambda part: part), l1=1)
    with value.ready[0]:
        parts = compute(value)
    assert parts
    whole = matrix(query)

    def lines(found):
        return sorted(map(tuple, np.column_stack([found.keys, found.points, found.weights])))

    assert sorted(line for part in parts for line in lines(part)) == lines(whole)
    for name, array in vars(parts[0]).items():
        assert (array is None) == (getattr(whole, name) is None)


def test_a_part_that_fails_leaves_the_engine_ready():
    s = opened(dp.rows())
    rows = s.sql(SQL).rows()
    broken = rows.in_parts(lambda each: each(lambda part: 1 // len(part.points)), l1=1)
    right = rows.in_parts(lambda each: sum(each(lambda part: len(part.points))), l1=1)
    with right.ready[0]:
        with pytest.raises(ZeroDivisionError):
            compute(broken)
        assert compute(right) == 8


def _size(part):
    return np.array([len(part.points)])


WAYS = {
    "then": lambda rows: rows.then(_size, l1=1, whole=True, shape=1),
    "in parts": lambda rows: rows.in_parts(lambda each: sum(each(_size)), l1=1, shape=1),
    "total": lambda rows: rows.total(_size, l1=1, whole=True, shape=1),
    "once": lambda rows: rows.once(_size).then(lambda n: n, l1=1, whole=True, shape=1),
    "hundreds": lambda rows: rows.once(lambda part: 100 * _size(part)).then(
        lambda n: n // 100, l1=1, whole=True, shape=1
    ),
    "gathered": lambda rows: rows.once(_size, gather=sum).then(lambda n: n, l1=1, shape=1),
}


@pytest.mark.parametrize("first", WAYS)
@pytest.mark.parametrize("second", WAYS)
def test_whatever_was_made_of_rows_before_another_value_is_made_of_the_rows(first, second):
    """A bound is declared of one function: what another made would get too little noise."""
    s = opened(dp.rows())
    rows = s.sql("SELECT COUNT(*) AS n, SUM(x) AS s FROM t").rows()
    exactly = dp.Laplace(scale=0.03)
    for way in (first, second):
        answer = s.release(exactly.on(WAYS[way](rows))).value
        assert abs(np.ravel(answer)[0] - 9) < 1.5  # false alarm e^(−50)


def test_threads_that_read_the_same_rows_in_parts_wait_for_each_other(monkeypatch):
    monkeypatch.setattr("deniable.query.rows._IN_CACHE", 1)
    s = opened(dp.rows(), pa.table({"x": [1.0] * 5_000, "k": ["a"] * 5_000}))
    rows = s.sql("SELECT SUM(x) AS s FROM t").rows()
    together = Barrier(3)

    def read(each):
        together.wait()
        return sum(each(lambda part: len(part.points)))

    value = rows.in_parts(read, l1=1, whole=True)
    with value.ready[0], ThreadPoolExecutor(3) as pool:
        found = [pool.submit(compute, value) for _ in range(3)]
        assert [each.result() for each in found] == [5_000] * 3


@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("rows", [0, 9])
def test_no_function_changes_what_another_is_given(unit, rows):
    """A bound of 1 would be wrong of numbers that somebody has multiplied; rows decide nothing."""
    bounded = opened(unit, TABLE.slice(0, rows)).sql(SQL).rows()
    found = bounded.then(lambda matrix: vars(matrix).values(), l1=1)
    once = bounded.once(_size).then(lambda made: [made], l1=1)
    for value in (found, once):
        with value.ready[0]:
            arrays = [each for each in compute(value) if each is not None]
        assert arrays
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 100


def test_rows_hide_themselves():
    rows = opened(dp.rows()).sql(SQL).rows()
    assert repr(rows) == "Rows(hidden, k, count, x, unit=rows())"
    assert not hasattr(rows, "matrix")


@pytest.mark.parametrize("select", ["MEDIAN(x)", "COUNT(DISTINCT x)"])
def test_what_is_not_added_up_row_by_row_is_refused_before_the_charge(select, monkeypatch):
    monkeypatch.setattr(Execution, "run", lambda self: pytest.fail("rows were read"))
    s = opened(dp.rows())
    value = s.sql(f"SELECT {select} AS v FROM t").rows().then(lambda m: 0, l1=1)
    with pytest.raises(dp.UnsupportedQuery):
        s.release(dp.Laplace(scale=1.0).on(value))
    assert s.spent == dp.epsilon(0)


def test_private_keys_have_no_rows():
    s = dp.open(TABLE, unit=dp.rows(), budget=dp.epsilon(1, delta=1e-6), name="t")
    with pytest.raises(dp.UnknownKeys):
        s.sql("SELECT k, COUNT(*) AS n FROM t GROUP BY k").rows()
