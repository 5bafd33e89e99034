"""What explain says, for those who have to decide whether to pay."""

import pyarrow as pa
import pytest

import deniable as dp

PEOPLE = pa.table({"u": [1, 2], "age": [20, 30], "city": ["a", "b"]})
VISITS = pa.table({"u": [1, 1, 2], "cost": [1.0, 2.0, 3.0], "zip": ["x", "y", "x"]})
ZIPS = pa.table({"zip": ["x"]})
SCHEMA = dp.Schema(
    tables={
        "people": dp.Schema(columns={"age": dp.bounds(0, 100, type="int", missing=0)}),
        "visits": dp.Schema(columns={"cost": dp.bounds(0, 1000, missing="drop")}),
        "zips": dp.Schema(columns={"zip": dp.column("text")}, public=True),
    }
)


@pytest.fixture(scope="module")
def session():
    held = {"people": PEOPLE, "visits": VISITS, "zips": ZIPS}
    unit = dp.person("u", rows=2, groups=2)
    return dp.open(held, unit=unit, budget=dp.epsilon(1000, delta=1e-6), schema=SCHEMA)


def explained(session, sql, **options):
    return str(session.sql(sql).explain(**{"spend": dp.epsilon(0.5)} | options))


def test_joins_and_unions_name_their_tables(session):
    text = explained(
        session,
        "SELECT COUNT(*) FROM visits JOIN people USING (u) WHERE zip IN (SELECT zip FROM zips)",
    )
    assert "inner join with people on the same person" in text
    assert " with zips (public) on " in text
    assert '\n  5  filter coalesce("in zips.zip", false)' in text
    both = "(SELECT u, age FROM people UNION ALL SELECT u, cost FROM visits)"
    assert "and all rows of visits" in explained(session, f"SELECT COUNT(*) FROM {both}")


def test_answers_that_are_put_together_say_of_what(session):
    text = explained(session, "SELECT COUNT(*) AS n, AVG(age) AS a FROM people")
    assert "Laplace noise to the sums of age and of 100 − age (b = " in text
    assert "a person's 2 rows change the two by a total of 200)" in text
    assert "compute n from the two noisy sums" in text
    assert "compute a from the ratio of the two noisy sums" in text
    text = explained(
        session, "SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE age > 9) AS m FROM people"
    )
    assert "the number of rows where age > 9 and to the number of other rows" in text
    assert "compute n from both noisy counts" in text


def test_sums_of_some_rows_say_of_which(session):
    text = explained(session, "SELECT AVG(age) FILTER (WHERE city = 'a') AS a FROM people")
    assert "the sums of age and of 100 − age where city = 'a' (b = " in text


def test_so_they_do_where_noise_is_gaussian():
    unit, schema = dp.person("u", rows=2), SCHEMA.tables["people"]
    session = dp.open(PEOPLE, unit=unit, budget=dp.rho(9), schema=schema, name="people")
    spend = dp.rho(0.1)
    text = explained(session, "SELECT COUNT(*) AS n, SUM(age) AS s FROM people", spend=spend)
    assert "compute s as (the sum of age − 50) + 50 × the number of rows" in text
    text = explained(session, "SELECT AVG(age) AS a FROM people", spend=spend)
    assert "compute a as 50 + (the sum of age − 50) / the number of rows" in text


def test_a_private_group_says_how_many_people_it_takes(session):
    query = session.sql("SELECT city, COUNT(*) AS n FROM people GROUP BY city")
    text = str(query.explain(spend=dp.epsilon(0.5)))
    assert "people appears half of the time, a group of" in text
    assert "almost always" in text
    release = query.release(spend=dp.epsilon(0.5))
    assert "people are usually suppressed" in str(release.answers["n"].estimand)


def test_a_quantile_tells_its_rank_in_rows_and_in_percent(session):
    text = explained(session, "SELECT MEDIAN(cost) AS m FROM visits")
    assert "cells of the histogram of cost with the exponential mechanism" in text
    assert "% of 1,000" in text
    assert "rows in sorted order (95 % confidence): " in explained(
        session, "SELECT MEDIAN(cost) AS m FROM visits", size=5000
    )


def test_every_plan_says_what_half_the_error_costs(session):
    text = explained(session, "SELECT AVG(cost) / COUNT(*) AS r FROM visits")
    half = "every ± is half as wide if you spend about ε 1"
    assert f"{half}; explain(within=...) shows what a given ± costs" in text
    assert "r is computed from noisy numbers, so its ± is known only with the answer" in text


ENGINES = ("is_null(", "to_float(", "to_int(", "e-", ".0")
AND_DAYS = "UNION ALL SELECT u, days AS x FROM visits"
PER_PERSON = "(SELECT u, {} AS x FROM visits GROUP BY u) t"


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("SELECT CORR(cost, days) AS a FROM visits", "(cost - 500) * (days - 15)"),
        ("SELECT COVAR_POP(cost, days) AS a FROM visits", "cost is not null and days is not null"),
        ("SELECT AVG(cost) AS a FROM visits WHERE days IS NULL", "filter days is null"),
        ("SELECT AVG(cost) AS a FROM visits WHERE cost > 2.0 * days", "filter cost > (2 * days)"),
        (f"SELECT AVG(LEAST(x, 5)) AS a FROM {PER_PERSON.format('SUM(cost)')}", "sum(cost)"),
        (f"SELECT SUM(LEAST(x, 5)) AS a FROM {PER_PERSON.format('SUM(days)')}", "sum(days)"),
        (f"SELECT AVG(x) AS a FROM {PER_PERSON.format('AVG(cost)')}", "of avg(cost)"),
        (
            f"SELECT AVG(LEAST(x, 5)) AS a FROM {PER_PERSON.format('SUM(cost)')} WHERE x > 1",
            "filter sum(cost) > 1",
        ),
        (
            "SELECT AVG(LEAST(x, 5)) AS a FROM "
            + PER_PERSON.format("SUM(cost) FILTER (WHERE zip = 'x')"),
            "sum(cost where zip = 'x')",
        ),
        ("SELECT HISTOGRAM(cost, 0, 50, 1000) FROM visits", "in [0, 1000], 0, 50, 1000)"),
        (
            f"SELECT AVG(x) AS a FROM (SELECT u, cost AS x FROM visits {AND_DAYS}) t",
            "let x = cost",
        ),
    ],
)
def test_plans_show_what_was_asked_and_not_what_engines_need(sql, shown):
    columns = {"cost": dp.bounds(0, 1000), "days": dp.bounds(0, 30, type="int")}
    table = VISITS.append_column("days", pa.array([1, 2, 3]))
    unit, schema = dp.person("u", rows=2), dp.Schema(columns=columns)
    session = dp.open(table, unit=unit, budget=dp.epsilon(9), schema=schema, name="visits")
    steps = session.sql(sql).explain(spend=dp.epsilon(1)).steps
    assert any(shown in step for step in steps)
    words = " ".join(step.partition(" (b =")[0].partition(": b =")[0] for step in steps)
    assert not [each for each in ENGINES if each in words]


def test_questions_that_read_the_same_are_still_told_apart(session):
    asked = "SELECT AVG(LEAST(x, 5)) AS a FROM (SELECT u, {} AS x FROM people GROUP BY u) t"
    one, other = (session.sql(asked.format(f"SUM({x})")) for x in ("age", "CAST(age AS DOUBLE)"))
    steps = (query.explain(spend=dp.epsilon(1)).steps for query in (one, other))
    assert {next(s for s in each if s.startswith("compute")) for each in steps} == {
        "compute avg(least(sum(age), 5) in [0, 5]); values outside are clipped"
    }
    assert one.question.fingerprint != other.question.fingerprint
