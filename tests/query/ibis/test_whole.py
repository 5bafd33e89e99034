"""Expressions asked of a session: the same answers as SQL, and nothing loaded before."""

import subprocess
import sys

import pytest
from tests.query.ibis.ibis_tables import ibis
from tests.query.whole.asking import adult, without_noise

import deniable as dp

_ = ibis._
ADULT = ibis.table(
    {"age": "int64", "education": "string", "sex": "string", "hours_per_week": "int64"},
    name="adult",
)
BY_SEX = ADULT.filter(_.hours_per_week >= 35).group_by("sex").agg(n=_.count(), age=_.age.mean())
SQL = (
    "SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM adult WHERE hours_per_week >= 35 GROUP BY sex"
)


def test_an_expression_is_answered_from_what_its_sql_was():
    s = adult()
    spend = dp.epsilon(0.5)
    first = s.sql(SQL).release(spend=spend)
    spent = s.spent
    again = s.query(BY_SEX).release(spend=spend)
    assert again.free
    assert again.rows() == first.rows()
    assert s.spent == spent


def test_another_expression_is_another_answer():
    s = adult()
    s.sql(SQL).release(spend=dp.epsilon(0.5))
    other = BY_SEX.filter(_.n > 10)
    assert not s.query(other.mutate(k=_.n / 2)).release(spend=dp.epsilon(0.5)).free


def test_a_plan_is_that_of_the_sql():
    s = adult()
    ours, theirs = s.query(BY_SEX), s.sql(SQL)
    assert (
        ours.explain(spend=dp.epsilon(0.5)).errors == theirs.explain(spend=dp.epsilon(0.5)).errors
    )
    assert s.spent.epsilon == 0


def test_without_noise_the_answer_is_what_the_data_say():
    with without_noise():
        found = adult().query(BY_SEX.order_by(_.n.desc())).release(spend=dp.epsilon(1)).to_pandas()
    frame = dp.load_adult().to_pandas()
    frame = frame[frame["hours_per_week"] >= 35]
    counts = frame.groupby("sex").size().sort_values(ascending=False)
    assert list(found["sex"]) == list(counts.index)
    assert [round(n) for n in found["n"]] == list(counts)
    means = frame.groupby("sex")["age"].mean()
    assert [float(x) for x in found["age"]] == pytest.approx(
        [means[k] for k in counts.index], abs=0.01
    )


def test_a_single_number_can_be_asked():
    with without_noise():
        found = adult().query(ADULT.count().name("n")).release(spend=dp.epsilon(1))
    assert round(found.to_pandas()["n"][0]) == len(dp.load_adult())


@pytest.mark.parametrize(
    "module", ["deniable", "deniable.query", "deniable.query.ibis", "deniable.curator"]
)
def test_ibis_is_not_loaded_before_an_expression_is_asked(module):
    code = f"import sys, {module}; print('ibis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
