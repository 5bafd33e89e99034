"""Suppression under encryption: run where an interpreter with Concrete is named.

`script/bootstrapping` sets one up and runs these tests with it.
"""

import os
import sys

import numpy as np
import pytest

import deniable as dp
from deniable.secure.homomorphic import bootstrap


def test_without_an_interpreter_the_error_says_how_to_make_one(monkeypatch):
    monkeypatch.delenv(bootstrap.VARIABLE, raising=False)
    with pytest.raises(dp.MissingExtra, match="Concrete") as missing:
        bootstrap.suppressed([[1]], least=1, limit=1)
    assert "concrete-python" in missing.value.fix
    with pytest.raises(dp.MissingExtra, match="cannot run Concrete"):
        bootstrap.suppressed([[1]], least=1, limit=1, interpreter=sys.executable)


@pytest.mark.parametrize("text", ["exit 3", "kill -9 $$", "echo no", "echo >&2 failed; exit 1", ""])
def test_whatever_the_interpreter_does_instead_the_error_says_so(tmp_path, text):
    other = tmp_path / "python"
    other.write_text(f"#!/bin/sh\n{text}\n")
    other.chmod(0o700)
    with pytest.raises(dp.MissingExtra, match=r"cannot run Concrete: \S"):
        bootstrap.suppressed([[1]], least=1, limit=1, interpreter=str(other))
    other.write_text("not a program")
    other.chmod(0o600)
    with pytest.raises(dp.MissingExtra, match=r"cannot run Concrete: \S"):
        bootstrap.suppressed([[1]], least=1, limit=1, interpreter=str(other))


def test_an_interpreter_that_hangs_is_ended(tmp_path, monkeypatch):
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\nexec sleep 600\n")
    other.chmod(0o700)
    monkeypatch.setattr(bootstrap, "_LONGEST", 0.2)
    with pytest.raises(dp.MissingExtra, match="timed out"):
        bootstrap.suppressed([[1]], least=1, limit=1, interpreter=str(other))


@pytest.fixture
def echo(tmp_path):
    """An interpreter that answers with what it is asked."""
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\nexec cat\n")
    other.chmod(0o700)
    return str(other)


def test_the_interpreter_is_given_counts_within_their_limits(echo, monkeypatch):
    asked = {"rows": [[0, 5, 3], [5, 0, 4]], "least": 4, "limit": 5}
    rows = [[-2, 9, 3], [5, 0, 4]]
    assert bootstrap.report(rows, least=4, limit=5, interpreter=echo) == asked
    monkeypatch.setenv(bootstrap.VARIABLE, echo)
    assert bootstrap.report(rows, least=4, limit=5) == asked
    monkeypatch.setenv(bootstrap.VARIABLE, "/not/there")
    assert bootstrap.report(rows, least=4, limit=5, interpreter=echo) == asked
    with pytest.raises(dp.MissingExtra, match="none is named"):
        bootstrap.report(rows, least=4, limit=5)


@pytest.mark.parametrize(
    ("rows", "limit"), [([[1]] * 2, 128), ([[1]] * 256, 1), ([1, 2], 1), ([[[1]]], 1), (7, 1)]
)
def test_what_is_no_table_of_small_sums_is_refused_at_once(rows, limit, echo):
    with pytest.raises(dp.BadParameter, match="below 256"):
        bootstrap.report(rows, least=1, limit=limit, interpreter=echo)


@pytest.mark.parametrize(("parties", "limit"), [(1, 255), (255, 1), (5, 51)])
def test_sums_of_eight_bits_are_taken(parties, limit, echo):
    asked = bootstrap.report([[1]] * parties, least=1, limit=limit, interpreter=echo)
    assert (len(asked["rows"]), asked["limit"]) == (parties, limit)


@pytest.mark.skipif(bootstrap.VARIABLE not in os.environ, reason="run by script/bootstrapping")
def test_small_sums_are_suppressed_before_anyone_decrypts():
    rows = np.array([[1, 2, 0, 3], [0, 4, 1, 3], [1, 1, 0, 2]])
    told = bootstrap.report(rows, least=4, limit=5)
    assert told["suppressed"] == [0, 7, 0, 8]
    assert told["bootstraps"] == 4
