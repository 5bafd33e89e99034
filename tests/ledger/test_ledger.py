"""Charging, shares and stored answers: the same on every kind of store."""

import threading

import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.losses.filters import Price
from deniable.mechanisms.keys import PartitionSelection

ROWS = dp.rows()
TENTH = dp.Laplace(scale=10.0)


def charge(ledger, mechanism=TENTH, **options):
    return ledger.charge(mechanism, unit=ROWS, **options)


def asked(ledger, text, **options):
    """Charge for a question and store its answer."""
    paid = charge(ledger, question=ledger.fingerprint(text), **options)
    return ledger.answer(paid, text.upper())


def test_a_charge_is_recorded_with_its_public_parameters(fresh):
    entry = charge(fresh(), asker="ann", what="how many?")
    assert (entry.sequence, entry.kind, entry.asker, entry.what) == (
        1,
        "charge",
        "ann",
        "how many?",
    )
    assert entry.mechanisms == [TENTH.to_dict()]
    assert entry.time.utcoffset().total_seconds() == 0


def test_exactly_what_fits_is_admitted_and_then_nothing(fresh):
    ledger = fresh(budget=dp.epsilon(1.0))
    for _ in range(10):
        charge(ledger)
    head = ledger.head()
    with pytest.raises(dp.BudgetExceeded, match="would exceed the budget") as refused:
        charge(ledger)
    assert refused.value.cost == "nothing was spent"
    assert ledger.head() == head, "a refused charge writes nothing"
    assert ledger.spent.epsilon_at() == pytest.approx(1.0)
    assert ledger.left.epsilon_at() == pytest.approx(0.0, abs=1e-12)
    assert ledger.verify() == head


def test_a_smaller_question_still_fits_after_a_larger_was_refused(fresh):
    ledger = fresh(budget=dp.epsilon(1.0))
    charge(ledger, dp.Laplace(scale=2.0))
    with pytest.raises(dp.BudgetExceeded):
        charge(ledger, dp.Laplace(scale=1.0))
    assert charge(ledger, dp.Laplace(scale=4.0)).sequence == 2


@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_two_sessions_share_one_ceiling(fresh):
    first, second = fresh(), fresh()
    for n in range(10):
        charge((first, second)[n % 2])
    for ledger in (first, second):
        with pytest.raises(dp.BudgetExceeded):
            charge(ledger)
    assert first.spent == second.spent


def test_threads_never_overspend_together(fresh):
    ledger, admitted = fresh(budget=dp.epsilon(1.0)), []

    def spend():
        try:
            while True:
                admitted.append(charge(ledger, dp.Laplace(scale=32.0)).sequence)
        except dp.BudgetExceeded:
            pass

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(admitted) == list(range(1, 33))
    ledger.verify()


EXAMPLES = [
    dp.Laplace(scale=10.0) + 3 * dp.DiscreteLaplace(scale=40.0),
    dp.Exponential(epsilon=0.1),
    dp.RandomizedResponse(epsilon=0.1, categories=4),
    20 * dp.Gaussian(sigma=8.0).sampled(rate=0.01),
]


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=lambda m: type(m).__name__)
def test_what_was_charged_can_be_priced_again_from_the_record(mechanism):
    ledger = open_ledger(budget=dp.epsilon(2.0, delta=1e-6), unit=ROWS)
    entry = charge(ledger, mechanism)
    assert dp.Mechanism.from_dict(entry.mechanisms[0]) == mechanism
    assert entry.price == ledger.price(mechanism)
    ledger.verify()


def test_a_plan_fixed_in_advance_is_paid_as_one_block():
    ledger = open_ledger(budget=dp.epsilon(1.0, delta=1e-6), unit=ROWS)
    plan = 50 * dp.Gaussian(sigma=60.0)
    entry = charge(ledger, plan, delta=1e-8)
    assert entry.price.delta == 1e-8
    assert entry.price.epsilon == plan.epsilon_at(1e-8)
    with pytest.raises(dp.BudgetExceeded):
        charge(ledger, plan, delta=9e-7)  # more than a quarter of δ is not in the reserve
    ledger.verify()


# ---- units


@pytest.mark.parametrize("other", [dp.rows(relation="replace"), dp.person("id", rows=3)])
def test_a_charge_for_another_unit_is_refused(fresh, other):
    ledger = fresh()
    with pytest.raises(dp.UnitMismatch, match=r"was opened with unit=dp\.rows"):
        ledger.charge(TENTH, unit=other)
    assert len(ledger.entries) == 0


# ---- answers


def test_the_same_question_finds_its_stored_answer_free(fresh):
    ledger = fresh()
    question = ledger.fingerprint({"sql": "SELECT COUNT(*) FROM t", "spend": 0.1})
    assert ledger.recall(question) is None
    paid = charge(ledger, question=question)
    ledger.answer(paid, {"n": [1, 2.5, None]})
    head = ledger.head()
    assert ledger.recall(question).value == {"n": [1, 2.5, None]}
    assert ledger.recall(question).charge == paid.sequence
    assert ledger.head() == head


def test_a_charge_without_a_stored_answer_is_paid_again(fresh):
    ledger = fresh()
    question = ledger.fingerprint("lost in a crash")
    charge(ledger, question=question)
    assert ledger.recall(question) is None
    ledger.answer(charge(ledger, question=question), 3)
    assert ledger.spent.epsilon_at() == pytest.approx(0.2)
    assert ledger.recall(question).value == 3


def test_one_charge_pays_for_one_answer(fresh):
    ledger = fresh()
    paid = charge(ledger, question=ledger.fingerprint("once"))
    ledger.answer(paid, 1)
    with pytest.raises(dp.BadParameter, match="already has an answer"):
        ledger.answer(paid, 2)


def test_an_answer_needs_a_charge_of_this_ledger(fresh):
    ledger, other = fresh(), open_ledger(budget=dp.epsilon(1.0), unit=ROWS)
    stranger = charge(other, question=ledger.fingerprint("mine"))
    with pytest.raises(dp.BadParameter, match="not in this ledger"):
        ledger.answer(stranger, 1)
    with pytest.raises(dp.BadParameter, match="charge with a question"):
        ledger.answer(charge(ledger), 1)


def test_a_value_that_is_not_json_is_refused_and_nothing_is_written(fresh):
    ledger = fresh()
    paid = charge(ledger, question=ledger.fingerprint("set"))
    for value in ({1, 2}, float("nan"), b"bytes"):
        with pytest.raises(dp.BadParameter, match="plain JSON"):
            ledger.answer(paid, value)
    assert len(ledger.entries) == 1


def test_fingerprints_are_keyed_to_the_ledger(fresh):
    ledger, other = fresh(), open_ledger(budget=dp.epsilon(1.0), unit=ROWS)
    assert ledger.fingerprint("a") == ledger.fingerprint("a") != ledger.fingerprint("b")
    assert ledger.fingerprint("a") != other.fingerprint("a")
    assert ledger._key.hex() not in ledger.to_jsonl(), "the key is not part of what is exported"


# ---- shares


def test_a_share_is_kept_for_its_asker_and_limits_them(fresh):
    ledger = fresh(budget=dp.epsilon(1.0))
    ledger.share("ann", amount=dp.epsilon(0.3))
    for _ in range(7):
        charge(ledger, asker="bob")
    with pytest.raises(dp.BudgetExceeded, match="exceed the budget"):
        charge(ledger, asker="bob")
    for _ in range(3):
        charge(ledger, asker="ann")
    with pytest.raises(dp.BudgetExceeded, match="your share"):
        charge(ledger, asker="ann")
    assert ledger.spent.epsilon_at() == pytest.approx(1.0)
    ledger.verify()


def test_a_refusal_from_a_share_says_nothing_about_others(fresh):
    texts = []
    for others in (0, 3):
        ledger = open_ledger(budget=dp.epsilon(1.0), unit=ROWS)
        ledger.share("ann", amount=dp.epsilon(0.05))
        for _ in range(others):
            charge(ledger, asker="bob")
        with pytest.raises(dp.BudgetExceeded) as refused:
            charge(ledger, asker="ann")
        texts.append(str(refused.value))
    assert texts[0] == texts[1]


def test_shares_cannot_promise_more_than_the_ceiling(fresh):
    ledger = fresh(budget=dp.epsilon(1.0))
    ledger.share("ann", amount=dp.epsilon(0.6))
    with pytest.raises(dp.BudgetExceeded):
        ledger.share("bob", amount=dp.epsilon(0.6))
    ledger.share("bob", amount=dp.epsilon(0.3))
    ledger.share("ann", amount=dp.epsilon(0.1))
    assert set(ledger.shares()) == {"ann", "bob"}
    with pytest.raises(dp.BudgetExceeded):
        charge(ledger)


def test_what_was_spent_before_a_share_counts_for_the_ceiling(fresh):
    ledger = fresh(budget=dp.epsilon(1.0))
    charge(ledger, dp.Laplace(scale=2.0), asker="ann")
    with pytest.raises(dp.BudgetExceeded):
        ledger.share("ann", amount=dp.epsilon(0.6))
    ledger.share("ann", amount=dp.epsilon(0.5))
    charge(ledger, dp.Laplace(scale=2.0), asker="ann")
    ledger.verify()


def test_a_stored_answer_costs_another_share_once_and_the_ceiling_nothing(fresh):
    ledger = fresh(budget=dp.epsilon(1.0))
    ledger.share("ann", amount=dp.epsilon(0.15))
    question = asked(ledger, "how many?", asker="bob").question
    spent = ledger.spent
    for _ in range(2):
        assert ledger.recall(question, asker="ann").value == "HOW MANY?"
    assert ledger.spent == spent
    repeats = [entry for entry in ledger.entries if entry.repeats is not None]
    assert [entry.asker for entry in repeats] == ["ann"]
    with pytest.raises(dp.BudgetExceeded, match="your share"):
        ledger.recall(asked(ledger, "another", asker="bob").question, asker="ann")
    ledger.verify()


def test_a_stored_answer_is_free_for_who_paid_it_and_for_askers_without_a_share(fresh):
    ledger = fresh(budget=dp.epsilon(1.0))
    ledger.share("ann", amount=dp.epsilon(0.2))
    question = asked(ledger, "mine", asker="ann").question
    before = ledger.head()
    assert ledger.recall(question, asker="ann").value == "MINE"
    assert ledger.recall(question, asker="bob").value == "MINE"
    assert ledger.recall(question).value == "MINE"
    assert ledger.head() == before


def test_what_is_due_is_what_asking_would_charge(fresh):
    ledger = fresh(budget=dp.epsilon(1.0))
    ledger.share("ann", amount=dp.epsilon(0.5))
    new, tenth = ledger.fingerprint("new"), ledger.price(TENTH)
    kept = asked(ledger, "kept", asker="bob").question
    lost = charge(ledger, question=ledger.fingerprint("lost")).question
    for asker in (None, "bob", "ann"):
        assert ledger.due(TENTH, asker=asker) == tenth
        assert ledger.due(TENTH, question=new, asker=asker) == tenth
        assert ledger.due(TENTH, question=lost, asker=asker) == tenth
    assert ledger.due(TENTH, question=kept) == ledger.due(TENTH, question=kept, asker="bob")
    assert ledger.due(TENTH, question=kept) == Price.zero
    assert ledger.due(TENTH, question=kept, asker="ann") == tenth, "a share pays to see it"
    ledger.recall(kept, asker="ann")
    assert ledger.due(TENTH, question=kept, asker="ann") == Price.zero


def test_checking_raises_what_charging_would_and_writes_nothing(fresh):
    ledger = fresh(budget=dp.epsilon(1.0))
    ledger.share("ann", amount=dp.epsilon(0.3))
    head = ledger.head()
    for asker, fits in ((None, 7), ("bob", 7), ("ann", 3)):
        ledger.check(fits * ledger.price(TENTH), asker=asker)
        with pytest.raises(dp.BudgetExceeded) as checked:
            ledger.check((fits + 1) * ledger.price(TENTH), asker=asker)
        with pytest.raises(dp.BudgetExceeded) as charged:
            charge(ledger, (fits + 1) * TENTH, asker=asker)
        assert str(checked.value) == str(charged.value)
    assert ledger.head() == head


def test_a_list_with_a_delta_costs_what_its_parts_do(fresh):
    ledger = fresh(budget=dp.epsilon(3.0, delta=1e-6))
    keys = PartitionSelection(epsilon=0.5, delta=1e-8)
    for numbers in (dp.Laplace(scale=4.0), dp.Gaussian(sigma=20.0), 3 * dp.Gaussian(sigma=50.0)):
        together = ledger.price(keys + numbers)
        apart = ledger.price(keys) + ledger.price(numbers)
        assert together.delta == apart.delta == 1e-8
        assert together.epsilon == pytest.approx(apart.epsilon)
        assert together.renyi == pytest.approx(apart.renyi)
    charge(ledger, keys + dp.Gaussian(sigma=20.0))
    assert ledger.verify() == ledger.head()


# ---- reading


def test_entries_read_like_a_list(fresh):
    ledger = fresh()
    ledger.note("opened for the annual survey")
    for _ in range(3):
        charge(ledger)
    assert [entry.sequence for entry in ledger.entries] == [1, 2, 3, 4]
    assert len(ledger.entries) == 4
    assert ledger.entries[0].what == "opened for the annual survey"
    assert ledger.entries[-1] == ledger.entries[3]
    assert [entry.kind for entry in ledger.entries[:2]] == ["note", "charge"]
    with pytest.raises(IndexError):
        ledger.entries[4]


def test_a_ledger_shows_itself(fresh):
    ledger = fresh(budget=dp.epsilon(1.0))
    charge(ledger, asker="<b>ann</b>", what="a < b & c")
    assert "lines: 1, protects rows()" in repr(ledger)
    page = ledger._repr_html_()
    assert "&lt;b&gt;ann&lt;/b&gt;" in page
    assert "a &lt; b &amp; c" in page
    for _ in range(25):
        ledger.note("more")
    assert "the newest 20 of 26 lines" in ledger._repr_html_()


def test_a_ledger_cannot_be_copied(fresh):
    import copy
    import pickle

    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(dp.LedgerFailure, match="cannot be copied"):
            copied(fresh())


def test_a_line_has_words_only_if_somebody_gave_some():
    with open_ledger(budget=dp.epsilon(9.0), unit=dp.rows()) as ledger:
        for asker in ("ann", "bob"):
            ledger.share(asker, amount=dp.epsilon(1.0))
        question, other = ledger.fingerprint("q"), ledger.fingerprint("other")
        for asked, words in ((question, ""), (other, "how many")):
            paid = ledger.charge(
                dp.Laplace(scale=10.0), unit=dp.rows(), question=asked, what=words, asker="ann"
            )
            ledger.answer(paid, 7)
            again = ledger.recalled(asked, asker="bob", what=words).paid
            for line in (paid, again):
                assert line.record.get("what", "") == line.what == words
                assert ("what" in line.record) == bool(words)
