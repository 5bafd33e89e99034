"""Collections: durable, each report once, bound to one protocol and one name; test vectors."""

import shutil
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

import deniable as dp
from deniable import local
from deniable.local import collection
from deniable.local.collection import Collection, submission


@pytest.fixture
def p():
    return local.Direct(categories=["tea", "coffee", "water"], epsilon=2.0)


@pytest.fixture
def drinks(p, tmp_path):
    return Collection(p, path=tmp_path / "drinks.db", name="drinks")


def test_reports_are_stored_once_and_survive_a_restart(p, drinks, tmp_path):
    sent = [drinks.submission(p.encode(x)) for x in ["tea"] * 30 + ["water"] * 10]
    assert {drinks.accept(each).status for each in sent} == {"stored"}
    assert {drinks.accept(each).status for each in sent} == {"duplicate"}
    again = Collection(p, path=tmp_path / "drinks.db", name="drinks")
    assert len(again) == 40
    found = again.aggregate()
    assert found.people == 40
    assert (found.counts == drinks.aggregate().counts).all()
    direct = p.server().add([each[27:] for each in sent]).estimate()
    assert (found.counts == direct.counts).all()


def test_a_ticket_with_another_report_is_a_replay(p, drinks):
    ticket = collection.new_ticket()
    first, second = b"", b""
    while first == second:
        first, second = p.encode("tea"), p.encode("coffee")
    drinks.accept(submission(p, "drinks", first, ticket=ticket))
    with pytest.raises(dp.BadParameter, match="used before"):
        drinks.accept(submission(p, "drinks", second, ticket=ticket))
    assert len(drinks) == 1


def test_submissions_for_another_collection_or_protocol_are_refused(p, drinks):
    other = local.Direct(categories=["tea", "coffee", "water"], epsilon=2.5)
    ticket = collection.new_ticket()
    bad = [
        submission(p, "drinks 2027", p.encode("tea"), ticket=ticket),
        submission(other, "drinks", other.encode("tea"), ticket=ticket),
        submission(p, "drinks", other.encode("tea"), ticket=ticket),
    ]
    good = submission(p, "drinks", p.encode("tea"), ticket=ticket)
    bad += [good[:-1] + b"\x07", good[:-1], good + b"\0", b"", b"XX" + good[2:], "text", None]
    for each in bad:
        with pytest.raises(dp.BadParameter):
            drinks.accept(each)
    assert len(drinks) == 0


def test_only_issued_tickets_count_and_only_once(p, tmp_path):
    invited = Collection(p, path=tmp_path / "i.db", name="drinks", tickets="issued")
    ticket, _ = invited.issue(2)
    report = p.encode("tea")
    assert invited.accept(submission(p, "drinks", report, ticket=ticket)).status == "stored"
    with pytest.raises(dp.BadParameter, match="not issued"):
        invited.accept(submission(p, "drinks", report, ticket=collection.new_ticket()))
    assert ticket not in (tmp_path / "i.db").read_bytes()
    with pytest.raises(dp.BadParameter, match="any ticket"):
        Collection(p, path=tmp_path / "o.db", name="drinks").issue(1)


def test_the_file_belongs_to_one_collection_and_one_owner(p, drinks, tmp_path):
    path = tmp_path / "drinks.db"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for other in (
        {"name": "others"},
        {"name": "drinks", "tickets": "issued"},
    ):
        with pytest.raises(dp.NotReady, match="another"):
            Collection(p, path=path, **other)
    wrong = local.Direct(categories=3, epsilon=2.0)
    with pytest.raises(dp.NotReady):
        Collection(wrong, path=path, name="drinks")
    (tmp_path / "text").write_text("not a database, and long enough to be looked at")
    with pytest.raises(dp.NotReady):
        Collection(p, path=tmp_path / "text", name="drinks")


PROGRAM = """
import sys
from deniable import local
from deniable.local.collection import Collection
p = local.Direct(categories=["tea", "coffee", "water"], epsilon=2.0)
drinks = Collection(p, path=sys.argv[1], name="drinks")
print(sum(drinks.accept(bytes.fromhex(x)).status == "stored" for x in sys.stdin.read().split()))
"""


def test_two_processes_store_each_submission_once(p, drinks, tmp_path):
    sent = " ".join(drinks.submission(p.encode("tea")).hex() for _ in range(15))
    both = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path / "drinks.db")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    with ThreadPoolExecutor(2) as pool:
        stored = list(pool.map(lambda each: int(each.communicate(sent)[0]), both))
    assert [each.returncode for each in both] == [0, 0]
    assert sum(stored) == len(drinks) == 15


def test_any_way_to_report_can_be_collected(tmp_path):
    p = local.Mean(epsilon=1.0, low=0, high=10)
    ages = Collection(p, path=tmp_path / "m.db", name="ages")
    for _ in range(20):
        ages.accept(ages.submission(p.encode(4.0)))
    assert ages.aggregate().people == 20


# ---- the file under a collection


@pytest.mark.parametrize("other", [{}, {"name": "b"}, {"tickets": "issued"}, {"epsilon": 1.0}])
def test_a_collection_whose_file_was_replaced_leaves_the_other_alone(other, tmp_path):
    def opened(*, epsilon=2.0, name="a", tickets="open"):
        p = local.Direct(categories=4, epsilon=epsilon)
        return Collection(p, path=tmp_path / "x.db", name=name, tickets=tickets)

    first = opened()
    sent = first.submission(first.protocol.encode(1))
    (tmp_path / "x.db").unlink()
    uses = [lambda: first.accept(sent), first.aggregate, lambda: len(first)]
    for make, says in ((lambda: None, "cannot be used"), ((tmp_path / "x.db").touch, "replaced")):
        make()
        for use in uses:
            with pytest.raises(dp.NotReady, match=says):
                use()
    (tmp_path / "x.db").unlink()
    second = opened(**other)
    for use in uses:
        with pytest.raises(dp.NotReady, match="replaced"):
            use()
    assert len(second) == 0


def test_reports_are_stored_while_others_are_counted(drinks, p, monkeypatch):
    """The server that counts is called outside any transaction."""
    for _ in range(5):
        drinks.accept(drinks.submission(p.encode("tea")))
    monkeypatch.setattr(collection, "_AT_ONCE", 2)
    count, came = local.Direct.count, []

    def slow(self, tally, payloads):
        came.append(drinks.accept(drinks.submission(p.encode("tea"))).status)
        count(self, tally, payloads)

    monkeypatch.setattr(local.Direct, "count", slow)
    found = drinks.aggregate()
    assert set(came) == {"stored"}
    assert 5 <= found.people <= len(drinks) == 5 + len(came)


@pytest.mark.parametrize("harm", ["zeroblob(length(report))", "x'01'", "x''"])
def test_a_stored_report_that_is_damaged_is_named_so(harm, drinks, p, tmp_path):
    drinks.accept(drinks.submission(p.encode("tea")))
    with closing(sqlite3.connect(tmp_path / "drinks.db", isolation_level=None)) as file:
        file.execute(f"UPDATE reports SET report = {harm}")
    with pytest.raises(dp.NotReady, match="damaged"):
        drinks.aggregate()


def test_a_lock_is_a_reason_to_try_again(drinks, p, tmp_path, monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k | {"timeout": 0.01}))
    other = connect(tmp_path / "drinks.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(dp.NotReady, match="try again"):
            drinks.accept(drinks.submission(p.encode("tea")))
    finally:
        other.close()


def test_after_vacuum_a_file_does_not_depend_on_the_order_of_arrival(drinks, p, tmp_path):
    sent = [drinks.submission(p.encode("tea")) for _ in range(60)]
    left = []
    for name, order in (("one", sent), ("two", sent[::-1])):
        shutil.copy(tmp_path / "drinks.db", tmp_path / name)
        copy = Collection(p, path=tmp_path / name, name="drinks")
        for each in order:
            copy.accept(each)
        before = (tmp_path / name).read_bytes()
        file = sqlite3.connect(tmp_path / name)
        file.execute("VACUUM")
        file.close()
        left.append((before[4096:], (tmp_path / name).read_bytes()[4096:]))
    (first, vacuumed), (second, again) = left
    assert first != second
    assert vacuumed == again


@pytest.mark.parametrize("name", [None, 7, b"drinks", "\ud800"])
def test_the_name_of_a_collection_is_a_text(name, p, tmp_path):
    with pytest.raises(dp.BadParameter):
        Collection(p, path=tmp_path / "x.db", name=name)
    assert not (tmp_path / "x.db").exists()


# ---- the wire format, by example


def test_vectors_of_the_wire_format(p):
    """Those of docs/reference/local-wire-format.md, by which another client can be tested."""
    assert p.identity.hex() == VECTORS["direct"]
    report = b"\x01" + p.fingerprint + b"\x02"
    sent = submission(p, "drinks", report, ticket=bytes(range(16)))
    assert sent.hex() == VECTORS["submission"]
    assert p.server().add(report).estimate().supports.tolist() == [0, 0, 1]
    hadamard = local.Hadamard(categories=1000, epsilon=1.0)
    assert hadamard.identity.hex() == VECTORS["hadamard"]
    code = 0b1010
    one = b"\x01" + hadamard.fingerprint + code.to_bytes(2, "little")
    supported = hadamard.server().add(one).estimate().supports
    assert (supported == [1 - (x + 1 & code).bit_count() % 2 for x in range(1000)]).all()
    projective = local.Projective(categories=10, epsilon=1.0)
    assert projective.geometry == (3, 3)
    one = b"\x01" + projective.fingerprint + b"\x04"
    assert projective.server().add(one).estimate().supports.tolist() == VECTORS["projective"]


VECTORS = {
    "direct": "614ff726a555074e7f45247456d4d15657408938b4a82b4fd6ad80c33f43acf1",
    "submission": "44430176ff797d0cfbc678000102030405060708090a0b0c0d0e0f01614ff72602",
    "hadamard": "4d047835a07d65fab450cd07abb0f020311f3ec4284bcb4f5ea09d415a0c1a85",
    "projective": [1, 1, 1, 1, 0, 0, 0, 0, 0, 0],
}
