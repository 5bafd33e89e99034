"""What holds people's rows on disk is private while it is there, and does not stay."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import duckdb
import pytest

import deniable as dp
from deniable.errors import NotReady
from deniable.query.backends import private_files
from deniable.query.backends.duckdb import DuckDB

UNIT = dp.person("id", rows=2)
SCHEMA = dp.Schema(columns={"id": dp.column("text"), "x": dp.bounds(0, 9), "k": dp.column("text")})
SPEND = dp.epsilon(0.5)


@pytest.fixture
def common():
    """A folder that everybody may enter: pytest's own are private."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def reachable(folder):
    """Every file and folder below that other users can reach, if they can reach `folder`."""
    found = []
    for here, inner, files in os.walk(folder):
        found += [Path(here, name) for name in files]
        for name in list(inner):
            if not Path(here, name).stat().st_mode & (stat.S_IXGRP | stat.S_IXOTH):
                inner.remove(name)
    return found


# ---- killed in the middle

KILLED = """
    import os, signal, sys, threading, time
    from pathlib import Path
    import duckdb
    import deniable as dp

    os.umask(0)
    honest = duckdb.connect
    small = {"memory_limit": "120MB", "threads": "1"}
    duckdb.connect = lambda config=None: honest(config=(config or {}) | small)
    folder, source, pattern = sys.argv[1:]

    def watch():
        while not any(Path(folder).rglob(pattern)):
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
    columns = {"id": dp.column("text"), "x": dp.bounds(0, 9), "k": dp.column("text")}
    schema = dp.Schema(columns=columns)
    unit = dp.person("id", rows=2)
    s = dp.open(source, unit=unit, budget=dp.epsilon(1), schema=schema, name="data")
    s.sql("SELECT COUNT(DISTINCT k) AS n FROM data").release(spend=dp.epsilon(0.5))
"""
NEXT = """
    from deniable.query.backends.private_files import private_folder
    with private_folder():
        pass
"""


def run(script, folder, *arguments):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder)},
        capture_output=True,
        timeout=300,
        check=False,
    )


def rows_in(folder, kind):
    path = folder / f"data.{kind}"
    made = (
        "SELECT md5(i::VARCHAR) AS id, i % 10 AS x, md5((i + 7)::VARCHAR) AS k FROM range(?) t(i)"
    )
    if kind == "csv":
        path.write_bytes(b"id,x,k\n" + b"".join(b"p%d,1,a\rb\n" % i for i in range(1000)))
    else:
        duckdb.connect().execute(f"COPY ({made}) TO '{path}'", [2_000_000])
    return path


@pytest.mark.skipif(os.name != "posix", reason="kill -9 and modes are of POSIX")
@pytest.mark.parametrize(
    ("kind", "left"), [("parquet", "duckdb_temp_*"), ("csv", "*.csv")], ids=["spill", "copy"]
)
def test_a_killed_process_leaves_nothing_that_others_can_read_and_the_next_removes_it(
    common, tmp_path, kind, left
):
    source = rows_in(tmp_path, kind)
    ended = run(KILLED, common, common, source, left)
    assert ended.returncode == -9, ended.stderr.decode()
    assert list(common.rglob(left))  # rows were on disk
    assert reachable(common) == []
    ended = run(NEXT, common)
    assert ended.returncode == 0, ended.stderr.decode()
    assert list(common.iterdir()) == []


def test_a_folder_in_which_a_process_is_at_work_stays(common, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(common))
    with private_files.private_folder() as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "rows").write_text("p1")
        assert run(NEXT, common).returncode == 0
        assert (folder / "rows").exists()
    assert list(common.iterdir()) == []


def abandoned(common):
    folder = common / f"{private_files.PREFIX}old"
    folder.mkdir()
    (folder / "lock").touch()
    return folder


CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir")


def killed_at(turn):
    """Make, fill and remove a folder in a child that is killed before its n-th change on disk."""
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, -signal.SIGKILL)
        return code != 0
    turns, code = iter(range(turn)), 1

    def watch(event, _):
        if event in CHANGES and next(turns, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        sys.addaudithook(watch)
        with private_files.private_folder() as folder:
            (folder / "a.csv").write_text("p1")
            (folder / "spill").mkdir()
            (folder / "spill" / "rows").write_text("p2")
        code = 0
    finally:
        os._exit(code)  # whatever happens, the child does not go on with the tests


@pytest.mark.skipif(os.name != "posix", reason="kill -9 and forks are of POSIX")
def test_wherever_a_process_is_killed_its_folder_is_removed(common, monkeypatch):
    """At once if rows may be in it; else once it cannot be one that is just being made."""
    monkeypatch.setattr(tempfile, "tempdir", str(common))
    turn = 0
    while killed_at(turn):
        turn += 1
        rows = [*common.rglob("*.csv"), *common.rglob("rows")]
        private_files._remove_abandoned.__wrapped__()
        assert not [each for each in rows if each.exists()]
        for folder in common.iterdir():
            long_ago = folder.stat().st_mtime - 7200
            os.utime(folder, (long_ago, long_ago))
        private_files._remove_abandoned.__wrapped__()
        assert list(common.iterdir()) == []
    assert turn > 6


def test_a_folder_that_is_just_being_made_stays(common, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(common))
    folder = abandoned(common)
    (folder / "lock").rename(folder / "locking")
    private_files._remove_abandoned.__wrapped__()
    assert folder.exists()


def test_an_abandoned_folder_of_somebody_else_stays(common, monkeypatch):
    folder = abandoned(common)
    monkeypatch.setattr(tempfile, "tempdir", str(common))
    with monkeypatch.context() as other:
        other.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
        private_files._remove_abandoned.__wrapped__()
    assert folder.exists()
    private_files._remove_abandoned.__wrapped__()
    assert not folder.exists()


def test_a_link_to_a_folder_is_not_followed(common, monkeypatch, tmp_path):
    (tmp_path / "lock").touch()
    (common / f"{private_files.PREFIX}link").symlink_to(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(common))
    private_files._remove_abandoned.__wrapped__()
    assert (tmp_path / "lock").exists()


def test_a_fork_does_not_remove_the_folder_of_its_parent(common, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(common))
    with private_files.private_folder() as parents:
        with monkeypatch.context() as fork, private_files.private_folder() as shared:
            fork.setattr(os, "getpid", lambda: -1)
        assert parents.exists()
        assert shared.exists()


# ---- connections of the user's


def connection_to(place):
    connection = duckdb.connect(config={"temp_directory": str(place)})
    connection.execute("CREATE TABLE data AS SELECT 'p' AS id, 1 AS x, 'a' AS k")
    return connection


def ibis_table(connection):
    ibis = pytest.importorskip("ibis")
    table = ibis.duckdb.from_connection(connection).table("data")
    return table.filter(table.x > 0)


DOORS = {
    "connection": lambda c: c,
    "relation": lambda c: c.sql("FROM data"),
    "expression": ibis_table,
}
every_door = pytest.mark.parametrize("door", DOORS.values(), ids=list(DOORS))
of_ibis = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


def ask(connection, door):
    whole = door(connection)
    schema = dp.Schema(tables={"data": SCHEMA}) if whole is connection else SCHEMA
    name = None if whole is connection else "data"
    session = dp.open(whole, unit=UNIT, budget=dp.epsilon(1), schema=schema, name=name)
    session.sql("SELECT SUM(x) AS s FROM data").release(spend=SPEND)


@of_ibis
@every_door
def test_a_missing_spill_folder_is_private_before_rows_are_read(common, door, monkeypatch):
    seen, honest = [], DuckDB.run

    def looking(self, statements):
        seen.append(stat.S_IMODE((common / "spill").stat().st_mode))
        return honest(self, statements)

    monkeypatch.setattr(DuckDB, "run", looking)
    connection = connection_to(common / "spill")
    ask(connection, door)
    assert seen == [0o700]
    assert list(common.iterdir()) == []
    set_to = connection.execute("SELECT current_setting('temp_directory')").fetchall()
    assert set_to == [(str(common / "spill"),)]


@of_ibis
@every_door
@pytest.mark.parametrize("mode", [0o755, 0o711, 0o701, 0o710, 0o777])
def test_a_spill_folder_that_others_can_enter_is_refused_before_the_charge(common, door, mode):
    (common / "spill").mkdir()
    (common / "spill").chmod(mode)
    with pytest.raises(NotReady, match="other users") as refused:
        ask(connection_to(common / "spill"), door)
    assert refused.value.cost == "nothing was spent"
    assert f"chmod 700 {common / 'spill'}" in refused.value.fix
    (common / "spill").chmod(0o700)
    ask(connection_to(common / "spill"), door)
    assert list(common.iterdir()) == [common / "spill"]  # the user's own stays


def test_a_folder_inside_a_private_one_is_private(common):
    (common / "mine").mkdir(mode=0o700)
    (common / "mine" / "spill").mkdir(mode=0o755)
    ask(connection_to(common / "mine" / "spill"), DOORS["connection"])


def test_a_session_does_not_remove_the_spill_folder_of_another(common):
    place = common / "spill"
    first, second = (private_files.private_spills(str(place)) for _ in range(2))
    with second:
        with first:
            pass
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert not place.exists()
    first, second = (private_files.private_spills(str(place)) for _ in range(2))
    first.__enter__()
    with second:
        first.__exit__(None, None, None)
        assert stat.S_IMODE(place.stat().st_mode) == 0o700


@pytest.mark.parametrize("made_before", [False, True])
def test_what_a_killed_process_left_in_a_spill_folder_is_removed(common, made_before):
    place = common / "spill"
    if made_before:
        place.mkdir(mode=0o700)
    killed = textwrap.dedent(
        f"""
        import os, signal
        from deniable.query.backends.private_files import private_spills
        with private_spills({str(place)!r}):
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    for _ in range(2):
        ended = subprocess.run([sys.executable, "-c", killed], check=False)
        assert ended.returncode == -signal.SIGKILL
    assert len(list(place.iterdir())) == 1
    with private_files.private_spills(str(place)):
        assert len(list(place.iterdir())) == 1
    assert place.exists() == made_before  # the user's own stays
    assert not made_before or list(place.iterdir()) == []


def test_a_connection_that_does_not_spill_needs_no_folder(common, monkeypatch):
    monkeypatch.chdir(common)
    with private_files.private_spills(""):
        assert list(common.iterdir()) == []
