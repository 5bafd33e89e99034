"""However a share came together, it can be spent in full, at once or in parts."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.ledger import open_ledger

ROWS = dp.rows()
BUDGETS = [dp.epsilon(1.0), dp.epsilon(1.0, delta=1e-7), dp.epsilon(1.0, delta=1e-30)]
MORE = dp.Laplace(scale=100.0)


def of(epsilon):
    return dp.Laplace(scale=1 / epsilon)


def cut(total, weights):
    """The total in parts, whose sum is not above it."""
    return [math.nextafter(total * w / sum(weights), 0.0) for w in weights if w]


def parts():
    return st.lists(st.integers(1, 9), min_size=1, max_size=5)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@given(reserved=parts(), spent=parts(), total=st.sampled_from([0.01, 0.3, 0.6, 0.9]))
def test_a_share_reserved_in_parts_is_spent_in_other_parts(budget, reserved, spent, total):
    ledger = open_ledger(budget=budget, unit=ROWS)
    for part in cut(total, reserved):
        ledger.share("ann", amount=dp.epsilon(part))
    assert ledger.filter.rest(*vars(ledger.standing("ann")).values()).epsilon >= total * 0.99999
    for part in cut(total * (1 - 1e-9), spent):
        ledger.charge(of(part), unit=ROWS, asker="ann")
    with pytest.raises(dp.BudgetExceeded):
        ledger.charge(MORE, unit=ROWS, asker="ann")
    ledger.verify()
    assert ledger.spent.epsilon <= total


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_all_that_is_left_can_be_reserved_by_the_ceiling_and_no_more(budget):
    ledger = open_ledger(budget=budget, unit=ROWS)
    for _ in range(10):
        ledger.share("ann", amount=dp.epsilon(0.1))
    with pytest.raises(dp.BudgetExceeded):
        ledger.share("bob", amount=dp.epsilon(0.01))
    with pytest.raises(dp.BudgetExceeded):
        ledger.charge(MORE, unit=ROWS)
    ledger.charge(of(1.0), unit=ROWS, asker="ann")
    ledger.verify()


def test_a_share_for_gaussian_noise_grows_by_what_is_added():
    ledger = open_ledger(budget=dp.epsilon(2.0, delta=1e-7), unit=ROWS)
    for _ in range(2):
        ledger.share("ann", amount=dp.rho(0.005))
    ledger.charge(dp.Gaussian.calibrate(rho=0.01 * (1 - 1e-9)), unit=ROWS, asker="ann")
    with pytest.raises(dp.BudgetExceeded):
        ledger.charge(dp.Gaussian.calibrate(rho=1e-4), unit=ROWS, asker="ann")


def test_a_share_of_both_pays_for_both():
    ledger = open_ledger(budget=dp.epsilon(2.0, delta=1e-7), unit=ROWS)
    ledger.share("ann", amount=dp.epsilon(0.25))
    ledger.share("ann", amount=dp.rho(0.01))
    ledger.charge(of(0.25), unit=ROWS, asker="ann")
    ledger.charge(dp.Gaussian.calibrate(rho=0.01 * (1 - 1e-9)), unit=ROWS, asker="ann")
    ledger.verify()


def test_a_stored_answer_is_charged_to_a_share_once_by_two_processes_at_once(tmp_path, monkeypatch):
    with (
        open_ledger(tmp_path / "kept.ledger", budget=dp.epsilon(1.0), unit=ROWS) as one,
        open_ledger(tmp_path / "kept.ledger") as other,
    ):
        for asker in ("ann", "bob"):
            one.share(asker, amount=dp.epsilon(0.5))
        question = one.fingerprint("how many?")
        one.answer(one.charge(of(0.25), unit=ROWS, asker="bob", question=question), 7)
        pays = one._repeat

        def after_the_other(*args):
            other.recall(question, asker="ann")
            return pays(*args)

        monkeypatch.setattr(one, "_repeat", after_the_other)
        found = one.recalled(question, asker="ann")
        assert found.answer.value == 7
        assert not found.new
        assert found.paid.asker == "ann"
        assert one.standing("ann").used.epsilon == 0.25
        assert [e.asker for e in one.entries if e.kind == "charge"] == ["bob", "ann"]
        one.verify()
