"""A folder with people in it, and a way to say a command there."""

import json
import shutil
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


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """people.parquet with its schema, and a ledger with a ceiling of ε = 1, made once."""
    folder = tmp_path_factory.mktemp("made")
    data, schema = str(folder / "people.parquet"), ["--schema", str(folder / "people.toml")]
    duckdb.sql(PEOPLE).write_parquet(data)
    for words in (
        ["init", data, "--unit", "row", "--budget", "1"],
        ["set", "people.age", "--bounds", "0", "125"],
        ["set", "people.city", "--keys", "Oslo,Bergen"],
    ):
        assert CliRunner().invoke(app, [*words, *schema]).exit_code == 0
    return folder


@pytest.fixture
def people(folder: Path, made: Path) -> Path:
    """people.parquet, and nothing else."""
    shutil.copy(made / "people.parquet", folder)
    return folder


@pytest.fixture
def described(folder: Path, made: Path) -> Path:
    """people.parquet with its schema and its ledger."""
    for file in made.glob("people.*"):
        shutil.copy(file, folder)
    return folder


@pytest.fixture
def spoil() -> Callable[[str], None]:
    """Overwrite every page of a Parquet file, but not its footer."""

    def spoiled(name: str) -> None:
        content = bytearray(Path(name).read_bytes())
        footer = int.from_bytes(content[-8:-4], "little") + 8
        content[4:-footer] = b"\xff" * (len(content) - footer - 4)
        Path(name).write_bytes(content)

    return spoiled


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
