# ruff: noqa: E501  (questions are shown as one would type them)
"""What can be asked, and how each question prints once it is understood."""

from textwrap import dedent

import pytest
from tests.query.front.front_tables import GROUPED, ROWS, ask, asked, table

import deniable as dp
from deniable.query.algebra import Function, JoinKind
from deniable.query.sql.select import question_from_sql

PROGRAMS = {
    "SELECT COUNT(*) FROM people": """
        from people
          person = user_id
        compute "count()" = count()
        answer "COUNT(*)" = "count()"
    """,
    "SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM people WHERE age >= 18 GROUP BY sex": """
        from people
          person = user_id
          read age: bounds(0, 125, type='int')
          read sex: keys(['f', 'm'])
        filter age >= 18
        group by sex (2 public values)
        compute n = count()
        compute age = avg(age in [0, 125])
        answer sex = sex
        answer n = n
        answer age = age
    """,
    "SELECT SUM(wage) / SUM(age) AS r FROM people HAVING r > 2 ORDER BY r DESC LIMIT 3 OFFSET 1": """
        from people
          person = user_id
          read age: bounds(0, 125, type='int')
          read wage: bounds(0.0, 200000.0)
        compute "sum(wage in [0.0, 200000.0])" = sum(wage in [0.0, 200000.0])
        compute "sum(age in [0, 125])" = sum(age in [0, 125])
        having ("sum(wage in [0.0, 200000.0])" / "sum(age in [0, 125])") > 2
        order by "sum(wage in [0.0, 200000.0])" / "sum(age in [0, 125])" desc
        limit 3
        offset 1
        answer r = "sum(wage in [0.0, 200000.0])" / "sum(age in [0, 125])"
    """,
    "SELECT COUNT(DISTINCT user_id) AS p, COUNT(city) AS c, COUNT(DISTINCT city) AS d FROM people": """
        from people
          person = user_id
          read city: column('text')
        compute p = persons()
        compute c = count(city)
        compute d = distinct(city)
        answer p = p
        answer c = c
        answer d = d
    """,
    "SELECT bin(age, 25) AS b, MEDIAN(wage) AS m FROM people GROUP BY b": """
        from people
          person = user_id
          read age: bounds(0, 125, type='int')
          read wage: bounds(0.0, 200000.0)
        group by b = bin(age, 25) (6 public values)
        compute m = quantile(wage in [0.0, 200000.0], 0.5)
        answer b = b
        answer m = m
    """,
    "SELECT region, SUM(cost) AS c FROM visits LEFT JOIN zips USING (zip) GROUP BY region": """
        from visits
          person = user_id
          read cost: bounds(0.0, 1000.0)
          read zip: column('text')
        left join on zip = "zips.zip"
          from zips (public)
            read "zips.zip" = zip: column('text')
            read region: keys(['N', 'S'])
        group by region (2 public values)
        compute c = sum(cost in [0.0, 1000.0])
        answer region = region
        answer c = c
    """,
    "SELECT sex, SUM(v.cost) AS c FROM visits v JOIN people p ON p.user_id = v.user_id GROUP BY sex": """
        from visits
          person = user_id
          read cost: bounds(0.0, 1000.0)
        inner join on the same person
          from people
            person_2 = user_id
            read sex: keys(['f', 'm'])
        group by sex (2 public values)
        compute c = sum(cost in [0.0, 1000.0])
        answer sex = sex
        answer c = c
    """,
    "SELECT AVG(LEAST(n, 20)) AS a FROM (SELECT user_id, COUNT(*) AS n FROM visits "
    "WHERE cost > 5 GROUP BY user_id HAVING SUM(stay) > 1) AS v": """
        from visits
          person = user_id
          read cost: bounds(0.0, 1000.0)
          read stay: bounds(0, 10, type='int')
        filter cost > 5
        for each person
          count = count()
          sum = sum(stay)
        filter sum > 1
        compute a = avg(least(count, 20) in [0, 20])
        answer a = a
    """,
    "WITH a AS (SELECT age + 1 AS x, sex FROM people WHERE sex = 'f'), b AS (SELECT x * 2 AS y FROM a) "
    "SELECT SUM(y) AS s FROM b WHERE y > 3": """
        from people
          person = user_id
          read age: bounds(0, 125, type='int')
          read sex: keys(['f', 'm'])
        filter (sex = 'f') and (((age + 1) * 2) > 3)
        compute s = sum((age + 1) * 2 in [2, 252])
        answer s = s
    """,
    'SELECT sex, "Group Name" AS g, COUNT(*) AS n FROM people GROUP BY ROLLUP (sex, g)': """
        from people
          person = user_id
          read sex: keys(['f', 'm'])
          read "Group Name": keys(['a', 'b', 'c'])
        group by sex (2 public values)
        group by g = "Group Name" (3 public values)
        grouping sets (sex, g), (sex), ()
        compute n = count()
        answer sex = sex
        answer g = g
        answer n = n
    """,
}


@pytest.mark.parametrize("sql", PROGRAMS)
def test_a_question_prints_as_a_program(sql):
    assert asked(sql) == dedent(PROGRAMS[sql]).strip()


SAME = [
    (
        "SELECT MEDIAN(wage) AS m FROM people",
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY wage) AS m FROM people",
    ),
    ("SELECT MEDIAN(wage) AS m FROM people", "SELECT QUANTILE(wage, 0.5) AS m FROM people"),
    ("SELECT MEDIAN(wage) AS m FROM people", "SELECT APPROX_QUANTILE(wage, .5) AS m FROM people"),
    ("SELECT MEDIAN(wage) AS m FROM people", "SELECT percentile(wage, 0.5) AS m FROM people"),
    (
        "SELECT QUANTILE(wage, 0.75) AS m FROM people",
        "SELECT PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY wage DESC) AS m FROM people",
    ),
    ("SELECT STDDEV(wage) AS m FROM people", "SELECT STDDEV_SAMP(wage) AS m FROM people"),
    ("SELECT VARIANCE(wage) AS m FROM people", "SELECT VAR_SAMP(wage) AS m FROM people"),
    (
        "SELECT COUNT_IF(age > 5) AS n FROM people",
        "SELECT COUNT(*) FILTER (WHERE age > 5) AS n FROM people",
    ),
    ("SELECT COUNT(*) AS n FROM people", "SELECT COUNT(1) AS n FROM people"),
    ("SELECT COUNT(*) AS n FROM people", "FROM people SELECT COUNT() AS n;"),
    ("SELECT COUNT(*) AS n FROM people", "(SELECT COUNT(*) AS n FROM PEOPLE)"),
    (
        "SELECT COUNT(*) AS n FROM people",
        "WITH p AS (SELECT * FROM people) SELECT COUNT(*) AS n FROM p",
    ),
    ("SELECT AVG(age) AS a FROM people", "SELECT AVG(p.AGE) AS a FROM people AS p"),
    (
        "SELECT SUM(CAST(age AS DOUBLE)) AS a FROM people",
        "SELECT SUM(age::float8) AS a FROM people",
    ),
    (
        "SELECT month(born) AS m, COUNT(*) AS n FROM people GROUP BY m",
        "SELECT EXTRACT(MONTH FROM born) AS m, COUNT(*) AS n FROM people GROUP BY 1",
    ),
    (
        "SELECT month(born) AS m, COUNT(*) AS n FROM people GROUP BY m",
        "SELECT DATE_PART('month', born) AS m, COUNT(*) AS n FROM people GROUP BY ALL",
    ),
    (
        "SELECT COUNT(*) AS n FROM people WHERE age BETWEEN 3 AND 5",
        "SELECT COUNT(*) AS n FROM people WHERE age >= 3 AND (age <= 5)",
    ),
    (
        "SELECT COUNT(*) AS n FROM people WHERE born < '1990-01-01'",
        "SELECT COUNT(*) AS n FROM people WHERE born < DATE '1990-01-01'",
    ),
    (
        "SELECT COUNT(*) AS n FROM people WHERE sex <> 'f'",
        "SELECT COUNT(*) AS n FROM people WHERE sex != 'f'",
    ),
    (
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY CUBE (sex)",
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY GROUPING SETS ((sex), ())",
    ),
    (
        "SELECT COUNT(*) AS n FROM visits JOIN people USING (user_id)",
        "SELECT COUNT(*) AS n FROM visits JOIN people ON visits.user_id = people.user_id",
    ),
    (
        "SELECT IF(age > 5, 1, 0) AS b, COUNT(*) AS n FROM people GROUP BY 1",
        "SELECT CASE WHEN age > 5 THEN 1 ELSE 0 END AS b, COUNT(*) AS n FROM people GROUP BY b",
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_spellings_of_one_question_are_the_same_question(one, other):
    assert asked(one) == asked(other)
    assert ask(one) == ask(other)


LISTS = {
    "sex": ["f", "m"],
    "age % 3": [0, 1, 2],
    "age > 5": [False, True],
    "member": [False, True],
    "CASE WHEN wage < 5 THEN 'low' WHEN wage < 9 THEN 'mid' ELSE 'high' END": [
        "low",
        "mid",
        "high",
    ],
    "upper(sex)": ["F", "M"],
    "sex || '!'": ["f!", "m!"],
    "COALESCE(sex, 'none')": ["f", "m", "none"],
    "bin(wage, 50000)": [0.0, 50000.0, 100000.0, 150000.0, 200000.0],
    "bin(debt, 0.5)": [k * 0.5 for k in range(-200, 201)],
    "width_bucket(income, 0, 10, 3)": [0, 1, 2, 3, 4],
    "quarter(born)": [1, 2, 3, 4],
    "dow(born)": [0, 1, 2, 3, 4, 5, 6],
    "hour(seen)": list(range(24)),
    "year(seen)": [2024],
    "CAST(member AS INT)": [0, 1],
    "income IS NULL": [False, True],
}


@pytest.mark.parametrize("key", LISTS)
def test_keys_that_follow_from_public_facts_are_listed(key):
    question = ask(f"SELECT {key} AS k, COUNT(*) AS n FROM people GROUP BY k")
    values = question.keys[0].values
    assert values is not None
    assert sorted(values) == sorted(LISTS[key])


def test_dates_are_listed_by_their_bounds():
    question = ask("SELECT date_trunc('year', born) AS y, COUNT(*) AS n FROM people GROUP BY y")
    years = question.keys[0].values
    assert years is not None
    assert [year.isoformat() for year in (years[0], years[-1])] == ["1950-01-01", "2010-01-01"]
    assert len(years) == 61


def test_private_keys_need_a_cap_on_groups_and_a_delta():
    sql = "SELECT city, sex, COUNT(*) AS n FROM people GROUP BY city, sex"
    question = ask(sql, unit=GROUPED, private_keys=True)
    assert [key.values is None for key in question.keys] == [True, False]
    assert ask(sql, unit=ROWS, private_keys=True).keys[0].values is None


def test_the_id_is_read_as_it_is_stored_whatever_the_schema_says_of_the_column():
    question = ask("SELECT COUNT(*) AS n FROM people WHERE user_id > 7")
    scan = question.relation.scan
    assert scan.id is not None
    assert scan.id.facts is None
    assert [read.source for read in scan.reads] == ["user_id"]
    assert question.person == "person"


def test_where_every_row_is_a_unit_a_public_table_is_made_unique():
    question = ask("SELECT COUNT(*) AS n FROM visits JOIN zips USING (zip)", unit=ROWS)
    assert question.relation.unique
    assert question.person is None
    assert not ask("SELECT COUNT(*) AS n FROM visits JOIN zips USING (zip)").relation.unique


def test_a_public_table_may_stand_first_in_an_inner_join():
    question = ask("SELECT region, COUNT(*) AS n FROM zips JOIN visits USING (zip) GROUP BY region")
    assert question.relation.left.table == "visits"
    assert question.relation.kind is JoinKind.INNER


def test_what_a_left_join_does_not_find_is_missing_even_where_it_was_computed():
    question = ask(
        "SELECT SUM(big) AS s FROM visits LEFT JOIN "
        "(SELECT zip, COALESCE(size, 1) AS big FROM zips) z USING (zip)"
    )
    assert question.aggregates[0].argument.domain.nullable
    assert 'let "z.big" = coalesce(size, 1)' in repr(question)


def test_one_aggregate_asked_twice_is_computed_once():
    question = ask("SELECT AVG(age), AVG(age) + 1, COUNT(*) FROM people HAVING AVG(age) > 1")
    assert [a.function for a in question.aggregates] == [Function.AVG, Function.COUNT]


def test_a_grouping_that_is_written_twice_is_asked_once():
    sql = "SELECT sex, age, COUNT(*) AS n FROM people GROUP BY GROUPING SETS ((sex, age), (age, sex), ())"
    assert ask(sql).grouping_sets == ((0, 1), ())


def test_a_part_of_with_may_hide_a_table_but_not_another_part():
    sql = "WITH people AS (SELECT age FROM people WHERE age > 3) SELECT COUNT(*) AS n FROM people"
    assert "filter age > 3" in asked(sql)
    with pytest.raises(dp.UnsupportedQuery, match="two parts of WITH"):
        ask(
            "WITH a AS (SELECT age FROM people), A AS (SELECT age FROM people) SELECT COUNT(*) FROM a"
        )


def test_dates_have_quantiles_by_way_of_days():
    question = ask("SELECT MIN(born) AS first FROM people")
    (aggregate,) = question.aggregates
    assert (aggregate.low, aggregate.high) == (-7305, 14974)
    assert repr(question.outputs[0].expression).startswith("add_days(date '1970-01-01'")


def test_the_fingerprint_tells_apart_what_the_text_shortens():
    def print_of(last: str) -> str:
        held = {"t": table("t", {"k": dp.keys(["a", "b", "c", last])})}
        sql = "SELECT k, COUNT(*) AS n FROM t GROUP BY k"
        return question_from_sql(sql, tables=held, unit=ROWS).fingerprint

    assert print_of("d") == print_of("d")
    assert print_of("d") != print_of("e")
