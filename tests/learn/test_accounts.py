"""Accounts: one sum for an estimator and its copies, in one process."""

import copy
import gc
import os
import pickle

import pytest

import deniable as dp
from deniable.learn.models.accounts import Account

SPEND = dp.epsilon(1.0, delta=1e-6)


def test_fits_add_up_in_mu_where_all_have_one_and_else_in_epsilon():
    account = Account()
    assert account.total == dp.mu(0.0)
    account.add(dp.mu(0.3), spend=SPEND)
    account.add(dp.mu(0.4), spend=SPEND)
    assert account.total.mu == pytest.approx(0.5)
    account.add(None, spend=SPEND)
    assert account.total.epsilon == pytest.approx(3.0)
    assert account.total.delta == pytest.approx(3e-6)


def test_copies_have_the_same_account_and_others_another():
    account, other = Account(), Account()
    assert copy.deepcopy(account) is account
    assert pickle.loads(pickle.dumps(account)) is account
    assert pickle.loads(pickle.dumps(other)) is other


def test_an_account_that_is_gone_comes_back_with_its_fits():
    account = Account()
    account.add(dp.mu(0.25), spend=SPEND)
    kept = pickle.dumps(account)
    del account
    gc.collect()
    again = pickle.loads(kept)
    assert again.total == dp.mu(0.25)
    again.add(dp.mu(0.0), spend=SPEND)
    assert pickle.loads(kept) is again


def test_an_account_of_another_process_counts_nothing_here():
    elsewhere = Account("elsewhere", os.getpid() + 1)
    for use in (elsewhere.check_process, lambda: elsewhere.add(dp.mu(1.0), spend=SPEND)):
        with pytest.raises(dp.LedgerFailure, match="another process"):
            use()
    assert elsewhere.total == dp.mu(0.0)
    here = Account("here", os.getpid())
    here.check_process()
    here.add(dp.mu(1.0), spend=SPEND)
    assert here.total == dp.mu(1.0)
