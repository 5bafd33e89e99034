"""No renaming, copying, moving or restoring of tables and ledgers gives a fresh budget."""

import json
import shutil
import threading

import duckdb
import pytest

import deniable as dp
from deniable.server import anchors
from deniable.server.anchors import places
from deniable.server.backups import back_up, restore
from deniable.server.folder import read, spark_at
from deniable.server.jobs.asking import Asking

from .conftest import ROWS, SCHEMA, fill
from .test_asking import SQL, ask_of


def refused(open_it):
    """Whether no question can be asked: the server does not start, or the group is closed."""
    try:
        home = open_it()
    except dp.BadParameter as error:
        return "registered" in error.what
    return bool(home.closed)


def clinic(folder, *, group="people", source="clinic.duckdb"):
    folder.mkdir(exist_ok=True)
    if not list(folder.glob("*.duckdb")):
        with duckdb.connect(folder / "clinic.duckdb") as connection:
            connection.execute("CREATE TABLE visits (id INT, age INT, city TEXT)")
            connection.executemany("INSERT INTO visits VALUES (?, ?, ?)", ROWS)
    (folder / "visits.toml").write_text(SCHEMA)
    (folder / "server.toml").write_text(f'[{group}]\ntables = ["visits"]\nsource = "{source}"\n')
    return folder


VIEWS = (
    "CREATE VIEW twin AS SELECT * FROM visits",
    'CREATE VIEW twin AS WITH v AS (SELECT * FROM "VISITS" WHERE age > 0) SELECT * FROM v',
    "CREATE VIEW inner_ AS FROM main.visits; CREATE VIEW twin AS SELECT * FROM inner_",
    (
        "CREATE TABLE towns (name TEXT); "
        "CREATE VIEW twin AS SELECT v.* FROM towns JOIN visits v ON v.city = name"
    ),
    "CREATE VIEW twin AS SELECT * FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits)",
)


@pytest.mark.parametrize("first", ["visits", "twin"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_of_a_table_has_no_budget_of_its_own(house, tmp_path, view, first):
    folder = clinic(tmp_path / "tables")
    with duckdb.connect(folder / "clinic.duckdb") as connection:
        connection.execute(view)
    second = "twin" if first == "visits" else "visits"
    (folder / "visits.toml").rename(folder / "kept")
    stated = ""
    for table in (first, second):
        (folder / f"{table}.toml").write_text(SCHEMA)
        stated += f'[of_{table}]\ntables = ["{table}"]\nsource = "clinic.duckdb"\n'
        (folder / "server.toml").write_text(stated)
        if table == first:
            house(folder=folder).close()
    assert refused(lambda: house(folder=folder))
    together = f'[of_{first}]\ntables = ["visits", "twin"]\nsource = "clinic.duckdb"\n'
    (folder / "server.toml").write_text(together)
    assert not house(folder=folder).closed


@pytest.mark.parametrize("forget", [False, True])
@pytest.mark.parametrize("how", ["group", "copy", "move"])
@pytest.mark.parametrize("stored", ["csv", "duckdb"])
def test_a_table_by_another_name_has_no_fresh_budget(house, tmp_path, stored, how, forget):
    folder = tmp_path / "tables"
    (fill if stored == "csv" else clinic)(folder)
    house(folder=folder).close()
    name = "visits.csv" if stored == "csv" else "clinic.duckdb"
    new = name if how == "group" else f"new.{stored}"
    if how == "copy":
        shutil.copy(folder / name, folder / new)
        (folder / name).write_bytes(b"")
    elif how == "move":
        (folder / name).rename(folder / new)
    if forget:
        shutil.rmtree(folder / ".deniable")
    if stored == "duckdb":
        clinic(folder, group="other", source=new)
    else:
        table = new.removesuffix(".csv")
        (folder / "visits.toml").rename(folder / f"{table}.toml")
        (folder / "server.toml").write_text(f'[other]\ntables = ["{table}"]\n')
    assert refused(lambda: house(folder=folder))


def again(path, text):
    path.write_text(text)


def as_parquet(path, text):
    with duckdb.connect() as engine:
        path.write_text(text)
        rows = engine.read_csv(str(path))
        rows.project("city, age::DOUBLE AS years, id").write_parquet(
            str(path.with_suffix(".parquet"))
        )
    path.unlink()


def in_database(path, text):
    with duckdb.connect(path.with_suffix(".duckdb")) as engine:
        path.write_text(text)
        rows = engine.read_csv(str(path))
        rows.create("new")
    path.unlink()


LINES = ["id,age,city", *(",".join(map(str, row)) for row in ROWS)]
COPIES = {
    "newline": (again, "\n".join(LINES) + "\n\n"),
    "crlf": (again, "\r\n".join(LINES)),
    "shuffled": (again, "\n".join([LINES[0], *sorted(LINES[1:])])),
    "quoted": (again, "\n".join(LINES).replace("Oslo", '"Oslo"')),
    "decimals": (again, "\n".join([LINES[0], *(f"{i},{a}.0,{c} " for i, a, c in ROWS)])),
    "renamed": (again, "\n".join(["person,years,town", *LINES[1:]])),
    "columns": (again, "\n".join(["city,id,age", *(f"{c},{i},{a}" for i, a, c in ROWS)])),
    "a day later": (again, "\n".join([*LINES[:-3], *(f"{i},30,Oslo" for i in range(900, 920))])),
    "parquet": (as_parquet, "\n".join(LINES)),
    "database": (in_database, "\n".join(LINES)),
}


@pytest.mark.parametrize("forget", [False, True])
@pytest.mark.parametrize("how", COPIES)
def test_the_same_rows_have_no_fresh_budget_however_they_are_written(house, tmp_path, how, forget):
    """Each shares 89 % of its rows at least with the table that is counted."""
    folder = fill(tmp_path / "tables")
    house(folder=folder).close()
    (folder / "visits.csv").unlink()
    (folder / "visits.toml").unlink()
    write, text = COPIES[how]
    write(folder / "new.csv", text)
    names = {"city": "town", "age": "years", "id": "person"} if how == "renamed" else {}
    names |= {"age": "years"} if how == "parquet" else {}
    schema = SCHEMA
    for old, name in names.items():
        schema = schema.replace(f"columns.{old}]", f"columns.{name}]").replace(
            f'"{old}"', f'"{name}"'
        )
    (folder / "new.toml").write_text(schema)
    source = 'source = "new.duckdb"\n' if how == "database" else ""
    (folder / "server.toml").write_text(f'[other]\ntables = ["new"]\n{source}')
    if forget:
        shutil.rmtree(folder / ".deniable")
    assert refused(lambda: house(folder=folder))


def test_other_people_have_a_budget_of_their_own(house, tmp_path):
    """Same columns, the same identifiers, and a third of the rows the same by chance."""
    folder = fill(tmp_path / "tables")
    house(folder=folder).close()
    fill(folder, name="new", rows=[(i, a + i % 3, c) for i, a, c in ROWS])
    (folder / "server.toml").write_text('[other]\ntables = ["new"]\n')
    home = house(folder=folder)
    assert not home.closed
    assert set(home.groups) == {"people", "other"}


def test_a_file_is_read_once_for_each_of_its_states(house, tmp_path, monkeypatch):
    read_, seen = anchors._samples, []
    monkeypatch.setattr(anchors, "_samples", lambda *a: seen.append(a) or read_(*a))
    folder = fill(tmp_path / "tables")
    for _ in range(3):
        house(folder=folder).close()
    assert len(seen) == 1
    fill(folder, rows=ROWS[:-1])
    house(folder=folder).close()
    assert len(seen) == 2


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("restored", [False, True])
def test_neither_an_old_nor_a_new_ledger_takes_the_place_of_a_later_one(
    house, tmp_path, moved, restored
):
    home = house()
    folder = home.settings.folder
    back_up(home.settings, tmp_path / "yesterday")
    Asking(home).ask(ask_of(home))
    home.close()
    shutil.rmtree(folder / ".deniable")
    if moved:
        folder = folder.rename(tmp_path / "moved")
    if restored:
        (folder / ".deniable").mkdir()
        for path in (tmp_path / "yesterday").iterdir():
            shutil.copy(path, folder / ".deniable")
    again = house(folder=folder)
    assert again.closed
    with pytest.raises(dp.NotReady, match="not the one"):
        Asking(again).ask(ask_of(again, sql=SQL + " WHERE age > 3"))


def test_a_moved_folder_with_its_newest_ledger_stays_open(house, tmp_path):
    home = house()
    Asking(home).ask(ask_of(home))
    back_up(home.settings, tmp_path / "newest")
    home.close()
    shutil.rmtree(home.settings.state)
    folder = home.settings.folder.rename(tmp_path / "moved")
    again = house(folder=folder)
    again.close()
    shutil.rmtree(again.settings.state)
    restore(again.settings, tmp_path / "newest")
    assert not house(folder=folder).closed


SPELLINGS = [
    "postgresql://u@db.invalid/clinic",
    "postgres://u@db.invalid/clinic",
    "postgresql://u@DB.invalid:5432/clinic",
    "postgresql://other:pw@db.invalid/clinic?application_name=x",
    "postgresql:///clinic?host=db.invalid",
]


@pytest.mark.parametrize("address", SPELLINGS)
def test_a_database_is_known_however_its_address_is_spelled(tmp_path, address):
    known = []
    for each in (SPELLINGS[0], address):
        clinic(tmp_path, source=each)
        known += places("visits", read(tmp_path, budget=dp.epsilon(1.0))["people"])
    assert len(set(known)) == 1


def test_anchors_are_for_their_owner_alone(house):
    home = house()
    found = list(home.settings.anchors.iterdir())
    assert len(found) >= 3
    assert all(path.stat().st_mode & 0o077 == 0 for path in found)


DAMAGE = [b"", b"{", b"null", b"[1]", b'{"ledger": null}', b'{"sequence": "x"}', b"\xff\xfe\x00"]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("kind", ["ledger", "table", "rows", "key"])
def test_a_damaged_anchor_closes_its_group_and_is_named_unless_it_can_be_made_anew(
    house, kind, damage
):
    home = house()
    Asking(home).ask(ask_of(home))
    home.close()
    for path in home.settings.anchors.glob(f"{kind}*"):
        path.write_bytes(damage)
    if kind == "key":
        with pytest.raises(dp.LedgerFailure, match="anchor key cannot be read"):
            house(folder=home.settings.folder)
        return
    again = house(folder=home.settings.folder)
    assert bool(again.closed) == (kind in ("ledger", "table"))
    assert all("anchor" in why or "remembered in" in why for why in again.closed.values())


@pytest.mark.parametrize("damage", DAMAGE)
def test_an_anchor_that_is_damaged_while_the_server_runs_is_written_anew(house, damage):
    home = house()
    asking = Asking(home)
    asking.ask(ask_of(home))
    (anchor,) = home.settings.anchors.glob("ledger-*")
    anchor.write_bytes(damage)
    assert asking.ask(ask_of(home, key="key-00002", sql=SQL + " WHERE age > 3")).state == "stored"
    home.close()
    assert not house(folder=home.settings.folder).closed


def test_a_slow_writer_does_not_put_an_anchor_back(house, monkeypatch):
    home, write = house(), anchors.Anchors._write
    began, later, flock = threading.Event(), threading.Event(), anchors.fcntl.flock

    def slow(self, path, text, *, again):
        if threading.current_thread() is not threading.main_thread():
            began.set()
            assert later.wait(300)  # until the later line waits for us, or is written
        write(self, path, text, again=again)

    def waits(*given):
        if threading.current_thread() is threading.main_thread():
            later.set()
        flock(*given)

    monkeypatch.setattr(anchors.Anchors, "_write", slow)
    monkeypatch.setattr(anchors.fcntl, "flock", waits)
    ledger = home.ledgers["people"]
    ledger.note("the first")
    thread = threading.Thread(target=home.anchor, args=("people",))
    thread.start()
    assert began.wait(300)
    ledger.note("the second")
    home.anchor("people")
    later.set()
    thread.join()
    (anchor,) = home.settings.anchors.glob("ledger-*")
    assert json.loads(anchor.read_text())["sequence"] == ledger.head().sequence


def test_rows_that_cannot_be_read_now_are_looked_at_again(tmp_path, monkeypatch):
    group, kept = read(fill(tmp_path / "tables"))["people"], anchors.Anchors(tmp_path / "anchors")

    def full(*_, **__):
        raise duckdb.OutOfMemoryException("no memory now")

    with monkeypatch.context() as patched:
        patched.setattr(anchors, "attach", full)
        assert kept.identities("visits", group) == places("visits", group)
    known = kept.identities("visits", group)
    assert [each for each in known if each.startswith("row ")]
    assert kept.identities("visits", group) == known


def test_a_cluster_is_one_place_however_its_address_is_written():
    same = ("sc://Host", "sc://host:15002", "sc://HOST:15002/;token=abc", "sc://host/;user_id=me")
    assert {spark_at(each) for each in same} == {("host", 15002)}
    assert spark_at("sc://[::1]:3/") == ("::1", 3)
    for wrong in ("sc://", "sc://host:15002;token=abc", "sc://host:abc", "sc://token=abc@host"):
        with pytest.raises(dp.BadParameter) as refusal:
            spark_at(wrong)
        assert "abc" not in str(refusal.value)
