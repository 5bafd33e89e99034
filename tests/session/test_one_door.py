"""There is one door: who charges, who draws and who computes is checked in the source itself."""

import ast
import functools
from collections import Counter
from pathlib import Path

import pytest

import deniable

ROOT = Path(deniable.__file__).parent


@functools.cache
def attributes():
    """How often each file, relative to the package, uses each attribute."""
    found = {}
    for path in ROOT.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        used = (node for node in nodes if isinstance(node, ast.Attribute))
        # An auditor's own sampler; the charge that a ledger's line is about.
        names = (n.attr for n in used if getattr(n.value, "id", "") not in ("sampler", "line"))
        found[path.relative_to(ROOT).as_posix()] = Counter(names)
    return found


def calls(name):
    """The files in which something of this name is called or passed on."""
    return {file for file, names in attributes().items() if names[name]}


def count(name, file):
    return attributes()[file][name]


def test_only_the_session_charges_and_in_one_place():
    chargers = {f for f in calls("charge") if not f.startswith("ledger/")}
    assert chargers == {"session/_session.py"}
    assert count("charge", "session/_session.py") == 1


def test_only_the_session_shows_stored_answers_which_a_share_may_pay_for():
    showers = {f for f in calls("recalled") | calls("recall") if not f.startswith("ledger/")}
    assert showers == {"session/_session.py"}
    assert count("recalled", "session/_session.py") == 1


def test_only_the_session_computes_sensitive_values():
    users = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if "sensitive.compute" in path.read_text(encoding="utf-8")
        or "_Sensitive__compute" in path.read_text(encoding="utf-8")
    }
    assert users == {"session/drawing.py", "sensitive.py"}


def test_only_sessions_and_mechanisms_draw():
    own = ("mechanisms/", "sampling/", "learn/convex/", "local/")  # mechanisms; each person's own
    own += ("learn/engine/batches.py", "learn/engine/perturbed.py")  # mechanisms of descent
    drawers = {f for f in calls("draw") if not f.startswith(own)}
    outside = {"secure/party.py"}  # a party's share
    arrays = ("linear.py", "residuals.py", "hierarchy/workloads.py", "strategies/chosen.py")
    outside |= {f"workload/{each}" for each in arrays}  # arrays without a session
    outside |= {"plots/figures.py"}  # matplotlib's word for showing a figure
    assert drawers == {"session/_session.py", "session/elsewhere.py", *outside}
    askers = {f for f in calls("ask") if not f.startswith((*own, "cli/", "server/"))}
    assert askers <= {"session/_session.py"}


def test_only_the_session_gives_leave_to_draw_elsewhere():
    """And after it has charged: the one call is in a method that pays first."""
    makers = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Commission"
    }
    assert makers == {"session/_session.py"}
    users = {f for f in calls("perform") if not f.startswith("session/")}
    assert users == {"query/scatter/executors.py"}


@pytest.mark.parametrize("name", ["answer", "recall", "share", "note"])
def test_only_the_session_and_the_curators_tools_write_to_a_ledger(name):
    allowed = ("ledger/", "session/", "cli/", "server/")
    writers = {f for f in calls(name) if not f.startswith(allowed)}
    ledgers = {f for f in writers if "ledger." + name in (ROOT / f).read_text(encoding="utf-8")}
    assert ledgers == set()
