"""An asker's own lines, numbered as they see them, however often the account was read before."""

import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.account import Account
from deniable.ledger.entry import dated
from deniable.losses.filters import Price

ROWS, TENTH = dp.rows(), dp.Laplace(scale=10.0)


def seen(account):
    return [(e.sequence, e.kind, e.hash, e.charge) for e in account.entries]


def test_lines_that_are_read_as_they_come_are_those_read_at_once():
    with open_ledger(budget=dp.epsilon(9.0), unit=ROWS) as ledger:
        for asker in ("ann", "bob"):
            ledger.share(asker, amount=dp.epsilon(2.0))
        read = Account(ledger, "ann")
        for turn in range(6):
            asker = "bob" if turn % 3 == 1 else "ann"
            question = ledger.fingerprint(f"q{turn}")
            paid = ledger.charge(TENTH, unit=ROWS, asker=asker, question=question)
            if turn % 2:
                ledger.answer(paid, turn)
            assert seen(read) == seen(Account(ledger, "ann"))
        found = seen(read)
        assert [number for number, *_ in found] == list(range(1, len(found) + 1))
        assert len({line for _, _, line, _ in found}) == len(found)
        assert len(found) == len([e for e in ledger.entries if e.asker == "ann"])


@pytest.mark.parametrize("shares", [True, False])
def test_an_account_that_is_held_is_the_account_as_it_was(shares):
    price = dp.Laplace(scale=3.0)
    with open_ledger(budget=dp.epsilon(9.0), unit=ROWS) as ledger:
        for asker in ("ann", "bob") if shares else ():
            ledger.share(asker, amount=dp.epsilon(2.0))
        kept = []
        for turn in range(5):
            live, cost = Account(ledger, "ann"), ledger.price(price)
            was = seen(live), live.reserved, live.spent, live.left, live.left_after(cost)
            kept.append((ledger.head().sequence, was))
            ledger.charge(TENTH, unit=ROWS, asker=("ann", "bob")[turn % 2])
        for line, was in kept:
            held = Account(ledger, "ann").hold(line)
            now = seen(held), held.reserved, held.spent, held.left, held.left_after(cost)
            assert now == was
    assert len({spent.epsilon for _, (_, _, spent, *_) in kept}) == (3 if shares else 5)


def test_lines_of_a_block_have_its_date_and_others_their_own():
    with open_ledger(budget=dp.epsilon(9.0), unit=ROWS) as ledger:
        with dated(1e9):
            inside = [ledger.charge(TENTH, unit=ROWS) for _ in range(2)]
        after = ledger.charge(TENTH, unit=ROWS)
        ledger.verify()
    assert [line.time.timestamp() for line in inside] == [1e9, 1e9]
    assert after.time.timestamp() > 1e9


def test_an_asker_sees_that_they_are_stopped_by_their_own_numbers_and_not_why():
    with open_ledger(budget=dp.epsilon(9.0), unit=ROWS) as ledger:
        for asker in ("bob", "ann"):
            ledger.share(asker, amount=dp.epsilon(2.0))
        accounts = {asker: Account(ledger, asker) for asker in ("ann", "bob")}
        assert [len(each.failures()) for each in accounts.values()] == [0, 0]
        assert accounts["ann"].halts() == accounts["bob"].halts()
        charges = [ledger.charge(TENTH, unit=ROWS, asker=a) for a in ("bob", "ann", "ann")]
        ledger.stop(charges[2], cause="8675309 is large")
        (failure,) = accounts["ann"].failures()
        assert (failure.entry, failure.stop, failure.question) == (3, 4, "(not named)")
        assert "8675309" not in str(failure)
        assert len(accounts["bob"].failures()) == 0
        assert (accounts["ann"].halts().failures, accounts["bob"].halts().failures) == (0, 0)
        assert list(accounts["ann"].halts().stopped) == ["ann"]
        assert not accounts["bob"].halts().stopped


@pytest.mark.parametrize("shares", [True, False])
def test_what_would_be_left_after_a_price_is_nothing_if_it_does_not_fit(shares):
    with open_ledger(budget=dp.epsilon(9.0), unit=ROWS) as ledger:
        if shares:
            ledger.share("ann", amount=dp.epsilon(2.0))
        most = 2.0 if shares else 9.0
        account = Account(ledger, "ann")
        ledger.charge(TENTH, unit=ROWS, asker="ann")
        assert account.left.epsilon == pytest.approx(most - 0.1)
        assert account.left_after(Price(epsilon=0.5)).epsilon == pytest.approx(most - 0.6)
        assert account.left_after(Price(epsilon=most)) is None


@pytest.mark.parametrize(
    "asked",
    [
        lambda account: account.due(TENTH),
        lambda account: account.check(account.price(TENTH)),
        lambda account: account.spent,
        lambda account: account.admit(),
    ],
    ids=["due", "check", "spent", "admit"],
)
def test_once_others_have_shares_whoever_has_none_is_told_so(asked):
    with open_ledger(budget=dp.epsilon(9.0), unit=ROWS) as ledger:
        ann, eve = (Account(ledger, asker) for asker in ("ann", "eve"))
        ledger.share("ann", amount=dp.epsilon(2.0))
        asked(ann)
        with pytest.raises(dp.BudgetExceeded, match="eve has no share in this ledger"):
            asked(eve)


def test_what_is_the_curators_is_named_as_such():
    with open_ledger(budget=dp.epsilon(9.0), unit=ROWS) as ledger:
        account = Account(ledger, "ann")
        for name in ("shares", "verify", "find", "charge"):
            with pytest.raises(AttributeError, match=f"`{name}` belongs to the curator's ledger"):
                getattr(account, name)
        with pytest.raises(AttributeError, match="has no `spnt`"):
            _ = account.spnt
