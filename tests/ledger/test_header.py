"""The first line of a ledger: whole, first, and followed by the second."""

import pytest

import deniable as dp
from deniable.errors import LedgerFailure
from deniable.ledger import open_ledger
from deniable.ledger.header import Header

ROWS, TENTH = dp.rows(), dp.Laplace(scale=10.0)


@pytest.fixture
def rows():
    """The lines of a ledger with three charges, and of another one."""
    made = []
    for budget in (9.0, 8.0):
        with open_ledger(budget=dp.epsilon(budget), unit=ROWS) as ledger:
            for _ in range(3):
                ledger.charge(TENTH, unit=ROWS)
            made.append(ledger._store.read(lambda lines: lines.since(0, limit=9)))
    return made


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_header_is_in_the_first_line(rows, count):
    header = Header.read(rows[0][:count] if count < 3 else rows[0][:2], where="here")
    assert (header.budget, header.unit) == (dp.epsilon(9.0), ROWS)


def test_a_second_line_that_does_not_follow_shows_that_the_first_was_changed(rows):
    (first, second, third, *_), (_, foreign, *_) = rows
    with pytest.raises(LedgerFailure, match="line 1 of the ledger is missing"):
        Header.read([first, third], where="here")
    with pytest.raises(LedgerFailure, match="does not follow"):
        Header.read([first, foreign], where="here")
    for wrong in ([], [second, third], [first._replace(hash="0" * 64), second]):
        with pytest.raises(LedgerFailure, match="has no header, or it was changed"):
            Header.read(wrong, where="here")


@pytest.mark.parametrize("field", ["format", "unit", "budget", "filter"])
@pytest.mark.parametrize("value", [None, 99, "x", []], ids=repr)
def test_what_this_version_does_not_understand_is_no_header(rows, field, value):
    import json

    record = json.loads(rows[0][0].line)
    assert Header._understood(record) is not None
    assert Header._understood(record | {field: value}) is None
