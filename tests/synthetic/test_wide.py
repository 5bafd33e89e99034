"""Tables with a hundred columns: few readings of the rows, little memory, refused if too large."""

import datetime as dt
from contextlib import ExitStack
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from tests.synthetic.people import SCHEMA, opened, people

import deniable as dp
from deniable.query.backends.engine import added
from deniable.query.execute import Execution, RowByRow
from deniable.sensitive import compute
from deniable.statistics.building import About
from deniable.synthetic.counting import Listed, Tabulated, counted
from deniable.synthetic.domain import domain_of
from deniable.synthetic.latest import Latest
from deniable.synthetic.methods.adaptive import COMPARED, TURN, taking_turns
from deniable.synthetic.synthesis import MOST_COLUMNS

KINDS = {
    "whole": dp.bounds(0, 99, type="int"),
    "real": dp.bounds(0.0, 1.0),
    "text": dp.keys(["a", "b", "c"]),
    "day": dp.bounds(dt.date(2020, 1, 1), dt.date(2023, 12, 31), type="date"),
}


def wide(columns, size, seed=0):
    """Mixed columns in groups of five that depend on each other, with missing values."""
    draw = np.random.default_rng(seed)
    held, schema = {}, {}
    for i in range(columns):
        base = draw.random(size) if i % 5 == 0 else base  # noqa: F821
        level = np.clip(base + draw.normal(0, 0.05, size), 0, 0.999)
        kind = list(KINDS)[i % 4]
        value = {
            "whole": (level * 100).astype(int).astype(object),
            "real": level.astype(object),
            "text": np.array(["a", "b", "c"], dtype=object)[(level * 3).astype(int)],
            "day": [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in level * 1400],
        }[kind]
        gone = draw.random(size) < 0.1
        name = f"{kind}{i}"
        held[name] = [None if g else v for g, v in zip(gone, value, strict=True)]
        schema[name] = KINDS[kind]
    return pd.DataFrame(held), dp.Schema(columns=schema)


@pytest.fixture
def readings(monkeypatch):
    """How often rows are read."""
    seen = []
    for kind, name in (
        (Execution, "run"),
        (RowByRow, "rows"),
        (RowByRow, "sums"),
        (RowByRow, "batches"),
    ):
        real = getattr(kind, name)

        def read(self, *given, real=real, name=name, **options):
            seen.append(name)
            return real(self, *given, **options)

        monkeypatch.setattr(kind, name, read)
    return seen


@pytest.mark.parametrize(("method", "columns"), [("tree", 100), ("adaptive", 45)])
def test_many_mixed_columns_are_read_once(method, columns, readings):
    frame, schema = wide(columns, 300)
    s = dp.open(frame, unit=dp.rows(), budget=dp.rho(0.02), schema=schema)
    y = s.synthesize(spend=dp.rho(0.02), method=method, bins=4)
    assert len(readings) == 1
    assert y.to_pandas(50).shape == (50, columns)
    assert s.spent <= dp.rho(0.02)
    assert {m.columns for m in y.measured} >= {(a,) for a in range(columns)}


def test_too_many_columns_are_refused_before_the_charge():
    columns = {f"c{i}": dp.column("bool") for i in range(MOST_COLUMNS + 1)}
    frame = pd.DataFrame({name: [True] for name in columns})
    s = dp.open(frame, unit=dp.rows(), budget=dp.rho(1), schema=dp.Schema(columns=columns))
    for method in ("auto", "tree", "adaptive"):
        with pytest.raises(dp.BadParameter, match=f"{MOST_COLUMNS} columns") as caught:
            s.synthesize(spend=dp.rho(1), method=method)
        assert "independent" in str(caught.value)
    assert not s.ledger.entries


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("several", [False, True], ids=["rows", "persons"])
def test_all_ways_of_counting_agree(several, relation):
    frame = people(200).assign(id=np.arange(200) // 3)
    unit = dp.person("id", rows=2, relation=relation) if several else dp.rows(relation=relation)
    about = About(session=opened(frame, dp.rho(1.0), unit=unit), table=None)
    domain = domain_of({name: SCHEMA.columns[name] for name in ("age", "sex", "joined")})
    cliques = [(0,), (0, 1), (1, 2), (0, 1, 2)]
    ways = [counted(about, domain, cliques), Tabulated(about, domain, cliques)]
    ways.append(Listed(about, domain))
    for clique in cliques:
        first, *others = [way[clique] for way in ways]
        for other in others:
            assert np.array_equal(exact(other), exact(first))
            assert (other.l1, other.worth, other.shape) == (first.l1, first.worth, first.shape)
            assert other.l2 <= first.l2 * (1 + 1e-12)


def exact(hidden):
    with ExitStack() as held:
        for ready in hidden.value.ready:
            held.enter_context(ready)
        return np.asarray(compute(hidden.value)).ravel()


@pytest.mark.parametrize("size", [0, 1, 5000])
def test_rows_that_pass_by_in_many_parts_are_all_counted(size, monkeypatch):
    for module in ("rows", "backends.engine"):
        monkeypatch.setattr(f"deniable.query.{module}.AT_ONCE", 300)
    about = About(session=opened(people(size), dp.rho(1.0)), table=None)
    domain = domain_of({name: SCHEMA.columns[name] for name in ("age", "sex", "joined")})
    for way in (Listed(about, domain), Tabulated(about, domain, [(0, 2)])):
        assert exact(way[0, 2]).sum() == size


def test_sums_beyond_64_bits_are_an_error_and_not_another_number():
    most = np.array([2**63 - 1, -(2**63)])
    assert added(iter([])) is None
    assert added([most, np.array([-1, 1])]).tolist() == [2**63 - 2, -(2**63) + 1]
    for more in ([1, 0], [0, -1]):
        with pytest.raises(OverflowError):
            added([most, np.array(more)])


def test_candidates_take_turns_and_each_has_one():
    weights = {(a,): 1 for a in range(40)} | dict.fromkeys(combinations(range(40), 2), 2)
    turns = taking_turns(weights)
    seen = [next(turns) for _ in range(4)]
    assert all(len(turn) == 40 + TURN for turn in seen)
    assert set().union(*seen) == weights.keys()
    few = dict(list(weights.items())[: 40 + COMPARED])
    assert next(taking_turns(few)) == few


def test_what_was_used_last_is_kept():
    kept = Latest(10)
    for name in "abc":
        kept.put(name, name, size=4)
        kept.get("a")
    assert [kept.get(name) for name in "abc"] == ["a", None, "c"]
    kept.put("large", 1, size=11)
    assert (kept.get("a"), kept.get("large")) == (None, 1)
