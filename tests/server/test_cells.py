"""All ranges of a column as JSON, and back: every answer and every ± stays what it was."""

import json

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.server.jobs.kinds import cells

TABLE = pd.DataFrame({"id": np.arange(60) // 2, "age": np.linspace(0, 99, 60)})
SCHEMA = dp.Schema(columns={"age": dp.bounds(0, 100, missing="drop")})


@pytest.mark.parametrize(
    ("unit", "budget"),
    [(dp.person("id", rows=2), dp.epsilon(9.0)), (dp.rows(), dp.rho(9.0))],
    ids=["a person", "rows"],
)
@pytest.mark.parametrize("bins", [4, 200])
def test_ranges_are_read_back_as_they_were(unit, budget, bins):
    session = dp.open(TABLE, unit=unit, budget=budget, schema=SCHEMA)
    spend = dp.epsilon(1.0) if isinstance(budget, dp.losses.Pure) else dp.rho(1.0)
    made = session.ranges("age", bins=bins).release(spend=spend)
    record = json.loads(json.dumps(cells.written(made)))
    found = cells.read(record, made.release)
    assert found.worth == made.worth
    first, again = (each.estimates.plan.chosen.strategy for each in (made, found))
    assert again == first
    assert first.name == "hierarchy" or budget == dp.rho(9.0)
    for low, high in ((0, 100), (0, 25), (25, 75)):
        first, again = (each.between(low, high) for each in (made, found))
        assert again == pytest.approx(first, rel=1e-6, abs=1e-6)


def test_records_of_old_have_each_noise_once():
    session = dp.open(TABLE, unit=dp.rows(), budget=dp.epsilon(9.0), schema=SCHEMA)
    made = session.ranges("age", bins=200).release(spend=dp.epsilon(1.0))
    record = json.loads(json.dumps(cells.written(made)))
    noise = len(record["noise"])
    old = {name: part for name, part in record.items() if name != "multiples"}
    found = cells.read(old, made.release)
    assert found.estimates.plan.chosen.noise.multiples == (1,) * noise
    assert noise > 1
