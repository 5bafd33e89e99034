"""Questions to made-up tables, and their allocation."""

import pandas as pd

import deniable as dp

PERSON = dp.person("who", rows=4, groups=2)


def opened(source, *, unit=PERSON, keys=None, budget=None, **options):
    """A session about `source`, whose columns are who, city, year and pay."""
    columns = {"pay": dp.bounds(0, 1000, type="int"), "city": dp.column("text")}
    columns |= {"year": dp.keys([2020, 2021, 2022]), **(keys or {})}
    budget = dp.epsilon(1e12, delta=1e-9) if budget is None else budget
    schema = dp.Schema(columns=columns)
    return dp.open(source, unit=unit, budget=budget, schema=schema, **options)


def rows(count=600, cities=5):
    """People of whom each has one row, in cities of the same size."""
    return pd.DataFrame(
        {
            "who": range(count),
            "city": [f"c{i % cities}" for i in range(count)],
            "year": [2020 + i % 2 for i in range(count)],
            "pay": [float(i % 700) for i in range(count)],
        }
    )


def allocated(sql, *, spend=None, **options):
    """How a question about no rows in particular is answered."""
    session = opened(rows(5), **options)
    return session.sql(sql)._allocate(spend or dp.epsilon(1.0), None, None)


def collected(written):
    """The rows that a user's frame has."""
    return pd.DataFrame([row.asDict() for row in written.frame().collect()])


def counts(written):
    """{city: n}."""
    return {row.city: row.n for row in written.frame().select("city", "n").collect()}
