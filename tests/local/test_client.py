"""Clients that remember, over restarts, crashes and processes; repeated reports."""

import math
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from tests import goodness
from tests.local.enumerating import law, worst_ratio

import deniable as dp
from deniable import local
from deniable.local.client import _checksum
from deniable.sampling.exact import exp_bounds


@pytest.mark.parametrize("kind", ["direct", "hadamard", "projective"])
@pytest.mark.parametrize("first", [0.2, 1.0, 1.9])
def test_one_report_costs_first_exactly_and_no_more(kind, first, monkeypatch):
    p = local.Repeated(categories=3, epsilon=2.0, first=first, kind=kind)
    b, s, _ = p.design
    inside = p.permanent.randomizer.chance
    blind = (1 - p.kept) / b
    ratio = (p.kept * inside / s + blind) / (p.kept * (1 - inside) / (b - s) + blind)
    assert ratio <= Fraction(exp_bounds(Fraction(first), 200)[1], 1 << 200)
    assert math.log(ratio) == pytest.approx(first, rel=1e-9)


def test_the_law_of_a_repeated_report_is_the_mixture(monkeypatch):
    p = local.Repeated(categories=3, epsilon=2.0, first=1.0, kind="direct")

    def again():
        return p.again(np.array([[1]], dtype=np.uint8)).tobytes()

    found = law(monkeypatch, again)
    assert found == {bytes([y]): (1 - p.kept) / 3 + (p.kept if y == 1 else 0) for y in range(3)}


@pytest.mark.parametrize("kind", ["direct", "hadamard", "projective"])
@pytest.mark.parametrize("first", [0.1, 1.999999])
def test_reports_of_one_permanent_report_cost_a_lifetime_together(kind, first, monkeypatch):
    p = local.Repeated(categories=3, epsilon=2.0, first=first, kind=kind)

    def two(value):
        kept = p.permanent.draw(p.numbered([value]))
        return p.again(kept).tobytes(), p.again(kept).tobytes()

    laws = [law(monkeypatch, lambda value=value: two(value)) for value in range(3)]
    assert worst_ratio(laws) <= Fraction(exp_bounds(Fraction(2), 200)[1], 1 << 200)
    if kind == "direct":  # without a permanent report they add up
        each = [law(monkeypatch, lambda v=v: (p.encode(v), p.encode(v))) for v in (0, 1)]
        assert worst_ratio(each) == pytest.approx(math.exp(2 * first), rel=1e-6)


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["direct", "hadamard", "projective"])
def test_estimates_from_repeated_reports_cover(kind):
    p = local.Repeated(categories=6, epsilon=2.0, first=1.2, kind=kind)
    counts = np.array([900, 80, 20, 0, 0, 0])
    hits = np.zeros(6, dtype=int)
    for _ in range(150):
        found = p.simulate(counts)
        hits += np.abs(found.counts - counts) <= found.error
    for each in hits:
        assert goodness.covered(int(each), 150, 0.95) > 1e-9


@pytest.mark.statistical
def test_averaging_a_thousand_reports_finds_the_value_as_rarely_as_a_lifetime_allows(tmp_path):
    """Who sees everything sees the permanent report: right with probability e^ε/(e^ε + k − 1).

    The count of 30 clients is above its 1e-9 tail once in 1e9 runs. Half of the reports are sent
    after the client was restarted.
    """
    k, value, clients = 16, 5, 30
    p = local.Repeated(categories=k, epsilon=1.0, first=0.5, kind="direct")
    found = 0
    for i in range(clients):
        path = tmp_path / f"{i}.db"
        seen = Counter()
        for _ in range(2):
            client = local.Client(p, memory=path)
            seen.update(client.encode(value)[5] for _ in range(500))
        found += seen.most_common(1)[0][0] == value
    allowed = math.e / (math.e + k - 1)
    assert goodness.covered(clients - found, clients, 1 - allowed) > 1e-9


@pytest.mark.statistical
def test_without_a_memory_averaging_finds_the_value():
    """The test above can fail: a client that draws afresh is found out every time."""
    p = local.Repeated(categories=16, epsilon=1.0, first=0.5, kind="direct")
    found = 0
    for _ in range(20):
        reports = p.encode_all(np.full(20_000, 5))[:, 5]
        found += np.bincount(reports).argmax() == 5
    assert goodness.covered(20 - found, 20, 1 - math.e / (math.e + 15)) < 1e-9


def test_a_plain_protocol_repeats_the_same_report_for_ever(tmp_path):
    p = local.Projective(categories=1000, epsilon=1.0)
    reports = {local.Client(p, memory=tmp_path / "m").encode(7) for _ in range(5)}
    client = local.Client(p, memory=tmp_path / "m")
    reports |= {client.encode(x) for x in (7, 8, 999)}  # also when the value has changed
    assert len(reports) == 1
    assert p.server().add(reports).people == 1


def test_a_lifetime_is_enforced_over_periods_protocols_and_restarts(tmp_path):
    p, q = (local.Hadamard(categories=k, epsilon=1.0) for k in (10, 11))
    path = tmp_path / "m"
    client = local.Client(p, memory=path, lifetime=3.0)
    client.encode(1, period="2026")
    client.encode(2, period="2027")
    assert client.spent == dp.epsilon(2.0)
    local.Client(q, memory=path).encode(3, period="2026")
    again = local.Client(p, memory=path)
    assert again.lifetime == dp.epsilon(3.0) == again.spent
    with pytest.raises(dp.BudgetExceeded, match="lifetime"):
        again.encode(1, period="2028")
    assert again.encode(5, period="2026") == client.encode(1, period="2026")
    with pytest.raises(dp.NotReady, match="another lifetime"):
        local.Client(p, memory=path, lifetime=9.0)
    with pytest.raises(dp.BudgetExceeded):
        local.Client(p, memory=tmp_path / "other", lifetime=0.5)


def test_whether_there_is_budget_left_does_not_depend_on_values(tmp_path):
    p = local.Direct(categories=4, epsilon=1.0)
    client = local.Client(p, memory=tmp_path / "m")
    for value in (0, 1, 2, 3, 0, 3):  # always a report, and always the same
        client.encode(value)
    assert client.spent == dp.epsilon(1.0)


def test_the_memory_is_its_owners_alone_and_does_not_hold_the_value(tmp_path):
    p = local.Direct(categories=[f"secret {i}" for i in range(9)], epsilon=1.0)
    path = tmp_path / "m"
    old = os.umask(0)
    try:
        local.Client(p, memory=path).encode("secret 3")
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"secret" not in path.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == ["m"]
    path.chmod(0o644)
    with pytest.raises(dp.NotReady, match="only its owner"):
        local.Client(p, memory=path)


def test_a_file_that_was_replaced_or_is_another_is_refused(tmp_path):
    p = local.Direct(categories=4, epsilon=1.0)
    path = tmp_path / "m"
    client = local.Client(p, memory=path)
    path.unlink()
    with pytest.raises(dp.NotReady):
        client.encode(1)
    local.Client(p, memory=path)
    with pytest.raises(dp.NotReady, match="replaced"):
        client.encode(1)
    path.unlink()
    path.write_bytes(b"SQLite format 3 it is not")
    path.chmod(0o600)
    with pytest.raises(dp.NotReady):
        local.Client(p, memory=path)
    with pytest.raises(dp.NotReady):
        local.Client(p, memory=tmp_path / "no" / "folder")


PROGRAM = """
import os, signal, sys
from deniable import local
p = local.Projective(categories=10**6, epsilon=1.0)
client = local.Client(p, memory=sys.argv[1])
print(client.encode(int(sys.argv[2])).hex(), flush=True)
if sys.argv[3] == "crash":
    os.kill(os.getpid(), signal.SIGKILL)
"""


def run(path, value, how):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(path), str(value), how],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_crash_and_two_processes_at_once_leave_one_permanent_report(tmp_path):
    path = tmp_path / "m"
    crashed = run(path, 1, "crash")
    first = crashed.communicate()[0].strip()
    assert crashed.returncode == -signal.SIGKILL
    both = [run(tmp_path / "n", value, "end") for value in (2, 3)]
    assert len({each.communicate()[0].strip() for each in both}) == 1
    p = local.Projective(categories=10**6, epsilon=1.0)
    assert local.Client(p, memory=path).encode(9).hex() == first


def test_a_period_is_a_name_and_a_damaged_memory_is_not_used(tmp_path):
    p = local.Direct(categories=4, epsilon=1.0)
    client = local.Client(p, memory=tmp_path / "m")
    with pytest.raises(dp.BadParameter, match="public name"):
        client.encode(1, period=2026)
    client.encode(1)
    with sqlite3.connect(tmp_path / "m") as file:
        file.execute("UPDATE permanent SET payload = x'0102'")
    file.close()
    with pytest.raises(dp.NotReady):
        local.Client(p, memory=tmp_path / "m").encode(1)


@pytest.mark.parametrize("bad", [{"first": 1.0}, {"first": 0}, {"first": 0.5, "kind": "unary"}])
def test_bad_parameters_are_refused(bad):
    with pytest.raises(dp.BadParameter):
        local.Repeated(categories=4, epsilon=1.0, **bad)


DOMAINS = [
    (local.Repeated(categories=16, epsilon=2.0, first=1.0), 3, (16, -1, None, "x", 1.5)),
    (local.Mean(epsilon=1.0, low=0, high=1), 0.3, (float("nan"), None, "x")),
    (local.Attributes(categories={"a": 2}, epsilon=1.0), {"a": 1}, ({"a": 7}, {}, None)),
]


@pytest.mark.parametrize(("p", "good", "bad"), DOMAINS, ids=lambda x: getattr(x, "name", ""))
def test_a_client_reports_whatever_the_value_becomes(p, good, bad, tmp_path):
    first = local.Client(p, memory=tmp_path / "m")
    first.encode(good)
    for client in (first, local.Client(p, memory=tmp_path / "m")):
        for value in bad:
            assert len(client.encode(value)) == p.length
    for value in bad:  # where a period begins: an error that costs nothing, or the default
        new = local.Client(p, memory=tmp_path / "n", lifetime=p.epsilon)
        with pytest.raises(dp.BadParameter):
            new.encode(value)
        assert new.spent == dp.epsilon(0.0)
    other = local.Client(p, memory=tmp_path / "n", default=good)
    assert len(other.encode(bad[0])) == p.length
    with pytest.raises(dp.BadParameter):
        local.Client(p, memory=tmp_path / "o", default="nonsense")


DAMAGE = [
    "UPDATE permanent SET epsilon = -epsilon",
    "UPDATE permanent SET epsilon = epsilon / 2",
    "UPDATE permanent SET epsilon = 'nan'",
    "UPDATE permanent SET period = 'x'",
    "UPDATE permanent SET payload = x'ff'",
    "UPDATE permanent SET payload = iif(payload = x'00', x'01', x'00')",
    "UPDATE permanent SET payload = 'x'",
    "UPDATE permanent SET protocol = x'00'",
    "DELETE FROM permanent",
    "DELETE FROM memory",
    "UPDATE memory SET lifetime = 9e999",
    "UPDATE memory SET lifetime = 7",
    "UPDATE memory SET drawn = 0",
    "INSERT INTO memory SELECT * FROM memory",
]


@pytest.mark.parametrize("change", DAMAGE)
def test_a_memory_that_was_changed_is_not_used(change, tmp_path):
    p = local.Repeated(categories=16, epsilon=2.0, first=1.0)
    client = local.Client(p, memory=tmp_path / "m", lifetime=4.0)
    reports = [client.encode(3, period="1") for _ in range(50)]
    assert len(set(reports)) > 1
    with sqlite3.connect(tmp_path / "m") as file:
        file.execute(change)
    file.close()
    for use in (
        lambda: client.spent,
        lambda: client.encode(3, period="2"),
        lambda: local.Client(p, memory=tmp_path / "m"),
    ):
        with pytest.raises(dp.NotReady) as caught:
            use()
        assert "another path" not in str(caught.value)  # that would start a second lifetime


def test_a_permanent_report_is_drawn_at_the_epsilon_of_a_lifetime(tmp_path):
    """It is the value but for once in e⁴⁰; drawn at `first` it would be so by one chance in 4."""
    p = local.Repeated(categories=4, epsilon=40.0, first=1e-3, kind="direct")
    client = local.Client(p, memory=tmp_path / "m", lifetime=40.0 * 24)
    drawn = [client._permanent(turn % 4, str(turn)) for turn in range(24)]
    assert drawn == [bytes([turn % 4]) for turn in range(24)]


@pytest.mark.parametrize("amount", [0.0, -2.0, math.inf, "much"])
@pytest.mark.parametrize("where", ["lifetime", "epsilon"])
def test_an_amount_that_nobody_can_spend_is_not_believed_even_with_its_checksum(
    amount, where, tmp_path
):
    client = local.Client(local.Direct(categories=4, epsilon=2.0), memory=tmp_path / "m")
    client.encode(3)
    with sqlite3.connect(tmp_path / "m") as file:
        identity, lifetime, drawn, _ = file.execute("SELECT * FROM memory").fetchone()
        protocol, period, epsilon, payload, _ = file.execute("SELECT * FROM permanent").fetchone()
        if where == "lifetime":
            given = (amount, _checksum(identity, amount, drawn))
            file.execute("UPDATE memory SET lifetime = ?, checksum = ?", given)
        else:
            given = (amount, _checksum(identity, protocol, period, amount, payload))
            file.execute("UPDATE permanent SET epsilon = ?, checksum = ?", given)
    file.close()
    with pytest.raises(dp.NotReady, match="damaged"):
        local.Client(client.protocol, memory=tmp_path / "m")
    assert (lifetime, epsilon) == (2.0, 2.0)


def test_a_memory_with_one_damaged_byte_says_the_same_or_is_not_used(tmp_path):
    """The highest bit of every third byte that is not 0, in texts and in what SQLite keeps."""
    p = local.Direct(categories=1000, epsilon=1.0)
    report = local.Client(p, memory=tmp_path / "m").encode(3, period="naïve")
    whole, harmed, refused = (tmp_path / "m").read_bytes(), tmp_path / "n", 0
    for place in [i for i, byte in enumerate(whole) if byte][::3]:
        data = bytearray(whole)
        data[place] ^= 0x80
        harmed.write_bytes(data)
        harmed.chmod(0o600)
        try:
            assert local.Client(p, memory=harmed).encode(3, period="naïve") == report
        except dp.NotReady:
            refused += 1
    assert refused > 100


def test_a_period_is_a_text_that_can_be_stored(tmp_path):
    p = local.Direct(categories=4, epsilon=1.0)
    client = local.Client(p, memory=tmp_path / "m")
    with pytest.raises(dp.BadParameter):
        client.encode(1, period="\ud800")
    assert len(client.encode(1, period="naïve 2026 😀")) == p.length


def test_beyond_the_lifetime_the_value_is_not_even_read(tmp_path, monkeypatch):
    """Whether a report is refused is decided by public facts, before anything is drawn."""
    p = local.Direct(categories=4, epsilon=1.0)
    client = local.Client(p, memory=tmp_path / "m", lifetime=1.0)
    client.encode(1, period="a")
    monkeypatch.setattr(type(client), "_numbered", lambda *_: pytest.fail("the value was read"))
    monkeypatch.setattr(type(client), "_drawn_once", lambda *_: pytest.fail("something was drawn"))
    with pytest.raises(dp.BudgetExceeded):
        client.encode(2, period="b")
