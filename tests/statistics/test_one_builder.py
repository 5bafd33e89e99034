"""A statistic, SQL and Ibis that ask the same are one question: one builder makes all three."""

import ast
from pathlib import Path

import pytest

import deniable as dp
from deniable import statistics

pytest.importorskip("ibis.expr.operations")
import ibis

_ = ibis._
SOURCE = Path(dp.__file__).parent
SCHEMA = dp.Schema(
    columns={"age": dp.bounds(0, 125, type="int"), "sex": dp.keys(["Male", "Female"])}
)
T = ibis.table({"age": "int64", "sex": "string"}, name="adult")
ASKED = {
    "count": (
        statistics.count,
        "SELECT COUNT(*) AS count FROM adult",
        T.agg(count=_.count()),
    ),
    "count by": (
        lambda about: statistics.count(about, by="sex"),
        "SELECT sex, COUNT(*) AS count FROM adult GROUP BY sex",
        T.group_by("sex").agg(count=_.count()),
    ),
    "mean": (
        lambda about: statistics.statistic(about, "mean", "age", by="sex"),
        "SELECT sex, AVG(age) AS mean FROM adult GROUP BY sex",
        T.group_by("sex").agg(mean=_.age.mean()),
    ),
    "quantiles": (
        lambda about: statistics.quantile(about, "age", [0.25, 0.5]),
        "SELECT QUANTILE(age, 0.25) AS q25, MEDIAN(age) AS median FROM adult",
        T.agg(q25=_.age.quantile(0.25), median=_.age.median()),
    ),
    "top": (
        lambda about: statistics.top_k(about, "sex", k=1),
        "SELECT sex, COUNT(*) AS count FROM adult GROUP BY sex ORDER BY count DESC LIMIT 1",
        T.group_by("sex").agg(count=_.count()).order_by(_["count"].desc()).limit(1),
    ),
}


@pytest.fixture(scope="module")
def session():
    return dp.open(
        dp.load_adult(), unit=dp.rows(), budget=dp.epsilon(1), schema=SCHEMA, name="adult"
    )


@pytest.mark.parametrize("name", ASKED)
def test_three_ways_to_ask_are_one_question(name, session):
    statistic, sql, expression = ASKED[name]
    asked = statistic(statistics.About(session=session)).question
    assert repr(asked) == repr(session.sql(sql).question)
    assert asked.fingerprint == session.sql(sql).question.fingerprint
    assert asked.fingerprint == session.query(expression).question.fingerprint


def test_questions_are_made_in_one_place():
    made = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) == "Question"
    ]
    assert made == ["query/bind/builder.py"]
