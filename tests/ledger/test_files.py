"""Which file is the ledger: its permissions, its names, and what becomes of it while it is open."""

import os
import shutil
import stat
import traceback
from pathlib import Path

import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.stores.store import watching
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import using

ROWS = dp.rows()
TENTH = dp.Laplace(scale=10.0)
NEW = {"budget": dp.epsilon(1.0), "unit": ROWS}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_every_file_of_a_ledger_is_its_owners_alone(path, umask):
    """Also the journal, which exists only while a line is written, and an exported copy."""
    seen = {}

    def look(_):
        seen.update(
            {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
        )

    before = os.umask(umask)
    try:
        with watching(look), open_ledger(path, **NEW) as ledger:
            look("opened")
            ledger.charge(TENTH, unit=ROWS)
            ledger.to_jsonl(path.with_name("ledger.jsonl"))
            look("exported")
    finally:
        os.umask(before)
    assert seen == dict.fromkeys(["ledger.db", "ledger.db-journal", "ledger.jsonl"], 0o600)


def linked(path):
    link = path.with_name("link.jsonl")
    link.symlink_to(path)
    return link


def other(path):
    open_ledger(path.with_name("other.db"), **NEW).close()
    return path.with_name("other.db")


TARGETS = {
    "itself": lambda path: path,
    "itself, in other words": lambda path: path.parent / ".." / path.parent.name / path.name,
    "a symbolic link to it": linked,
    "its journal": lambda path: path.with_name(path.name + "-journal"),
    "another ledger": other,
}


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("target", TARGETS)
def test_no_export_is_written_over_a_ledger(path, target, kind):
    with open_ledger(path, **NEW) as ledger:
        ledger.charge(TENTH, unit=ROWS)
        where = TARGETS[target](path)
        before = {each: each.read_bytes() for each in path.parent.iterdir()}
        with pytest.raises(dp.BadParameter, match="may be a database"):
            ledger.to_jsonl(kind(where))
        assert {each: each.read_bytes() for each in path.parent.iterdir()} == before
        ledger.verify()


def test_an_export_that_fails_leaves_the_last_one(path, monkeypatch):
    target = path.with_name("ledger.jsonl")
    with open_ledger(path, **NEW) as ledger:
        ledger.to_jsonl(target)
        before = target.read_text()
        ledger.charge(TENTH, unit=ROWS)
        with monkeypatch.context() as patch:
            patch.setattr("deniable.ledger.books.intact", lambda *_, **__: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                ledger.to_jsonl(target)
        assert target.read_text() == before
        assert sorted(each.name for each in path.parent.iterdir()) == ["ledger.db", "ledger.jsonl"]
        ledger.to_jsonl(target)
        assert target.read_text() == ledger.to_jsonl() != before


def test_a_ledger_is_never_readable_by_others_not_even_for_a_moment(path, monkeypatch):
    """The file has its permissions from the call that makes it."""
    made = []
    real = os.open

    def watch(file, flags, mode=0o777, **more):
        if flags & os.O_CREAT:
            made.append((Path(file).name, mode))
        return real(file, flags, mode, **more)

    monkeypatch.setattr(os, "open", watch)
    open_ledger(path, **NEW).close()
    assert made == [("ledger.db", 0o600)]


def test_permissions_that_someone_chose_are_kept(path):
    open_ledger(path, **NEW).close()
    path.chmod(0o660)
    with open_ledger(path, **NEW) as ledger:
        ledger.charge(TENTH, unit=ROWS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o660


def test_a_relative_path_means_the_folder_in_which_it_was_opened(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with open_ledger("ledger.db", **NEW) as ledger:
        monkeypatch.chdir("elsewhere")
        ledger.charge(TENTH, unit=ROWS)
        ledger.close()  # so that the next use opens the file again
        ledger.charge(TENTH, unit=ROWS)
    assert list(Path().iterdir()) == []
    assert open_ledger(tmp_path / "ledger.db").head().sequence == 2


def deleted(path):
    path.unlink()


def moved(path):
    path.rename(path.with_name("moved.db"))


def replaced(path):
    copy = shutil.copy(path, path.with_name("copy.db"))
    Path(copy).replace(path)


def made_anew(path):
    path.rename(path.with_name("moved.db"))
    open_ledger(path, **NEW).close()


@pytest.mark.parametrize("happened", [deleted, moved, replaced, made_anew])
@pytest.mark.parametrize("closed", [False, True])
def test_a_ledger_whose_file_is_gone_charges_nothing_and_says_so(path, happened, closed):
    ledger = open_ledger(path, **NEW)
    ledger.charge(TENTH, unit=ROWS)
    happened(path)
    if closed:
        ledger.close()
    there = path.exists()
    for _ in range(2):
        with pytest.raises(dp.LedgerFailure, match="since it was opened") as failed:
            ledger.charge(TENTH, unit=ROWS)
        assert "put the file back" in failed.value.fix
        assert failed.value.cost.startswith("nothing was spent")
    assert path.exists() == there, "no new file is started in its place"
    ledger.close()


def test_a_symbolic_link_is_another_name_of_the_same_ledger(path):
    link = path.with_name("link.db")
    link.symlink_to(path)
    with open_ledger(link, **NEW) as one, open_ledger(path) as other:
        one.charge(dp.Laplace(scale=2.0), unit=ROWS)
        other.charge(dp.Laplace(scale=2.0), unit=ROWS)
        with pytest.raises(dp.BudgetExceeded):
            one.charge(TENTH, unit=ROWS)
        assert one.verify().sequence == other.verify().sequence == 2


def test_a_second_hard_link_is_refused(path):
    with open_ledger(path, **NEW) as ledger:
        os.link(path, path.with_name("second.db"))
        with pytest.raises(dp.LedgerFailure, match="2 names"):
            ledger.charge(TENTH, unit=ROWS)
        with pytest.raises(dp.LedgerFailure, match="2 names"):
            open_ledger(path.with_name("second.db"))
        path.with_name("second.db").unlink()
        ledger.charge(TENTH, unit=ROWS)


@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_predictable_noise_is_kept_out_of_ledgers_that_last(fresh):
    ledger = fresh()
    with using(SeededSource(7)), pytest.raises(dp.SeedOutsideTests):
        ledger.charge(TENTH, unit=ROWS)
    assert len(ledger.entries) == 0


@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_the_secret_of_a_ledger_that_lasts_is_not_predictable(fresh):
    with using(SeededSource(7)), pytest.raises(dp.SeedOutsideTests):
        fresh()


# ---- addresses

SECRET = "hunter2"
ADDRESSES = [
    "host=db.example password=hunter2",
    "  host = db.example password = hunter2",
    "password=hunter2 host=db.example",
    "service=survey password=hunter2",
    "dbname=x;password=hunter2",
    "Server=db;Database=x;User Id=ann;Pwd=hunter2",
    "postgresql+psycopg://ann:hunter2@db/x",
    "POSTGRESQL+PSYCOPG://ann:hunter2@db/x",
    "postgres:ann:hunter2@db/x",
    "postgresql:/ann:hunter2@db/x",
    "mysql://ann:hunter2@db/x",
    "MySQL://ann:hunter2@db/x",
    "sqlite:///hunter2.db",
    "file:hunter2.db?mode=rwc",
    "jdbc:postgresql://db/x?password=hunter2",
    "ann:hunter2@db.example/x",
    Path("postgresql://ann:hunter2@db/x"),
    "a:hunter2@db:5432/x",
    "//ann:hunter2@db/x",
    "postgresql//ann:hunter2@db/x",
    "postgresql ://ann:hunter2@db/x",
    *(f"{a}postgresql://ann:hunter2@db/x{b}" for a, b in ("''", '""', "“”", "<>", "()", "\t ")),
    "ledger at ann:hunter2@db",
    "line\nann:p\nhunter2@db",
    # understood as an address, but not as its writer meant it
    "postgresql://ann:hunter2@rest@db/x",
    "postgresql://ann:p/hunter2@db/x",
    "postgresql://ann:p#hunter2@db/x",
    "postgresql://ann:hunter2@db:port/x",
    "postgresql://ann:%hunter2@db/x",
    "postgresql://ann:hunter2@db/x?nonsense=1",
]


@pytest.mark.parametrize("address", ADDRESSES, ids=str)
def test_an_address_that_is_not_understood_is_refused_and_not_repeated(
    address, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dp.BadParameter) as refused:
        open_ledger(address, **NEW)
    shown = "".join(traceback.format_exception(refused.value)) + str(refused.value.to_json())
    assert SECRET not in shown
    assert "rest@db" not in shown
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    ["ledger.db", "./a=b.db", "./x:y.db", "./x:y@z.db", "user=ann/ledger.db", "a b.db", "ünï.db"],
)
def test_a_path_is_a_path(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name == "user=ann/ledger.db":
        name = str(tmp_path / name)
        (tmp_path / "user=ann").mkdir()
    open_ledger(name, **NEW).close()
    assert Path(name).exists()


def odd(kind, folder):
    """A path that names no file that could be a ledger."""
    path = folder / kind
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        (path / "inner").mkdir(parents=True)
    elif kind == "loop":
        path.symlink_to(path)
    names = {"null": folder / "a\0b", "long": folder / ("x" * 300), "surrogate": folder / "\udc80"}
    return {"device": Path("/dev/null"), **names}.get(kind, path)


ODD = ("fifo", "folder", "loop", "null", "long", "surrogate", "device")


@pytest.mark.parametrize("new", [NEW, {}], ids=["new", "old"])
@pytest.mark.parametrize("kind", ODD)
def test_a_path_that_cannot_be_a_ledger_is_refused_in_our_words(kind, new, tmp_path):
    path = odd(kind, tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(dp.LedgerFailure) as refused:
        open_ledger(path, **new)
    assert "hard link" not in str(refused.value)
    assert sorted(tmp_path.iterdir()) == before


def test_the_scheme_of_an_address_may_be_in_capitals(server):
    address = "PostgreSQL" + server.removeprefix("postgresql")
    name = f"{address}#capitals_{os.getpid()}"
    with open_ledger(name, **NEW) as ledger:
        assert ledger.where.startswith("postgresql://")


def test_a_server_that_refuses_does_not_repeat_the_password():
    with pytest.raises(dp.LedgerFailure) as refused:
        open_ledger(f"postgresql://ann:{SECRET}@127.0.0.1:9/none", **NEW, patience=2)
    assert SECRET not in "".join(traceback.format_exception(refused.value))
