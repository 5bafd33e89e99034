"""Rows in DuckDB and in Postgres are served like those in files."""

import duckdb
import pytest

import deniable as dp
from deniable.server import wire
from deniable.server.jobs.asking import Asking

from .conftest import ROWS, SCHEMA
from .test_asking import ask_of


@pytest.fixture(params=["duckdb", "postgres"])
def source(request, tmp_path):
    (tmp_path / "tables").mkdir()
    if request.param == "duckdb":
        with duckdb.connect(tmp_path / "tables" / "clinic.duckdb") as connection:
            connection.execute("CREATE TABLE visits (id INT, age INT, city TEXT)")
            connection.executemany("INSERT INTO visits VALUES (?, ?, ?)", ROWS)
        return "clinic.duckdb"
    import psycopg

    address = request.getfixturevalue("server")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS visits")
        connection.execute("CREATE TABLE visits (id INT, age INT, city TEXT)")
        connection.cursor().executemany("INSERT INTO visits VALUES (%s, %s, %s)", ROWS)
    return address


def test_a_group_says_where_its_rows_are(house, source, tmp_path):
    folder = tmp_path / "tables"
    (folder / "visits.toml").write_text(SCHEMA)
    (folder / "server.toml").write_text(
        f'[people]\nbudget = {{epsilon = 9}}\nsource = "{source}"\n'
    )
    home = house(folder=folder, budget=None)
    outcome = Asking(home).ask(ask_of(home, spend=1.9))
    release = wire.release_from_dict(outcome.release)
    assert abs(release.value - 200) < 60  # false alarm below 1e-12
    home.close()
    (folder / "server.toml").write_text(
        f'[other]\nbudget = {{epsilon = 9}}\nsource = "{source}"\ntables = ["visits"]\n'
    )
    with pytest.raises(dp.BadParameter, match="registered in the group"):
        house(folder=folder, budget=None)


def test_a_source_that_is_neither_is_refused(house, tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "visits.toml").write_text(SCHEMA)
    for wrong in ("../x.duckdb", "http://x", "/etc/passwd"):
        (folder / "server.toml").write_text(f'[people]\nsource = "{wrong}"\n')
        with pytest.raises(dp.BadParameter, match="source must be"):
            house(folder=folder)
