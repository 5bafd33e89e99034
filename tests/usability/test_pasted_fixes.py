"""A fix that is shown can be pasted, and does what it says."""

import re
import shlex
from itertools import permutations, product

import ibis
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import MixedLosses

BUDGETS = [dp.epsilon(1), dp.epsilon(1, delta=1e-6), dp.rho(0.1), dp.mu(0.5)]
LOSSES = [
    *BUDGETS,
    dp.Gaussian(sigma=1).loss(dp.Renyi),
    dp.Gaussian(sigma=1).loss(dp.Profile),
    dp.Laplace(scale=1).loss(dp.Profile),
]


def opened(**options):
    given = {"unit": dp.rows(), "budget": dp.epsilon(1)} | options
    return dp.open(pa.table({"x": [1, 2, 3]}), **given)


def refusal(call):
    """The error, or None where there is none."""
    try:
        call()
    except MixedLosses as error:
        return error
    return None


def pasted(error):
    """The first fix, as the options that it names."""
    return eval(f"dict({error.fixes[0].python})", {"dp": dp})


@pytest.mark.parametrize("shared", [False, True], ids=["curator", "asker"])
@pytest.mark.parametrize(("budget", "amount"), [*product(BUDGETS, BUDGETS)], ids=str)
def test_an_amount_in_another_currency_is_answered_with_one_that_can_be_spent(
    budget, amount, shared
):
    s = opened(budget=budget)
    if shared:
        s.ledger.share("ann", amount=budget.share(0.02))
        s = s.for_("ann")
    error = refusal(lambda: s.spending(amount.share(0.001)))
    if error is not None:
        assert "open" not in error.fix  # nobody who asks can do that
        s.count(**pasted(error))


@pytest.mark.parametrize(("budget", "amount"), [*product(BUDGETS, LOSSES[:5])], ids=str)
def test_a_share_in_another_currency_is_answered_with_one_that_can_be_reserved(budget, amount):
    ledger = opened(budget=budget).ledger
    error = refusal(lambda: ledger.filter.price_of(amount))
    if error is not None:
        assert "open" not in error.fix
        ledger.share("ann", **pasted(error))
        assert error.fixes[0].said("shell").startswith("--amount ")


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_what_can_still_be_reserved_is_offered_and_fits(budget):
    s = opened(budget=budget)
    s.ledger.share("ann", amount=budget.share(0.4))
    with pytest.raises(dp.BudgetExceeded, match="neither spent nor reserved") as caught:
        s.ledger.share("bob", amount=budget.share(0.7))
    s.ledger.share("bob", **pasted(caught.value))


def test_where_nothing_is_left_stored_answers_are_what_can_be_asked():
    s = opened()
    s.count(spend=dp.epsilon(1))
    for refused in (
        lambda: s.count(spend=dp.epsilon(0.5)),
        lambda: s.release(dp.Laplace(scale=1).on(dp.Sensitive(lambda: 3, l1=1))),
    ):
        with pytest.raises(dp.BudgetExceeded, match="nothing is left") as caught:
            refused()
        (fix,) = caught.value.fixes
        assert "stored answers stay free" in fix.python
    assert s.count(spend=dp.epsilon(1)).free
    with pytest.raises(dp.BudgetExceeded, match="all of it is spent or reserved") as caught:
        s.ledger.share("bob", amount=dp.epsilon(0.1))
    assert not caught.value.fixes


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_an_asker_who_reserves_a_share_is_told_who_can(budget):
    s = opened(budget=budget)
    own = s.for_("ann")
    with pytest.raises(dp.BadParameter, match="only the curator can reserve shares") as caught:
        own.ledger.share("ann", amount=budget.share(0.1))
    shown, reserved = caught.value.fixes
    assert eval(shown.python, {"s": own}) is None
    eval(reserved.python, {"s": s, "dp": dp})
    assert eval(shown.python, {"s": s.for_("ann")}) is not None


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("name", ["eve", 'e"ve', "Eve of Oslo"])
def test_who_has_no_share_is_told_what_the_curator_types(budget, name):
    s = opened(budget=budget)
    s.ledger.share("ann", amount=budget.share(0.1))
    with pytest.raises(dp.BudgetExceeded) as caught:
        s.for_(name)
    (fix,) = caught.value.fixes
    assert fix.said("python").startswith("the curator can reserve one, in their own session: s.")
    eval(fix.python, {"s": s, "dp": dp})  # in the asker's own, `share` is their share, not a call
    s.for_(name)
    assert f"deniable ledger share {shlex.quote(name)} --amount " in fix.said("shell")


@pytest.mark.parametrize(("a", "b"), [*permutations(LOSSES, 2)], ids=str)
def test_losses_of_two_kinds_are_answered_with_conversions_that_exist(a, b):
    error = refusal(lambda: a + b)
    if error is None:
        return
    made = {
        re.search(r"\b[ab]\b", fix.python)[0]: eval(fix.python, {"dp": dp, "a": a, "b": b})
        for fix in error.fixes
    }
    both = {"a": a, "b": b} | made
    assert made
    assert type(both["a"]) is type(b) or type(both["b"]) is type(a) or both["a"] + both["b"]


@pytest.mark.parametrize(("loss", "kind"), [*product(LOSSES, [*map(type, LOSSES[:6])])])
def test_where_no_theorem_leads_the_conversions_that_are_named_exist(loss, kind):
    try:
        loss.to(kind)
    except dp.NoBound:
        return
    except MixedLosses as error:
        for fix in re.findall(r"\.to\(dp\.\w+\)|dp\.epsilon.*", error.fix):
            eval(f"loss{fix}" if fix.startswith(".to") else fix, {"dp": dp, "loss": loss})


DATA = ibis.table({"x": "int64", "the id": "int64"}, name="data")
ABOUT_PEOPLE = [
    "SELECT AVG(n) FROM (SELECT x, COUNT(*) AS n FROM data GROUP BY x)",
    "SELECT COUNT(*) FROM (SELECT DISTINCT x FROM data)",
    "SELECT AVG(x) OVER (PARTITION BY x) FROM data",
    "SELECT COUNT(*) FROM data WHERE COUNT(*) > 1",
    "SELECT COUNT(*) FROM data WHERE EXISTS (SELECT 1 FROM data AS d WHERE d.x = data.x)",
    "SELECT x FROM data INTERSECT SELECT x FROM data",
    "SELECT COUNT(*) FROM data NATURAL JOIN data AS d",
    "SELECT x, COUNT(*) FROM data GROUP BY x QUALIFY ROW_NUMBER() OVER () = 1",
    lambda t: t.mutate(m=t.x.mean()).m.sum(),
    lambda t: t.x.sum().over(),
    lambda t: t.intersect(t).count(),
    lambda t: t.nunique(),
]


@pytest.mark.parametrize("question", ABOUT_PEOPLE, ids=range(len(ABOUT_PEOPLE)))
@pytest.mark.parametrize("unit", [dp.rows(), dp.person("the id", rows=2)], ids=str)
def test_advice_about_a_persons_rows_names_their_column_and_is_given_only_where_there_is_one(
    unit, question
):
    table = pa.table({"x": [1, 2], "the id": [1, 2]})
    facts = dp.Schema(columns={"x": dp.bounds(0, 9, type="int"), "the id": dp.column("int")})
    s = dp.open(table, unit=unit, budget=dp.epsilon(1), schema=facts)
    asked = question if isinstance(question, str) else question(DATA)
    with pytest.raises(dp.UnsupportedQuery) as caught:
        (s.sql if asked is question else s.query)(asked)
    assert "user_id" not in str(caught.value)
    if unit.column is None:
        assert "person's" not in caught.value.fix
        assert "per person" not in caught.value.what
    elif "person's own" in caught.value.fix:
        assert '"the id"' in caught.value.fix


ARROW = {
    "int": pa.int64(),
    "float": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
COLUMNS = {"text": ["A", "B"], "int": [1, 2]}


@pytest.mark.parametrize("kind", ["text", "int"])
@pytest.mark.parametrize("column", ["c", "the city", 'a"b'])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("unit", [dp.rows(), dp.person("who", rows=2)], ids=str)
def test_groups_without_a_list_are_answered_with_options_to_open_the_session_with(
    unit, budget, column, kind
):
    """Each fix alone is enough."""
    table = pa.table({column: COLUMNS[kind], "who": [1, 2]})
    facts = dp.Schema(columns={column: dp.column(kind)})
    given = {"unit": unit, "budget": budget, "schema": facts}
    name = column.replace('"', '""')
    question = f'SELECT "{name}", COUNT(*) AS n FROM data GROUP BY 1'
    for source in (table, {"data": table, "other": table}):
        try:
            dp.open(source, **given | {"schema": facts if source is table else None}).sql(question)
        except dp.UnknownKeys as error:
            for fix in error.fixes:
                again = given | {"schema": None} | eval(f"dict({fix.python})", {"dp": dp})
                dp.open(source, **again).sql(question)


@pytest.mark.parametrize("several", [False, True])
def test_facts_of_one_of_several_tables_are_stated_for_it(several):
    table = pa.table({"x": [1], "at": pa.array([1], pa.timestamp("us"))})
    given = {"unit": dp.rows(), "budget": dp.epsilon(1)}
    source = {"a": table, "b": table} if several else {"b": table}
    for question in (
        "SELECT SUM(x) AS n FROM b",
        "SELECT SUM(CLAMP(x, 0, 9)) AS n FROM b",
        "SELECT DATE_TRUNC('month', at) AS m, COUNT(*) AS n FROM b GROUP BY 1",
    ):
        with pytest.raises(dp.DeniableError) as refused:
            dp.open(source, **given).sql(question)
        pasted = eval(f"dict({refused.value.fixes[0].python})", {"dp": dp})
        dp.open(source, **given | pasted).sql(question)


@pytest.mark.parametrize("kind", ["int", "float", "date", "timestamp"])
def test_bounds_that_cells_lack_can_be_stated_as_offered(kind):
    table = pa.table({"x": [1], "y": pa.array([0]).cast(pa.int32())})
    table = table.set_column(
        0, "x", table["y"].cast(pa.int64() if kind == "timestamp" else pa.int32()).cast(ARROW[kind])
    )
    given = {"unit": dp.rows(), "budget": dp.epsilon(1)}
    with pytest.raises(dp.MissingBounds) as refused:
        dp.open(table, **given).marginals(["x"], ways=1)
    column = eval(refused.value.fixes[0].python, {"dp": dp})
    dp.open(table, **given, schema=dp.Schema(columns={"x": column})).marginals(["x"], ways=1)
    with pytest.raises(dp.MissingBounds) as refused:
        dp.open(table, **given).synthesis(["x"]).explain(spend=dp.epsilon(0.5))
    pasted = eval(f"dict({refused.value.fixes[0].python})", {"dp": dp})
    dp.open(table, **given | pasted).synthesis(["x"]).explain(spend=dp.epsilon(0.5))


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_real_number_is_grouped_in_bins(budget):
    facts = dp.Schema(columns={"x": dp.bounds(0, 9), "the y": dp.bounds(0, 9)})
    table = pa.table({"x": [1.0, 2.0], "the y": [1.0, 2.0]})
    s = dp.open(table, unit=dp.rows(), budget=budget, schema=facts)
    for column in ("x", '"the y"'):
        question = "SELECT {0} AS k, COUNT(*) AS n FROM data GROUP BY {0}".format
        with pytest.raises(dp.UnsupportedQuery) as refused:
            s.sql(question(column))
        (fix,) = refused.value.fixes
        s.sql(question(fix.python.replace("k", column)))
        with pytest.raises(dp.UnsupportedQuery) as refused:
            s.count(by=column.strip('"'), spend=budget.share(0.1))
        (fix,) = refused.value.fixes
        eval(fix.python, {"s": s}).release(spend=budget.share(0.1))


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (9, 0, "float"),
        (9, 0, "int"),
        ("2024-02-01", "2020-01-01", "date"),
        ("2024-02-01T05:00", "2020-01-01", "timestamp"),
    ],
)
def test_swapped_bounds_are_put_in_order_and_keep_their_type(low, high, kind):
    with pytest.raises(dp.BadParameter, match="low must be below high") as refused:
        dp.bounds(low, high, type=kind)
    (fix,) = refused.value.fixes
    assert eval(fix.python, {"dp": dp}) == dp.bounds(high, low, type=kind)


def test_what_only_the_curator_can_do_is_said_to_an_asker(tmp_path):
    table = pa.table({"city": ["A"], "x": [1]})
    given = {"unit": dp.person("x", rows=2), "budget": dp.epsilon(1, delta=1e-6)}
    question = "SELECT city, COUNT(*) AS n FROM data GROUP BY city"
    for asker in ("ann", None):
        for ledger in (None, tmp_path / "ledger.db"):
            s = dp.open(table, **given, ledger=ledger, asker=asker)
            with pytest.raises(dp.UnknownKeys) as refused:
                s.sql(question)
            listed, suppressed = refused.value.fixes
            assert listed.lead == ("the curator can give the list: " if asker else "")
            new = "needs a new ledger, and its losses add to those of this one"
            assert (new in suppressed.note) is (asker is None and ledger is not None)


@pytest.mark.parametrize("where", ["kind = 'a'", "\"kind\" = 'a' AND age > 3"])
@pytest.mark.parametrize(
    ("statistic", "args", "options", "selected"),
    [
        ("count", (), {}, "COUNT(*) AS count"),
        ("count", (), {"by": "kind"}, "kind, COUNT(*) AS count"),
        ("sum", ("age",), {}, "SUM(age) AS sum"),
        ("mean", ("age",), {"by": ["kind", "Sex"]}, "kind, Sex, AVG(age) AS mean"),
        ("mean", ("the cost",), {}, 'AVG("the cost") AS mean'),
        ("variance", ("age",), {"table": "visits"}, "VAR_SAMP(age) AS variance"),
        ("std", ("age",), {}, "STDDEV(age) AS std"),
        ("median", ("age",), {}, "MEDIAN(age) AS median"),
    ],
)
def test_a_filter_of_a_statistic_is_kept_in_sql(statistic, args, options, selected, where):
    columns = {"kind": ["a", "b"], "Sex": ["f", "m"], "age": [3, 4], "the cost": [1, 2]}
    keys = {"kind": dp.keys(["a", "b"]), "Sex": dp.keys(["f", "m"])}
    known = {"age": dp.bounds(0, 9), "the cost": dp.bounds(0, 9)}
    facts = dp.Schema(columns=keys | known)
    s = dp.open(
        pa.table(columns), name="visits", unit=dp.rows(), budget=dp.epsilon(1), schema=facts
    )
    with pytest.raises(dp.DeniableError) as refused:
        getattr(s, statistic)(*args, spend=dp.epsilon(0.1), where=where, **options)
    (fix,) = refused.value.fixes
    found = eval(fix.python, {"s": s, "dp": dp})
    assert f"SELECT {selected} FROM visits WHERE {where}" in found.provenance.question
    assert [*found.answers] == [statistic]


def test_where_no_statistic_in_sql_is_the_same_the_filter_is_still_not_dropped():
    with pytest.raises(dp.DeniableError) as refused:
        opened().histogram("x", spend=dp.epsilon(0.1), where="x > 1")
    assert 's.sql("SELECT ... FROM data WHERE x > 1")' in str(refused.value)


@pytest.mark.parametrize(
    ("bounds", "offered"), [((0, 2000), "0, 2000"), ([1.5, 3], "1.5, 3"), (7, "0, 100")]
)
def test_bounds_that_belong_in_the_schema_are_offered_as_they_were_given(bounds, offered):
    with pytest.raises(dp.BadParameter, match="accepts only") as refused:
        opened().mean("x", bounds=bounds, spend=dp.epsilon(0.1))
    (fix,) = refused.value.fixes
    assert fix.python == f'schema=dp.Schema(columns={{"x": dp.bounds({offered})}})'
