"""init writes what is public, from names and types alone, and never guesses whom to protect."""

import tomllib
from pathlib import Path

import duckdb
import pytest

import deniable as dp


def test_the_schema_has_the_columns_and_their_types_and_nothing_else(people, say):
    say("init", "people.parquet", "--unit", "row")
    record = tomllib.loads(Path("people.toml").read_text())
    types = {name: column["type"] for name, column in record["columns"].items()}
    assert types == {"user_id": "int", "age": "int", "income": "float", "city": "text"}
    assert set(record) == {"unit", "columns"}
    assert all(set(column) == {"type"} for column in record["columns"].values())


def test_no_value_is_read_so_a_file_with_broken_pages_initialises(people, say, spoil):
    spoil("people.parquet")
    with pytest.raises(duckdb.Error):
        duckdb.read_parquet("people.parquet").fetchall()
    say("init", "people.parquet", "--unit", "row")
    assert set(dp.Schema.from_toml("people.toml").columns) == {"user_id", "age", "income", "city"}


def test_nothing_of_the_statistics_a_file_keeps_is_shown(folder, say):
    duckdb.sql("SELECT 7351234 AS pay, 'Zebulon' AS name").write_parquet("people.parquet")
    said = say("init", "people.parquet", "--unit", "row")
    told = said.stdout + said.stderr + Path("people.toml").read_text()
    assert "7351234" not in told
    assert "Zebulon" not in told


def test_whom_it_protects_has_no_default(people, say):
    said = say("init", "people.parquet", code=1)
    assert said.stderr.startswith("error[DP130]: no privacy unit was given")
    assert "--unit user_id --rows 10" in said.stderr
    assert not Path("people.toml").exists()


def test_a_person_needs_a_limit_of_rows(people, say):
    said = say("init", "people.parquet", "--unit", "user_id", code=1)
    assert "--unit user_id --rows 10" in said.stderr


def test_a_person_is_told_by_a_column(people, say):
    say("init", "people.parquet", "--unit", "user_id", "--rows", "2", "--groups", "2")
    schema = dp.Schema.from_toml("people.toml")
    assert schema.unit == dp.person("user_id", rows=2, groups=2)


def test_a_file_that_its_schema_does_not_lead_to_is_written_down(people, say):
    Path("away").mkdir()
    say("init", "people.parquet", "--unit", "row")
    assert "file" not in Path("people.toml").read_text()
    for name in ("people", "others"):
        schema = f"away/{name}.toml"
        say("init", "people.parquet", "--unit", "row", "--schema", schema)
        assert Path(schema).read_text().startswith('file = "../people.parquet"')
        question = "SELECT COUNT(*) AS n FROM people"  # by its file, whatever the schema's name
        say("explain", question, "--spend", "0.5", "--budget", "1", "--schema", schema)


@pytest.mark.parametrize("first", ["people.parquet", "people.csv"])
def test_of_two_files_with_one_stem_the_one_meant_is_written_down(people, say, first):
    Path("people.csv").write_text("user_id,age\n1,30\n", encoding="utf-8")
    say("init", first, "--header", "--unit", "user_id", "--rows", "1")
    assert Path("people.toml").read_text().startswith(f'file = "{first}"')
    say("explain", "SELECT COUNT(*) AS n FROM people", "--spend", "0.5", "--budget", "1")


def test_two_files_with_one_stem_are_not_two_tables(people, say):
    Path("people.csv").write_text("user_id,age\n1,30\n", encoding="utf-8")
    said = say("init", "people.parquet", "people.csv", "--header", "--unit", "row", code=1)
    assert "two tables would be named `people`" in said.stderr


def test_a_column_that_is_not_there_is_refused_before_anything_is_written(people, say):
    said = say("init", "people.parquet", "--unit", "usr_id", "--rows", "2", code=1)
    assert "error[DP130]" in said.stderr
    assert not Path("people.toml").exists()


def test_at_a_terminal_it_asks(people, say, monkeypatch):
    monkeypatch.setattr("deniable.cli.commands.init._watched", lambda: True)
    said = say("init", "people.parquet", typed="user_id\n3\n")
    assert "What is the privacy unit?" in said.stderr
    assert dp.Schema.from_toml("people.toml").unit == dp.person("user_id", rows=3)


def test_an_existing_schema_is_kept(described, say):
    before = Path("people.toml").read_text()
    said = say("init", "people.parquet", "--unit", "row", code=1)
    assert "--schema people-2.toml    to write another, with its own budget" in said.stderr
    assert "--force                   to replace it" in said.stderr
    assert Path("people.toml").read_text() == before
    say("init", "people.parquet", "--unit", "row", "--force")
    assert Path("people.toml").read_text() != before


def test_another_schema_has_the_same_table_and_says_that_losses_add_up(described, say):
    other = ["--schema", "people-2.toml"]
    say("init", "people.parquet", "--unit", "row", *other)
    asked = ["ask", "SELECT COUNT(*) AS n FROM people", "--spend", "0.1", *other]
    told = "people-2.ledger is a new budget beside people.ledger: losses of the same people add up"
    assert told in say(*asked, "--budget", "1").stderr
    assert "add up" not in say(*asked).stderr


def test_the_only_ledger_is_not_compared_with_others(people, say):
    said = say("init", "people.parquet", "--unit", "row", "--budget", "1").stderr
    assert "add up" not in said


def test_a_name_that_needs_quotes_has_them_in_a_fix(people, say):
    Path("people.parquet").rename("people-2.parquet")
    say("init", "people-2.parquet", "--unit", "row", "--budget", "1")
    said = say("explain", "SELECT COUNT(*) AS n FROM people", code=1).stderr
    assert 'fix:  "people-2"    in place of `people`' in said
    say("explain", 'SELECT COUNT(*) AS n FROM "people-2"')


def test_a_csv_is_not_read_unless_its_first_line_is_said_to_be_names(folder, say):
    Path("people.csv").write_text("Zebulon,71\nAda,36\n")
    said = say("init", "people.csv", "--unit", "row", code=1)
    assert "--header" in said.stderr
    assert "Zebulon" not in said.stderr + said.stdout


def test_a_csv_with_a_header_is_described_and_asked(folder, say, read):
    lines = "\n".join(f"{i};{20 + i % 50}" for i in range(500))
    Path("people.csv").write_text(f"id;age\n{lines}\n")
    say("init", "people.csv", "--unit", "row", "--header", "--budget", "100")
    say("set", "people.age", "--bounds", "0", "125")
    found = read("ask", "SELECT COUNT(*) AS n, AVG(age) AS age FROM people", "--spend", "90")
    (row,) = found["rows"]
    assert abs(row["n"] - 500) < 20
    assert abs(row["age"] - 44.5) < 2


def test_several_tables_share_a_schema_and_a_unit(people, say, read):
    duckdb.sql("SELECT i % 1000 AS user_id, i AS item FROM range(3000) t(i)").write_parquet(
        "visits.parquet"
    )
    say("init", "people.parquet", "visits.parquet", "--unit", "user_id", "--rows", "2")
    schema = dp.Schema.from_toml("people.toml")
    assert set(schema.tables) == {"people", "visits"}
    say("set", "visits.item", "--bounds", "0", "3000")
    found = read("explain", "SELECT SUM(item) AS n FROM visits", "--spend", "0.5")
    assert found["errors"]["n"] > 0


@pytest.mark.parametrize("name", ["nothing.parquet", "nothing.csv", "nothing.txt"])
def test_a_file_that_is_not_there_is_refused_by_the_template(folder, say, name):
    said = say("init", name, "--unit", "row", code=1)
    assert said.stderr.startswith("error[DP111]")
    assert "cost" not in said.stderr


def test_a_file_that_is_not_parquet_is_refused(folder, say):
    Path("people.parquet").write_text("no such thing")
    said = say("init", "people.parquet", "--unit", "row", code=1)
    assert "cannot be read as Parquet" in said.stderr
