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


def test_sums_that_would_take_minutes_are_refused_at_once():
    with pytest.raises(dp.BadParameter):
        bootstrap.suppressed([[1], [2]], least=1, limit=200)


@pytest.mark.skipif(bootstrap.VARIABLE not in os.environ, reason="run by script/bootstrapping")
def test_small_sums_are_suppressed_before_anyone_decrypts():
    rows = np.array([[1, 2, 0, 3], [0, 4, 1, 3], [1, 1, 0, 2]])
    told = bootstrap.report(rows, least=4, limit=5)
    assert told["suppressed"] == [0, 7, 0, 8]
    assert told["bootstraps"] == 4
