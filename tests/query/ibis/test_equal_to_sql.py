# ruff: noqa: E501  (questions are shown as one would type them)
"""An Ibis expression and the SQL that says the same are one question."""

import datetime as dt

import pytest
from tests.query.front.front_tables import GROUPED, ROWS, ask
from tests.query.ibis.ibis_tables import PEOPLE, VISITS, ZIPS, asked, ibis

_ = ibis._
t, v, z = PEOPLE, VISITS, ZIPS

BUCKETS = "CASE WHEN age >= 0 AND age < 20 THEN 0 WHEN age >= 20 AND age <= 60 THEN 1 END"
OUTER = (
    "CASE WHEN age < 0 THEN 0 WHEN age >= 0 AND age <= 20 THEN 1 "
    "WHEN age > 20 AND age <= 60 THEN 2 WHEN age > 60 THEN 3 END"
)

WHOLE = [
    (t.agg(n=t.count()), "SELECT COUNT(*) AS n FROM people"),
    (t.count().name("n"), "SELECT COUNT(*) AS n FROM people"),
    (t.agg(n=_.count(where=_.age > 3)), "SELECT COUNT(*) FILTER (WHERE age > 3) AS n FROM people"),
    (t.agg(n=_.city.count()), "SELECT COUNT(city) AS n FROM people"),
    (t.agg(n=_.city.nunique()), "SELECT COUNT(DISTINCT city) AS n FROM people"),
    (t.agg(n=_.city.approx_nunique()), "SELECT COUNT(DISTINCT city) AS n FROM people"),
    (t.agg(n=_.user_id.nunique()), "SELECT COUNT(DISTINCT user_id) AS n FROM people"),
    (t.agg(x=_.wage.sum()), "SELECT SUM(wage) AS x FROM people"),
    (t.wage.sum().name("x"), "SELECT SUM(wage) AS x FROM people"),
    (t.agg(x=_.wage.mean(), y=_.age.mean()), "SELECT AVG(wage) AS x, AVG(age) AS y FROM people"),
    (t.agg(x=_.wage.var()), "SELECT VAR_SAMP(wage) AS x FROM people"),
    (t.agg(x=_.wage.var(how="pop")), "SELECT VAR_POP(wage) AS x FROM people"),
    (t.agg(x=_.age.cov(_.wage)), "SELECT COVAR_SAMP(age, wage) AS x FROM people"),
    (t.agg(x=_.age.cov(_.wage, how="pop")), "SELECT COVAR_POP(age, wage) AS x FROM people"),
    (
        t.agg(x=_.age.corr(_.wage, where=_.age > 9)),
        "SELECT CORR(age, wage) FILTER (WHERE age > 9) AS x FROM people",
    ),
    (t.agg(x=_.wage.std()), "SELECT STDDEV_SAMP(wage) AS x FROM people"),
    (t.agg(x=_.wage.std(how="pop")), "SELECT STDDEV_POP(wage) AS x FROM people"),
    (t.agg(x=_.wage.median()), "SELECT MEDIAN(wage) AS x FROM people"),
    (t.agg(x=_.wage.approx_median()), "SELECT MEDIAN(wage) AS x FROM people"),
    (t.agg(x=_.wage.quantile(0.9)), "SELECT QUANTILE(wage, 0.9) AS x FROM people"),
    (t.agg(x=_.wage.min(), y=_.wage.max()), "SELECT MIN(wage) AS x, MAX(wage) AS y FROM people"),
    (t.agg(x=_.born.min()), "SELECT MIN(born) AS x FROM people"),
    (t.agg(x=_.born.median()), "SELECT MEDIAN(born) AS x FROM people"),
    (t.agg(x=_.seen.max()), "SELECT MAX(seen) AS x FROM people"),
    (v.filter(_.zip.isin(z.zip)).agg(n=_.count()), "SELECT COUNT(*) AS n FROM visits WHERE zip IN (SELECT zip FROM zips)"),
    (v.filter((_.cost > 1) | _.zip.isin(z.zip)).agg(n=_.count()), "SELECT COUNT(*) AS n FROM visits WHERE cost > 1 OR zip IN (SELECT zip FROM zips)"),
    (v.filter(_.cost > 1, ~_.user_id.isin(t.filter(_.age > 3).user_id)).agg(n=_.count()), "SELECT COUNT(*) AS n FROM visits WHERE cost > 1 AND user_id NOT IN (SELECT user_id FROM people WHERE age > 3)"),
    (t.select("user_id", x="age").union(v.select("user_id", x="stay"), distinct=False).agg(s=_.x.sum()), "SELECT SUM(x) AS s FROM (SELECT user_id, age AS x FROM people UNION ALL SELECT user_id, stay AS x FROM visits) u"),
    (t.group_by("sex").agg(n=_.count()).order_by(_.n.asc(nulls_first=True)), "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY n NULLS FIRST"),
    (t.filter(_.seen + ibis.interval(hours=2) > _.seen).agg(n=_.count()), "SELECT COUNT(*) AS n FROM people WHERE seen + INTERVAL 2 HOUR > seen"),
    (t.agg(x=_.wage.mean(where=_.sex == "f")), "SELECT AVG(wage) FILTER (WHERE sex = 'f') AS x FROM people"),
    (t.agg(x=(_.age > 3).sum()), "SELECT SUM(age > 3) AS x FROM people"),
    (t.agg(x=_.member.fill_null(False).mean()), "SELECT AVG(COALESCE(member, FALSE)) AS x FROM people"),
    (t.agg(x=_.wage.sum() / _.count()), "SELECT SUM(wage) / COUNT(*) AS x FROM people"),
    (t.agg(x=_.wage.sum(), y=_.wage.sum() * 2), "SELECT SUM(wage) AS x, SUM(wage) * 2 AS y FROM people"),
    (t.group_by("sex").agg(n=_.count()), "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"),
    (t.group_by(s="sex").agg(n=_.count()), "SELECT sex AS s, COUNT(*) AS n FROM people GROUP BY sex"),
    (t.group_by("Group Name", "sex").agg(n=_.count()), 'SELECT "Group Name", sex, COUNT(*) AS n FROM people GROUP BY 1, 2'),
    (t.sex.value_counts(name="n"), "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"),
    (t.group_by("sex").agg(n=_.count()).filter(_.n > 3), "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING n > 3"),
    (t.group_by("sex").having(_.count() > 3).agg(n=_.count()), "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING COUNT(*) > 3"),
    (t.group_by("sex").agg(n=_.count()).filter(_.n > 3, _.sex == "f").filter(_.n < 9), "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING n > 3 AND sex = 'f' AND n < 9"),
    (t.group_by("sex").agg(n=_.count()).order_by(_.n.desc(), "sex").limit(3, offset=1), "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY n DESC, sex LIMIT 3 OFFSET 1"),
    (t.group_by("sex").agg(n=_.count()).mutate(k=_.n / 1000), "SELECT sex, COUNT(*) AS n, n / 1000 AS k FROM people GROUP BY sex"),
    (t.group_by("sex").agg(n=_.count(), x=_.age.sum()).drop("sex"), "SELECT COUNT(*) AS n, SUM(age) AS x FROM people GROUP BY sex"),
    (t.filter(_.age > 3).filter(_.age < 9).agg(n=_.count()), "SELECT COUNT(*) AS n FROM people WHERE age > 3 AND age < 9"),
    (t.filter(_.age > 3, _.age < 9).agg(n=_.count()), "SELECT COUNT(*) AS n FROM people WHERE age > 3 AND age < 9"),
    (t.mutate(x=_.age * 2).filter(_.x > 7).agg(s=_.x.sum()), "SELECT SUM(x) AS s FROM (SELECT age * 2 AS x FROM people) WHERE x > 7"),
    (t.select("age", w=_.wage / 2).order_by("age").agg(s=_.w.sum()), "SELECT SUM(wage / 2) AS s FROM people"),
    (t.rename(years="age").drop("city").agg(s=_.years.sum()), "SELECT SUM(age) AS s FROM people"),
    (t.view().agg(s=_.age.sum()), "SELECT SUM(age) AS s FROM people"),
    (t.drop_null("city").agg(n=_.count()), "SELECT COUNT(*) AS n FROM people WHERE city IS NOT NULL"),
    (t.fill_null({"debt": 0.0}).agg(s=_.debt.sum()), "SELECT SUM(COALESCE(debt, 0.0)) AS s FROM people"),
    (t.group_by(b=_.age.bucket([0, 20, 60])).agg(n=_.count()), f"SELECT {BUCKETS} AS b, COUNT(*) AS n FROM people GROUP BY b"),
    (t.group_by(b=_.age.bucket([0, 20, 60], closed="right", include_under=True, include_over=True)).agg(n=_.count()), f"SELECT {OUTER} AS b, COUNT(*) AS n FROM people GROUP BY b"),
    (t.group_by(m=_.born.month()).agg(n=_.count()), "SELECT month(born) AS m, COUNT(*) AS n FROM people GROUP BY m"),
    (t.group_by(d=_.born.day_of_week.index()).agg(n=_.count()), "SELECT (dow(born) + 6) % 7 AS d, COUNT(*) AS n FROM people GROUP BY d"),
    (t.group_by(d=_.seen.truncate("M")).agg(n=_.count()), "SELECT DATE_TRUNC('month', seen) AS d, COUNT(*) AS n FROM people GROUP BY d"),
    (t.group_by(d=(_.age // 10) * 10).agg(n=_.count()), "SELECT (age // 10) * 10 AS d, COUNT(*) AS n FROM people GROUP BY d"),
    (t.group_by("member").agg(n=_.count()), "SELECT member, COUNT(*) AS n FROM people GROUP BY member"),
]  # fmt: skip

CONDITIONS = [
    (t.age.between(3, 9), "age BETWEEN 3 AND 9"),
    (t.sex.isin(["f", "m"]), "sex IN ('f', 'm')"),
    (t.sex.notin(["f"]), "sex NOT IN ('f')"),
    ((t.age > 3) & t.member & (t.age < 9), "age > 3 AND member AND age < 9"),
    ((t.age > 3) | ~t.member, "age > 3 OR NOT member"),
    (t.member ^ (t.age > 3), "member <> (age > 3)"),
    (t.age.isnull(), "age IS NULL"),
    (t.age == None, "age IS NULL"),  # noqa: E711
    (t.age.notnull(), "age IS NOT NULL"),
    (t.age.identical_to(3), "age IS NOT DISTINCT FROM 3"),
    (t.age != 3, "age <> 3"),
    (t.age >= 3, "age >= 3"),
    (t.city.lower() == "x", "LOWER(city) = 'x'"),
    (t.city.upper() == "X", "UPPER(city) = 'X'"),
    (t.city.strip() == "x", "TRIM(city) = 'x'"),
    (t.city.length() > 3, "LENGTH(city) > 3"),
    (t.city.substr(1, 2) == "xy", "SUBSTR(city, 2, 2) = 'xy'"),
    (t.city.substr(1) == "xy", "SUBSTR(city, 2) = 'xy'"),
    (t.city[1:3] == "xy", "SUBSTR(city, 2, 2) = 'xy'"),
    (t.city.left(2) == "xy", "LEFT(city, 2) = 'xy'"),
    (t.city.contains("x"), "CONTAINS(city, 'x')"),
    (t.city.startswith("x"), "STARTS_WITH(city, 'x')"),
    (t.city.endswith("x"), "ENDS_WITH(city, 'x')"),
    (t.city.like("x%"), "city LIKE 'x%'"),
    (t.city.ilike("x%"), "city ILIKE 'x%'"),
    (t.city + "y" == "xy", "CONCAT(city, 'y') = 'xy'"),
    (t.born == "2000-01-01", "born = DATE '2000-01-01'"),
    (t.born < dt.date(2000, 1, 1), "born < DATE '2000-01-01'"),
    (t.seen < dt.datetime(2024, 5, 1, 12), "seen < TIMESTAMP '2024-05-01 12:00:00'"),  # noqa: DTZ001
    (t.born.year() == 2000, "YEAR(born) = 2000"),
    (t.born.quarter() == 2, "QUARTER(born) = 2"),
    (t.born.day() == 2, "DAY(born) = 2"),
    (t.born.day_of_year() == 2, "doy(born) = 2"),
    (t.seen.hour() == 2, "HOUR(seen) = 2"),
    (t.seen.minute() == 2, "MINUTE(seen) = 2"),
    (t.seen.date() == "2024-05-01", "CAST(seen AS DATE) = DATE '2024-05-01'"),
    (t.born + ibis.interval(days=3) < "2000-01-01", "born + INTERVAL 3 DAY < DATE '2000-01-01'"),
    (t.born - ibis.interval(weeks=1) < "2000-01-01", "born - INTERVAL 1 WEEK < DATE '2000-01-01'"),
    (t.seen.date().delta(t.born, unit="day") > 3, "DATE_DIFF('day', born, CAST(seen AS DATE)) > 3"),
    ((t.age > 3).ifelse(t.wage, None) > 3, "CASE WHEN age > 3 THEN wage END > 3"),
    (t.sex.cases(("f", 1), ("m", 2)) > 1, "CASE sex WHEN 'f' THEN 1 WHEN 'm' THEN 2 END > 1"),
    (t.city.cast("int64") > 3, "CAST(city AS BIGINT) > 3"),
    (t.city.try_cast("float64") > 3, "TRY_CAST(city AS DOUBLE) > 3"),
    (t.age.cast("string") == "3", "CAST(age AS TEXT) = '3'"),
    (t.city.cast("date") == "2000-01-01", "CAST(city AS DATE) = DATE '2000-01-01'"),
]  # fmt: skip

NUMBERS = [
    (t.age + 1, "age + 1"),
    (t.age - t.wage, "age - wage"),
    (-t.age, "-age"),
    (t.age * 2 / 3, "age * 2 / 3"),
    (t.age // 10, "age // 10"),
    (t.age % 10, "age % 10"),
    (t.age**2, "POWER(age, 2)"),
    (t.debt.abs(), "ABS(debt)"),
    (t.debt.sign(), "SIGN(debt)"),
    (t.wage.floor(), "FLOOR(wage)"),
    (t.wage.ceil(), "CEIL(wage)"),
    (t.wage.round(), "ROUND(wage)"),
    (t.wage.round(2), "ROUND(wage, 2)"),
    (t.wage.sqrt(), "SQRT(wage)"),
    ((t.wage + 1).ln(), "LN(wage + 1)"),
    ((t.age / 10).exp(), "EXP(age / 10)"),
    (t.debt.clip(0, 10), "CLAMP(debt, 0, 10)"),
    (t.age.clip(lower=5), "GREATEST(age, 5)"),
    (t.age.clip(upper=5), "LEAST(age, 5)"),
    (ibis.least(t.age, 30), "LEAST(age, 30)"),
    (ibis.greatest(t.age, t.debt), "GREATEST(age, debt)"),
    (t.wage.fill_null(0), "COALESCE(wage, 0)"),
    (ibis.coalesce(t.wage, t.age, 0), "COALESCE(wage, age, 0)"),
    (t.age.nullif(3), "NULLIF(age, 3)"),
    (ibis.ifelse(t.age > 3, 1, 0), "IF(age > 3, 1, 0)"),
    (ibis.cases((t.age > 3, 1), (t.age > 1, 2), else_=0), "CASE WHEN age > 3 THEN 1 WHEN age > 1 THEN 2 ELSE 0 END"),
    (t.age.cast("float64"), "CAST(age AS DOUBLE)"),
    (t.wage.cast("int64"), "CAST(wage AS BIGINT)"),
    ((t.age > 3).cast("int8"), "CAST(age > 3 AS INT)"),
]  # fmt: skip

JOINS = [
    (v.join(z, "zip").group_by("region").agg(c=_.cost.sum()), "SELECT region, SUM(cost) AS c FROM visits JOIN zips USING (zip) GROUP BY region"),
    (z.join(v, "zip").group_by("region").agg(c=_.cost.sum()), "SELECT region, SUM(cost) AS c FROM zips JOIN visits USING (zip) GROUP BY region"),
    (v.left_join(z, "zip").group_by("region").agg(c=_.cost.sum()), "SELECT region, SUM(cost) AS c FROM visits LEFT JOIN zips USING (zip) GROUP BY region"),
    (v.join(t, "user_id").group_by("sex").agg(c=_.cost.sum()), "SELECT sex, SUM(cost) AS c FROM visits JOIN people USING (user_id) GROUP BY sex"),
    (v.join(t, v.user_id == t.user_id).join(z, v.zip == z.zip).group_by("sex", "region").agg(c=_.cost.sum()), "SELECT sex, region, SUM(cost) AS c FROM visits JOIN people USING (user_id) JOIN zips USING (zip) GROUP BY sex, region"),
    (v.join(z, [v.zip == z.zip, v.cost > 3]).agg(c=_.cost.sum()), "SELECT SUM(cost) AS c FROM visits JOIN zips ON visits.zip = zips.zip AND cost > 3"),
    (v.join(z.filter(_.region == "N"), "zip").agg(c=_.cost.sum()), "SELECT SUM(cost) AS c FROM visits JOIN (SELECT * FROM zips WHERE region = 'N') USING (zip)"),
    (v.join(z.select(k=_.zip.lower(), r="region"), [(v.zip.lower(), "k")]).group_by("r").agg(c=_.cost.sum()), "SELECT r, SUM(cost) AS c FROM visits JOIN (SELECT LOWER(zip) AS k, region AS r FROM zips) s ON LOWER(visits.zip) = s.k GROUP BY r"),
]  # fmt: skip

PERSONS = [
    (v.filter(_.cost > 5).group_by("user_id").agg(n=_.count()).agg(a=ibis.least(_.n, 20).mean()), "SELECT AVG(LEAST(n, 20)) AS a FROM (SELECT user_id, COUNT(*) AS n FROM visits WHERE cost > 5 GROUP BY user_id)"),
    (v.group_by("user_id").agg(n=_.count(), s=_.stay.sum()).filter(_.s > 1).agg(a=_.n.clip(0, 20).mean()), "SELECT AVG(CLAMP(n, 0, 20)) AS a FROM (SELECT user_id, COUNT(*) AS n, SUM(stay) AS s FROM visits GROUP BY user_id) WHERE s > 1"),
    (v.group_by("user_id").agg(m=_.cost.mean()).agg(a=_.m.median()), "SELECT MEDIAN(m) AS a FROM (SELECT user_id, AVG(cost) AS m FROM visits GROUP BY user_id)"),
    (v.group_by("user_id", "zip").agg(m=_.cost.max()).agg(a=_.m.sum()), "SELECT SUM(m) AS a FROM (SELECT user_id, zip, MAX(cost) AS m FROM visits GROUP BY user_id, zip)"),
    (v.group_by("user_id", "zip").agg(m=_.cost.max() + _.stay.nunique()).agg(a=_.m.clip(0, 9).sum()), "SELECT SUM(CLAMP(m, 0, 9)) AS a FROM (SELECT user_id, zip, MAX(cost) + COUNT(DISTINCT stay) AS m FROM visits GROUP BY user_id, zip)"),
    (v.select("user_id", "zip").distinct().agg(n=_.count()), "SELECT COUNT(*) AS n FROM (SELECT DISTINCT user_id, zip FROM visits)"),
]  # fmt: skip


def pairs(listed):
    return [pytest.param(*pair, id=pair[1]) for pair in listed]


@pytest.mark.parametrize(("expression", "sql"), pairs([*WHOLE, *JOINS, *PERSONS]))
def test_an_expression_is_the_question_its_sql_asks(expression, sql):
    assert repr(asked(expression)) == repr(ask(sql))
    assert asked(expression).fingerprint == ask(sql).fingerprint


@pytest.mark.parametrize(("condition", "sql"), pairs(CONDITIONS))
def test_a_condition_means_what_it_means_in_sql(condition, sql):
    expression = t.filter(condition).agg(n=_.count())
    assert repr(asked(expression)) == repr(ask(f"SELECT COUNT(*) AS n FROM people WHERE {sql}"))


@pytest.mark.parametrize(("value", "sql"), pairs(NUMBERS))
def test_a_number_means_what_it_means_in_sql(value, sql):
    expression = t.agg(x=value.sum())
    assert repr(asked(expression)) == repr(ask(f"SELECT SUM({sql}) AS x FROM people"))


@pytest.mark.parametrize("unit", [ROWS, GROUPED])
def test_groups_that_are_not_public_are_chosen_privately(unit):
    found = asked(t.group_by("city").agg(n=_.count()), unit=unit, private_keys=True)
    sql = "SELECT city, COUNT(*) AS n FROM people GROUP BY city"
    assert found.keys[0].values is None
    assert found.fingerprint == ask(sql, unit=unit, private_keys=True).fingerprint


def test_two_different_expressions_are_two_questions():
    found = {asked(expression).fingerprint for expression, sql in WHOLE}
    assert len(found) == len({ask(sql).fingerprint for _expression, sql in WHOLE})


def test_a_histogram_lies_between_the_bounds_of_its_column():
    (key,) = asked(t.group_by(b=_.age.histogram(nbins=5)).agg(n=_.count())).keys
    assert key.values == (0, 1, 2, 3, 4)
    (key,) = asked(t.group_by(b=_.age.histogram(binwidth=25, base=0)).agg(n=_.count())).keys
    assert key.values == (0, 1, 2, 3, 4)
