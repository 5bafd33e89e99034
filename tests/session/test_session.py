"""Sessions: charged before computed, answered once, opaque about failures."""

import signal
import sys

import numpy as np
import pyarrow as pa
import pytest
from tests.session.opened import EIGHTH, explode, secret, session

import deniable as dp
from deniable.errors import (
    BadParameter,
    BudgetExceeded,
    DataFailure,
    NoBound,
    SensitivityMismatch,
    UnitMismatch,
)
from deniable.ledger import open_ledger
from deniable.mechanisms import Step
from deniable.mechanisms.numbers import Gaussian, Laplace
from deniable.release import Noisy
from deniable.session import open as open_session

# ---- releasing


def test_a_release_is_charged_and_tells_its_error():
    s = session()
    r = s.release(EIGHTH.on(secret(1000, whole=True)), question="how many")
    assert isinstance(r.value, int)
    assert r.loss == dp.epsilon(0.125)
    assert s.spent == dp.epsilon(0.125)
    (row,) = r.rows()
    assert row["value_error"] == EIGHTH.error(0.95, whole=True)
    assert r.provenance.question == "how many"
    assert r.unit == s.unit


def test_an_array_is_released_with_an_index():
    r = session().release(EIGHTH.on(secret(np.zeros((2, 2)), shape=(2, 2))))
    assert r.value.shape == (2, 2)
    assert [tuple(row.values())[:2] for row in r.rows()] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_steps_released_together_are_one_charge():
    s = session()
    r = s.release([EIGHTH.on(secret(1)), Laplace(scale=4.0).on(secret(2))])
    assert s.spent == dp.epsilon(0.125) + dp.epsilon(0.25)
    assert list(r.answers) == ["value_1", "value_2"]
    assert len(s.ledger.entries) == 1
    both = s.release(
        [EIGHTH.on(secret(100)), EIGHTH.on(secret(np.zeros(2), shape=2))],
        present=lambda drawn: ({}, {"n": Noisy(cells=(drawn[0],))}),
    )
    assert list(both.answers) == ["n"]


@pytest.mark.parametrize(
    "budget",
    [dp.epsilon(1.0), dp.epsilon(1.0, delta=1e-6), dp.rho(0.05), dp.mu(0.3)],
    ids=["pure", "approx", "zcdp", "gdp"],
)
def test_an_answer_beyond_the_ceiling_is_refused_before_it_is_computed(budget):
    s = session(budget)
    noisy = Laplace(scale=1.25) if budget == dp.epsilon(1.0) else Gaussian(sigma=10.0)
    ran = []

    def compute():
        ran.append(1)
        return 5.0

    answered = []

    def until_it_is_gone():
        while len(answered) < 10_000:
            answered.append(s.release(noisy.on(dp.Sensitive(compute, l1=1))))

    with pytest.raises(BudgetExceeded) as caught:
        until_it_is_gone()
    assert len(ran) == len(answered) > 0
    assert caught.value.cost == "nothing was spent"


def test_a_mechanism_without_a_proof_in_the_sessions_currency_is_refused_unspent():
    s = session(dp.epsilon(1.0))
    with pytest.raises(NoBound):
        s.release(Gaussian(sigma=1.0).on(secret(1.0)))
    assert s.spent == dp.epsilon(0)


def test_units_must_agree():
    s = session()
    for unit in (dp.person("id", rows=2), dp.rows(relation="replace")):
        with pytest.raises(UnitMismatch):
            s.release(EIGHTH.on(secret(1, unit=unit)))
    s.release(EIGHTH.on(secret(1, unit=dp.rows())))


def test_a_step_made_by_hand_is_checked_like_any_other():
    s = session()
    with pytest.raises(SensitivityMismatch):
        s.release(Step(EIGHTH, secret(1, l1=2, linf=2)))
    assert s.spent == dp.epsilon(0)


@pytest.mark.parametrize("thing", [3, None, EIGHTH, "count", [], [EIGHTH], {"a": 1}])
def test_only_steps_are_released(thing):
    with pytest.raises(BadParameter):
        session().release(thing)


# ---- failures


BROKEN = {
    "an exception": explode,
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "NaN in an array": lambda: np.array([1.0, np.nan]),
    "NaN in a list": lambda: [1.0, float("nan")],
    "NaN among objects": lambda: np.array([1, float("nan")], dtype=object),
    "ragged": lambda: [[1.0], [2.0, float("nan")]],
    "no number": lambda: "Secret Person, 42",
    "nothing": lambda: None,
    "a strange object": object,
    "StopIteration": lambda: next(iter(())),
}


@pytest.mark.parametrize("compute", BROKEN.values(), ids=list(BROKEN))
def test_whatever_fails_on_data_is_one_opaque_charged_error(compute):
    s = session()
    with pytest.raises(DataFailure) as caught:
        s.release(EIGHTH.on(dp.Sensitive(compute, l1=1)), question="how many")
    assert s.spent == dp.epsilon(0.125)
    assert caught.value.cost == "ε 0.125 was spent"
    reference = session()
    with pytest.raises(DataFailure) as other:
        reference.release(EIGHTH.on(dp.Sensitive(explode, l1=1)), question="how many")
    assert str(caught.value) == str(other.value)
    (failure,) = s.failures
    assert failure.question == "how many"


def test_a_failed_answer_is_not_stored_and_is_paid_again():
    s, values = session(), iter([float("nan"), 5.0])
    step = EIGHTH.on(dp.Sensitive(lambda: next(values), l1=1))
    with pytest.raises(DataFailure):
        s.release(step, question="q")
    s.resume()
    s.release(step, question="q")
    assert s.spent == dp.epsilon(0.125) + dp.epsilon(0.125)


def test_the_charge_is_written_before_the_value_is_computed():
    s, seen = session(), []
    s.release(EIGHTH.on(dp.Sensitive(lambda: seen.append(s.spent) or 1, l1=1)))
    assert seen == [dp.epsilon(0.125)]


def test_an_interrupt_while_computing_is_charged_and_shows_nothing():
    s = session()

    def compute():
        secret = "Secret Person"
        signal.raise_signal(signal.SIGINT)
        return secret

    with pytest.raises(KeyboardInterrupt) as caught:
        s.release(EIGHTH.on(dp.Sensitive(compute, l1=1)))
    assert s.spent == dp.epsilon(0.125)
    assert "Secret" not in str(caught.value)
    assert "compute" not in [frame.frame.code.name for frame in caught.traceback]
    assert caught.value.__context__ is None


@pytest.mark.parametrize("status", [3, 0, None, "Secret"])
def test_an_exit_status_does_not_survive(status):
    s = session()

    def compute():
        sys.exit(status)

    with pytest.raises(DataFailure):
        s.release(EIGHTH.on(dp.Sensitive(compute, l1=1)))
    assert len(s.failures) == 1


def test_what_delta_is_left_for_is_said():
    s = session(budget=dp.epsilon(3, delta=1e-7))
    kept = "2.5e-08 is left for private group selection, 7.5e-08 is reserved for Gaussian noise"
    told = [
        "  left      ε 3",
        f"  of δ      {kept}",
    ]
    assert str(s).splitlines()[3:5] == told
    assert kept in s._repr_html_()
    assert "of δ" not in str(session())


# ---- the same question again


def test_the_same_question_is_answered_once_and_then_free():
    s = session()
    values = iter(range(100))
    step = EIGHTH.on(dp.Sensitive(lambda: next(values) * 1000, l1=1))
    first, again = (s.release(step, question="count", table="data") for _ in range(2))
    assert first.value == again.value
    assert not first.free
    assert again.free.startswith("stored answer from 20")
    assert again.free.endswith("the data may have changed since then")
    assert s.spent == dp.epsilon(0.125)
    assert again.rows() == first.rows()
    assert again.provenance == first.provenance
    s.release(step, question="count", table="other")
    s.release(Laplace(scale=16.0).on(secret(1)), question="count", table="data")
    s.release(step)
    assert s.spent == sum([dp.epsilon(0.125)] * 3, dp.epsilon(0.0625))


def test_arrays_and_text_survive_the_ledger(tmp_path):
    s = session(ledger=tmp_path / "ledger.db")
    first = s.release(EIGHTH.on(secret(np.zeros((2, 3)), shape=(2, 3))), question="marginal")
    s.close()
    again = session(ledger=tmp_path / "ledger.db").release(
        EIGHTH.on(secret(np.ones((2, 3)), shape=(2, 3))), question="marginal"
    )
    assert np.array_equal(first.value, again.value)
    assert again.free


def test_shares_bind_those_who_have_one():
    s = session(dp.epsilon(1.0))
    s.ledger.share("ana", amount=dp.epsilon(0.2))
    ana = s.for_("ana")
    ana.release(EIGHTH.on(secret(1)), question="a")
    with pytest.raises(BudgetExceeded):
        ana.release(EIGHTH.on(secret(1)), question="b")
    s.release(EIGHTH.on(secret(1)), question="b")
    with pytest.raises(BudgetExceeded):  # free for the ceiling, not for her share
        ana.release(EIGHTH.on(secret(1)), question="b")
    assert s.spent == 2 * dp.epsilon(0.125)


@pytest.mark.parametrize("tables", [["people"], ["visits", "people"]])
@pytest.mark.parametrize("other", [["visits"], ["people", "doctors"]])
def test_the_same_words_about_another_table_are_another_question(tables, other):
    ledger = open_ledger(budget=dp.epsilon(4.0), unit=dp.rows())

    def asked(names):
        data = {name: pa.table({"x": [1]}) for name in names}
        s = open_session(data, unit=dp.rows(), ledger=ledger)
        return s.release(EIGHTH.on(dp.Sensitive(lambda: 1, l1=1)), question="how many rows?")

    assert not asked(tables).free
    assert asked(tables).free
    assert asked(tables[::-1]).free
    assert not asked(other).free


def test_data_whose_version_nobody_names_has_an_empty_one():
    assert session().version == ""
    assert session(schema=dp.Schema()).version == ""
    assert session(schema=dp.Schema(version="7")).version == "7"


def test_every_line_says_what_was_asked_and_of_which_version():
    s = session(schema=dp.Schema(version="May"))
    s.release(EIGHTH.on(secret(1)), question="how many")
    s.for_("ann").release(EIGHTH.on(secret(1)), question="how many", title="a title")

    def twice():
        one = yield EIGHTH.on(secret(1))
        several = yield [EIGHTH.on(secret(1)), EIGHTH.on(secret(1))]
        return type(one), type(several), len(several)

    noted = []
    assert s.run(twice(), name="twice", charges=noted) == (float, list, 2)
    charges = [entry for entry in s.ledger.entries if entry.kind == "charge"]
    said = ["how many", "twice, step 1", "twice, step 2"]
    assert [entry.what for entry in charges] == [f"{each} · data version May" for each in said]
    assert [entry.hash for entry in noted] == [entry.hash for entry in charges[1:]]
    plain = session()
    plain.release(EIGHTH.on(secret(1)), question="how many")
    assert plain.ledger.entries[0].what == "how many"
