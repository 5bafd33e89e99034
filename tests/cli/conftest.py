"""A folder with people in it, and a way to say a command there."""

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner, Result

from deniable.cli.app import app

PEOPLE = """
    SELECT i // 2 AS user_id, 20 + i % 60 AS age, 1000.0 * (i % 50) AS income,
           CASE WHEN i % 3 = 0 THEN 'Oslo' ELSE 'Bergen' END AS city
    FROM range(2000) t(i)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    for name in ("DENIABLE_SCHEMA", "DENIABLE_DATA", "DENIABLE_LEDGER"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def people(folder: Path) -> Path:
    """people.parquet, and nothing else."""
    duckdb.sql(PEOPLE).write_parquet(str(folder / "people.parquet"))
    return folder


@pytest.fixture
def described(people: Path, say: Callable[..., Result]) -> Path:
    """people.parquet with its schema, and a ledger with a ceiling of ε = 1."""
    say("init", "people.parquet", "--unit", "row", "--budget", "1")
    say("set", "people.age", "--bounds", "0", "125")
    say("set", "people.city", "--keys", "Oslo,Bergen")
    return people


@pytest.fixture
def say() -> Callable[..., Result]:
    """Run a command in this process; it must end with the code that is expected."""

    def said(*arguments: str, code: int = 0, typed: str | None = None) -> Result:
        result = CliRunner().invoke(app, list(arguments), input=typed)
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        return result

    return said


@pytest.fixture
def read(say: Callable[..., Result]) -> Callable[..., dict]:
    """Run a command with --json and read what it answered."""

    def answered(*arguments: str, code: int = 0) -> dict:
        return json.loads(say(*arguments, "--json", code=code).stdout)

    return answered
