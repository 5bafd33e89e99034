"""How much of the data is one person's, and that plans and answers say what limits leave out."""

import math

import pytest

import deniable as dp
from deniable.errors import MissingUnit
from deniable.statistics import contributions

KEYS = ["a", "b", "c", "d", "e"]
SURE = dp.epsilon(1e6)  # the noise is 0 but for a chance below e^-10000


def opened(unit, *, groups_of=5, keys=True, people=20):
    """Everyone has a row in each of the first `groups_of` groups, and person 0 forty more."""
    pa = pytest.importorskip("pyarrow")
    rows = [(p, KEYS[g]) for p in range(people) for g in range(groups_of)] + [(0, "a")] * 40
    table = pa.table({"who": [p for p, _ in rows], "what": [k for _, k in rows]})
    columns = {"what": dp.keys(KEYS)} if keys else {"what": dp.column("text")}
    return dp.open(
        table,
        unit=unit,
        budget=dp.epsilon(1e9, delta=1e-6),
        schema=dp.Schema(columns=columns),
    )


BY_GROUP = "SELECT what, COUNT(*) AS n, COUNT(DISTINCT who) AS people FROM data GROUP BY what"
ROWS_BY_GROUP = "SELECT what, COUNT(*) AS n FROM data GROUP BY what"


def told(query, spend):
    plan, release = str(query.explain(spend=spend)), query.release(spend=spend)
    return plan, str(release), release.certificate()["estimand"]


@pytest.mark.parametrize("groups", [1, 3, 4])
def test_who_is_in_more_groups_than_counted_is_said_three_times(groups):
    s = opened(dp.person("who", rows=100, groups=groups))
    plan, answer, certificate = told(s.sql(BY_GROUP), SURE)
    word = f"in more than {groups} group{'s' * (groups > 1)} counts in only {groups}"
    assert f"count each person in at most {groups} group{'s' * (groups > 1)} for people (" in plan
    assert f"people: a person {word}" in answer
    assert word in certificate["people"]
    assert (
        "counts in only" not in certificate["n"]
    )  # rows count in all groups, where keys are public
    counted = sum(s.sql(BY_GROUP).release(spend=SURE).to_pandas()["people"])
    assert counted == 20 * groups


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        (dp.person("who", rows=100, groups=5), BY_GROUP),  # all groups there are
        (dp.person("who", rows=100, groups=3), "SELECT COUNT(DISTINCT who) AS people FROM data"),
        (dp.person("who", rows=100, groups=3), ROWS_BY_GROUP),
        (dp.rows(), ROWS_BY_GROUP),
    ],
)
def test_nothing_is_said_of_groups_where_nobody_is_left_out(unit, text):
    plan, answer, certificate = told(opened(unit).sql(text), SURE)
    assert "count each person in at most" not in plan
    assert "counts in only" not in answer + str(certificate)


def test_private_keys_limit_every_column():
    s = opened(dp.person("who", rows=100, groups=2), keys=False, people=60)
    spend = dp.epsilon(1e6, delta=1e-7)
    plan, answer, certificate = told(s.sql(BY_GROUP), spend)
    assert "count each person in at most 2 groups (groups=2)" in plan
    assert "n, people: " in answer or "counts in only 2" in certificate["n"]


def test_one_row_per_person_is_one_row_whatever_the_unit_allows():
    each = "(SELECT who, COUNT(*) AS n FROM data GROUP BY who) AS each"
    wide, narrow = (opened(dp.person("who", rows=rows)) for rows in (1000, 1))
    for text in (
        f"SELECT COUNT(*) AS people FROM {each}",
        f"SELECT AVG(LEAST(n, 50)) AS mean FROM {each}",
        f"SELECT HISTOGRAM(LEAST(n, 50), 5) AS h FROM {each} WHERE n > 2",
    ):
        plans = [s.sql(text).explain(spend=dp.epsilon(1), size=100) for s in (wide, narrow)]
        assert plans[0].errors == plans[1].errors
        assert "each person has one row after this step" in str(plans[0])
        answer = wide.sql(text).release(spend=SURE)
        assert "counts as" not in str(answer.certificate()["estimand"])


def test_contributions_are_counted_once_per_person():
    s = opened(dp.person("who", rows=2, groups=1))
    found = s.contributions(by="what", spend=SURE)
    people = dict(zip(*found.rows.to_pandas()[["rows per person", "people"]].T.values, strict=True))
    assert {k: n for k, n in people.items() if n} == {"5 to 8": 19, "33 to 64": 1}
    assert found.recommended == {"rows": 8, "groups": 5}
    assert 'dp.person("who", rows=8, groups=5)' in str(found)
    assert "recommended" in found._repr_html_()
    assert s.contributions(spend=SURE).groups is None
    assert all(row["people_error"] < 1 for row in found.rows.rows())


@pytest.mark.parametrize(
    ("keys", "labels"),
    [
        (["a"], ["1"]),
        (["a", "b"], ["1", "2"]),
        (["a", "b", "c"], ["1", "2", "3"]),
        (["a", "b", "c", "d"], ["1", "2", "3 to 4"]),
        ([*KEYS, "f"], ["1", "2", "3 to 4", "5 to 6"]),
    ],
)
@pytest.mark.parametrize("spend", [SURE, dp.epsilon(0.001)], ids=["sure", "noise"])
def test_nobody_is_in_more_groups_than_the_schema_lists(keys, labels, spend):
    pa = pytest.importorskip("pyarrow")
    everyone = [(who, what) for who in range(20) for what in keys]
    table = pa.table({"who": [w for w, _ in everyone], "what": [w for _, w in everyone]})
    s = dp.open(
        table,
        unit=dp.person("who", rows=9),
        budget=dp.epsilon(1e9),
        schema=dp.Schema(columns={"what": dp.keys(keys)}),
    )
    found = s.contributions(by="what", spend=spend)
    assert [*found.groups.to_pandas()["values of what per person"]] == labels
    assert found.recommended["groups"] <= len(keys)
    assert str(found)
    if spend == SURE:
        assert found.recommended["groups"] == len(keys)
        assert "about 100 % of people have at most" in str(found)


def test_contributions_need_persons_and_one_column():
    with pytest.raises(MissingUnit, match="every row is a person"):
        opened(dp.rows()).contributions(spend=SURE)
    s = opened(dp.person("who", rows=2))
    with pytest.raises(dp.BadParameter, match="by"):
        s.contributions(by=["what"], spend=SURE)
    with pytest.raises(dp.DeniableError, match="nowhere"):
        s.contributions(by="nowhere", spend=SURE)
    assert s.spent.epsilon == 0


def test_the_table_ends_one_row_after_the_last_that_is_told_from_noise():
    found = opened(dp.person("who", rows=5)).contributions(spend=SURE)
    assert len(found.rows.rows()) == 14  # in the release, nothing is left out
    shown, page = str(found), found._repr_html_()
    note = "cells beyond the last count that stands out from the noise are not shown"
    for text in (shown, page):
        assert "33 to 64" in text  # person 0 has 45 rows
        assert "65 to 128" in text
        assert "129 to 256" not in text
        assert note in text


@pytest.mark.parametrize(("times", "shown"), [(1.1, 3), (1.9, 14)])
def test_a_count_stands_out_if_noise_alone_hardly_makes_it(monkeypatch, times, shown):
    found = opened(dp.person("who", rows=5)).contributions(spend=dp.epsilon(0.5))
    counts = [9.0, 9.0, *[0.0] * 10, times, 0.0]
    errors = {0.95: 1.0, 0.99: math.log(100) / math.log(20)}

    def people(_, *, confidence=0.95):
        return counts, errors[confidence]

    monkeypatch.setattr(contributions, "_people", people)
    assert len(contributions._shortened(found.rows)[1]) == shown


def test_two_tables_state_their_one_cost_and_their_notes_once():
    s = opened(dp.person("who", rows=5))
    found = s.contributions(by="what", spend=dp.epsilon(0.5))
    assert s.spent.epsilon == pytest.approx(0.5)
    for text in (str(found), repr(found), found._repr_html_()):
        assert text.count("spent ε 0.5") == 1
        assert text.count("± covers the noise") == 1
        assert " % of people have at most " in text


def test_a_plan_that_limits_people_names_what_estimates_how_many_that_are():
    said = "s.contributions(spend=...) estimates how many people"
    limited = opened(dp.person("who", rows=5)).sql(ROWS_BY_GROUP).explain(spend=dp.epsilon(1))
    assert str(limited).count(said) == 1
    rows = opened(dp.rows()).sql(ROWS_BY_GROUP).explain(spend=dp.epsilon(1))
    assert said not in str(rows)


def test_a_count_of_people_is_not_said_to_weigh_their_rows():
    s = opened(dp.person("who", rows=5, groups=2))
    plan = str(s.sql("SELECT COUNT(DISTINCT who) AS n FROM data").explain(spend=dp.epsilon(1)))
    assert "compute the number of people" in plan
    assert "added or removed: each person counts once\n" in plan
    assert "counts as 5" not in plan
    assert "s.contributions" not in plan  # no limit applies
    by_group = "SELECT what, COUNT(DISTINCT who) AS n FROM data GROUP BY what"
    plan = str(s.sql(by_group).explain(spend=dp.epsilon(1)))
    assert "each person counts once per group" in plan
    assert "s.contributions" in plan
    both = "SELECT COUNT(DISTINCT who) AS n, COUNT(*) AS rows FROM data"
    assert "counts as 5" in str(s.sql(both).explain(spend=dp.epsilon(1)))
