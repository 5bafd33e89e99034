"""Coverage where it can fail: the truth lies at the very end of what a right interval contains.

Each check alarms falsely with probability below 1e-8, and would see an interval that is too narrow
by the mistake named beside it.
"""

import numpy as np
import pyarrow as pa
import pytest
from tests import goodness
from tests.query.executing import execute
from tests.query.whole.asking import without_noise

import deniable as dp
from deniable.curator import open as open_curator
from deniable.query.answer import answer
from deniable.query.execute import ExactCells

REPETITIONS, ALARM = 3000, 1e-8


def opened(columns, **bounds):
    schema = dp.Schema(columns={name: dp.bounds(*ends, missing=0) for name, ends in bounds.items()})
    return open_curator(
        pa.table(columns), unit=dp.rows(), budget=dp.epsilon(10**6, delta=1e-7), schema=schema
    )


def covered(session, sql, spend):
    """How many of the noisy answers have an interval that holds the exact one, and how many are."""
    query = session.sql(sql)
    with without_noise():
        exact = query.release(spend=spend).value
    allocation = query._allocate(spend, None, None)
    cells = execute(query.integers, tables=session.tables)
    once = [ExactCells(cells).aligned(part, [()]) for part in allocation.parts]
    many = [np.repeat(vector, REPETITIONS, axis=0) for vector in once]
    drawn = [m.draw(vector) for m, vector in zip(allocation.noise, many, strict=True)]
    found = answer(allocation, [()] * REPETITIONS, drawn)[1]["x"].intervals(0.95)
    return sum(low <= exact <= high for low, high in found), REPETITIONS


@pytest.mark.statistical
@pytest.mark.parametrize("function", ["VAR_SAMP", "STDDEV_SAMP", "VAR_POP", "STDDEV_POP"])
def test_variances_of_few_rows_are_those_of_the_sample(function):
    """Of 4 rows n/(n − 1) is 4/3 and hardly noisy: without it nothing would be covered."""
    session = opened({"x": [0.0, 2.0, 8.0, 10.0]}, x=(0.0, 10.0))
    held = covered(session, f"SELECT {function}(x) AS x FROM data", dp.epsilon(2000.0))
    assert goodness.covered(*held, 0.95) > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("shape", ["GREATEST({})", "LEAST({})"])
@pytest.mark.parametrize("spend", [dp.epsilon(1.0), dp.epsilon(20.0)], ids=str)
def test_an_expression_holds_while_all_its_parts_do(shape, spend):
    """One interval of eight that misses is enough: at 95 % each, one answer in five would."""
    rows = {f"c{i}": np.ones(500) for i in range(8)}
    session = opened(rows, **dict.fromkeys(rows, (0.0, 1.0)))
    parts = ", ".join(f"SUM({name})" for name in rows)
    held = covered(session, f"SELECT {shape.format(parts)} AS x FROM data", spend)
    assert goodness.covered(*held, 0.95) > ALARM
