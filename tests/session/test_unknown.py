"""A mechanism that other processes do not know: no asker can charge it, and the reason is told."""

import subprocess
import sys
from dataclasses import dataclass

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import BadParameter, BudgetExceeded
from deniable.mechanisms import Mechanism

ROWS = dp.rows()
TABLE = pa.table({"x": [1]})
OWN = """
import deniable as dp, pyarrow as pa, sys
from dataclasses import dataclass

@dataclass(frozen=True, kw_only=True)
class Own(dp.Laplace):
    name = "homemade"

s = dp.open(pa.table({"x": [1]}), unit=dp.rows(), ledger=sys.argv[1])
s.release(Own(scale=10.0).on(dp.Sensitive(lambda: 1, l1=1)))
"""


@pytest.fixture
def own():
    @dataclass(frozen=True, kw_only=True)
    class Own(dp.Laplace):
        name = "homemade"

    yield Own(scale=10.0)
    del Mechanism.registry["homemade"]


def shared(path):
    s = dp.open(TABLE, unit=ROWS, budget=dp.epsilon(4.0), ledger=path)
    s.ledger.share("ann", amount=dp.epsilon(1.0))
    return s


WAYS = {
    "release": lambda s, m: s.release(m.on(dp.Sensitive(lambda: 1, l1=1))),
    "several": lambda s, m: s.release([m.on(dp.Sensitive(lambda: 1, l1=1))] * 2, question="q"),
    "open": lambda s, m: s.open(3 * m),
    "run": lambda s, m: s.run(m.on(dp.Sensitive(lambda: 1, l1=1)) for _ in range(1)),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_asker_cannot_charge_what_others_may_not_know(tmp_path, own, way):
    s = shared(tmp_path / "a.db")
    with pytest.raises(BadParameter, match="is not a mechanism of deniable"):
        WAYS[way](s.for_("ann"), own)
    assert len(s.ledger.entries) == 1
    WAYS[way](s, own)  # the curator decides what is charged, and who can read it


ASKED = {
    "sql": lambda s: s.sql("SELECT COUNT(*) FROM data").release(spend=dp.epsilon(0.1)),
    "count": lambda s: s.count(spend=dp.epsilon(0.1)),
    "release": lambda s: s.release(dp.Laplace(scale=9.0).on(dp.Sensitive(lambda: 1, l1=1))),
}


@pytest.mark.parametrize("asked", ASKED)
def test_where_a_ledger_is_closed_by_something_unknown_the_error_says_so(tmp_path, asked):
    path = tmp_path / "a.db"
    s = shared(path)
    subprocess.run([sys.executable, "-c", OWN, str(path)], check=True, timeout=240)
    with pytest.raises(BudgetExceeded, match="the mechanism 'homemade', which this version"):
        ASKED[asked](s)
    with pytest.raises(BudgetExceeded, match="lines that this version of deniable") as told:
        ASKED[asked](s.for_("ann"))
    assert "homemade" not in str(told.value)
