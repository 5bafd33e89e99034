"""A CSV whose schema leaves out the column that tells people apart."""

import pytest

import deniable as dp


def test_the_schema_is_told_to_list_it(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("patient_id,cost\n1,30\n2,40\n", encoding="utf-8")
    options = {"unit": dp.person("patient_id", rows=3), "budget": dp.epsilon(1.0)}
    cost = dp.bounds(0, 100)
    with pytest.raises(dp.MissingUnit, match="does not list `patient_id`") as caught:
        dp.open(path, schema=dp.Schema(columns={"cost": cost}), **options)
    assert 'fix:  dp.Schema(columns={"patient_id": dp.column("text"), ...})' in str(caught.value)
    listed = dp.Schema(columns={"patient_id": dp.column("text"), "cost": cost})
    assert dp.open(path, schema=listed, **options)
