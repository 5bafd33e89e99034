# ruff: noqa: E501  (questions are shown as one would type them)
"""What an analyst types on the first day: answered, or refused with something that gets them on."""

import datetime as dt

import pyarrow as pa
import pytest

import deniable as dp

MORNING = dt.datetime.fromisoformat("2024-03-01T09:30")
PEOPLE = pa.table(
    {
        "user_id": [1, 2, 3, 4],
        "age": [20, 30, 40, 50],
        "wage": [1e4, 2e4, 3e4, 4e4],
        "sex": ["f", "m", "f", "m"],
        "city": ["a", "b", "a", "c"],
        "born": [dt.date(1990, 1, 1)] * 4,
        "seen": [MORNING] * 4,
        "member": [True, False, None, True],
    }
)
VISITS = pa.table(
    {
        "user_id": [1, 1, 2, 3, 3, 4],
        "cost": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0],
        "zip": ["1", "2", "1", "1", "3", "2"],
        "at": [MORNING] * 6,
    }
)
ZIPS = pa.table({"zip": ["1", "2"], "region": ["N", "S"]})
YEAR = {"type": "timestamp", "missing": "drop"}
SCHEMA = dp.Schema(
    tables={
        "people": dp.Schema(
            columns={
                "user_id": dp.column("int"),
                "age": dp.bounds(0, 125, type="int", missing="drop"),
                "wage": dp.bounds(0, 200_000, missing="drop"),
                "sex": dp.keys(["f", "m"]),
                "city": dp.column("text"),
                "born": dp.bounds(
                    dt.date(1950, 1, 1), dt.date(2010, 12, 31), type="date", missing="drop"
                ),
                "seen": dp.bounds(dt.datetime(2024, 1, 1), dt.datetime(2024, 12, 31), **YEAR),  # noqa: DTZ001
                "member": dp.column("bool"),
            }
        ),
        "visits": dp.Schema(
            columns={
                "user_id": dp.column("int"),
                "cost": dp.bounds(0, 1000, missing="drop"),
                "zip": dp.column("text"),
                "at": dp.bounds(dt.datetime(2024, 1, 1), dt.datetime(2024, 12, 31), **YEAR),  # noqa: DTZ001
            }
        ),
        "zips": dp.Schema(
            columns={"zip": dp.column("text"), "region": dp.keys(["N", "S"])}, public=True
        ),
    }
)
UNIT = dp.person("user_id", rows=3, groups=2)

ANSWERED = [
    "SELECT COUNT(*) FROM people",
    "SELECT COUNT(*) AS n FROM people WHERE age >= 65",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex",
    "SELECT sex, AVG(age) FROM people GROUP BY sex ORDER BY 2 DESC",
    "SELECT MIN(age), MAX(age) FROM people",
    "SELECT MEDIAN(wage) FROM people",
    "SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY wage) FROM people",
    "SELECT quantile_cont(wage, 0.9) FROM people",
    "SELECT approx_quantile(wage, 0.9) FROM people",
    "SELECT approx_percentile(wage, 0.9) FROM people",
    "SELECT APPROX_COUNT_DISTINCT(city) FROM people",
    "SELECT COUNT(DISTINCT city) FROM people",
    "SELECT city, COUNT(*) FROM people GROUP BY city",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY COUNT(*) DESC NULLS LAST",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY sex NULLS FIRST",
    "SELECT sex, member, COUNT(*) FROM people GROUP BY ROLLUP (sex, member)",
    "SELECT sex, GROUPING(sex) AS g, COUNT(*) FROM people GROUP BY ROLLUP (sex)",
    "SELECT sex, GROUPING_ID(sex) AS g, COUNT(*) FROM people GROUP BY ROLLUP (sex)",
    "SELECT COUNT(*) FILTER (WHERE age > 30) AS old, COUNT(*) AS n FROM people",
    "SELECT SUM(CASE WHEN age > 30 THEN 1 ELSE 0 END) FROM people",
    "SELECT COUNT(*) FROM people WHERE city LIKE 'A%' AND sex ILIKE 'F'",
    "SELECT COUNT(*) FROM people WHERE age BETWEEN 20 AND 30 AND sex IN ('f', 'm')",
    "SELECT COUNT(*) FROM people WHERE city IS NULL",
    "SELECT COUNT(*) FROM people WHERE city IS DISTINCT FROM 'a'",
    "SELECT COUNT(*) FROM people WHERE city <> 'a' OR NOT member",
    "SELECT MIN(seen), MAX(seen) FROM people",
    "SELECT MEDIAN(seen) FROM people",
    "SELECT MAX(born) FROM people",
    "SELECT date_trunc('month', at) AS m, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1",
    "SELECT extract(year FROM born) AS y, COUNT(*) FROM people GROUP BY y",
    "SELECT year(born) AS y, COUNT(*) FROM people GROUP BY y",
    "SELECT dayofweek(at) AS d, COUNT(*) FROM visits GROUP BY 1",
    "SELECT hour(at) AS d, COUNT(*) FROM visits GROUP BY 1",
    "SELECT COUNT(*) FROM visits WHERE at >= '2024-06-01'",
    "SELECT COUNT(*) FROM visits WHERE at >= DATE '2024-06-01' AND at < TIMESTAMP '2024-07-01 00:00:00'",
    "SELECT COUNT(DISTINCT user_id) FROM visits",
    "SELECT AVG(cost) FROM visits JOIN people USING (user_id) WHERE age > 30",
    "SELECT p.sex, SUM(v.cost) FROM visits v JOIN people p ON v.user_id = p.user_id GROUP BY p.sex",
    "SELECT region, COUNT(*) FROM visits JOIN zips USING (zip) GROUP BY region",
    "SELECT COUNT(*) FROM visits WHERE zip IN (SELECT zip FROM zips)",
    "SELECT COUNT(*) FROM visits WHERE zip IN (SELECT zip FROM zips WHERE region = 'N')",
    "SELECT COUNT(*) FROM visits WHERE user_id IN (SELECT user_id FROM people WHERE age > 30)",
    "SELECT AVG(LEAST(n, 20)) FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id) t",
    "SELECT COUNT(*) FROM (SELECT user_id FROM people UNION ALL SELECT user_id FROM visits) t",
    "WITH old AS (SELECT * FROM people WHERE age > 60) SELECT sex, COUNT(*) FROM old GROUP BY sex",
    "SELECT VARIANCE(age), STDDEV(age) FROM people",
    "SELECT HISTOGRAM(age), HISTOGRAM(wage, 4) AS w FROM people",
    "SELECT CORR(age, wage), COVAR_POP(age, wage), COVAR_SAMP(age, wage) FROM people",
    "SELECT ROUND(AVG(wage), 2) AS w, ROUND(COUNT(*), -1) AS n FROM people",
    "SELECT floor(age / 10) * 10 AS decade, COUNT(*) FROM people GROUP BY decade",
    "SELECT age // 10 AS decade, COUNT(*) FROM people GROUP BY decade",
    "SELECT CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'senior' END AS a, COUNT(*) FROM people GROUP BY a",
    "SELECT CASE WHEN age < 18 THEN 'minor' ELSE 'adult' END AS a, COUNT(*) FROM people GROUP BY 1 HAVING COUNT(*) > 10",
    "SELECT city, COUNT(*) AS n FROM people GROUP BY city ORDER BY n DESC LIMIT 5",
    "SELECT age, COUNT(*) FROM people GROUP BY age",
    "SELECT SUM(wage), COUNT(*), SUM(wage)/COUNT(*) AS mean FROM people",
    "SELECT COUNT(*) FROM people WHERE lower(city) = 'a' AND length(city) > 0",
    "SELECT AVG(datediff('day', born, seen)) AS d FROM people",
    "SELECT sex, COUNT(*) c FROM people GROUP BY ALL ORDER BY ALL",
    "SELECT COUNT(*) FROM people HAVING COUNT(*) > 5",
    "SELECT sex, AVG(wage) FILTER (WHERE wage > 0) FROM people GROUP BY sex",
    "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.user_id = v.user_id WHERE v.user_id IS NULL",
    "SELECT COUNT(*) FROM visits RIGHT JOIN people USING (user_id)",
    'SELECT sex AS "the sex", COUNT(*) "how many" FROM people GROUP BY 1',
    "SELECT COUNT_IF(age > 30) FROM people",
    "SELECT COUNT(*) FROM people WHERE member",
    "SELECT coalesce(city, 'none') AS c, COUNT(*) FROM people GROUP BY 1",
    "SELECT concat(sex, '-', member) AS c, COUNT(*) FROM people GROUP BY 1",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex WITH ROLLUP",
    "SELECT width_bucket(age, 0, 100, 10) AS b, COUNT(*) FROM people GROUP BY b",
]

# What is refused, and a part of what to write instead.
REFUSED = {
    "SELECT quantile_cont(wage, [0.25, 0.5, 0.75]) FROM people": "QUANTILE(x, 0.1) AS a, QUANTILE(x",
    "SELECT * FROM people": "select aggregates: COUNT, SUM, AVG",
    "SELECT * FROM people LIMIT 10": "select aggregates: COUNT, SUM, AVG",
    "SELECT DISTINCT sex FROM people": "COUNT(*) AS n ... GROUP BY sex",
    "SELECT DISTINCT city FROM people": "COUNT(*) AS n ... GROUP BY city",
    "SELECT sex, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS pct FROM people GROUP BY sex": "shares, ranks and running totals",
    "SELECT COUNT(*) OVER () FROM people": "shares, ranks and running totals",
    "SELECT sex, COUNT(*) / (SELECT COUNT(*) FROM people) FROM people GROUP BY sex": "release the inner query first",
    "SELECT strftime(at, '%Y-%m') AS m, COUNT(*) FROM visits GROUP BY 1": "DATE_TRUNC('month', d), YEAR(d), M",
    "SELECT dayname(at) AS d, COUNT(*) FROM visits GROUP BY 1": "DATE_TRUNC('month', d), YEAR(d), M",
    "SELECT weekofyear(at) AS d, COUNT(*) FROM visits GROUP BY 1": "DATE_TRUNC('week', d): the Monday",
    "SELECT COUNT(*) FROM visits WHERE at > CURRENT_DATE - INTERVAL 30 DAY": "write the date or the number you m",
    "SELECT COUNT(*) FROM visits WHERE at > now() - INTERVAL '30 days'": "write the date or the number you m",
    "SELECT COUNT(*) FROM visits WHERE zip NOT IN (SELECT zip FROM zips WHERE zip IS NOT NULL OR region = 'N')": "add WHERE ... IS NOT NULL there, f",
    "SELECT COUNT(*) FROM visits WHERE zip NOT IN (SELECT zip FROM zips WHERE NOT zip IS NULL AND region = 'N' OR region = 'S')": "add WHERE ... IS NOT NULL there, f",
    "SELECT COUNT(*) FROM visits WHERE zip NOT IN (SELECT zip FROM zips)": "add WHERE ... IS NOT NULL there, f",
    "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM zips z WHERE z.zip = v.zip)": "x IN (SELECT column FROM a public",
    "SELECT AVG(n) FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id) t": "AVG(LEAST(n, HIGH))    (choose",
    "SELECT AVG(n) FROM (SELECT city, COUNT(*) AS n FROM people GROUP BY city) t": "release the inner query, then",
    "SELECT COUNT(*) FROM people UNION ALL SELECT COUNT(*) FROM visits": "run them one after the other; UNIO",
    "SELECT MODE(city) FROM people": "SELECT x, COUNT(*) AS n FROM ... G",
    "SELECT TOP 5 city, COUNT(*) AS n FROM people GROUP BY city": "SELECT ... ORDER BY n DESC LIMIT 5",
    "SELECT user_id, COUNT(*) FROM visits GROUP BY user_id": "group by a column whose values",
    "SELECT age, COUNT(*) FROM people": "GROUP BY age, or AVG(age)",
    "SELECT name FROM people": "select aggregates: COUNT, SUM, AVG",
    "SELECT AVG(salary) FROM people": "known: age, born, city, member, se",
    "SELECT count(*) FROM person": "known: people, visits, zips",
    "SHOW TABLES": "print(session) lists tables and co",
    "DESCRIBE people": "print(session) lists tables and co",
    "DELETE FROM people": "select aggregates: COUNT, SUM, AVG",
    "SELECT 1": "SELECT COUNT(*) FROM people",
    "SELECT COUNT(*) FROM people WHERE city ~ '^a'": "LIKE, contains, starts_with or end",
    "SELECT COUNT(*) FROM people WHERE regexp_matches(city, '^a')": "LIKE, contains, starts_with or end",
    "SELECT datediff('day', born, seen) AS d FROM people": "select aggregates: COUNT, SUM, AVG",
    "SELECT AVG(date_part('year', age(born))) FROM people": "DATE_DIFF('day', d, DATE '2026-12-",
    "SELECT FIRST(city) FROM people": "COUNT, SUM, AVG, MEDIAN, ... with",
    "SELECT COUNT(*) FROM people WHERE age = ANY (ARRAY[1,2])": "x IN (1, 2, 3), or x IN (SELECT co",
    "SELECT COUNT(*) FROM people QUALIFY row_number() OVER (PARTITION BY sex) = 1": "shares, ranks and running totals",
    "SELECT to_char(at, 'YYYY-MM') AS m, COUNT(*) FROM visits GROUP BY m": "DATE_TRUNC('month', d), YEAR(d), M",
    "SELECT date_format(at, 'yyyy-MM') AS m, COUNT(*) FROM visits GROUP BY m": "DATE_TRUNC('month', d), YEAR(d), M",
    "SELECT trunc(at, 'MM') AS m, COUNT(*) FROM visits GROUP BY m": "FLOOR(x), ROUND(x, digits), or DAT",
    "SELECT monthname(at) AS m, COUNT(*) FROM visits GROUP BY m": "DATE_TRUNC('month', d), YEAR(d), M",
    "SELECT COUNT(*) FROM people TABLESAMPLE 10%": "remove TABLESAMPLE",
    "SELECT SUM(DISTINCT wage) FROM people": "COUNT(DISTINCT column)",
    "SELECT COUNT(*) FROM people a JOIN people b ON a.city = b.city": "JOIN ... USING (user_id)",
    "SELECT COUNT(*), COUNT(*) FROM people": "COUNT(*) AS another_name",
    "SELECT BOOL_OR(member) FROM people": "COUNT_IF(condition), or AVG(CAST(c",
    "SELECT COUNT(*) FROM people WHERE born > '2000-1-1'": "DATE '2020-12-31'",
    "SELECT KURTOSIS(wage) FROM people": "VARIANCE(x), STDDEV(x), and quanti",
    "SELECT AVG(wage) OVER (PARTITION BY sex) FROM people": "shares, ranks and running totals",
    "SELECT log10(wage), COUNT(*) FROM people GROUP BY 1": "LN(x), or LN(x) / LN(10)",
    "SELECT SUM(wage) FROM people WHERE wage > (SELECT AVG(wage) FROM people)": "release the inner query first",
}

# The advice, followed.
LED_TO = [
    "SELECT QUANTILE(wage, 0.1) AS a, QUANTILE(wage, 0.9) AS b FROM people",
    "SELECT city, COUNT(*) FROM people GROUP BY city",
    "SELECT COUNT(*) FROM visits WHERE zip NOT IN (SELECT zip FROM zips WHERE zip IS NOT NULL)",
    "SELECT COUNT(*) FROM visits WHERE zip NOT IN (SELECT zip FROM zips WHERE zip IS NOT NULL AND region = 'N')",
    "SELECT AVG(age * wage) - AVG(age) * AVG(wage) AS c FROM people",
    "SELECT city, COUNT(*) AS n FROM people GROUP BY city ORDER BY n DESC LIMIT 1",
    "SELECT AVG(DATE_DIFF('day', born, DATE '2026-12-31') / 365.25) AS age FROM people",
    "SELECT bin(age, 10) AS age, COUNT(*) FROM people GROUP BY 1",
    "SELECT DATE_TRUNC('week', at) AS w, COUNT(*) FROM visits GROUP BY 1",
    "SELECT COUNT_IF(member), AVG(CAST(COALESCE(member, FALSE) AS BIGINT)) FROM people",
    "SELECT AVG(LEAST(n, 5)) FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id) t",
    "SELECT COUNT(*) FROM visits WHERE at > TIMESTAMP '2024-12-31 12:00:00' - INTERVAL 36 HOUR",
]


@pytest.fixture(scope="module")
def session():
    held = {"people": PEOPLE, "visits": VISITS, "zips": ZIPS}
    return dp.open(held, unit=UNIT, budget=dp.epsilon(1000, delta=1e-6), schema=SCHEMA)


def test_there_are_enough_of_them():
    assert len(ANSWERED) >= 60
    assert len(REFUSED) >= 40


@pytest.mark.parametrize("sql", ANSWERED)
def test_it_is_answered(session, sql):
    query = session.sql(sql)
    told = query.explain(spend=dp.epsilon(0.1))
    release = query.release(spend=dp.epsilon(0.1))
    assert (
        set(told.errors) <= {name for row in release.rows() for name in row} or not release.rows()
    )


@pytest.mark.parametrize("sql", REFUSED)
def test_it_is_refused_with_something_that_gets_one_on(session, sql):
    with pytest.raises(dp.DeniableError) as caught:
        session.sql(sql)
    error = caught.value
    assert REFUSED[sql] in f"{error.fix} {error.hint}"
    assert error.cost == "nothing was spent"
    written = sql != "SELECT 1"
    assert (error.snippet is not None) == written


@pytest.mark.parametrize("sql", LED_TO)
def test_what_the_fix_says_is_answered(session, sql):
    assert session.sql(sql).explain(spend=dp.epsilon(0.1)).steps
