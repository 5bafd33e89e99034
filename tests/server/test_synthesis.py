"""A model of a table travels as the very file that it is saved to."""

import base64
import binascii
from types import SimpleNamespace

import pytest

from deniable import synthetic
from deniable.server.jobs.kinds import synthesis

FILE = bytes(range(256))


def test_a_model_is_written_and_read_by_its_own_file(monkeypatch):
    record = synthesis.written(SimpleNamespace(save=lambda path: path.write_bytes(FILE)))
    assert record == {"holds": "synthetic", "file": base64.b64encode(FILE).decode()}
    monkeypatch.setattr(synthetic, "load", lambda path: path.read_bytes())
    assert synthesis.read(record) == FILE


def test_what_is_no_file_is_not_read(monkeypatch):
    monkeypatch.setattr(synthetic, "load", lambda path: path.read_bytes())
    with pytest.raises(binascii.Error):
        synthesis.read({"file": "not*base64"})
