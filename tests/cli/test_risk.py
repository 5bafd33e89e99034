"""report, attack and anonymize: exact, private on their face, and refused by the template."""

import json
from pathlib import Path

import duckdb
import pytest
from pyarrow import parquet

import deniable as dp
from deniable import anonymity, attacks
from deniable.cli import joining
from deniable.errors import BadParameter

CLINIC = """
    SELECT 'person' || i AS name, 20 + i % 40 AS age, '0540' || i % 3 AS zip,
           CASE WHEN i % 7 = 0 THEN 'flu' ELSE 'cold' END AS ill, i % 5 AS visits
    FROM range(120) t(i)
"""
QUASI = ["--quasi", "age,zip"]


@pytest.fixture
def clinic(folder):
    """clinic.parquet, where age and ZIP code leave everyone alone, and voters.csv with names."""
    duckdb.sql(CLINIC).write_parquet("clinic.parquet")
    voters = f"SELECT name, age, zip FROM ({CLINIC}) LIMIT 30"
    duckdb.sql(voters).write_csv("voters.csv")
    return folder


def test_the_report_is_written_for_its_owner_and_says_that_it_is_private(clinic, say):
    said = say("report", "clinic.parquet", *QUASI, "--sensitive", "ill")
    page = Path("clinic.report.html")
    assert "This report is confidential" in page.read_text()
    assert "This report is confidential" in said.stdout
    assert said.stdout.startswith("120 of 120 rows (100 %) are alone on age, zip")
    assert page.stat().st_mode & 0o077 == 0
    assert "wrote clinic.report.html" in said.stderr


def test_the_report_as_json_is_the_file_it_writes(clinic, read):
    joined = ["--auxiliary", "voters.csv", "--out", "risk.json"]
    record = read("report", "clinic.parquet", *QUASI, *joined)
    assert record.pop("path") == "risk.json"
    assert record == json.loads(Path("risk.json").read_text())
    assert record["linkage"] == {
        "on": ["age", "zip"],
        "narrowed_to": {"1": 30, "2": 30, "5": 30, "10": 30},
    }


def test_uniqueness_and_selectivity_say_what_the_library_says(clinic, read):
    told = read("attack", "uniqueness", "clinic.parquet", "--columns", "age,zip,ill")
    found = attacks.uniqueness("clinic.parquet", columns=["age", "zip", "ill"])
    best = found.combinations[0]
    assert told["combinations"][0] == vars(best) | {"columns": list(best.columns)}
    assert told["singled_out"] == 120
    told = read("attack", "selectivity", "clinic.parquet", "--known", "age")
    assert told["columns"][0]["unique"] == 120


@pytest.mark.parametrize(
    ("on", "reidentified"),
    [("age,zip", 30), ("age", 0), ("age:near=1,zip", 0), ("age:near=0,zip", 30)],
)
def test_linkage_joins_as_it_is_told(clinic, read, on, reidentified):
    told = read("attack", "linkage", "clinic.parquet", "--auxiliary", "voters.csv", "--on", on)
    assert (told["people"], told["rows"], told["reidentified"]) == (30, 120, reidentified)


def test_every_rule_can_be_typed_and_no_other():
    typed = joining.rules("a, b:near=0.5,c:prefix=3,d:spelling,e:month,f:year")
    assert typed == [
        attacks.matching.rule_of("a"),
        attacks.near("b", within=0.5),
        attacks.prefix("c", length=3),
        attacks.spelling("d"),
        attacks.month("e"),
        attacks.year("f"),
    ]
    for wrong in ("a:", "a:close=2", "a:near", "a:near=x", "a:month=2", "a:prefix=0", ":near=1"):
        with pytest.raises(BadParameter):
            joining.rules(wrong)


def test_text_is_not_joined_to_numbers_where_nobody_could_match(clinic, say):
    Path("other.csv").write_text("name,zip\nAda,5401\n")
    said = say(
        *("attack", "linkage", "clinic.parquet", "--auxiliary", "other.csv", "--on", "zip"), code=1
    )
    assert "`zip` is text in one file and not in the other" in said.stderr


def test_small_groups_show_the_value_of_one_person(clinic, read):
    told = read("attack", "small-groups", "clinic.parquet", "--by", "age,zip", "--value", "ill")
    assert told["alone"] == told["groups"] == 120
    assert set(told["values"]) == {"flu", "cold"}


@pytest.mark.parametrize("out", ["safe.parquet", "safe.csv"])
@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_what_anonymize_writes_passes_its_own_check(clinic, read, out, method):
    told = read(
        *("anonymize", "clinic.parquet", *QUASI, "--k", "6", "--out", out, "--method", method),
        *("--sensitive", "ill", "--l", "2"),
    )
    assert told["k"] >= 6
    assert told["dropped"] == ["name"]
    found = anonymity.check(out, quasi=["age", "zip"], sensitive="ill")
    assert (found.k, found.l, found.rows) == (told["k"], told["l"], told["rows"])
    assert "name" not in found.classes.column_names
    checked = read("anonymize", out, *QUASI, "--k", "6", "--check", "--sensitive", "ill")
    assert checked["holds"]
    assert checked["k"] == told["k"]


def test_check_ends_with_1_where_it_falls_short_and_writes_nothing(clinic, read, say):
    before = sorted(Path().iterdir())
    told = read("anonymize", "clinic.parquet", *QUASI, "--check", code=1)
    assert (told["holds"], told["k"], told["below"]) == (False, 1, 120)
    age = ["anonymize", "clinic.parquet", "--quasi", "age", "--k", "3", "--sensitive", "ill"]
    say(*age, "--check")
    say(*age, "--check", "--l", "3", code=1)
    say(*age, "--check", "--t", "0.01", code=1)
    assert sorted(Path().iterdir()) == before


def test_hierarchies_come_from_a_file(clinic, say):
    Path("ways.toml").write_text('age = [10, 40]\nzip = "single"\n')
    ways = ["--hierarchies", "ways.toml", "--suppression", "0"]
    say("anonymize", "clinic.parquet", *QUASI, "--k", "5", "--out", "safe.parquet", *ways)
    ages = set(parquet.read_table("safe.parquet")["age"].to_pylist())
    assert ages == {"[20, 30)", "[30, 40)", "[40, 50)", "[50, 60)"}
    Path("ways.toml").write_text("[zip]\nsouth = ['05400', '05401']\nnorth = ['05402']\n")
    say("anonymize", "clinic.parquet", *QUASI, "--k", "5", "--out", "tree.parquet", *ways)
    assert parquet.read_table("tree.parquet").num_rows == 120
    Path("ways.toml").write_text("zip = 'backwards'\n")
    refused = say("anonymize", "clinic.parquet", *QUASI, "--out", "no.parquet", *ways, code=1)
    assert "zip in ways.toml must be widths of ranges" in refused.stderr


def test_columns_that_name_people_are_dropped_unless_kept(clinic, say):
    run = ["anonymize", "clinic.parquet", "--quasi", "age", "--k", "3", "--force", "--out", "s.csv"]
    said = say(*run, "--drop", "visits")
    assert Path("s.csv").read_text().splitlines()[0] == '"age","zip","ill"'
    assert "dropped, because they identify people: name, visits" in said.stderr
    assert "left exact, though others may know it: zip" in said.stderr
    say(*run, "--keep", "name")
    assert Path("s.csv").read_text().startswith('"name","age"')


@pytest.mark.parametrize(
    "words",
    [
        ["attack", "uniqueness", "clinic.parquet"],
        ["attack", "selectivity", "clinic.parquet"],
        ["attack", "small-groups", "clinic.parquet", "--by", "age"],
        ["attack", "linkage", "clinic.parquet", "--auxiliary", "voters.csv", "--on", "age"],
        ["anonymize", "clinic.parquet", "--quasi", "zip", "--check"],
        ["anonymize", "clinic.parquet", "--quasi", "zip", "--out", "safe.parquet"],
        ["report", "clinic.parquet", "--quasi", "age,zip"],
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_answers_and_help_say_that_they_are_confidential(clinic, say, read, words):
    assert "confidential" in say(*words).stdout
    assert "confidential" in read(*words, *(["--force"] if words[0] != "attack" else []))
    name = words[: 2 if words[0] == "attack" else 1]
    assert "confidential" in say(*name, "--help").stdout


@pytest.mark.parametrize(
    "words",
    [
        ["report", "nothing.parquet"],
        ["report", "clinic.parquet", "--out", "risk.pdf"],
        ["report", "clinic.parquet", "--out", "nowhere/risk.html"],
        ["report", "clinic.parquet", "--quasi", "agee"],
        ["report", "plain.csv"],
        ["attack", "uniqueness", "clinic.txt"],
        ["attack", "uniqueness", "broken.parquet"],
        ["attack", "linkage", "clinic.parquet", "--on", "age"],
        ["attack", "linkage", "clinic.parquet", "--auxiliary", "voters.csv", "--on", "ill"],
        ["attack", "small-groups", "clinic.parquet", "--by", "agee"],
        ["anonymize", "clinic.parquet", "--out", "safe.parquet"],
        ["anonymize", "clinic.parquet", *QUASI],
        ["anonymize", "clinic.parquet", *QUASI, "--out", "clinic.parquet"],
        ["anonymize", "clinic.parquet", *QUASI, "--out", "safe.csv", "--l", "2"],
        ["anonymize", "clinic.parquet", *QUASI, "--out", "safe.csv", "--method", "guess"],
        ["anonymize", "clinic.parquet", *QUASI, "--out", "safe.csv", "--hierarchies", "no.toml"],
        ["anonymize", "clinic.parquet", *QUASI, "--out", "safe.csv", "--drop", "zip"],
        ["anonymize", "clinic.parquet", *QUASI, "--k", "0", "--check"],
    ],
    ids=lambda words: "-".join(words[:3:2]),
)
def test_what_is_refused_leaves_by_the_same_door(clinic, say, words):
    Path("broken.parquet").write_text("no")
    Path("plain.csv").write_text("p,q\n1.5,2\n1.5,2\n")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    said = say(*words, code=1)
    assert said.stdout == ""
    assert said.stderr.startswith("error[DP")
    assert json.loads(say(*words, "--json", code=1).stderr)["code"].startswith("DP")
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_every_attack_is_in_the_guide():
    from deniable.cli.commands.attack import attack

    guide = (Path(__file__).parents[2] / "docs" / "guides" / "command-line.md").read_text()
    names = [command.name for command in attack.registered_commands]
    assert len(names) == 4
    assert not [name for name in names if f"$ deniable attack {name}" not in guide]


VISITS = """
    SELECT i % 40 AS patient, i % 40 AS age, '0540' || i % 2 AS zip, i % 3 AS ill
    FROM range(200) t(i)
"""


@pytest.fixture
def visits(folder):
    """visits.parquet: 200 visits of 40 patients, each with an age of their own."""
    duckdb.sql(VISITS).write_parquet("visits.parquet")
    return folder


@pytest.mark.parametrize("beside", [False, True], ids=["--unit", "visits.toml"])
def test_people_are_counted_where_a_unit_is_known(visits, read, beside):
    """Five rows of one person hide nobody: by rows k is 5, by people 1."""
    given = [] if beside else ["--unit", "patient"]
    if beside:
        dp.Schema(columns={"patient": dp.column("int")}, unit=dp.person("patient", rows=9)).to_toml(
            "visits.toml"
        )
    found = read("report", "visits.parquet", *QUASI, "--out", "risk.json", *given)
    assert (found["people"], found["alone"], found["k"], found["unit"]) == (40, 40, 1, "patient")
    found = read("attack", "uniqueness", "visits.parquet", *given)
    assert (found["people"], found["singled_out"]) == (40, 40)
    assert "patient" not in found["columns"]
    found = read("attack", "selectivity", "visits.parquet", *given)
    assert found["people"] == 40
    found = read("attack", "small-groups", "visits.parquet", "--by", "age", *given)
    assert found["alone"] == 40
    voters = ["--auxiliary", "visits.parquet", "--on", "age"]
    assert read("attack", "linkage", "visits.parquet", *voters, *given)["reidentified"] == 200


def test_without_a_unit_rows_are_counted_and_called_rows(visits, say):
    said = say("report", "visits.parquet", *QUASI)
    assert said.stdout.startswith("0 of 200 rows (0 %) are alone on age, zip: k = 5")
    assert "Every row was taken for a person" in said.stdout


def test_checking_counts_people(visits, say):
    check = ["anonymize", "visits.parquet", "--check", "--k", "5", *QUASI]
    assert "k = 5" in say(*check).stdout
    said = say(*check, "--unit", "patient", code=1)
    assert said.stdout.startswith("k = 1: 40 classes of 40 people, 40 people alone")


def test_a_unit_that_is_no_column_is_refused(visits, say):
    said = say("report", "visits.parquet", "--unit", "patent", code=1)
    assert "did you mean `patient`" in said.stderr


def test_anonymize_counts_people_where_a_column_identifies_them(clinic, say, read):
    """Each age has 60 rows of 3 people: three of them are hidden as they are, and five are not."""
    duckdb.sql(
        "SELECT i % 12 AS patient, i % 4 AS age, i % 9 AS cost FROM range(240) t(i)"
    ).write_parquet("visits.parquet")
    run = ["anonymize", "visits.parquet", "--quasi", "age", "--force", "--out", "safe.parquet"]
    by_people = [*run, "--unit", "patient", "--k"]
    said = say(*by_people, "5").stderr
    assert "wrote safe.parquet: 5-anonymous on age, 5 people (patient) per class" in said
    assert "patient" not in parquet.read_schema("safe.parquet").names
    record = read(*by_people, "5")
    assert record["k"] >= 5
    assert (record["unit"], record["dropped"]) == ("patient", ["patient"])
    assert record["levels"] != {"age": 0}
    assert read(*by_people, "3")["levels"] == {"age": 0}
    assert read(*run, "--k", "30")["levels"] == {"age": 0}  # 60 rows of 3 people
    assert (
        "even with every quasi-identifier fully generalised" in say(*by_people, "13", code=1).stderr
    )


def test_without_a_unit_the_reader_learns_that_rows_are_counted(clinic, say):
    said = say("attack", "uniqueness", "clinic.parquet", "--columns", "age,zip").stderr
    assert "each row counts as one person; if people have several rows, give --unit" in said
