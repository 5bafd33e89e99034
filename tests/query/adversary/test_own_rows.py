"""What is computed of one person's rows is as precise as its bounds, wherever those lie."""

import pyarrow as pa
import pytest

import deniable as dp

from .exact import number

PEOPLE = {1: (0.25, 0.1), 2: (0.75, 3.0, 1e-3), 3: (3.9,)}
SUMS = "SELECT SUM(CLAMP(t, {low}, {high})) AS n FROM (SELECT id, {own} AS t FROM data GROUP BY id)"


@pytest.mark.parametrize("own", ["SUM(x)", "AVG(x)", "SUM(x) + AVG(x)"])
@pytest.mark.parametrize("scale", [1.0, 1e12, 1e-9])
@pytest.mark.parametrize(("low", "high"), [(0, 4), (-4, 0), (-1, 4), (-4, 1)])
def test_sums_and_means_of_own_rows_are_right_at_every_size(own, scale, low, high):
    sign = 1 if high == 4 else -1
    rows = [(person, sign * scale * x) for person, own_rows in PEOPLE.items() for x in own_rows]
    held = pa.table({"id": [person for person, _ in rows], "x": [x for _, x in rows]})
    schema = dp.Schema(columns={"x": dp.bounds(low * scale, high * scale)})
    sql = SUMS.format(own=own, low=-9 * scale, high=9 * scale)
    found = number(held, sql, unit=dp.person("id", rows=9), name="data", schema=schema)
    sums = {person: sum(own_rows) for person, own_rows in PEOPLE.items()}
    means = {person: sums[person] / len(own_rows) for person, own_rows in PEOPLE.items()}
    truth = ("SUM" in own) * sum(sums.values()) + ("AVG" in own) * sum(means.values())
    assert found == pytest.approx(sign * scale * truth, abs=1e-4 * scale)
