"""Groups that are chosen privately: what they cost is what is told and what is charged."""

import re

import pyarrow as pa
import pytest

import deniable as dp
from deniable.curator import open as open_curator
from deniable.errors import BudgetExceeded
from deniable.losses import Loss
from deniable.losses.filters import Price

BY_CITY = "SELECT city, COUNT(*) AS n FROM data GROUP BY city"
CITIES = pa.table({"id": list(range(3000)), "city": ["Oslo", "Bergen", "Tromsø"] * 1000})


def opened(budget, **columns):
    schema = dp.Schema(columns={"city": dp.column("text"), **columns})
    unit = dp.person("id", rows=1, groups=1)
    return open_curator(CITIES, unit=unit, budget=budget, schema=schema)


def charged(session, since=0):
    entries = session.ledger.entries[since:]
    return sum((e.price for e in entries if e.kind == "charge"), Price.zero)


# ---- words and charges agree


@pytest.mark.parametrize(
    ("budget", "spend", "delta"),
    [
        (dp.epsilon(5, delta=1e-6), dp.epsilon(1), 2.5e-8),
        (dp.epsilon(3, delta=1e-7), dp.epsilon(0.5, delta=5e-8), 1.25e-8),
        (dp.epsilon(3, delta=1e-7), dp.epsilon(0.5), 2.5e-9),
    ],
    ids=str,
)
def test_the_delta_that_is_told_is_the_delta_that_is_charged(budget, spend, delta):
    session = opened(budget)
    query = session.sql(BY_CITY)
    plan = query.explain(spend=spend)
    release = query.release(spend=spend)
    paid = charged(session)
    assert paid.delta == pytest.approx(delta)
    assert paid.epsilon == pytest.approx(spend.epsilon)
    for told in (plan.cost, release.loss):
        assert (told.epsilon, told.delta) == (pytest.approx(paid.epsilon), paid.delta)
    assert plan.left == session.left
    certificate = release.certificate()
    assert Loss.from_dict(certificate["loss"]["native"]) == release.loss
    assert Price.from_dict(certificate["ledger"]["charged"]) == paid
    shown = re.search(r"cost    ε \S+, δ (\S+) \(leaves", str(plan)).group(1)
    assert float(shown) == pytest.approx(delta)


def test_a_second_question_is_told_and_charged_its_own_delta():
    session = opened(dp.epsilon(3, delta=1e-7))
    query = session.sql(BY_CITY)
    query.release(spend=dp.epsilon(0.5, delta=5e-8))
    lines = len(session.ledger.entries)
    plan = query.explain(spend=dp.epsilon(0.5))
    assert "(ε 0.25, δ 2.5e-09)" in str(plan)
    assert "cost    ε 0.5, δ 2.5e-09 (leaves ε 2, plus δ 1e-08 for private group selection)" in str(
        plan
    )
    release = query.release(spend=dp.epsilon(0.5))
    assert charged(session, lines).delta == release.loss.delta == pytest.approx(2.5e-9)


def test_what_is_told_is_never_below_what_was_drawn():
    session = opened(dp.epsilon(5, delta=1e-6))
    for spend in (dp.epsilon(1), dp.epsilon(1, delta=4e-7), dp.epsilon(0.01)):
        allocation = session.sql(BY_CITY)._allocate(spend, None, None)
        told = session.sql(BY_CITY)._cost(allocation)
        assert allocation.mechanism.delta_at(told.epsilon) <= told.delta


def test_gaussian_numbers_of_private_groups_are_priced_part_by_part():
    columns = {f"x{i}": dp.bounds(0, 1) for i in range(30)}
    rows = {name: pa.array([0.5] * 3000) for name in columns}
    table = pa.table({name: CITIES[name] for name in ("id", "city")} | rows)
    session = open_curator(
        table,
        unit=dp.person("id", rows=1, groups=1),
        budget=dp.epsilon(5, delta=1e-6),
        schema=dp.Schema(columns={"city": dp.column("text"), **columns}),
    )
    sums = ", ".join(f"SUM({name}) AS s_{name}" for name in columns)
    query = session.sql(f"SELECT city, {sums} FROM data GROUP BY city")
    spend = dp.epsilon(1, delta=5e-7)
    assert query._allocate(spend, None, None).law == "gaussian"
    plan = query.explain(spend=spend)
    release = query.release(spend=spend)
    assert release.loss == plan.cost <= dp.epsilon(1, delta=1e-6)
    assert plan.left == session.left
    assert charged(session).delta == pytest.approx(5e-7 / 4)


def test_what_is_left_of_delta_is_told_where_it_is_used():
    session = opened(dp.epsilon(3, delta=1e-7))
    plain = str(session.sql("SELECT COUNT(*) AS n FROM data").explain(spend=dp.epsilon(0.5)))
    assert "cost    ε 0.5 (leaves ε 2.5)\n" in plain
    private = str(session.sql(BY_CITY).explain(spend=dp.epsilon(0.5)))
    assert "(leaves ε 2.5, plus δ 2.25e-08 for private group selection)\n" in private


@pytest.mark.parametrize(("rows", "words"), [(1, "1 row"), (2, "2 rows")])
def test_one_row_is_one_row(rows, words):
    session = open_curator(
        CITIES, unit=dp.person("id", rows=rows), budget=dp.epsilon(1), schema=dp.Schema()
    )
    query = session.sql("SELECT COUNT(*) AS n FROM data")
    plan = query.explain(spend=dp.epsilon(0.1))
    assert f"with more than {words} counts as {words}, " in str(plan)
    (told,) = query.release(spend=dp.epsilon(0.1)).answers.values()
    assert f"more than {words} counts as {words}" in told.estimand


# ---- when δ is short


def offered(error):
    return [line.split("    ")[0].removeprefix("spend=") for line in error.fix.split("\n")]


def test_where_delta_is_short_that_is_said_and_what_does_work():
    session = opened(dp.epsilon(5, delta=1e-6))
    query = session.sql(BY_CITY)
    for n in range(10):
        query.release(spend=dp.epsilon(0.1 + n / 1000))
    lines = len(session.ledger.entries)
    with pytest.raises(BudgetExceeded) as caught:
        query.release(spend=dp.epsilon(0.3))
    assert caught.value.what == (
        "private group selection would cost δ 2.5e-08, and δ 0 is left for that"
    )
    assert "spend=" not in caught.value.fix
    assert 'columns={"city": dp.keys(["A", "B", "C"])}' in caught.value.fix
    assert "need no δ" in caught.value.fix
    assert len(session.ledger.entries) == lines
    public = opened(dp.epsilon(5, delta=1e-6), city=dp.keys(["Oslo"]))
    public.sql(BY_CITY).release(spend=dp.epsilon(0.3))
    assert session.sql("SELECT COUNT(*) FROM data").release(spend=dp.epsilon(0.3)).rows()


def test_a_smaller_delta_is_offered_where_some_is_left():
    session = opened(dp.epsilon(5, delta=1e-6))
    query = session.sql(BY_CITY)
    query.release(spend=dp.epsilon(0.5, delta=9.4e-7))
    with pytest.raises(BudgetExceeded) as caught:
        query.release(spend=dp.epsilon(0.3))
    assert "and δ 1.5e-08 is left for that" in caught.value.what
    fix = offered(caught.value)[0]
    assert fix == "dp.epsilon(0.3, delta=6e-08)"
    assert query.release(spend=eval(fix)).loss.delta == pytest.approx(1.5e-8)


@pytest.mark.parametrize("delta", [0.0, 9.4e-7])
def test_what_is_offered_can_be_had(delta):
    session = opened(dp.epsilon(1, delta=1e-6))
    query = session.sql(BY_CITY)
    query.release(spend=dp.epsilon(0.5, delta=delta) if delta else dp.epsilon(0.5))
    with pytest.raises(BudgetExceeded) as caught:
        query.release(spend=dp.epsilon(0.8))
    query.release(spend=eval(offered(caught.value)[0]))


# ---- askers with a share


def shared():
    session = opened(dp.epsilon(10, delta=1e-6))
    session.ledger.share("ann", amount=dp.epsilon(0.5, delta=1e-7))
    return session


def test_an_asker_with_a_share_is_not_told_what_others_spent():
    texts = set()
    for others in (1.0, 3.21):
        session = shared()
        session.count(spend=dp.epsilon(others))
        lines = len(session.ledger.entries)
        for sql in (BY_CITY, "SELECT COUNT(*) AS n FROM data"):
            with pytest.raises(BudgetExceeded) as caught:
                session.for_("ann").sql(sql).release(spend=dp.epsilon(2))
            texts.add(str(caught.value))
        assert len(session.ledger.entries) == lines
    assert len(texts) == 2, "one per question, whatever others spent"
    assert all("is left of your share" in text for text in texts)


def test_groups_that_another_chose_are_not_paid_for_if_numbers_cannot_be():
    session = shared()
    session.sql(BY_CITY).release(spend=dp.epsilon(0.8))
    lines = len(session.ledger.entries)
    with pytest.raises(BudgetExceeded, match="left of your share"):
        session.for_("ann").sql(BY_CITY).release(spend=dp.epsilon(0.8))
    assert len(session.ledger.entries) == lines


def test_groups_that_were_charged_and_not_kept_are_not_paid_for_if_numbers_cannot_be(monkeypatch):
    session = opened(dp.epsilon(1, delta=1e-6))
    query = session.sql(BY_CITY)
    with monkeypatch.context() as patch:
        patch.setattr(type(session._ledger), "answer", lambda *_: None)
        query.release(spend=dp.epsilon(0.6))
    lines = len(session.ledger.entries)
    with pytest.raises(BudgetExceeded):
        query.release(spend=dp.epsilon(0.6))
    assert len(session.ledger.entries) == lines


def test_an_asker_who_paid_is_answered_again_free_though_nothing_is_left():
    session = shared()
    query = session.for_("ann").sql(BY_CITY)
    first = query.release(spend=dp.epsilon(0.5))
    lines = len(session.ledger.entries)
    again = query.release(spend=dp.epsilon(0.5))
    assert again.free
    assert again.rows() == first.rows()
    assert len(session.ledger.entries) == lines


def test_numbers_that_cannot_be_paid_after_the_groups_say_what_those_cost(monkeypatch):
    """As when others spend between the two charges."""
    session = opened(dp.epsilon(1, delta=1e-6))
    monkeypatch.setattr(type(session.ledger), "check", lambda *_, **__: None)
    with pytest.raises(BudgetExceeded) as caught:
        session.sql(BY_CITY).release(spend=dp.epsilon(1.5))
    assert caught.value.cost == "ε 0.75, δ 2.5e-08 was spent to choose groups, and nothing more"


# ---- groups that nobody sees


def test_an_answer_without_groups_says_why():
    few = pa.table({"id": [1, 2], "city": ["Oslo", "Bergen"]})
    session = dp.open(few, unit=dp.person("id", rows=1, groups=1), budget=dp.epsilon(1, delta=1e-9))
    release = session.sql(BY_CITY).release(spend=dp.epsilon(0.1))
    assert release.rows() == []
    assert "no group had enough people to be shown" in str(release)
    many = opened(dp.epsilon(9, delta=1e-6)).sql(BY_CITY).release(spend=dp.epsilon(5))
    assert many.rows()
    assert "no group had" not in str(many)


BOUNDED = dp.bounds("2023-01-01", "2025-12-31", type="timestamp")


@pytest.mark.parametrize(
    ("facts", "by", "hinted"),
    [
        (BOUNDED, "day", True),
        (dp.column("timestamp"), "day", False),
        (BOUNDED, "CAST(day AS DATE)", False),
        (BOUNDED, "date_trunc('month', day)", False),
        (BOUNDED, "year(day)", False),
    ],
)
def test_moments_with_bounds_are_said_to_have_public_days(facts, by, hinted):
    days = pa.table({"id": [1], "day": pa.array([0], pa.timestamp("us"))})
    session = dp.open(
        days,
        unit=dp.person("id", rows=1, groups=1),
        budget=dp.epsilon(1, delta=1e-9),
        schema=dp.Schema(columns={"day": facts}),
    )
    plan = session.sql(f"SELECT {by} AS d, COUNT(*) AS n FROM data GROUP BY d").explain(
        spend=dp.epsilon(0.1)
    )
    told = [note for note in plan.notes if "CAST(day AS DATE)" in note]
    assert bool(told) == hinted
