"""What a server can count: records with limits, and rows with names of their own."""

import pytest

from deniable import local
from deniable.errors import DeniableError
from deniable.server.collections.shown import shown
from deniable.server.collections.store import protocol_of


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"protocol": "direct"},
        {"protocol": "os.system", "categories": 3, "epsilon": 1.0},
        {"protocol": "direct", "categories": 10**9, "epsilon": 1.0},
        {"protocol": "direct", "categories": [], "epsilon": 1.0},
        {"protocol": "direct", "categories": {"a": [1]}, "epsilon": 1.0},
        {"protocol": "mean", "epsilon": "1", "low": 0, "high": 1},
        {"protocol": "direct", "categories": 3, "epsilon": 1.0, "more": 1},
        {"protocol": "attributes", "categories": {"a": 10**9}, "epsilon": 1.0},
        {"protocol": "attributes", "categories": {"a": 2**19, "b": 2**19 + 1}, "epsilon": 1.0},
        {"protocol": "attributes", "categories": {"\ud800": 2}, "epsilon": 1.0},
        {"protocol": "sketch", "categories": 3, "epsilon": 1.0, "hashes": 65536, "width": 65536},
        {"protocol": "vector", "dimension": 10**12, "epsilon": 1.0},
        {"protocol": "ranges", "low": 0, "high": 1, "cells": 10**9, "epsilon": 1.0},
        {"protocol": "heavy_hitters", "bits": 64, "keep": 10**12, "epsilon": 1.0},
    ],
)
def test_a_record_that_is_no_protocol_is_refused(record):
    with pytest.raises(DeniableError):
        protocol_of(record)


def test_cells_that_are_narrow_have_names_of_their_own():
    p = local.Ranges(epsilon=1.0, low=100_000, high=100_001, cells=4)
    estimate = p.server().add(p.encode_all([100_000.3] * 10)).estimate()
    labels = [row["label"] for row in shown(estimate, people=10)["rows"]]
    assert labels[:2] == ["100000 to 100000.25", "100000.25 to 100000.5"]
