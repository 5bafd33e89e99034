"""What cannot be asked: each refusal with its code, the text under its caret, and its words."""

from dataclasses import replace

import pytest
from tests.query.front.front_tables import GROUPED, ROWS, TABLES, ask, table

import deniable as dp
from deniable.errors import DeniableError
from deniable.query.sql.select import question_from_sql

REFUSED = [
    # rows
    ("SELECT * FROM people", "DP310", "*", "would publish rows"),
    ("SELECT p.* FROM people p", "DP310", "p.*", "would publish rows"),
    ("SELECT age FROM people", "DP310", "age", "would publish rows"),
    ("SELECT age + 1 AS x FROM people", "DP310", "age + 1", "would publish rows"),
    ("SELECT DISTINCT sex, COUNT(*) FROM people GROUP BY sex", "DP310", "sex", "DISTINCT"),
    ("SELECT LIST(age) FROM people", "DP310", "LIST(age)", "publish people's values"),
    ("SELECT STRING_AGG(city, ',') FROM people", "DP310", "STRING_AGG(city, ',')", "publish peop"),
    ("SELECT sex FROM people GROUP BY sex", "DP310", "sex", "computes nothing"),
    ("SELECT age, COUNT(*) FROM people GROUP BY sex", "DP310", "age", "neither in GROUP BY"),
    ("SELECT sex, COUNT(*) FROM people", "DP310", "sex", "neither in GROUP BY"),
    # bounds, keys, missing values
    ("SELECT AVG(income) FROM people", "DP102", "AVG(income)", "AVG(income) needs bounds"),
    ("SELECT SUM(income * 2) FROM people", "DP102", "SUM(income * 2)", "needs bounds"),
    ("SELECT AVG(wage / debt) FROM people", "DP102", "AVG(wage / debt)", "none can be derived"),
    ("SELECT MEDIAN(income) FROM people", "DP102", "MEDIAN(income)", "needs bounds"),
    ("SELECT SUM(CLAMP(income, 0, 9)) FROM people", "DP120", "SUM(CLAMP(income, 0, 9))", "NULL"),
    ("SELECT city, COUNT(*) FROM people GROUP BY city", "DP301", "city", "itself private"),
    (
        "SELECT born, city, COUNT(*) FROM people GROUP BY 1, lower(city)",
        "DP301",
        "lower(city)",
        "x",
    ),
    ("SELECT income, COUNT(*) FROM people GROUP BY income", "DP310", "income", "bin(income, 10)"),
    (
        "SELECT user_id, COUNT(*) FROM people GROUP BY user_id",
        "DP310",
        "user_id",
        "one group per person",
    ),
    (
        (
            "SELECT COUNT(*) FROM people "
            "GROUP BY born, age, month(seen), day(seen), hour(seen), minute(seen)"
        ),
        "DP310",
        "",
        "groups",
    ),
    # names
    ("SELECT AVG(incom) FROM people", "DP320", "incom", "did you mean `income`"),
    (
        'SELECT COUNT(*) FROM people WHERE city = "Oslo"',
        "DP320",
        '"Oslo"',
        "write text in single quotes\n  fix:  'Oslo'",
    ),
    (
        """SELECT COUNT(*) FROM people WHERE city IN ('Oslo', "L'Aquila")""",
        "DP320",
        '"L\'Aquila"',
        "'L''Aquila'",
    ),
    ('SELECT COUNT(*) FROM people WHERE sex = "sexx"', "DP320", '"sexx"', "fix:  sex or 'sexx'"),
    ("SELECT COUNT(*) FROM peple", "DP320", "peple", "did you mean `people`"),
    ("SELECT COUNT(*) FROM people p WHERE q.age > 3", "DP320", "q.age", "no table `q`"),
    ("SELECT COUNT(blob) FROM people", "DP111", "blob", "is unknown"),
    (
        "SELECT SUM(cost) FROM visits JOIN people USING (user_id) WHERE user > 1",
        "DP320",
        "user",
        "no column",
    ),
    (
        "SELECT COUNT(*) FROM visits v JOIN zips z ON v.zip = z.zip WHERE zip = 'x'",
        "DP310",
        "zip",
        "`v` and `z`",
    ),
    # what counts for others
    ("SELECT SUM(age) OVER () FROM people", "DP310", "SUM(age)", "window functions"),
    ("SELECT COUNT(*) FROM (SELECT * FROM people LIMIT 5) p", "DP310", "5", "LIMIT inside"),
    (
        "SELECT COUNT(*) FROM people WHERE age > (SELECT AVG(age) FROM people)",
        "DP310",
        "AVG(age) FROM people",
        "other people's rows",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE city IN (SELECT zip FROM visits)",
        "DP310",
        "city IN (SELECT zip FROM visits)",
        "other people's rows",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE user_id IN (SELECT stay FROM visits)",
        "DP310",
        "user_id IN (SELECT stay FROM visits)",
        "other people's rows",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE city NOT IN (SELECT zip FROM zips)",
        "DP310",
        "city NOT IN (SELECT zip FROM zips)",
        "may be missing",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE city IN (SELECT zip, region FROM zips)",
        "DP310",
        "city IN (SELECT zip, region FROM zips)",
        "one column",
    ),
    (
        "SELECT COUNT(*) FILTER (WHERE city IN (SELECT zip FROM zips)) FROM people",
        "DP310",
        "city IN (SELECT zip FROM zips)",
        "belongs in WHERE",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT age FROM people UNION SELECT stay FROM visits) u",
        "DP310",
        "age FROM people UNION SELECT stay FROM visits",
        "drops equal rows",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT age FROM people UNION ALL SELECT size FROM zips) u",
        "DP310",
        "age FROM people UNION ALL SELECT size FROM zips",
        "cannot mix",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT age, sex FROM people UNION ALL SELECT stay FROM visits) u",
        "DP310",
        "age, sex FROM people UNION ALL SELECT stay FROM visits",
        "2 and 1 columns",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT age FROM people UNION ALL SELECT zip FROM visits) u",
        "DP310",
        "age FROM people UNION ALL SELECT zip FROM visits",
        "cannot be combined",
    ),
    (
        "SELECT COUNT(*) FROM people UNION ALL SELECT COUNT(*) FROM visits",
        "DP310",
        "COUNT(*) FROM people UNION ALL SELECT COUNT(*) FROM visits",
        "two queries",
    ),
    ("SELECT sex, GROUPING(age), COUNT(*) FROM people GROUP BY sex", "DP310", "GROUPING(age)", "x"),
    ("SELECT DISTINCT city FROM people", "DP310", "city", "GROUP BY city"),
    (
        "SELECT COUNT(*) FROM people WHERE EXISTS (SELECT 1 FROM zips)",
        "DP310",
        "EXISTS (SELECT 1 FROM zips)",
        "for every row",
    ),
    (
        "SELECT COUNT(*) FROM visits JOIN people ON visits.cost = people.wage",
        "DP310",
        "people ON visits.cost = people.wage",
        "identifies people",
    ),
    ("SELECT COUNT(*) FROM visits CROSS JOIN zips", "DP310", "zips", "cannot be bounded"),
    ("SELECT COUNT(*) FROM visits, zips", "DP310", "zips", "no condition of WHERE links"),
    ("SELECT COUNT(*) FROM visits NATURAL JOIN zips", "DP310", "zips", "JOIN"),
    (
        "SELECT COUNT(*) FROM visits FULL JOIN zips USING (zip)",
        "DP310",
        "zips USING (zip)",
        "cannot be bounded",
    ),
    (
        "SELECT COUNT(*) FROM zips LEFT JOIN visits USING (zip)",
        "DP310",
        "visits USING (zip)",
        "start from the private",
    ),
    ("SELECT COUNT(*) FROM zips", "DP310", "zips", "public tables only"),
    (
        "SELECT AVG(n) FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) t",
        "DP310",
        "sex",
        "only per person",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT DISTINCT city FROM people) t",
        "DP310",
        "city",
        "only per person",
    ),
    (
        "SELECT COUNT(*) FROM people UNION SELECT COUNT(*) FROM visits",
        "DP310",
        "COUNT(*) FROM people UNION SELECT COUNT(*) FROM visits",
        "UNION",
    ),
    ("SELECT COUNT(*) FROM people TABLESAMPLE 10%", "DP310", "10", "sampling"),
    # aggregates in the wrong place
    ("SELECT SUM(AVG(age)) FROM people", "DP310", "AVG(age)", "cannot be used here"),
    ("SELECT COUNT(*) FROM people WHERE AVG(age) > 3", "DP310", "AVG(age)", "cannot be used here"),
    (
        "SELECT COUNT(*) FROM people GROUP BY AVG(age)",
        "DP310",
        "AVG(age)",
        "cannot take an aggregate",
    ),
    ("SELECT SUM(DISTINCT age) FROM people", "DP310", "SUM(DISTINCT age)", "DISTINCT is support"),
    (
        "SELECT COUNT(DISTINCT age, sex) FROM people",
        "DP310",
        "COUNT(DISTINCT age, sex)",
        "one column",
    ),
    ("SELECT QUANTILE(wage, 2) FROM people", "DP310", "2", "from 0 to 1"),
    ("SELECT QUANTILE(wage, [0.1, 0.5]) FROM people", "DP310", "0.1, 0.5", "lists are not"),
    ("SELECT MAX(wage, 3) FROM people", "DP310", "3", "part of `MAX(wage, 3)`"),
    ("SELECT SUM(age ORDER BY age) FROM people", "DP310", "age", "part of `age ORDER BY age`"),
    ("SELECT MODE(age) FROM people", "DP310", "MODE(age)", "take the largest"),
    ("SELECT SUM(city) FROM people", "DP310", "SUM(city)", "needs numbers"),
    ("SELECT COUNT(*) AS n, AVG(age) AS N FROM people", "DP310", "AVG(age)", "two columns"),
    # functions and values
    (
        "SELECT COUNT(*) FROM people WHERE random() < 0.5",
        "DP310",
        "random()",
        "change from one run",
    ),
    ("SELECT COUNT(*) FROM people WHERE born < CURRENT_DATE", "DP310", "CURRENT_DATE", "one run"),
    ("SELECT SUM(foo(age)) FROM people", "DP310", "foo(age)", "foo is not a supported"),
    ("SELECT COUNT(*) FROM people WHERE city ~ 'a'", "DP310", "city ~ 'a'", "regular expressions"),
    ("SELECT COUNT(*) FROM people WHERE age = 'old'", "DP310", "age = 'old'", "cannot be combined"),
    (
        "SELECT COUNT(*) FROM people WHERE born > 'yesterday'",
        "DP310",
        "born > 'yesterday'",
        "not a date",
    ),
    ("SELECT COUNT(*) FROM people WHERE age", "DP310", "age", "true or false"),
    (
        "SELECT COUNT(*) FROM people WHERE city LIKE lower(city)",
        "DP310",
        "city LIKE lower(city)",
        "constant",
    ),
    ("SELECT SUM(LOG(age)) FROM people", "DP310", "LOG(age)", "base of LOG"),
    (
        "SELECT SUM(CAST(age AS DECIMAL(9, 2))) FROM people",
        "DP310",
        "CAST(age AS DECIMAL(9, 2))",
        "CAST to",
    ),
    ("SELECT COUNT(*) FROM people WHERE age > ?", "DP310", "?", "cannot have parameters"),
    ("SELECT COUNT(*) FROM people ORDER BY 7", "DP310", "7", "no column 7"),
    ("SELECT COUNT(*) FROM people LIMIT age", "DP310", "", "a whole number"),
    ("SELECT COUNT(*) FROM people WHERE age > 1e999", "DP310", "1e999", "too large"),
    # not a query
    ("DROP TABLE people", "DP310", "DROP", "not a query"),
    ("INSERT INTO people VALUES (1)", "DP310", "INSERT", "not a query"),
    ("PRAGMA show_tables", "DP310", "PRAGMA", "not a query"),
    ("SELECT COUNT(*) FROM people; SELECT 1", "DP310", "SELECT", "one query"),
    (
        "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
        "DP310",
        "read_csv('/etc/passwd')",
        "not supported",
    ),
    ("SELECT COUNT(*) FROM '/etc/passwd'", "DP320", "'/etc/passwd'", "no table"),
    ("SELECT AVG(age FROM people", "DP310", "FROM", "not valid SQL"),
    ("SELECT 'open FROM people", "DP310", "", "not valid SQL"),
    ("", "DP310", "", "no query"),
    ("SELECT COUNT(*)", "DP310", "", "names no table"),
]


@pytest.mark.parametrize(("sql", "code", "under", "words"), REFUSED)
def test_a_refusal_has_its_code_its_caret_and_its_words(sql, code, under, words):
    with pytest.raises(DeniableError) as caught:
        ask(sql)
    error = caught.value
    shown = "" if error.snippet is None else sql[error.snippet.start : error.snippet.end]
    assert (error.code, shown) == (code, under)
    assert words == "x" or words in str(error)
    assert error.cost == "nothing was spent"


def test_refusals_say_why_and_what_to_write_instead():
    for sql, code, _, _ in REFUSED:
        with pytest.raises(DeniableError) as caught:
            ask(sql)
        error = caught.value
        assert error.fix or error.hint or error.snippet, sql
        assert code != "DP102" or "bounds" in error.fix or "CLAMP" in error.fix


def test_the_error_about_bounds_reads_as_promised():
    with pytest.raises(dp.MissingBounds) as caught:
        ask("SELECT sex, AVG(income) FROM people GROUP BY sex")
    assert str(caught.value).splitlines()[:3] == [
        "error[DP102]: AVG(income) needs bounds, because one person's income could be anything",
        "    SELECT sex, AVG(income) FROM people GROUP BY sex",
        "                ^^^^^^^^^^^ `income` has no bounds in the schema of `people`",
    ]


def test_a_caret_is_under_the_right_line_of_a_long_question():
    sql = "SELECT sex,\n       AVG(income) AS a\nFROM people\nGROUP BY sex"
    with pytest.raises(dp.MissingBounds) as caught:
        ask(sql)
    assert str(caught.value).splitlines()[1:3] == [
        "           AVG(income) AS a",
        "           ^^^^^^^^^^^ `income` has no bounds in the schema of `people`",
    ]


def test_private_keys_are_refused_for_the_reason_that_applies():
    sql = "SELECT city, COUNT(*) FROM people GROUP BY city"
    with pytest.raises(dp.UnknownKeys) as caught:
        ask(sql, unit=GROUPED)
    assert "delta=1e-7" in caught.value.fix
    assert "groups=" not in caught.value.fix
    with pytest.raises(dp.UnknownKeys) as caught:
        ask(sql, private_keys=True)  # the unit has no groups=
    assert "groups=" in caught.value.fix
    assert "delta" not in caught.value.fix
    with pytest.raises(dp.UnknownKeys) as caught:
        ask(sql, unit=ROWS)
    assert "groups=" not in caught.value.fix
    with pytest.raises(dp.UnsupportedQuery, match="real number"):
        ask("SELECT income, COUNT(*) FROM people GROUP BY 1", unit=GROUPED, private_keys=True)
    for by in ("ROLLUP (city)", "CUBE (sex, city)", "GROUPING SETS ((city), (sex))"):
        with pytest.raises(dp.UnsupportedQuery, match="ROLLUP"):
            ask(f"SELECT COUNT(*) FROM people GROUP BY {by}", unit=GROUPED, private_keys=True)


def test_rows_as_units_join_no_second_private_table():
    with pytest.raises(dp.UnsupportedQuery, match="every row is a privacy unit"):
        ask("SELECT COUNT(*) FROM visits JOIN people USING (user_id)", unit=ROWS)
    with pytest.raises(dp.UnsupportedQuery, match="cannot aggregate here"):
        ask(
            "SELECT SUM(n) FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY 1) t", unit=ROWS
        )


def test_a_cartesian_nest_of_withs_is_stopped():
    parts = ["a0 AS (SELECT user_id FROM people)"]
    parts += [
        f"a{i} AS (SELECT l.user_id FROM a{i - 1} l JOIN a{i - 1} r USING (user_id))"
        for i in range(1, 20)
    ]
    with pytest.raises(dp.UnsupportedQuery, match="read at most"):
        ask(f"WITH {', '.join(parts)} SELECT COUNT(*) FROM a19")


def test_deep_nesting_is_an_error_of_ours():
    for sql in (
        "SELECT COUNT(*) FROM people WHERE " + "(" * 5000 + "true" + ")" * 5000,
        "SELECT COUNT(*) FROM people WHERE " + "NOT " * 5000 + "member",
        "SELECT SUM(" + "age + " * 4000 + "1) FROM people",
    ):
        with pytest.raises(DeniableError):
            ask(sql)


def test_texts_depend_on_text_and_schema_only():
    """What a source holds is never touched: one that cannot be touched changes nothing."""

    class Untouchable:
        def __getattribute__(self, name):
            raise AssertionError(name)

    held = {
        name: replace(known, source=replace(known.source, held=Untouchable()))
        for name, known in TABLES.items()
    }
    for sql, _, _, _ in REFUSED:
        with pytest.raises(DeniableError) as first:
            ask(sql)
        with pytest.raises(DeniableError) as second:
            question_from_sql(sql, tables=held, unit=dp.person("user_id", rows=10))
        assert str(first.value) == str(second.value)


def test_names_with_odd_letters_are_found_only_when_quoted_right():
    odd = {"t": table("t", {'a"b': dp.bounds(0, 1), "select": dp.bounds(0, 1)})}
    question = question_from_sql(
        'SELECT SUM("a""b") AS x, SUM("select") AS y FROM t', tables=odd, unit=ROWS
    )
    assert [read.source for read in question.relation.scan.reads] == ['a"b', "select"]
