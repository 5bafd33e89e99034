"""A signal handler or a finalizer that asks while its own thread is in the ledger is refused."""

import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.stores.store import STEPS, watching

ROWS, WHOLE = dp.rows(), dp.Laplace(scale=1.0)
LATER = "already reading or writing the ledger"


@pytest.fixture(params=["memory", "sqlite"])
def ledger(request, tmp_path):
    where = None if request.param == "memory" else tmp_path / "kept.ledger"
    with open_ledger(where, budget=dp.epsilon(1.0), unit=ROWS) as made:
        yield made


def pay(ledger):
    return ledger.charge(WHOLE, unit=ROWS)


@pytest.mark.parametrize("step", [each for each in STEPS if each != "committed"])
def test_whoever_asks_in_the_middle_of_a_charge_is_refused_and_the_charge_is_made(ledger, step):
    refused = []

    def handler(reached):
        if reached == step and not refused:
            for ask in (pay, lambda made: made.spent, lambda made: made.verify()):
                with pytest.raises(dp.LedgerFailure, match=LATER) as error:
                    ask(ledger)
                refused.append(error.value)

    with watching(handler):
        pay(ledger)
    assert len(refused) == 3
    assert ledger.spent.epsilon == 1.0
    assert len(ledger.entries) == 1
    ledger.verify()
    with pytest.raises(dp.BudgetExceeded):
        pay(ledger)


def test_a_handler_that_lets_its_refusal_out_ends_the_charge_like_an_interrupt(ledger):
    with watching(lambda _: pay(ledger)), pytest.raises(dp.LedgerFailure, match=LATER):
        pay(ledger)
    assert ledger.spent.epsilon == 0.0
    pay(ledger)
    ledger.verify()


def test_a_handler_may_ask_the_question_whose_turn_its_thread_has():
    s = dp.open(dp.load_adult(), unit=ROWS, budget=dp.epsilon(1.0))
    step = dp.Laplace(scale=4.0).on(dp.Sensitive(lambda: 3, l1=1))
    found = []

    def handler(reached):
        if reached == "committed" and not found:
            found.append(None)  # before it asks itself
            found.append(s.release(step, question="how many?"))

    with watching(handler):
        s.release(step, question="how many?")
    assert s.spent.epsilon == 0.5  # paid for twice, and drawn twice
    s.ledger.verify()
