"""Nothing is charged for a call that is refused, also where bounds would be searched for first."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.curator import open as open_curator
from deniable.errors import BadParameter, BudgetExceeded, DataFailure, DeniableError, LedgerFailure
from deniable.statistics import About
from deniable.statistics.ranges import knowing

ROWS = {"x": [float(n % 90 + 1) for n in range(1000)], "i": list(range(1000)), "g": [0, 1] * 500}
SCHEMA = dp.Schema(
    columns={"x": dp.column("float"), "i": dp.column("int"), "g": dp.keys([0, 1, 2])}
)
AUTO = {"spend": dp.epsilon(1), "bounds": "auto"}


def opened(budget=None, rows=None):
    return open_curator(
        pa.table(rows or ROWS), unit=dp.rows(), budget=budget or dp.epsilon(10), schema=SCHEMA
    )


REFUSED = {
    "a column that is not there": lambda s: s.mean("x", by="typo", **AUTO),
    "a table that is not there": lambda s: s.mean("x", table="typo", **AUTO),
    "both a price and a ±": lambda s: s.mean("x", within=3, **AUTO),
    "bins that cannot be": lambda s: s.histogram("x", bins=-4, **AUTO),
    "edges, which say where to begin": lambda s: s.histogram("x", bins=[0, 9], **AUTO),
    "a quantile twice": lambda s: s.quantile("x", [0.5, 0.5], **AUTO),
    "a quantile that cannot be": lambda s: s.quantile("x", 1.5, **AUTO),
    "more than the ceiling": lambda s: s.mean("x", spend=dp.epsilon(11), bounds="auto"),
    "a size that cannot be": lambda s: s.mean("x", size=-1, **AUTO),
    "as many groups as there are numbers": lambda s: s.mean("i", by="i", **AUTO),
    "one column as rows and columns": lambda s: s.crosstab("g", "g", spend=dp.epsilon(1)),
    "one column described twice": lambda s: s.describe(["g", "g"], spend=dp.epsilon(1)),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_refused_costs_nothing(why):
    session = opened()
    with pytest.raises(DeniableError) as caught:
        REFUSED[why](session)
    assert caught.value.cost == "nothing was spent"
    assert len(session.ledger.entries) == 0


def test_two_names_for_one_column_are_told_apart_from_two_columns():
    session = opened()
    for again in ("g", "G"):
        with pytest.raises(BadParameter, match="names a column twice"):
            session.crosstab("g", again, spend=dp.epsilon(1))
    schema = dp.Schema(columns={"x": dp.bounds(0, 90)})
    bounded = open_curator(pa.table(ROWS), unit=dp.rows(), budget=dp.epsilon(10), schema=schema)
    with pytest.raises(BadParameter, match="names a column twice"):
        bounded.describe(["x", "x"], spend=dp.epsilon(1))
    assert len(bounded.ledger.entries) == 0


def test_the_whole_spend_must_be_left_and_then_is_spent():
    session = opened(dp.epsilon(1))
    session.count(spend=dp.epsilon(0.5))
    lines = len(session.ledger.entries)
    with pytest.raises(BudgetExceeded) as caught:
        session.mean("x", spend=dp.epsilon(0.6), bounds="auto")
    assert "ε 0.6" in caught.value.why
    assert len(session.ledger.entries) == lines
    session.mean("x", spend=dp.epsilon(0.5), bounds="auto")
    assert session.spent.epsilon == pytest.approx(1.0)


@pytest.mark.parametrize("budget", [dp.epsilon(1), dp.epsilon(1, delta=1e-6), dp.rho(0.5)], ids=str)
def test_asked_again_it_is_free_though_nothing_is_left(budget):
    session = opened(budget)
    spend = budget if isinstance(budget, dp.Zcdp) else dp.epsilon(1)
    first = session.mean("x", spend=spend, bounds="auto")
    lines = len(session.ledger.entries)
    again = session.mean("x", spend=spend, bounds="auto")
    assert again.value == first.value
    assert again.free
    assert len(session.ledger.entries) == lines


def test_a_search_whose_answer_was_not_kept_is_paid_for_again(monkeypatch):
    session = opened(dp.epsilon(1))
    with monkeypatch.context() as patch:
        patch.setattr(type(session._ledger), "answer", lambda *_: None)
        session.mean("x", spend=dp.epsilon(0.5), bounds="auto")
    lines = len(session.ledger.entries)
    with pytest.raises(BudgetExceeded):
        session.mean("x", spend=dp.epsilon(0.6), bounds="auto")
    assert len(session.ledger.entries) == lines


def test_what_fails_after_the_search_says_what_that_cost(monkeypatch):
    session = opened()
    charge = type(session.ledger).charge

    def once(ledger, *arguments, **named):
        monkeypatch.setattr(type(ledger), "charge", failing)
        return charge(ledger, *arguments, **named)

    def failing(*_, **__):
        raise LedgerFailure("the disk is full")

    monkeypatch.setattr(type(session.ledger), "charge", once)
    with pytest.raises(LedgerFailure) as caught:
        session.mean("x", **AUTO)
    assert caught.value.cost == "ε 0.25 was spent to find bounds, and nothing more"


def test_data_that_fail_after_the_search_say_what_both_cost(monkeypatch):
    session = opened()
    read = type(session)._draw

    def once(*arguments, **named):
        monkeypatch.setattr(type(session), "_draw", failing)
        return read(*arguments, **named)

    def failing(*_, **__):
        raise DataFailure("something failed", cost="ε 0.75 was spent")

    monkeypatch.setattr(type(session), "_draw", once)
    with pytest.raises(DataFailure) as caught:
        session.mean("x", **AUTO)
    assert caught.value.cost == "ε 0.25 was spent to find bounds; ε 0.75 was spent"


@pytest.mark.parametrize("place", [2**63 - 1, 2**60, -(2**63), -(2**61), 2**53, 0])
def test_bounds_of_the_largest_whole_numbers_are_bounds(place):
    session = opened(dp.epsilon(100), ROWS | {"i": pa.array([place] * 1000, pa.int64())})
    low, high = session.bounds("i", spend=dp.epsilon(1))
    facts = knowing(About(session=session), "i", low, high).known["i"]
    assert -(2**63) <= facts.low <= place <= facts.high < 2**63
    found = session.mean("i", spend=dp.epsilon(20), bounds="auto")
    assert found.value == pytest.approx(place, rel=0.01, abs=0.1)
