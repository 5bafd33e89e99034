"""Mistakes of the first hour: each is told where it is, with a line to paste."""

import pytest

import deniable as dp
from deniable.release import Frame

pa = pytest.importorskip("pyarrow")
VISITS = {"patient_id": [1, 2], "kind": ["a", "b"], "age": [3, 4]}
SCHEMA = dp.Schema(columns={"kind": dp.keys(["a", "b"]), "age": dp.bounds(0, 120)})


def opened(**options):
    given = {"unit": dp.rows(), "budget": dp.epsilon(1.0), "schema": SCHEMA} | options
    return dp.open(pa.table(VISITS), name="visits", **given)


def message(call):
    with pytest.raises(dp.DeniableError) as refused:
        call()
    return str(refused.value)


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (VISITS, "patient_id"),
        ({"n": [1], "customer": [2]}, "customer"),
        ({"age": [1], "identity_theft": [2], "paid": [1]}, "user_id"),  # no column looks like one
    ],
)
def test_a_missing_unit_names_the_table_and_a_column_that_looks_like_people(columns, named):
    text = message(lambda: dp.open(pa.table(columns), name="visits", budget=dp.epsilon(1)))
    assert "no privacy unit was given for `visits`" in text
    assert f'dp.person("{named}", rows=10)' in text


def test_a_file_that_is_not_there_is_said_before_its_unit(tmp_path):
    assert "there is no file" in message(lambda: dp.open(tmp_path / "v.csv", budget=dp.epsilon(1)))


@pytest.mark.parametrize(
    ("text", "line", "fix"),
    [
        ("[columns.age]\nbounds = [100, 0]\n", 1, "bounds = [0, 100]"),
        ("size = 3\n\n[columns.age]\nlow = 0\nhigh = 100\n", 3, "bounds = [0, 100]"),
        ('size = 3\n[columns."a b"]  # why\ntype = "flot"\n', 2, ""),
    ],
)
def test_a_mistake_in_toml_has_its_file_and_line(tmp_path, text, line, fix):
    path = tmp_path / "visits.toml"
    path.write_text(text, encoding="utf-8")
    told = message(lambda: dp.Schema.from_toml(path))
    assert f"{path}, line {line}: in columns." in told
    assert fix in told


@pytest.mark.parametrize(
    ("sql", "wrong", "meant"),
    [
        ("SELEC COUNT(*) FROM visits", "SELEC", "SELECT"),
        ("SELECT COUNT(*) FROM visits WERE age > 3", "WERE", "WHERE"),
        ("SELECT kind, COUNT(*) FROM visits GRUOP BY kind", "GRUOP", "GROUP"),
        ("SELECT COUNT(*) FORM visits", "FORM", "FROM"),
    ],
)
def test_a_misspelt_word_is_guessed_and_pointed_at_and_its_fix_is_the_word(sql, wrong, meant):
    text = message(lambda: opened().sql(sql))
    assert f"did you mean {meant}?" in text
    assert f"fix:  {meant}    in place of `{wrong}`" in text
    asked, carets = text.splitlines()[1:3]
    assert asked[carets.index("^") : carets.rindex("^") + 1] == wrong
    opened().sql(sql.replace(wrong, meant))


def test_a_column_given_as_the_unit_is_offered_as_a_person():
    text = message(lambda: opened(unit="patient_id"))
    assert "unit must be a privacy unit; you gave 'patient_id'" in text
    assert 'unit=dp.person("patient_id", rows=10)' in text
    assert 'dp.person("user_id", rows=10)' in message(lambda: opened(unit="an id; of sorts"))


def test_a_csv_without_a_schema_says_how_to_begin_one(tmp_path):
    path = tmp_path / "all visits.csv"
    path.write_text("age\n3\n", encoding="utf-8")
    text = message(lambda: dp.open(path, unit=dp.rows(), budget=dp.epsilon(1)))
    assert f"deniable init '{path}' --header" in text


def test_moments_are_grouped_by_day_rather_than_listed():
    import datetime as dt

    table = pa.table({"seen": [dt.datetime(2024, 1, 1, 12)]})  # noqa: DTZ001
    s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(1))
    text = message(lambda: s.sql("SELECT seen, COUNT(*) AS n FROM data GROUP BY seen"))
    assert "date_trunc('day', seen), with bounds" in text
    assert "--keys" not in text
    facts = dp.Schema(columns={"seen": dp.bounds("2024-01-01", "2024-01-31", type="timestamp")})
    s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(1), schema=facts)
    days = s.sql("SELECT date_trunc('day', seen) AS day, COUNT(*) AS n FROM data GROUP BY day")
    assert len(days.release(spend=dp.epsilon(1)).rows()) == 31


def test_an_average_of_text_is_offered_as_one_of_numbers_that_can_be_pasted():
    text = message(lambda: opened().sql("SELECT AVG(kind) AS x FROM visits"))
    fix = "AVG(CAST(kind AS DOUBLE))"
    assert f"fix:  {fix}    if the text contains numbers" in text
    pasted = message(lambda: opened().sql(f"SELECT {fix} AS x FROM visits"))
    assert "needs bounds" in pasted


def test_the_mean_of_text_is_answered_with_what_can_be_asked():
    text = message(lambda: opened().mean("kind", spend=dp.epsilon(0.1)))
    assert 's.count(by="kind", spend=dp.epsilon(0.1))' in text


@pytest.mark.parametrize(
    "budget", [dp.epsilon(1.0), dp.epsilon(0.7, delta=1e-7), dp.rho(0.3), dp.mu(0.9)]
)
def test_what_rounding_leaves_of_a_budget_is_nothing(budget):
    s = opened(budget=budget)
    third = s.left.share(1 / 3)
    for column in ("a", "b", "c"):
        s.sql(f"SELECT COUNT(*) AS {column} FROM visits").release(spend=third)
    s.count(spend=s.left) if s.left.figure and getattr(s.left, s.left.figure) > 0 else None
    assert getattr(s.left, s.left.figure or "epsilon") == 0
    text = message(lambda: s.sql("SELECT SUM(age) FROM visits").release(spend=s.left))
    assert "s.left is 0 once the budget is spent" in text
    assert "if s.left is at least that" in text  # nothing is: that alone would be bad advice
    assert "repeat an earlier question: its stored answer is free" in text
    assert s.sql("SELECT COUNT(*) AS a FROM visits").release(spend=third).free


def test_an_asker_is_given_to_a_session_and_an_amount_by_name():
    s = opened()
    text = message(lambda: s.count(spend=dp.epsilon(0.1), asker="bob"))
    assert 's.for_("bob")' in text
    text = message(lambda: s.ledger.share("bob", dp.epsilon(0.2)))
    assert 's.ledger.share("bob", amount=dp.epsilon(0.5))' in text
    assert "share() takes only `asker` by position; give the rest by name" in text
    s.ledger.share("bob", amount=dp.epsilon(0.2))
    text = message(lambda: s.for_("bob").count(spend=dp.epsilon(0.3)))
    assert "ε 0.2 is left of your share" in text


def test_a_notebook_shows_each_note_on_its_own_line():
    s = opened(unit=dp.person("patient_id", rows=2), budget=dp.epsilon(9.0))
    answer = s.sql("SELECT COUNT(*) AS n, AVG(age) AS age FROM visits").release(spend=dp.epsilon(9))
    page = answer._repr_html_()
    notes = answer.notes
    assert len(notes) >= 3
    for number, note in enumerate(notes, 1):
        assert f"note {number}</span> {note.replace(chr(39), '&#x27;')}</div>" in page


def test_a_small_table_is_shown_to_six_digits_and_keeps_them_all():
    frame = Frame({"low": (200_000 / 3, -1 / 3), "n": (1234567, None)})
    for shown in (str(frame), repr(frame), frame._repr_html_()):
        assert "66,666.7" in shown
        assert "-0.333333" in shown
        assert "1234567" in shown
    assert frame["low"] == (200_000 / 3, -1 / 3)


@pytest.mark.parametrize(
    ("unit", "budget", "fix", "hinted"),
    [
        (dp.rows(), dp.epsilon(1), "budget=dp.epsilon(1.0, delta=1e-7)\n", False),
        (
            dp.person("patient_id", rows=2),
            dp.epsilon(1, delta=1e-7),
            "unit=dp.person('patient_id', rows=2, groups=3)    a person in more than 3 groups",
            True,
        ),
        (
            dp.person("patient_id", rows=2, relation="replace"),
            dp.epsilon(1),
            "budget=dp.epsilon(1.0, delta=1e-7), unit=dp.person('patient_id', rows=2, groups=3, re",
            True,
        ),
        (
            dp.person("patient_id", rows=2, groups=1),
            dp.epsilon(1),
            "budget=dp.epsilon(1.0, delta=1e-7)\n",
            False,
        ),
    ],
)
def test_private_groups_name_what_is_lacking_and_what_a_limit_does(unit, budget, fix, hinted):
    s = dp.open(pa.table(VISITS), name="visits", unit=unit, budget=budget)
    text = message(lambda: s.sql("SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind"))
    assert f"or suppress small groups: {fix}" in text
    assert ('s.contributions(by="kind", spend=...)' in text) == hinted
    if hinted:
        assert s.contributions(by="kind", spend=dp.epsilon(0.1)).recommended["groups"]
    pasted = dp.person("patient_id", rows=2, groups=3) if unit.column else unit
    again = dp.open(pa.table(VISITS), name="visits", unit=pasted, budget=dp.epsilon(1, delta=1e-7))
    again.sql("SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind")
