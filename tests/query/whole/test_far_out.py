"""Numbers computed from noisy ones may leave the floats; they are answered and kept like others."""

import math

import pyarrow as pa
import pytest

import deniable as dp

HELD = pa.table({"x": [0.5, 1.0, 2.0]})
SCHEMA = dp.Schema(columns={"x": dp.bounds(0, 10)})
FAR = [
    "EXP(1000 * COUNT(*))",
    "-EXP(1000 * COUNT(*))",
    "EXP(1000 * COUNT(*)) - EXP(1000 * COUNT(*))",
    "POWER(SUM(x) + 10.0, 1000)",
    "1e308 * COUNT(*) * 1e10",
    "SUM(x) / 1e-320",
    "1.0 / (COUNT(*) - COUNT(*))",
    "LN(COUNT(*) - 1000000)",
    "SQRT(COUNT(*) - 1000000)",
]


def same(one, other):
    return one == other or (one is not None and math.isnan(one) and math.isnan(other))


@pytest.mark.parametrize("asked", FAR)
@pytest.mark.parametrize("spend", [1e-4, 1.0])
def test_an_answer_that_was_paid_for_is_given_and_given_again(asked, spend, tmp_path):
    options = {"unit": dp.rows(), "budget": dp.epsilon(10), "schema": SCHEMA, "name": "t"}
    s = dp.open(HELD, ledger=tmp_path / "ledger.db", **options)
    question = s.sql(f"SELECT {asked} AS o FROM t")
    first = question.release(spend=dp.epsilon(spend))
    spent = s.spent
    assert spent == dp.epsilon(spend)
    again = question.release(spend=dp.epsilon(spend))
    assert again.free
    assert s.spent == spent
    assert same(first.value, again.value)
    for release in (first, again):
        assert str(release)
        assert release._repr_html_()
        assert len(release.rows()) == 1
        assert release.certificate().to_json()
