"""Every command that the command line proposes runs as it stands, whatever names the data have."""

import re
import shlex
from pathlib import Path

import duckdb
import pytest

import deniable as dp

ODD = """
    SELECT i // 2 AS "user id", 1.5 * i AS "in come", i AS age, 'Oslo' AS "ci'ty",
           i > 3 AS member, DATE '2000-01-01' AS born, [i] AS "tags $x"
    FROM range(20) t(i)
"""


def proposed(result):
    """The commands in what was said: those after `next:` and those that a fix names."""
    said = (result.stdout + result.stderr).splitlines()
    return [
        shlex.split(found[1])[1:]
        for line in said
        if (found := re.match(r"(?:begin:|next:| +fix:)? *(deniable .*)", line))
    ]


def pasted(say, *arguments):
    """Say a command, paste all that it proposes, and tell how many proposals there were."""
    listed = proposed(say(*arguments))
    for words in listed:
        say(*words)
    return len(listed)


@pytest.mark.parametrize("budget", [[], ["--budget", "3"], ["--budget", "rho=0.5"]], ids=repr)
def test_what_check_proposes_for_a_parquet_file_can_be_pasted(folder, say, read, budget):
    duckdb.sql(ODD).write_parquet("odd people.parquet")
    step = proposed(say("init", "odd people.parquet", "--unit", "user id", "--rows", "2", *budget))
    assert step == [["check"]]
    assert pasted(say, *step[0]) == 2 * 2 + 1 + 1 + 1  # two numbers, a text, a date, a try
    assert read("check")["warnings"] == []
    known = dp.Schema.from_toml("odd people.toml")
    assert (known["in come"], known["age"]) == (dp.bounds(0, 100), dp.bounds(0, 100, type="int"))
    assert "tags $x" not in known


def test_what_check_proposes_for_a_csv_can_be_pasted(folder, say, read):
    duckdb.sql(ODD.replace(', [i] AS "tags $x"', "")).write_csv("people.csv", header=True)
    say("init", "people.csv", "--unit", "user id", "--rows", "2", "--header")
    assert pasted(say, "check") == 5 * 4 + 1
    assert read("check")["warnings"] == []


def test_proposals_find_what_lies_elsewhere(folder, say, read):
    for name in ("data", "facts", "books"):
        Path(name).mkdir()
    duckdb.sql(ODD).write_parquet("data/people.parquet")
    ledger = ["--ledger", "books/of people.db"]
    step = proposed(
        say(
            *("init", "data/people.parquet", "--unit", "row", "--budget", "2", *ledger),
            *("--schema", "facts/first.toml"),
        )
    )
    place = ["--schema", "facts/first.toml", *ledger]
    assert step == [["check", *place]]
    assert pasted(say, *step[0]) > 5
    assert pasted(say, *step[0]) == 1
    assert read(*step[0])["warnings"] == []
    kinds = [entry["kind"] for entry in read("ledger", *ledger)["entries"]]
    assert kinds.count("charge") == 3
    assert pasted(say, "explain", "SELECT COUNT(*) AS n FROM people", *place) == 1
    assert pasted(say, "bounds", "people.age", "--spend", "0.01", *place) == 1


def test_what_deniable_alone_proposes_can_be_pasted(people, say):
    say("init", "people.parquet", "--unit", "row")
    assert pasted(say) == 3
    assert pasted(say) == 2
    Path("people.toml").rename("other.toml")
    say("init", "people.parquet", "--unit", "row")
    assert [words[-2:] for words in proposed(say())][-1] == ["--schema", "people.toml"]


def test_the_fixes_of_errors_can_be_pasted(people, say):
    say("init", "people.parquet", "--unit", "row", "--budget", "1")
    for aggregate in ("AVG(income)", "SUM(CLAMP(age, 0, 9))"):
        question = ("explain", f"SELECT {aggregate} AS x FROM people")
        refused = say(*question, code=1)
        assert "dp." not in refused.stderr
        assert proposed(refused)
        for words in proposed(refused):
            say(*words)
        say(*question)


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["set", "age", "--bounds", "0", "9"], "fix:  people.age\n"),
        (["bounds", "age", "--spend", "0.1"], "fix:  people.age\n"),
        (["set", "people.age", "--bounds", "9", "0"], "fix:  --bounds 0 9\n"),
        (
            ["init", "people.parquet", "--unit", "User_Id", "--rows", "2", "--force"],
            "fix:  --unit user_id --rows 2\n",
        ),
        (["init", "people.parquet", "--force"], "hint: columns: user_id, age, income, city\n"),
        (
            ["explain", "SELECT city, COUNT(*) FROM people GROUP BY city"],
            (
                "fix:  deniable set people.city --keys A,B,C\n"
                "        or suppress small groups: create the ledger with --budget 1,1e-7    "
                "this needs a new ledger, and its losses add to those of this one\n"
            ),
        ),
        (
            ["ask", "SELECT COUNT(*) FROM people", "--spend", "1", "--budget", "5"],
            "fix:  --budget 1.0    or leave it out: the ledger stores it\n",
        ),
        (
            ["ask", 'SELECT COUNT(*) FROM people WHERE city = "Oslo"', "--spend", "1"],
            "fix:  'Oslo'\n",
        ),
    ],
    ids=lambda part: part[0] if isinstance(part, list) else "",
)
def test_mistakes_are_told_what_to_type_here(people, say, words, fix):
    say("init", "people.parquet", "--unit", "row", "--budget", "1")
    refused = say(*words, code=1).stderr
    assert fix in refused
    assert "dp." not in refused


def test_without_a_schema_the_data_at_hand_are_proposed(people, say):
    refused = say("explain", "SELECT COUNT(*) FROM people", code=1)
    assert proposed(refused) == [["init", "people.parquet"]]
