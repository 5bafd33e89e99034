"""try, explain, ask, bounds: free until something is spent, and nothing is spent unasked."""

import json
import shlex
import tomllib
from pathlib import Path

import pytest

COUNT = "SELECT COUNT(*) AS n FROM people"
BY_CITY = "SELECT city, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY city"


def spent(read) -> float:
    return read("ledger")["spent"]["epsilon"]


def test_explaining_is_free_and_tells_price_and_error(described, read):
    plan = read("explain", COUNT, "--spend", "0.5")
    assert plan["cost"]["epsilon"] == pytest.approx(0.5)
    assert 4 < plan["errors"]["n"] < 9
    assert plan["left"]["epsilon"] == pytest.approx(0.5)
    assert spent(read) == 0


def test_a_price_for_an_error_is_asked_for_as_it_is_typed_here(described, say, read):
    shown = say("explain", COUNT, "--spend", "0.5").stdout
    assert "; --within shows what a given ± costs" in shown
    assert "explain(" not in shown + " ".join(read("explain", COUNT, "--spend", "0.5")["notes"])


def test_a_call_in_a_note_is_said_to_be_python(people, say):
    say("init", "people.parquet", "--unit", "user_id", "--rows", "2", "--budget", "1")
    shown = say("explain", COUNT, "--spend", "0.5").stdout
    assert "note    in Python, s.contributions(spend=...) estimates" in shown


def test_asking_spends_what_was_said(described, read):
    answer = read("ask", BY_CITY, "--spend", "0.5")
    assert [row["city"] for row in answer["rows"]] == ["Oslo", "Bergen"]
    assert all(abs(row["n"] - n) < 200 for row, n in zip(answer["rows"], (667, 1333), strict=True))
    assert spent(read) == pytest.approx(0.5)


def test_asking_by_the_error_that_is_wanted(described, say, read):
    answer = read("ask", COUNT, "--within", "20")
    assert answer["rows"][0]["n_error"] <= 20
    assert 0 < spent(read) < 0.2
    wanted = ["--within", "n=100", "--within", "age=20"]
    assert "--size 1000" in say("ask", BY_CITY, *wanted, code=1).stderr
    (first, _) = read("ask", BY_CITY, *wanted, "--size", "500")["rows"]
    assert first["n_error"] <= 100


def test_without_a_price_it_explains_and_stops(described, say, read):
    said = say("ask", COUNT)
    assert "cost    ε 0.1" in said.stdout
    assert f'next: deniable ask "{COUNT}" --spend 0.1' in said.stderr
    assert spent(read) == 0


def test_the_same_question_again_is_free(described, read):
    first, second = (read("ask", COUNT, "--spend", "0.3") for _ in range(2))
    assert first["rows"] == second["rows"]
    assert second["free"]
    assert spent(read) == pytest.approx(0.3)


def test_the_next_step_is_a_command_that_works(described, say, read):
    quoted = "SELECT COUNT(*) AS \"how many\" FROM people WHERE city = 'Oslo'"
    for sql in (COUNT, quoted):
        for flags in ([], ["--spend", "0.1"], ["--within", "50"]):
            step = say("explain", sql, *flags).stderr.removeprefix("next: deniable ")
            command, _, what = step.partition("\n      ")
            assert what.startswith("spends ε ")
            say(*shlex.split(command))
    assert spent(read) > 0.1


def test_a_decimal_comma_is_answered_with_a_point(described, say):
    for flag, text in (("--spend", "0,1"), ("--spend", "1,05"), ("--budget", "0,5")):
        said = say("ask", COUNT, flag, text, code=2).stderr
        assert f"fix:  {flag} {text.replace(',', '.')}    with a decimal point" in said


def test_a_unit_that_is_not_the_ledgers_is_mended_in_the_schema_file(people, say):
    say("init", "people.parquet", "--unit", "user_id", "--rows", "3", "--budget", "2")
    say("ask", COUNT, "--spend", "0.1")
    schema = Path("people.toml")
    stated = schema.read_text()
    schema.write_text(stated.replace("rows = 3", "rows = 3\ngroups = 3"))
    said = say("ask", COUNT, "--spend", "0.1", code=1).stderr
    assert "--unit" not in said
    fix = said.partition("fix:  ")[2].partition("    in the schema file")[0]
    assert tomllib.loads(fix) == {k: v for k, v in tomllib.loads(stated).items() if k == "unit"}
    rest = schema.read_text().partition("[unit]")[2].partition("\n\n")[2]
    schema.write_text(f"{fix}\n{rest}")
    say("ask", COUNT, "--spend", "0.1")


def test_what_is_not_left_is_refused_with_a_fix_to_type(described, say, read):
    said = say("ask", COUNT, "--spend", "2", code=1)
    assert said.stdout == ""
    assert said.stderr.startswith("error[DP201]")
    assert "fix:  --spend 1" in said.stderr
    assert spent(read) == 0


def test_a_query_is_not_read_from_standard_input(described, say):
    said = say("ask", "-", "--spend", "0.1", code=1).stderr
    assert "reading SQL from standard input is not supported" in said


def test_what_is_not_left_is_not_the_next_step(described, say, read):
    said = say("explain", COUNT, "--spend", "5")
    assert "cost    ε 5 (more than is left: ε 1)" in said.stdout
    assert "next:" not in said.stderr
    assert read("explain", COUNT, "--spend", "5")["exceeded"]["epsilon"] == pytest.approx(1)


def test_of_a_ceiling_that_nobody_said_nothing_is_exceeded(people, say, read):
    say("init", "people.parquet", "--unit", "user_id", "--rows", "1")
    plan = read("explain", COUNT, "--within", "1")
    assert plan["cost"]["epsilon"] > 1
    assert plan["exceeded"] is plan["left"] is None


def test_without_a_ledger_a_ceiling_must_be_said(people, say, read):
    say("init", "people.parquet", "--unit", "row")
    assert "--budget 1" in say("ask", COUNT, "--spend", "0.1", code=1).stderr
    assert not Path("people.ledger").exists()
    assert read("explain", COUNT, "--spend", "0.1")["left"] is None
    assert not Path("people.ledger").exists()
    read("ask", COUNT, "--spend", "0.1", "--budget", "1")
    read("ask", COUNT, "--spend", "0.2")
    assert spent(read) == pytest.approx(0.3)


def test_a_ledger_keeps_its_ceiling(described, say):
    said = say("ask", COUNT, "--spend", "0.1", "--budget", "50", code=1)
    assert said.stderr.startswith("error[")


def test_groups_are_chosen_privately_under_a_ceiling_with_a_delta(people, say, read):
    unit = ["--unit", "user_id", "--rows", "2", "--groups", "2"]
    say("init", "people.parquet", *unit, "--budget", "20,1e-6")
    answer = read("ask", "SELECT city, COUNT(*) AS n FROM people GROUP BY city", "--spend", "10")
    assert {row["city"] for row in answer["rows"]} == {"Oslo", "Bergen"}


def test_other_currencies(people, say, read):
    say("init", "people.parquet", "--unit", "row", "--budget", "rho=0.5")
    assert read("ask", COUNT, "--spend", "rho=0.1")["left"]["rho"] == pytest.approx(0.4)
    assert "error[DP210]" in say("ask", COUNT, "--spend", "0.1", code=1).stderr


def test_trying_leaves_data_and_ledger_alone(described, say, read):
    Path("people.parquet").unlink()
    answer = read("try", BY_CITY)
    assert answer["made_up"]
    assert [row["city"] for row in answer["rows"]] == ["Oslo", "Bergen"]
    assert spent(read) == 0
    assert "describe no real people" in say("try", BY_CITY, "--rows", "50").stderr
    wanted = ["--within", "n=100", "--within", "age=20"]
    assert "--size 1000" in say("try", BY_CITY, *wanted, code=1).stderr
    (first, _) = read("try", BY_CITY, *wanted, "--size", "500")["rows"]
    assert first["n_error"] <= 100


def test_trying_makes_up_as_many_rows_as_the_size_that_was_priced(described, say, read):
    asked = ["try", "SELECT AVG(age) AS age FROM people", "--within", "0.5", "--size", "20000"]
    assert "made-up rows (20,000 per table)" in say(*asked).stderr
    (row,) = read(*asked)["rows"]
    assert row["age_error"] < 2  # priced for ± 0.5 at 20,000 rows; it would be ± 10 at 1,000
    assert "made-up rows (30 per table)" in say(*asked, "--rows", "30").stderr


def test_bounds_are_found_privately_and_said_as_a_command(described, say, read):
    said = say("bounds", "people.income", "--spend", "0.5")
    assert "next: deniable set people.income --bounds " in said.stderr
    assert "left: ε " in said.stderr  # as after every command that spends
    assert spent(read) == pytest.approx(0.5)
    low, high = said.stdout.split()[1:]
    assert float(low) <= 2000
    assert 32_000 <= float(high) <= 2**20
    say("set", "people.income", "--bounds", low, high)


@pytest.mark.parametrize("column", ["income", "age"])
def test_bounds_that_are_not_found_are_not_proposed(described, say, read, column):
    said = say("bounds", f"people.{column}", "--spend", "0.0001")
    assert said.stdout.startswith(f"people.{column}: no bounds were found at ε 0.0001")
    assert "spend more, or state plausible bounds" in said.stdout
    assert f"next: deniable set people.{column} --bounds 0 100\n" in said.stderr
    assert "without looking at the data" in said.stderr
    record = read("bounds", f"people.{column}", "--spend", "0.0001")  # the same answer: free
    assert (record["low"], record["high"]) == (None, None)
    assert record["note"].startswith("no bounds were found")


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT COUNT(* FROM people", "DP310"),
        ("SELECT AVG(incom) AS x FROM people", "DP320"),
        ("SELECT COUNT(*) AS n FROM persons", "DP320"),
        ("SELECT AVG(income) AS x FROM people", "DP102"),
        ("SELECT * FROM people", "DP310"),
        ("DROP TABLE people", "DP310"),
        ("", "DP310"),
    ],
)
def test_a_question_that_cannot_be_is_refused_by_the_template(described, say, sql, code):
    for command in ("try", "explain", "ask"):
        said = say(command, sql, "--spend", "0.1", code=1)
        assert said.stdout == ""
        assert said.stderr.startswith(f"error[{code}]: ")
        assert "cost: nothing was spent" in said.stderr
    record = json.loads(say("ask", sql, "--spend", "0.1", "--json", code=1).stderr)
    assert record["code"] == code


@pytest.mark.parametrize("amount", ["much", "1,2,3", "eps=1", "", "rho=1,2"])
@pytest.mark.parametrize("option", ["--spend", "--budget"])
def test_text_that_is_not_an_amount_is_a_usage_error(described, say, option, amount):
    for command in ("ask", "explain", "try"):
        said = say(command, COUNT, f"{option}={amount}", code=2)
        assert said.stderr.startswith("error[DP111]")


@pytest.mark.parametrize("amount", ["-1", "nan", "0"])
def test_an_amount_that_is_none_is_refused(described, say, amount):
    said = say("ask", COUNT, f"--spend={amount}", code=1)
    assert said.stderr.startswith("error[DP")


@pytest.mark.parametrize(
    ("wanted", "code"),
    [(["much"], 2), (["n=1", "2"], 2), (["n=x"], 2), (["-3"], 1), (["m=3"], 1)],
)
def test_an_error_that_is_none_is_refused(described, say, wanted, code):
    flags = [f"--within={each}" for each in wanted]
    assert say("ask", COUNT, *flags, code=code).stderr.startswith("error[DP")


def test_both_a_price_and_an_error_are_one_too_many(described, say, read):
    said = say("ask", COUNT, "--spend", "0.1", "--within", "9", code=1).stderr
    assert said.startswith("error[DP111]: an amount to spend and a largest ± were both given")
    assert "fix:  give --spend or --within, not both\n" in said
    assert "=" not in said
    assert spent(read) == 0


def test_a_failure_on_the_data_is_opaque_and_its_details_go_where_the_curator_says(
    described, say, spoil
):
    spoil("people.parquet")
    average = "SELECT AVG(age) AS age FROM people"
    said = say("ask", average, "--spend", "0.1", code=1)
    assert said.stderr.startswith("error[DP601]")
    assert "deniable ledger resume" in said.stderr
    assert say("ask", average, "--spend", "0.1", code=1).stderr.startswith("error[DP602]")
    assert "cause" in say("ledger", "resume", "--yes").stdout
    say("ask", average, "--spend", "0.1", "--failures", "failures.txt", code=1)
    assert Path("failures.txt").read_text()
    assert Path("failures.txt").stat().st_mode & 0o077 == 0


def test_an_answer_is_printed_as_csv_with_its_errors(described, say, read):
    said = say("ask", BY_CITY, "--spend", "0.5", "--csv")
    head, *rows = said.stdout.splitlines()
    assert head == "city,n,n_error,age,age_error"
    assert [row.split(",")[0] for row in rows] == ["Oslo", "Bergen"]
    assert "left: " in said.stderr
    shown = say("ask", BY_CITY, "--spend", "0.5").stdout  # the same answer, with its notes
    notes = shown.partition("protects")[2].splitlines()[1:]
    assert notes
    assert said.stderr.startswith("\n".join(notes))
    before = spent(read)
    both = say("ask", COUNT, "--spend", "0.1", "--csv", "--json", code=1)
    assert "not both" in both.stderr
    assert spent(read) == before
