"""What cannot be bounded is refused by name, with what to write instead, before data are read."""

import dataclasses
import re

import pytest
from tests.query.front.front_tables import GROUPED, PERSON, ROWS, TABLES
from tests.query.ibis.ibis_tables import PEOPLE, VISITS, ZIPS, asked, ibis

from deniable.errors import (
    BadParameter,
    DeniableError,
    MissingBounds,
    MissingRule,
    UnknownKeys,
    UnknownName,
    UnsupportedQuery,
)
from deniable.query.aggregates import spelled
from deniable.query.ibis import question_from_ibis, refusals

_ = ibis._
ops = ibis.expr.operations
t, v, z = PEOPLE, VISITS, ZIPS

REFUSED = {
    "rows": (t, "would publish rows", "t.count()"),
    "a column": (t.age, "would publish rows", "t.count()"),
    "a selection": (t.select("age").order_by("age").limit(3), "would publish rows", ""),
    "first": (t.agg(x=_.age.first()), "first: this would publish", ".median()"),
    "collect": (t.agg(x=_.age.collect()), "collect: this would publish", ".median()"),
    "mode": (t.agg(x=_.age.mode()), "mode: this would publish", ".median()"),
    "any": (
        t.agg(x=_.member.any()),
        "reveals whether a single row is there",
        "t.count(where=...)",
    ),
    "quantiles": (t.agg(x=_.age.quantile([0.1, 0.2])), "not a list", "quantile(0.1)"),
    "a share above 1": (t.agg(x=_.age.quantile(2)), "from 0 to 1", ".quantile(0.9)"),
    "kurtosis": (t.agg(x=_.age.kurtosis()), "kurtosis is not among", ""),
    "window": (
        t.mutate(x=_.age.sum().over(group_by="sex")).agg(s=_.x.sum()),
        "window functions look at other people's rows",
        'group_by("user_id")',
    ),
    "row number": (t.mutate(x=ibis.row_number()).agg(s=_.x.sum()), "window", ""),
    "mean inside": (
        t.filter(t.age > t.age.mean()).count(),
        "reads other people's rows",
        "ask for it first",
    ),
    "isin a private table": (t.filter(t.city.isin(v.zip)).count(), "other people's rows", "public"),
    "isin a table, as a key": (
        v.group_by(k=v.zip.isin(z.zip)).agg(n=_.count()),
        "belongs in .filter",
        ".filter(",
    ),
    "not isin what may be missing": (
        v.filter(~v.zip.isin(z.zip)).count(),
        "may be missing",
        ".drop_null",
    ),
    "union": (t.union(t, distinct=True).count(), "drops equal rows", "distinct=False"),
    "intersect": (t.intersect(t).count(), "intersect and difference", "isin"),
    "limit": (t.limit(3).count(), "limit of rows", "privacy unit"),
    "sample": (t.sample(0.5).count(), "sampling is not", ""),
    "random": (t.filter(ibis.random() < 0.5).count(), "from one run to the next", ""),
    "now": (t.filter(_.seen < ibis.now()).count(), "from one run to the next", "ibis.date"),
    "regex": (t.filter(_.city.re_search("a")).count(), "regular expressions", ".like"),
    "raw sql": (
        ops.SQLStringView(parent=t, query="SELECT 1", schema=t.schema()).to_expr().count(),
        "SQL inside an Ibis expression",
        "s.sql",
    ),
    "log10": (t.agg(x=_.age.log10().sum()), "logarithms", ".ln()"),
    "reverse": (t.filter(_.city.reverse() == "a").count(), "reverse is not among", "guide"),
    "isnan": (t.filter(_.wage.isnan()).count(), "NaN is a missing value", ".isnull()"),
    "strftime": (t.group_by(y=_.born.strftime("%Y")).agg(n=_.count()), "formats", ".year()"),
    "substr from the end": (
        t.filter(_.city.substr(-2) == "a").count(),
        "from the front",
        ".substr",
    ),
    "months": (
        t.filter(_.born + ibis.interval(months=1) > "2000-01-01").count(),
        "weeks, days, hours or minutes",
        "ibis.interval(days=30)",
    ),
    "a wide cast": (t.filter(_.city.cast("uuid").isnull()).count(), "cast to uuid", '"int64"'),
    "a wrong constant": (
        t.filter(_.age > ibis.literal("x").cast("int64")).count(),
        "'x' is no",
        "",
    ),
    "a zone": (
        t.filter(_.seen < ibis.timestamp("2024-01-01", timezone="UTC")).count(),
        "timestamp",
        "",
    ),
    "the person": (t.group_by("user_id").agg(n=_.count()), "one group per person", "share"),
    "a constant key": (t.group_by(k=ibis.literal(1)).agg(n=_.count()), "constant", "leave"),
    "groups of groups": (
        t.group_by("sex").agg(n=_.count()).agg(m=_.n.mean()),
        "must be about each person",
        'group_by("user_id")',
    ),
    "distinct": (t.select("age").distinct().count(), "must be about each person", ""),
    "limit twice": (
        t.group_by("sex").agg(n=_.count()).limit(3).filter(_.n > 3),
        "limit comes last",
        ".filter(...)",
    ),
    "share of the answer": (
        t.group_by("sex").agg(n=_.count()).mutate(r=_.n / _.n.sum()),
        "left to you",
        ".to_pandas()",
    ),
    "keys alone": (t.group_by("sex").agg(), "computes nothing", "t.count()"),
    "two tables": (t.count() + v.count(), "several tables", "join them"),
    "a parameter": (t.filter(_.age > ibis.param("int64")).count(), "param is", ""),
    "outer join": (v.outer_join(z, "zip").count(), "outer_join cannot be bounded", ".left_join"),
    "cross join": (v.cross_join(z).count(), "cross_join cannot be bounded", ".join("),
    "semi join": (t.semi_join(v, "user_id").count(), "semi_join cannot be bounded", ".join("),
    "join of strangers": (v.join(t, v.stay == t.age).count(), "identifies people", "user_id"),
    "left join from the public": (z.left_join(v, "zip").count(), "must start", "private.left_join"),
    "left join with more": (
        v.left_join(z, [v.zip == z.zip, z.size > 3]).count(),
        "columns are equal",
        ".filter(...)",
    ),
    "public alone": (z.count(), "public tables only", "engine directly"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_bounded_is_refused_with_a_fix(name):
    expression, what, fix = REFUSED[name]
    with pytest.raises(UnsupportedQuery) as caught:
        asked(expression)
    assert what in str(caught.value)
    assert fix in caught.value.fix


SQL = re.compile(
    r"SELECT|FROM|WHERE|GROUP BY|JOIN|UNION|USING|CLAMP|LEAST|GREATEST|CAST|CASE|INTERVAL|DATE"
    r"|COALESCE|IN \(|(?:IS|NOT) NULL|COUNT|SUM|AVG|MIN|MAX|MEDIAN|FLOOR|ROUND|SUBSTR|LIKE|\bbin\("
)
LIED = ibis.table(dict.fromkeys(("age", "sex", "born", "seen"), "int64"), name="people")
MORE = {
    "ends of clip": t.age.clip(10, 5).sum(),
    "digits": t.wage.round(16).sum(),
    "a long interval": (t.born + ibis.interval(weeks=10**16)).year().sum(),
    "an infinite number": t.filter(_.wage < float("inf")).count(),
    "escapes": t.filter(_.city.like("a\\%")).count(),
    "sum of text": LIED.sex.sum(),
    "sum of dates": LIED.born.sum(),
    "mixed kinds": LIED.filter(_.sex == _.age).count(),
    "no bounds": t.city.length().sum(),
    "no rule": t.member.mean(),
    "a pair without bounds": t.age.cov(t.city.length()),
    "a pair with text": LIED.age.corr(LIED.sex),
    "a pair of each person": v.group_by("user_id").agg(m=_.cost.cov(_.stay)).agg(a=_.m.sum()),
    "keys that are computed": t.group_by(c=_.city.lower()).agg(n=_.count()),
    "keys that are fractions": t.group_by("wage").agg(n=_.count()),
    "private with public": (
        t.select("user_id").union(z.select(user_id=_.size.cast("int64")), distinct=False).count()
    ),
    "no columns to join on": v.join(z, v.cost > 3).count(),
    "median of each person": v.group_by("user_id").agg(m=_.cost.median()).agg(a=_.m.sum()),
    "sum of each person's text": LIED.group_by("age").agg(n=_.sex.sum()).agg(a=_.n.sum()),
}


WRITTEN = {name for kind in vars(ibis.expr.types).values() for name in dir(kind)} | {*dir(ibis)}


def test_operations_are_called_by_what_one_writes():
    aggregates = {getattr(ops, name.partition(".")[0]) for name in spelled("ibis")}
    known = {*refusals._REASONS, *aggregates}
    called = {kind: refusals.method(kind).partition(".")[0] for kind in known}
    assert {kind: name for kind, name in called.items() if name and name not in WRITTEN} == {}


def test_a_pair_is_shown_as_one_writes_it():
    assert "age.cov((...)) needs bounds" in refusal(t.agg(x=_.age.cov(_.city.length())))
    assert "age.corr(income) needs bounds" in refusal(t.agg(x=_.age.corr(_.income)))


def refusal(expression, **more):
    try:
        asked(expression, **more)
    except DeniableError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", [*sorted(set(REFUSED) - {"raw sql"}), *MORE])
def test_no_refusal_speaks_sql(name):
    expression = MORE[name] if name in MORE else REFUSED[name][0]
    texts = [
        refusal(expression, unit=unit, private_keys=private_keys)
        for unit in (PERSON, GROUPED, ROWS)
        for private_keys in (False, True)
    ]
    assert texts[0]
    assert not [text for text in texts if SQL.search(text)]


def test_what_the_schema_does_not_tell_is_asked_for():
    with pytest.raises(MissingBounds, match=r"income\.sum\(\) needs bounds"):
        asked(t.agg(x=_.income.sum()))
    with pytest.raises(MissingBounds) as caught:
        asked(t.agg(x=(_.city.length()).sum()))
    assert caught.value.fix.startswith(".clip(upper=HIGH)")
    with pytest.raises(MissingRule):
        asked(t.agg(x=_.member.mean()))
    with pytest.raises(MissingBounds, match="histogram"):
        asked(t.group_by(b=_.income.histogram(nbins=3)).agg(n=_.count()))
    with pytest.raises(UnknownKeys):
        asked(t.group_by("city").agg(n=_.count()))
    with pytest.raises(UnknownKeys) as caught:
        asked(t.group_by(c=_.city.lower()).agg(n=_.count()))
    assert ".bucket(" in caught.value.fix


def test_names_are_the_sessions():
    other = ibis.table({"age": "int64", "Age": "int64", "agee": "int64"}, name="people")
    with pytest.raises(UnknownName, match="did you mean `age`"):
        asked(other.agg(x=_.agee.sum()))
    with pytest.raises(UnknownName):
        asked(other.agg(x=_.Age.sum()))
    with pytest.raises(UnknownName, match="did you mean `people`"):
        asked(ibis.table({"age": "int64"}, name="peopl").count())


def test_types_come_from_the_schema_and_not_from_ibis():
    lied = ibis.table({"age": "string", "city": "int64"}, name="people")
    assert asked(lied.agg(n=_.age.count())) == asked(t.agg(n=_.age.count()))
    with pytest.raises(UnsupportedQuery):
        asked(lied.agg(x=_.city.sum()))


def test_a_person_column_of_unstated_type_can_be_carried_but_not_read():
    assert asked(t.mutate(x=_.age + 1).agg(s=_.x.sum())).fingerprint
    with pytest.raises(BadParameter, match="the type of `blob` in `people` is unknown"):
        asked(t.agg(n=_.blob.count()))


@pytest.mark.parametrize("wrong", ["SELECT 1", None, 3, _.age, t.group_by("sex"), t.schema()])
def test_only_ibis_expressions_are_taken(wrong):
    with pytest.raises(BadParameter, match="must be an Ibis expression"):
        question_from_ibis(wrong, tables=TABLES, unit=PERSON)


def test_rows_as_units_cannot_be_joined_with_each_other():
    with pytest.raises(UnsupportedQuery, match="every row is a privacy unit"):
        asked(v.join(t, "user_id").count(), unit=ROWS)


def test_sharing_cannot_make_a_question_endless():
    value = ibis.literal(1) * t.age
    for _step in range(80):
        value = (value + value).name("x")
    with pytest.raises(UnsupportedQuery, match="too large"):
        asked(t.agg(x=value.sum()))
    constant = ibis.literal(1.0)
    for _step in range(80):
        constant = (constant + constant).name("x")
    assert asked(t.filter(t.age < constant).agg(n=_.count())).fingerprint


def test_a_nest_of_joins_ends():
    joined = v
    for _step in range(6):
        joined = joined.select("user_id", "cost").join(joined.view().select("user_id"), "user_id")
    with pytest.raises(UnsupportedQuery, match="32 tables"):
        asked(joined.count())


def test_a_function_of_ones_own_is_refused():
    @ibis.udf.scalar.builtin
    def Lowercase(x: str) -> str:  # noqa: N802  (named like an operation that is known)
        ...

    with pytest.raises(UnsupportedQuery, match="is not among the operations"):
        asked(t.filter(Lowercase(t.city) == "x").count())


def test_a_table_that_was_opened_is_known_by_itself():
    other = ibis.table({"age": "int64"}, name="elsewhere").filter(_.age > 3)
    held = dataclasses.replace(TABLES["people"], ibis=other)
    tables = {"people": held}
    found = question_from_ibis(other.agg(n=_.count()), tables=tables, unit=PERSON)
    assert found.fingerprint == asked(t.agg(n=_.count())).fingerprint
    with pytest.raises(UnsupportedQuery, match="would publish rows"):
        question_from_ibis(other, tables=tables, unit=PERSON)
