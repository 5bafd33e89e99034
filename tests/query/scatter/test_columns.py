"""What is written is what a release shows, a column at a time."""

import math

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import UnsupportedQuery
from deniable.query.answer import answer
from deniable.query.scatter.columns import arrow_schema, fields, written

from .asking import allocated

PLAIN = [
    "SELECT year, COUNT(*) AS n FROM data GROUP BY year",
    "SELECT year AS y, SUM(pay) AS total, COUNT(*) AS n FROM data GROUP BY year",
    "SELECT AVG(pay) AS mean, VARIANCE(pay) AS v, year FROM data GROUP BY year",
    "SELECT year, COUNT(DISTINCT who) AS people, STDDEV(pay) AS s FROM data GROUP BY year",
]
MADE = [
    "SELECT year, COUNT(*) AS n, SUM(pay) AS t FROM data GROUP BY year HAVING COUNT(*) > 5",
    "SELECT year + 1 AS next, 2 * COUNT(*) AS twice FROM data GROUP BY year",
    "SELECT year, COUNT(*) > 5 AS large, AVG(pay) / 2 AS half FROM data GROUP BY year",
]


def _key(allocation):
    return allocation.plan.question.keys[0].name


def shape(part, groups):
    """That of a vector for so many groups."""
    several = len(part.basis.forth)
    return groups if several == 1 else (groups, several)


def some(allocation, count=40, most=2**40):
    years = [2020 + i % 3 for i in range(count)]
    generator = np.random.default_rng(7)
    drawn = [generator.integers(-most, most, shape(part, count)) for part in allocation.parts]
    return years, drawn


@pytest.mark.parametrize("unit", [dp.rows(), dp.person("who", rows=4)], ids=["rows", "person"])
@pytest.mark.parametrize("epsilon", [0.01, 10.0])
@pytest.mark.parametrize("sql", [*PLAIN, *MADE], ids=range(len(PLAIN) + len(MADE)))
def test_the_columns_are_those_of_a_release(sql, epsilon, unit):
    if "who" in sql and unit == dp.rows():
        pytest.skip("rows are nobody's")
    allocation = allocated(sql, spend=dp.epsilon(epsilon), unit=unit)
    years, drawn = some(allocation, most=3 * allocation.plan.weight * allocation.plan.rows * 100)
    found = written(allocation, fields(allocation), {_key(allocation): pa.array(years)}, drawn)
    keys, noisy = answer(allocation, [(year,) for year in years], drawn)
    assert found.schema == arrow_schema(fields(allocation))
    for field in fields(allocation):
        column = found.column(field.name).to_pylist()
        if field.output in keys:
            assert column == list(keys[field.output])
        elif field.error:
            told = noisy[field.output].errors(0.95)
            assert column == pytest.approx(list(told), rel=1e-12, abs=1e-9)
        else:
            assert column == list(noisy[field.output].cells)


@pytest.mark.parametrize("sql", [*PLAIN, *MADE], ids=range(len(PLAIN) + len(MADE)))
@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 0])
def test_no_noisy_number_makes_it_fail(sql, value):
    allocation = allocated(sql, unit=dp.person("who", rows=4))
    drawn = [np.full(shape(part, 3), value, dtype=np.int64) for part in allocation.parts]
    found = written(
        allocation, fields(allocation), {_key(allocation): pa.array([2020, 2021, 2022])}, drawn
    )
    for column in found.columns:
        numbers = [x for x in column.to_pylist() if isinstance(x, float)]
        assert not any(map(math.isnan, numbers))


def test_no_group_at_all_has_the_same_columns():
    for sql in (PLAIN[2], MADE[1]):
        allocation = allocated(sql)
        drawn = [np.zeros(shape(part, 0), dtype=np.int64) for part in allocation.parts]
        found = written(
            allocation, fields(allocation), {_key(allocation): pa.array([], pa.int64())}, drawn
        )
        assert found.num_rows == 0
        assert found.schema == arrow_schema(fields(allocation))


@pytest.mark.parametrize("names", [("n", "n_error"), ("n", "N_ERROR")])
def test_two_columns_of_one_name_are_refused(names):
    first, second = names
    allocation = allocated(
        f"SELECT year, COUNT(*) AS {first}, SUM(pay) AS {second} FROM data GROUP BY year"
    )
    with pytest.raises(UnsupportedQuery, match="would be written as"):
        fields(allocation)
