"""The first line of a ledger: whole, first, and followed by the second."""

import json

import pytest

import deniable as dp
from deniable.errors import LedgerFailure, UnitMismatch
from deniable.ledger import open_ledger
from deniable.ledger.entry import digest, row_of
from deniable.ledger.header import Header, units_differ

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
    record = json.loads(rows[0][0].line)
    assert Header._understood(record) is not None
    assert Header._understood(record | {field: value}) is None
    line = json.dumps(record | {field: value})
    with pytest.raises(LedgerFailure, match="by a later version"):
        Header.read([row_of(line, json.loads(line))], where="here")


KEY = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("kept", "hashed", "whole"),
    [
        (KEY, digest(KEY), True),
        (KEY, "", True),
        (KEY, digest("0" * 64), False),
        (KEY[:-1], digest(KEY[:-1]), False),
        (KEY + "0", digest(KEY + "0"), False),
        (KEY[:-1] + "g", digest(KEY[:-1] + "g"), False),
        ("", "", False),
    ],
)
def test_a_secret_is_64_digits_whose_hash_the_header_holds(rows, kept, hashed, whole):
    found = Header.read(rows[0][:2], where="here")
    header = Header(
        name="x", unit=ROWS, budget=found.budget, filter=found.filter, hash_of_key=hashed
    )
    if whole:
        assert header.key(kept, where="here") == bytes.fromhex(KEY)
        assert header.to_record()["key"] == (hashed or None)
    else:
        with pytest.raises(LedgerFailure, match="the secret of here is damaged"):
            header.key(kept, where="here")


def test_a_ledger_is_opened_as_what_it_is_or_as_it_says(rows):
    header = Header.read(rows[0][:2], where="here")
    header.agree(unit=None, budget=None, where="here")
    header.agree(unit=ROWS, budget=dp.epsilon(9.0), where="here")
    for unit, fix in (
        (dp.person("id", rows=2), "dp.rows()"),
        (dp.rows(relation="replace"), "rows"),
    ):
        with pytest.raises(UnitMismatch) as refused:
            header.agree(unit=unit, budget=None, where="here")
        assert fix in refused.value.fix
    for budget, said in (
        (dp.epsilon(8.0), "a budget of ε 9; you gave ε 8"),
        (dp.epsilon(9.0 + 2e-15), "a budget of Pure(epsilon=9.0); you gave Pure"),
        (dp.rho(9.0), "you gave ρ 9"),
    ):
        with pytest.raises(LedgerFailure) as refused:
            header.agree(unit=ROWS, budget=budget, where="here")
        assert said in str(refused.value)
        assert "budget=dp.epsilon(9.0)" in refused.value.fix


@pytest.mark.parametrize(
    ("kept", "fix"),
    [
        (dp.person("id", rows=3, groups=2), "unit=dp.person('id', rows=3, groups=2)"),
        (dp.person("id", rows=3), "unit=dp.person('id', rows=3)"),
        (dp.rows(), "unit=dp.rows()"),
        (dp.rows(relation="replace"), "unit=dp.rows(relation='replace')"),
    ],
    ids=str,
)
def test_the_unit_of_a_ledger_is_proposed_as_one_types_it(kept, fix):
    other = dp.person("other", rows=1)
    assert fix in units_differ(kept, other, where="here").fix.replace('"', "'")
