"""What people meet when they first use deniable: no fix does harm, no public fact is hidden."""

import datetime as dt
import shlex

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dp

VISITS = pa.table({"patient": [1, 2], "code": ["A", "B"], "days": [1.0, 2.0]})
CODES = pa.table({"code": ["A", "B"], "name": ["flu", "cold"]})
TABLES = {"visits": VISITS, "codes": CODES}
PERSON = dp.person("patient", rows=20)
DAYS = dp.bounds(0, 30, missing="drop")


def opened(source=VISITS, **options):
    return dp.open(source, **{"unit": PERSON, "budget": dp.epsilon(1.0)} | options)


# ---- whom to protect


@pytest.mark.parametrize("column", ["code", "patent_no", "pat", "name", "person", "parent"])
def test_no_other_column_is_proposed_as_the_person(column):
    other = pa.table({column: ["A"], "name_of_it": ["flu"]})
    with pytest.raises(dp.MissingUnit) as caught:
        opened({"visits": VISITS, "codes": other})
    assert "dp.person" not in str(caught.value)
    assert "leave `codes` out" in caught.value.fix


def test_the_fix_for_a_table_about_nobody_can_be_pasted():
    with pytest.raises(dp.MissingUnit) as caught:
        opened(TABLES)
    typed = caught.value.fix.partition("schema=")[2].partition("    ")[0]
    assert opened(TABLES, schema=eval(typed, {"dp": dp})).tables["codes"].public


@pytest.mark.parametrize(("other", "proposed"), [("patient", True), ("code", False)])
def test_a_near_spelling_is_proposed_if_every_private_table_has_it(other, proposed):
    second = pa.table({other: [1], "cost": [2.0]})
    with pytest.raises(dp.MissingUnit) as caught:
        opened({"visits": VISITS, "bills": second}, unit=dp.person("patients", rows=20))
    assert ('unit=dp.person("patient", rows=20)' in caught.value.fix) is proposed


# ---- groups that are one person each

GROUPED = {
    "mean": lambda s: s.mean("days", by="patient", spend=dp.epsilon(0.1)),
    "count": lambda s: s.count(by=["code", "patient"], spend=dp.epsilon(0.1)),
    "histogram": lambda s: s.histogram("patient", spend=dp.epsilon(0.1)),
    "crosstab": lambda s: s.crosstab("code", "patient", spend=dp.epsilon(0.1)),
    "top_k": lambda s: s.top_k("patient", k=1, spend=dp.epsilon(0.1)),
    "sql": lambda s: s.sql("SELECT patient, COUNT(*) FROM data GROUP BY patient"),
}


@pytest.mark.parametrize("ask", GROUPED.values(), ids=GROUPED)
@pytest.mark.parametrize("patient", [dp.column("text"), dp.keys(["1", "2"])], ids=["", "listed"])
def test_nothing_groups_by_person(ask, patient):
    people = VISITS.set_column(0, "patient", pa.array(["1", "2"]))
    facts = {"patient": patient, "days": DAYS, "code": dp.keys(["A", "B"])}
    session = opened(people, schema=dp.Schema(columns=facts))
    with pytest.raises(dp.UnsupportedQuery, match="would make one group per person") as caught:
        ask(session)
    assert "dp.keys" not in caught.value.fix


# ---- schemas that say little


def test_a_table_that_the_schema_does_not_mention_is_kept():
    session = opened(TABLES, schema={"codes": dp.Schema(public=True)})
    assert set(session.tables) == {"visits", "codes"}
    assert not session.tables["visits"].public
    assert session.tables["visits"] == opened({"visits": VISITS}).tables["visits"]


def test_a_table_that_the_schema_does_not_mention_is_private():
    with pytest.raises(dp.MissingUnit, match="`codes` has no column `patient`"):
        opened(TABLES, schema={"visits": dp.Schema(columns={"days": DAYS})})


def test_a_column_that_a_table_lacks_is_said_in_english():
    with pytest.raises(dp.UnknownName, match="`data` has no column `dayss`; did you mean `days`"):
        opened(schema=dp.Schema(columns={"dayss": DAYS}))


# ---- dates without bounds

DATED = pa.table({"day": pa.array([1], pa.date32()), "at": pa.array([1], pa.timestamp("us"))})


def dated(**options):
    return opened(DATED, unit=dp.rows(), name="visits", **options)


@pytest.mark.parametrize(
    "key",
    ["day", "DATE_TRUNC('month', day)", "DATE_TRUNC('hour', at)", "DATE_TRUNC('year', at)"],
)
def test_groups_of_dates_ask_for_bounds_and_the_fix_works(key):
    question = f"SELECT {key} AS k, COUNT(*) AS n FROM visits GROUP BY {key}"
    with pytest.raises(dp.UnknownKeys) as caught:
        dated().sql(question)
    column = "at" if "at)" in key else "day"
    assert f"`{column}` " in caught.value.what or key == column
    assert caught.value.what.endswith("has no bounds")
    assert caught.value.hint.startswith("replace these bounds")
    bounds = caught.value.fixes[0]
    assert bounds.command == f"deniable set visits.{column} --bounds 2000-01-01 2030-01-01"
    schema = eval(f"dict({bounds.python})", {"dp": dp})
    dated(**schema).sql(question).explain(spend=dp.epsilon(0.1))


@pytest.mark.parametrize("bounded", [False, True])
def test_a_plan_says_why_it_has_very_many_groups(bounded):
    ends = dp.bounds(dt.date(2020, 1, 1), dt.date(2023, 12, 31), type="date")
    schema = dp.Schema(columns={"day": ends}) if bounded else None
    question = "SELECT YEAR(day) AS y, COUNT(*) AS n FROM visits GROUP BY YEAR(day)"
    plan = str(dated(schema=schema).sql(question).explain(spend=dp.epsilon(0.1)))
    assert ("y makes 9,999 groups, because `day` has no bounds" in plan) is not bounded


# ---- what was spent


def steps(count, *, then=lambda: None):
    noise = dp.Laplace(scale=8.0)
    for _ in range(count):
        yield noise.on(dp.Sensitive(lambda: 3, l1=1))
    then()
    yield noise.on(dp.Sensitive(lambda: 1 / 0, l1=1))


def unfit():
    dp.Laplace(scale=-1.0)


@pytest.mark.parametrize(
    ("budget", "algorithm", "cost"),
    [
        (0.25, steps(5), "this step was not charged; the 2 steps before it cost ε 0.25"),
        (1.0, steps(3), "this step: ε 0.125 was spent; the 3 steps before it cost ε 0.375"),
        (1.0, steps(1, then=unfit), "this step was not charged; the step before it cost ε 0.125"),
        (0.1, steps(5), "nothing was spent"),
        (1.0, steps(0), "ε 0.125 was spent"),
    ],
)
def test_an_algorithm_that_ends_in_an_error_says_what_its_steps_spent(budget, algorithm, cost):
    session = opened(unit=dp.rows(), budget=dp.epsilon(budget))
    with pytest.raises(dp.DeniableError) as caught:
        session.run(algorithm)
    assert caught.value.cost == cost


# ---- files that change or are missing


def truncate(path):
    path.write_bytes(path.read_bytes()[:-20])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda p: pq.write_table(VISITS.drop(["days"]), p), "no longer has a column `days`"),
        (truncate, "is not a readable Parquet file any more"),
        (lambda p: p.write_bytes(b""), "is not a readable Parquet file any more"),
    ],
)
@pytest.mark.parametrize("files", ["*.parquet", "b.parquet"])
def test_a_file_that_changed_says_how(tmp_path, change, said, files):
    for name in ("a.parquet", "b.parquet"):
        pq.write_table(VISITS, tmp_path / name)
    schema = dp.Schema(columns={"days": dp.bounds(0, 30, missing="drop")})
    session = opened(tmp_path / files, schema=schema)
    change(tmp_path / "b.parquet")
    with pytest.raises(dp.NotReady) as caught:
        session.sum("days", spend=dp.epsilon(0.1))
    assert f"`b.parquet` {said}" in str(caught.value)
    assert str(caught.value).endswith("cost: nothing was spent")


# ---- stopped, or not covered


@pytest.mark.parametrize("asker", ["ann", "o'neil", "ann b"])
def test_a_stopped_asker_is_resumed_by_name(asker):
    session = opened(unit=dp.rows(), asker=asker)
    broken = dp.Laplace(scale=8.0).on(dp.Sensitive(lambda: 1 / 0, l1=1))
    for kind in (dp.DataFailure, dp.AskerStopped):
        with pytest.raises(kind) as caught:
            session.release(broken)
        assert f's.resume(asker="{asker}")' in caught.value.fix
        assert f"deniable ledger resume --asker {shlex.quote(asker)}" in caught.value.fix


@pytest.mark.parametrize("kind", ["Laplace", "DiscreteLaplace", "Gaussian", "DiscreteGaussian"])
@pytest.mark.parametrize("bound", [10_000, 3_000_000])
def test_the_fix_for_a_larger_sensitivity_can_be_pasted(kind, bound):
    made = getattr(dp, kind)(**{"scale" if "Laplace" in kind else "sigma": 2.0})
    value = dp.Sensitive(lambda: 3, l1=bound, l2=bound, whole=True)
    with pytest.raises(dp.SensitivityMismatch) as caught:
        made.on(value)
    eval(caught.value.fix, {"dp": dp}).on(value)


@pytest.mark.parametrize(("value", "said"), [(3, "an int"), (3.0, "a float"), ([], "a list")])
def test_a_bare_value_is_named_with_its_article(value, said):
    with pytest.raises(dp.BadParameter, match=f"you gave {said}$|you gave {said}\n"):
        dp.Laplace(scale=2.0).on(value)


# ---- files that are not there, or are databases


def test_a_missing_file_names_its_folder_and_the_nearest_name(tmp_path):
    pq.write_table(VISITS, tmp_path / "visits.parquet")
    with pytest.raises(dp.BadParameter) as caught:
        opened(tmp_path / "visit.parquet")
    assert f"no file visit.parquet in {tmp_path}; did you mean `visits.parquet`?" in str(
        caught.value
    )
    assert opened(caught.value.fix).tables
    with pytest.raises(dp.BadParameter, match="there is no folder"):
        opened(tmp_path / "nowhere" / "visits.parquet")


@pytest.mark.parametrize("there", [True, False])
def test_the_file_of_a_database_is_opened_by_its_connection(tmp_path, there):
    path = tmp_path / "clinic.duckdb"
    if there:
        duckdb.connect(str(path)).execute("CREATE TABLE visits (patient INTEGER)").close()
    with pytest.raises(dp.BadParameter) as caught:
        opened(str(path))
    assert "dp.open(duckdb.connect(" in caught.value.fix
    assert 'clinic.duckdb", read_only=True), ...)' in caught.value.fix


def test_errors_tell_one_story_about_ceilings(tmp_path):
    schema = dp.Schema(columns={"days": DAYS})
    session = opened(schema=schema, ledger=tmp_path / "v.ledger")
    with pytest.raises(dp.BudgetExceeded) as refused:
        session.sum("days", spend=dp.epsilon(2.0))
    with pytest.raises(
        dp.LedgerFailure, match="a budget that could be raised would promise nothing"
    ):
        opened(schema=schema, ledger=tmp_path / "v.ledger", budget=dp.epsilon(2.0))
    assert "larger budget" not in refused.value.fix
    assert "a ledger's budget cannot be raised" in refused.value.fix


@pytest.mark.parametrize("unit", [dp.rows(), PERSON])
def test_another_unit_is_written_as_one_types_it(unit):
    other = dp.person("id", rows=3)
    step = dp.Laplace(scale=8.0).on(dp.Sensitive(lambda: 3, l1=1, unit=other))
    with pytest.raises(dp.UnitMismatch) as caught:
        opened(unit=unit).release(step)
    assert f"unit=dp.{unit!r})" in caught.value.fix
