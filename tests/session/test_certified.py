"""What a certificate says of the charge and of failures, to the curator and to an asker."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import DataFailure

TENTH = dp.epsilon(0.1)


@pytest.fixture
def s():
    return dp.open(pa.table({"age": [20, 30]}), unit=dp.rows(), budget=dp.epsilon(4.0))


def resumed(s, asker):
    broken = dp.Sensitive(lambda: 1 / 0, l1=1)
    with pytest.raises(DataFailure):
        s.for_(asker).release(dp.Laplace(scale=100.0).on(broken))
    s.resume(asker=asker)


def test_a_stored_answer_states_to_the_curator_who_paid_first_and_the_failures_up_to_now(s):
    s.ledger.share("ann", amount=TENTH)
    s.ledger.share("bob", amount=TENTH)
    first = s.for_("ann").count(spend=TENTH)
    resumed(s, "bob")
    again = s.count(spend=TENTH)
    (charge,) = [entry for entry in s.ledger.entries if entry.price and entry.asker == "ann"][1:]
    assert (again.provenance.entry, again.provenance.entry_hash) == (charge.sequence, charge.hash)
    stated = again.certificate()["ledger"]
    assert (stated["resumptions"], stated["failures"]) == (1, 1)
    assert "of all askers" in stated["about_failures"]
    own = first.certificate()["ledger"]
    assert (own["resumptions"], own["failures"]) == (0, 0)
    assert "this asker's own" in own["about_failures"]
    assert "ledger.find" in own["check"]


def test_a_free_answer_for_which_another_paid_does_not_claim_a_hash(s):
    s.for_("ann").count(spend=TENTH)
    stated = s.for_("bob").count(spend=TENTH).certificate()["ledger"]
    assert stated["entry_hash"] == ""
    assert "hash" not in str(stated["entry"]) + stated["check"]
