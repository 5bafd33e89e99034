"""Lines are written for their owner alone, all or none, and never over a database."""

import os
import stat
import threading

import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.export import exported

OLD = '{"budget":{}} of an earlier export'


def test_a_file_is_new_its_owners_and_replaced_as_a_whole(tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_text(OLD)
    path.chmod(0o644)
    exported(path, ["a\n", "b\n"])
    assert path.read_bytes() == b"a\nb\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["ledger.jsonl"]  # noqa: PTH208


def test_if_a_line_cannot_be_had_nothing_changes(tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_text(OLD)

    def lines():
        yield "a\n"
        raise KeyError

    with pytest.raises(KeyError):
        exported(path, lines())
    assert path.read_text() == OLD
    assert os.listdir(tmp_path) == ["ledger.jsonl"]  # noqa: PTH208


@pytest.mark.parametrize("beside", ["-journal", "-wal", "-shm"])
def test_a_database_and_what_is_beside_it_are_refused(tmp_path, beside):
    path = tmp_path / "held.db"
    path.write_bytes(b"SQLite format 3\0 and more")
    for name in (path, tmp_path / f"held.db{beside}"):
        with pytest.raises(dp.BadParameter, match="may be a database"):
            exported(name, ["a\n"])
    assert path.read_bytes() == b"SQLite format 3\0 and more"


def test_only_nothing_or_an_earlier_export_is_written_over(tmp_path):
    path = tmp_path / "there"
    for kept in (b"DUCK", b"a,b\n1,2\n", b"\0{", b"[{}]", b'{"cells":[]}', b"{"):
        path.write_bytes(kept)
        with pytest.raises(dp.BadParameter, match="not an export of a ledger"):
            exported(path, ["a\n"])
        assert path.read_bytes() == kept
    for gone in (b"", b'{"budget":{}}\n'):
        path.write_bytes(gone)
        exported(path, ["a\n"])
        assert path.read_text() == "a\n"


def test_the_ledgers_own_file_is_refused_without_being_opened(tmp_path, monkeypatch):
    own = tmp_path / "ledger.db"
    own.write_text(OLD)
    (tmp_path / "link").symlink_to(own)
    monkeypatch.setattr("pathlib.Path.open", lambda *_: pytest.fail("opened"))
    for name in ("ledger.db", "link"):
        with pytest.raises(dp.BadParameter, match="may be a database"):
            exported(tmp_path / name, ["a\n"], own=own)


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_text()), daemon=True)
    reader.start()
    exported(path, ["a\n", "b\n"])
    reader.join()
    assert read == ["a\nb\n"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_link_is_followed(tmp_path):
    held, link = tmp_path / "held", tmp_path / "link"
    held.write_text(OLD)
    link.symlink_to(held)
    exported(link, ["a\n"])
    assert link.is_symlink()
    assert held.read_text() == "a\n"


def test_an_export_of_any_ledger_is_replaced_by_another(tmp_path):
    path = tmp_path / "ledger.jsonl"
    for budget in (dp.epsilon(1.0), dp.epsilon(1.0, delta=1e-9), dp.rho(0.5), dp.mu(1.0)):
        ledger = open_ledger(budget=budget, unit=dp.rows())
        ledger.to_jsonl(path)
        assert path.read_text() == ledger.to_jsonl()
