"""Tests alarm as often as they say: nothing is read off an approximation, a clock or a deadline."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]
FILES = sorted(p for p in ROOT.rglob("*.py") if p != Path(__file__))
# Wrong in the tail where cells or samples are small; `goodness` has a bound for each.
APPROXIMATE = re.compile(r"\b(chi2|chisquare|power_divergence|kstest|binomtest|norm\.isf)\b")
CLOCKS = re.compile(
    r"(?s:(settings|profile)\(.{0,200}?deadline=(?!None))"  # Hypothesis'; servers have others
    r"|assert[^\n]*\b(perf_counter|monotonic|process_time)\(\) -"
    r"|assert time\.time\(\)|\btimeout=[1-9]\d?\b|\.wait\([1-9]\d?\)"  # what ends a hang waits long
    r"|(?m:^\w[^\n]*\b(now|today)\()"  # what is collected is the same in all processes at midnight
    # Other threads of the process (Spark's, for one) would sleep by it, too: change the name in one
    # module instead, as in setattr(pace, "time", ...).
    r"|setattr\((\w+\.)*(time|threading), |setattr\([\"'](\w+\.)*(time|threading)\."
)
ORACLES = {"alarms.py", "test_goodness.py", "test_evidence.py", "test_profile.py"}  # not on samples


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_test_uses_an_approximate_tail_or_a_clock(path):
    text = path.read_text(encoding="utf-8")
    assert path.name in ORACLES or not APPROXIMATE.search(text)
    assert not CLOCKS.search(text)


def test_the_check_can_fail():
    assert APPROXIMATE.search("stats.chi2.isf(1e-8, 3)")
    assert CLOCKS.search("@settings(deadline=200)")
    assert CLOCKS.search("@settings(max_examples=len(ALL),\n    deadline=200)")
    assert not CLOCKS.search("@settings(deadline=None)")
    assert not CLOCKS.search("Workers(2, deadline=7.0)")
    assert CLOCKS.search("assert time.perf_counter() - start < 1")
    assert CLOCKS.search("assert time.time() < visible")
    assert CLOCKS.search("client.get(url, timeout=60)")
    assert not CLOCKS.search("client.get(url, timeout=300)")
    assert CLOCKS.search("running.wait(30)")
    assert not CLOCKS.search("running.wait(300)")
    assert CLOCKS.search("TODAY = dt.date.today()")
    assert CLOCKS.search('monkeypatch.setattr(pace.time, "sleep", sleep)')
    assert CLOCKS.search('monkeypatch.setattr("time.monotonic", clock)')
    assert not CLOCKS.search('monkeypatch.setattr(pace, "time", clock)')
    assert not CLOCKS.search("def test_x():\n    begin = dt.datetime.now(dt.UTC)")


def test_a_busy_machine_fails_no_property():
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check
    assert settings().print_blob


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_health_checks_that_are_set_anew_leave_slowness_out(path):
    for given in re.findall(r"suppress_health_check=([^)\n]*)", path.read_text(encoding="utf-8")):
        assert "list(HealthCheck" in given or "too_slow" in given, given
