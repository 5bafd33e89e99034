"""One JSON for all that people and programs read; what is hashed is written elsewhere."""

import ast
import datetime as dt
import json
import math
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.parsed import nodes

import deniable as dp
from deniable import records

SOURCE = Path(records.__file__).parent
HASHED = {"ledger/entry.py", "secure/rounds.py", "local/reports.py", "server/jobs/asking.py"}
NUMBERS = st.integers() | st.floats() | st.floats(width=32).map(np.float32) | st.just(np.arange(3))
LEAVES = st.none() | st.booleans() | st.text() | NUMBERS | st.dates() | st.timedeltas()
ANY = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=12,
)


def strict(_):
    raise AssertionError("not JSON")


@given(ANY)
def test_any_parser_takes_it(value):
    found = json.loads(records.text(value), parse_constant=strict)
    assert found == records.plain(value) == json.loads(records.text(value, indent=None))


def test_numbers_dates_and_results_are_told_in_jsons_own_types():
    value = {
        1: np.float64(1.5), "all": {2}, "told": dp.epsilon(1), "far": -math.inf,
        "day": dt.date(2026, 1, 2), "wait": dt.timedelta(hours=1),
    }  # fmt: skip
    assert records.plain(value) == {
        "1": 1.5, "all": [2], "told": dp.epsilon(1).to_dict(), "far": None,
        "day": "2026-01-02", "wait": "P0DT3600S",
    }  # fmt: skip


def writes(path):
    """Whether a module writes JSON for people itself: indented, or not escaped."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"dumps", "dump", "JSONEncoder"}
        and {"indent", "ensure_ascii"} & {keyword.arg for keyword in node.keywords}
        for node in nodes(path)
    )


def test_no_other_module_writes_json_for_people():
    found = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if writes(path)}
    assert "records.py" in found
    assert found - HASHED <= {"records.py", "synthetic/domain.py"}  # the second writes Python
