"""The figures of the Adult data that textbooks print, with noise switched off."""

import pytest
from tests.query.whole.asking import adult, without_noise

import deniable as dp

SPEND = dp.epsilon(0.1)


@pytest.fixture(scope="module")
def session():
    return adult()


def value(session, sql, spend=SPEND):
    with without_noise():
        return session.sql(sql).release(spend=spend).value


@pytest.mark.parametrize(
    ("sql", "exact"),
    [
        ("SELECT COUNT(*) FROM adult", 32_561),
        ("SELECT COUNT(*) FROM adult WHERE age >= 40", 14_237),
        ("SELECT COUNT(*) FROM adult WHERE education_num > 10", 10_516),
        ("SELECT COUNT(*) FROM adult WHERE age >= 21 AND age < 33", 9_878),
        ("SELECT SUM(age) FROM adult", 1_256_257),
        ("SELECT SUM(age) FROM adult WHERE education_num > 10", 422_876),
        ("SELECT SUM(LEAST(age, 30)) FROM adult", 913_809),
        ("SELECT MEDIAN(age) FROM adult", 37),
        ("SELECT COUNT(DISTINCT occupation) FROM adult", None),
    ],
)
def test_counts_and_sums(session, sql, exact):
    found = value(session, sql)
    assert found == exact if exact is not None else found > 10


def test_the_average_age(session):
    assert value(session, "SELECT AVG(age) FROM adult") == pytest.approx(
        38.58164675532078, rel=1e-12
    )


def test_the_variance_of_age(session):
    table = dp.load_adult()["age"].to_numpy()
    assert value(session, "SELECT VAR_SAMP(age) FROM adult") == pytest.approx(table.var(ddof=1))
    assert value(session, "SELECT STDDEV_POP(age) FROM adult") == pytest.approx(table.std())


def test_the_histogram_of_education(session):
    with without_noise():
        rows = session.histogram("education", spend=SPEND).rows()
    counts = {row["education"]: row["count"] for row in rows}
    assert counts["HS-grad"] == 10_501
    assert sum(counts.values()) == 32_561


def test_private_keys_give_the_same_counts(session):
    sql = "SELECT occupation, COUNT(*) AS n FROM adult GROUP BY occupation"
    with without_noise():
        rows = session.sql(sql).release(spend=SPEND).rows()
    assert {"occupation": "Sales", "n": 3_650} in [
        {"occupation": r["occupation"], "n": r["n"]} for r in rows
    ]


def test_a_contingency_table_adds_up(session):
    with without_noise():
        rows = session.crosstab("education", "sex", spend=SPEND).rows()
    assert len(rows) == 32
    assert sum(row["count"] for row in rows) == 32_561


def test_averages_by_group_are_those_of_the_groups(session):
    table = dp.load_adult()
    sql = "SELECT sex, AVG(hours_per_week) AS hours, COUNT(*) AS n FROM adult GROUP BY sex"
    with without_noise():
        rows = session.sql(sql).release(spend=SPEND).rows()
    frame = table.to_pandas().groupby("sex")["hours_per_week"].agg(["mean", "count"])
    for row in rows:
        assert row["n"] == frame.loc[row["sex"], "count"]
        assert row["hours"] == pytest.approx(frame.loc[row["sex"], "mean"], abs=1e-6)


def test_a_person_counts_as_often_as_the_unit_says():
    """Everyone has 1 row but for the unit's two: 5 rows count as 2, each as 2/5."""
    import pyarrow as pa

    from deniable.curator import open as open_curator

    visits = pa.table({"id": [1, 1, 1, 1, 1, 2, 3], "hours": [10.0] * 5 + [2.0, 4.0]})
    schema = dp.Schema(columns={"hours": dp.bounds(0, 10)})
    s = open_curator(visits, unit=dp.person("id", rows=2), budget=dp.epsilon(9), schema=schema)
    with without_noise():
        row = (
            s.sql("SELECT COUNT(*) AS n, SUM(hours) AS s, AVG(hours) AS a FROM data")
            .release(spend=dp.epsilon(8))
            .rows()[0]
        )
    assert row["n"] == 4
    assert row["s"] == pytest.approx(26, abs=1e-4)
    assert row["a"] == pytest.approx(6.5, abs=1e-4)


def test_sums_wider_than_64_bits_are_right():
    """Weights of 2²⁰, values on a lattice of 2³² steps, 40,000 people: about 2⁶⁶."""
    import numpy as np
    import pyarrow as pa

    from deniable.curator import open as open_curator

    values = np.random.default_rng(0).uniform(60, 100, 40_000)
    table = pa.table({"id": np.arange(40_000), "x": values})
    schema = dp.Schema(columns={"x": dp.bounds(-100, 100)})
    s = open_curator(table, unit=dp.person("id", rows=10), budget=dp.epsilon(9), schema=schema)
    with without_noise():
        sql = "SELECT SUM(x) AS s, AVG(x + 1) AS a, VAR_POP(x) AS v FROM data"
        row = s.sql(sql).release(spend=SPEND).rows()[0]
    assert row["s"] == pytest.approx(values.sum(), rel=1e-6)
    assert row["a"] == pytest.approx(values.mean() + 1, rel=1e-6)
    assert row["v"] == pytest.approx(values.var(), rel=1e-5)
