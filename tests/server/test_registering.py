"""Tables are registered from the page, and none gets a fresh budget for people who have one."""

import re
import shutil
import time

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dp
from deniable.server.curating import registering
from deniable.server.house import House

from .conftest import ROWS, fill, settings_of

PATH = "/curator/register"
NEW = {
    "new_group": "patients",
    "unit": "column:id",
    "rows": "2",
    "epsilon": "3",
    "delta": "1e-7",
    "purposes": "planning, care",
    "action": "register",
}


def columns():
    ids, ages, cities = zip(*ROWS, strict=True)
    return pa.table({"id": ids, "age": ages, "city": cities})


@pytest.fixture
def empty(serve_house, tmp_path):
    """A server on a folder with rows, and no schema yet."""
    folder = tmp_path / "tables"
    folder.mkdir()
    pq.write_table(columns(), folder / "visits.parquet")
    site = serve_house(House(settings_of(folder, tmp_path / "anchors", workers=1)))
    site.folder = folder
    yield site
    while site.opened:
        site.opened.pop().close()


def state(folder):
    """What a refused registration must leave as it was."""
    return {path.name: path.read_bytes() for path in folder.glob("*.toml")}


def test_a_folder_of_rows_is_registered_priced_and_asked(empty):
    curator = empty.browser()
    for page in ("/tables", "/ask", "/ledger", "/public", "/curator"):
        assert curator.get(page).status_code == 200
    looked = curator.post(PATH, data={"file": "visits.parquet", "action": "look"}).text
    assert "the person that id identifies" in looked
    done = curator.post(PATH, data=NEW | {"file": "visits.parquet"})
    assert done.headers["location"] == "/curator/tables/visits/schema"
    group = empty.house.groups["patients"]
    assert (group.unit, group.purposes) == (dp.person("id", rows=2), ("planning", "care"))
    assert empty.house.ledgers["patients"].budget == dp.epsilon(3, delta=1e-7)
    client = empty.connect("ann")
    query = client.sql("SELECT COUNT(*) AS n FROM visits", purpose="care")
    assert query.release(spend=dp.epsilon(0.9)).value == pytest.approx(200, abs=80)  # below 1e-13
    assert (empty.folder / "server.toml").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ({"file": "../etc/passwd"}, "choose a file"),
        ({"file": "visits.toml"}, "choose a file"),
        ({"file": "", "address": "http://x"}, "Postgres"),
        ({"file": "", "address": "file:///etc/passwd"}, "Postgres"),
        ({"unit": ""}, "no privacy unit"),
        ({"unit": "column:nobody"}, "no privacy unit"),
        ({"rows": "0"}, "rows"),
        ({"rows": "many"}, "whole numbers"),
        ({"epsilon": ""}, "no total budget was given"),
        ({"epsilon": "", "delta": ""}, "no total budget was given"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"epsilon": "inf"}, "epsilon"),
        ({"new_group": "../x"}, "a word"),
        ({"new_group": "server"}, "a word"),
    ],
)
def test_what_cannot_be_served_is_refused_and_leaves_nothing(empty, typed, says):
    before = state(empty.folder)
    answer = empty.browser().post(PATH, data=NEW | {"file": "visits.parquet"} | typed)
    assert answer.status_code == 400
    assert says in answer.text
    assert state(empty.folder) == before
    assert not empty.house.groups


def test_a_form_says_what_to_do_in_the_words_of_the_form(empty):
    (empty.folder / "other.csv").write_text("id,age\n1,2\n")
    looked = empty.browser().post(PATH, data={"file": "other.csv", "action": "look"})
    assert looked.status_code == 400
    assert "tick the box" in looked.text
    assert "--header" not in looked.text


def test_a_budget_given_to_the_command_is_filled_in_and_may_be_changed(serve_house, tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    pq.write_table(columns(), folder / "visits.parquet")
    settings = settings_of(folder, tmp_path / "anchors", workers=1)
    site = serve_house(House(settings, budget=dp.epsilon(2.5, delta=1e-7)))
    with site.browser() as curator:
        form = {"file": "visits.parquet", "action": "look"}
        fresh = curator.post(PATH, data=form).text
        typed = curator.post(PATH, data=form | {"epsilon": "4", "delta": ""}).text
    assert 'name="epsilon" inputmode="decimal" size="8" value="2.5"' in fresh
    assert 'name="delta" size="8" value="1e-07"' in fresh
    assert 'name="epsilon" inputmode="decimal" size="8" value="4"' in typed
    assert 'name="delta" size="8" value=""' in typed


@pytest.mark.parametrize("served", ["path", "copy"])
@pytest.mark.parametrize("forget", [False, True])
def test_a_copy_under_another_name_gets_no_budget_of_its_own(serve_house, tmp_path, served, forget):
    """Also if the server's own state was deleted, or another server counts the people."""
    folder = fill(tmp_path / "tables")
    settings = settings_of(folder, tmp_path / "anchors", workers=1)
    House(settings, budget=dp.epsilon(3.0)).close()
    other = fill(tmp_path / "other", name="else", rows=[(1, 2, "Oslo")]) if forget else folder
    if served == "copy" or forget:
        shutil.copy(folder / "visits.csv", other / "renamed.csv")
    else:
        (other / "renamed.csv").symlink_to(folder / "visits.csv")
    site = serve_house(
        House(settings_of(other, settings.anchors, workers=1), budget=dp.epsilon(3.0))
    )
    before = state(other)
    typed = NEW | {"file": "renamed.csv", "header": "yes"}
    with site.browser() as curator:
        answer = curator.post(PATH, data=typed)
        assert answer.status_code == 400
        assert "second budget" in answer.text or "choose a file" in answer.text
        assert curator.get("/tables").status_code == 200
    assert state(other) == before
    assert "patients" not in site.house.groups
    assert not (other / ".deniable" / "patients.ledger").exists()


def test_a_table_joins_a_group_with_its_unit_and_budget(empty):
    curator = empty.browser()
    curator.post(PATH, data=NEW | {"file": "visits.parquet"})
    pq.write_table(columns().slice(0, 50), empty.folder / "stays.parquet")
    curator.post(PATH, data={"file": "stays.parquet", "group": "patients", "action": "register"})
    group = empty.house.groups["patients"]
    assert list(group.schema.tables) == ["visits", "stays"]
    assert list(empty.house.ledgers) == ["patients"]
    pq.write_table(pa.table({"x": [1]}), empty.folder / "odd.parquet")
    typed = {"file": "odd.parquet", "group": "patients", "action": "register"}
    assert curator.post(PATH, data=typed).status_code == 400  # no column `id`
    assert list(empty.house.groups["patients"].schema.tables) == ["visits", "stays"]
    api = empty.api(empty.analyst("ann"))
    body = {"sql": "SELECT COUNT(*) AS n FROM stays", "spend": {"epsilon": 0.1}, "purpose": "care"}
    assert api.post("/api/explain", json=body).status_code == 200


@pytest.mark.parametrize("kind", ["csv", "duckdb", "postgres"])
def test_every_kind_of_source_is_registered(empty, kind, request):
    typed = NEW | {"new_group": kind, "table": "seen"}
    if kind == "csv":
        (empty.folder / "seen.csv").write_text("id,age\n1,30\n2,40\n")
        without = empty.browser().post(PATH, data=typed | {"file": "seen.csv"})
        assert "could be column names or somebody" in without.text
        typed |= {"file": "seen.csv", "header": "yes"}
    elif kind == "duckdb":
        with duckdb.connect(empty.folder / "clinic.duckdb") as connection:
            connection.execute("CREATE TABLE seen AS SELECT 1 AS id, 30 AS age")
        typed |= {"file": "clinic.duckdb"}
    else:
        import psycopg

        typed |= {"address": request.getfixturevalue("server")}
        with psycopg.connect(typed["address"], autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS seen")
            connection.execute("CREATE TABLE seen AS SELECT 1 AS id, 30 AS age")
    done = empty.browser().post(PATH, data=typed)
    assert done.status_code == 303, done.text
    assert set(empty.house.groups[kind].schema.tables["seen"].columns) == {"id", "age"}
    page = empty.browser().get(done.headers["location"])
    assert "age" in page.text
    again = empty.browser().post(PATH, data=typed | {"new_group": "fresh"})
    assert again.status_code == 400


def test_a_password_is_never_shown_again(empty, request):
    """Not in the form that comes back, not in an error, and not in a twin; nor typed twice."""
    import psycopg

    address = request.getfixturevalue("server")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS hidden")
        connection.execute("CREATE TABLE hidden AS SELECT 1 AS id, 30 AS age")
    secret = address + ("&" if "?" in address else "?") + "password=hunter-2"
    curator, typed = empty.browser(), NEW | {"new_group": "quiet", "table": "hidden"}
    looked = curator.post(PATH, data=typed | {"address": secret, "action": "look"})
    assert "the person that id identifies" in looked.text
    (handle,) = re.findall('name="handle" value="([0-9a-f]+)"', looked.text)
    pages = [looked.text]
    for wrong in ({"table": "nothing"}, {"unit": ""}, {"epsilon": "x"}):
        refused = curator.post(PATH, data=typed | wrong | {"handle": handle})
        assert refused.status_code == 400
        pages.append(refused.text)
    unreachable = {"address": "postgresql://u:hunter-2@127.0.0.1:1/none"}
    pages += [curator.post(PATH, data=typed | unreachable).text]
    assert "choose a file" in curator.post(PATH, data=typed | {"handle": "0" * 32}).text
    assert curator.post(PATH, data=typed | {"handle": handle}).status_code == 303
    assert empty.house.groups["quiet"].source == secret
    assert not empty.house.database.rows("SELECT 1 FROM addresses WHERE handle = ?", handle)
    shown = ("/curator", "/curator.json", "/curator/register", "/public", "/tables.json")
    pages += [curator.get(path).text for path in (*shown, "/curator/tables/hidden/schema")]
    assert not [page for page in pages if "hunter" in page]


def test_an_address_is_forgotten_when_its_table_is_registered_or_its_time_is_over(
    house, serve_house
):
    home = house()
    first, again = (registering.keep(home, "postgresql://u:p@host/db") for _ in range(2))
    other = registering.keep(home, "postgresql://u:p@host/other")
    registering.forget(home, again)
    assert [registering.kept(home, each) != "" for each in (first, again, other)] == [0, 0, 1]
    home.database.rows("UPDATE addresses SET created = created - ?", home.settings.fresh + 1)
    assert registering.kept(home, other) == ""
    serve_house(home)
    end = time.monotonic() + 300
    while home.database.rows("SELECT 1 FROM addresses"):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_view_in_postgres_has_no_budget_of_its_own(empty, request):
    import psycopg

    address = request.getfixturevalue("server")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS met CASCADE")
        connection.execute("CREATE TABLE met AS SELECT 1 AS id, 30 AS age")
        connection.execute("CREATE VIEW met_inner AS SELECT * FROM met WHERE age > 0")
        connection.execute("CREATE VIEW met_twin AS SELECT i.* FROM met_inner i")
    typed = NEW | {"address": address, "new_group": "first", "table": "met_twin"}
    assert empty.browser().post(PATH, data=typed).status_code == 303
    for table in ("met", "met_inner"):
        again = empty.browser().post(PATH, data=typed | {"new_group": "second", "table": table})
        assert again.status_code == 400
        assert "registered in the group" in again.text


def test_only_a_curator_registers(empty):
    empty.house.accounts.add("nosy")
    assert empty.browser("nosy").get(PATH).status_code == 403
    assert empty.browser("nosy").post(PATH, data=NEW).status_code == 403
    assert empty.plain(headers={"origin": empty.url}).post(PATH, data=NEW).status_code == 401
