"""Likely mistakes with secure sums: what is said, and that the fix works."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dp
from deniable import secure
from deniable.mechanisms import SkellamShares

SPEND = dp.epsilon(1.0, delta=1e-6)
CLINICS = np.array([[30, 12, 55], [28, 9, 61], [35, 14, 49], [31, 11, 52]])
ROUGH = 60  # Skellam noise of variance 17 is beyond this with probability below 1e-30


def summed(vectors: object, **facts: object) -> np.ndarray:
    kept = {"spend": SPEND, "l1": 1} | facts
    return np.asarray(secure.aggregate(vectors, **kept).value)  # type: ignore[arg-type]


def refusal(act: Callable[[], object], kind: type[Exception] = dp.BadParameter) -> str:
    with pytest.raises(kind) as raised:
        act()
    return str(raised.value)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_frame_is_not_taken_by_its_columns(frame):
    names = ["flu", "cold", "cough"]
    given = frame({name: CLINICS[:, i] for i, name in enumerate(names)})
    said = refusal(lambda: summed(given))
    assert "one vector per party" in said
    if hasattr(given, "to_numpy"):
        assert "vectors.to_numpy()" in said
        assert (abs(summed(given.to_numpy()) - CLINICS.sum(axis=0)) < ROUGH).all()


def test_vectors_by_name_are_refused_with_a_fix_that_works():
    named = {f"clinic {i}": row.tolist() for i, row in enumerate(CLINICS)}
    assert "fix:  list(vectors.values())" in refusal(lambda: summed(named))
    assert (abs(summed(list(named.values())) - CLINICS.sum(axis=0)) < ROUGH).all()


@pytest.mark.parametrize("given", [[10, 20, 30], np.array([10, 20, 30]), [10, None, 30]])
def test_one_number_per_party_needs_a_list_of_one(given):
    assert "fix:  [[each] for each in vectors]" in refusal(lambda: summed(given))
    assert abs(summed([[each] for each in (10, 20, 30)])[0] - 60) < ROUGH


@pytest.mark.parametrize("given", [[], [None, None, None]])
def test_a_sum_over_nobody_is_refused_as_that(given):
    assert "no party has a vector" in refusal(lambda: summed(given, dropouts=3))


def test_whole_floats_are_not_advised_to_be_counted_in_smaller_units():
    floats = CLINICS.astype(float)
    assert "fix:  np.asarray(vector).astype(int)    (counts)" in refusal(lambda: summed(floats))
    fixed = [np.asarray(vector).astype(int) for vector in floats]
    assert (abs(summed(fixed) - CLINICS.sum(axis=0)) < ROUGH).all()


@pytest.mark.parametrize(
    ("facts", "name"),
    [({"l1": 1.5}, "l1"), ({"l1": 0}, "l1"), ({"l1": None, "l2": -1}, "l2")],
)
def test_a_bad_sensitivity_is_called_by_the_name_it_was_given_by(facts, name):
    assert f"{name} must be" in refusal(lambda: summed(CLINICS, **facts))
    plan = {"parties": 4, "spend": SPEND} | facts
    assert f"{name} must be" in refusal(lambda: secure.explain(**plan))


@pytest.mark.parametrize("spend", [1.0, "1", None])
def test_an_amount_that_is_not_a_loss_is_refused_with_one_that_works(spend):
    said = "fix:  spend=dp.epsilon(1.0, delta=1e-06)"
    assert said in refusal(lambda: summed(CLINICS, spend=spend))
    assert said in refusal(lambda: secure.explain(parties=4, spend=spend, l1=1))


def test_an_amount_without_delta_is_refused_with_one_that_has_it():
    assert "fix:  dp.epsilon(1, delta=1e-6)" in refusal(
        lambda: summed(CLINICS, spend=dp.epsilon(1))
    )


@pytest.mark.parametrize("parties", [2, 3])
def test_too_few_parties_for_what_may_go_wrong_are_told_how_many_it_takes(parties):
    rows = [[1]] * parties
    said = refusal(lambda: summed(rows, dropouts=1, colluding=1))
    assert "dropouts=1 with colluding=1" in said
    assert "fix:  more parties: dropouts + colluding must be " in said
    assert summed([[1]] * 4, dropouts=1, colluding=1).shape == (1,)


def test_a_plan_says_what_is_left_after_it_and_a_plan_of_its_own_says_nothing():
    assert secure.explain(parties=4, spend=SPEND, l1=1).left is None
    with dp.open(pa.table({"x": [1]}), unit=dp.rows(), budget=SPEND) as s:
        spend = dp.epsilon(0.5, delta=5e-7)
        plan = secure.explain(parties=4, spend=spend, l1=1, session=s)
        secure.aggregate(CLINICS, spend=spend, l1=1, session=s)
        assert plan.left == s.left
        none = secure.explain(parties=4, spend=SPEND, l1=1, session=s)  # no room
        assert (none.left, none.exceeded) == (None, s.left)


# ---- message by message


def test_a_round_and_a_party_that_lack_something_are_answered_with_a_call_that_fits():
    lacking = refusal(lambda: secure.Round(parties=3), dp.DeniableError)  # type: ignore[call-arg]
    assert "Round() is missing length=" in lacking
    assert "Party() is missing index=" in refusal(
        lambda: secure.Party(secure.Round(parties=3, length=1)),  # type: ignore[call-arg]
        dp.DeniableError,
    )


def test_a_party_that_is_given_an_announcement_is_told_to_read_it_first():
    announcement = secure.Round(parties=3, length=1).to_bytes()
    said = refusal(lambda: secure.Party(announcement, 0))  # type: ignore[arg-type]
    assert "fix:  secure.Party(secure.Round.from_bytes(announcement), 0)" in said
    assert secure.Party(secure.Round.from_bytes(announcement), 0).index == 0


def test_noise_for_another_round_is_refused_with_the_shares_that_fit():
    of = dp.Skellam(variance=12.0)
    said = refusal(
        lambda: secure.Round(parties=7, length=1, dropouts=1, noise=SkellamShares(of=of, parties=5))
    )
    assert "SkellamShares(of=..., parties=7, dropouts=1, colluding=0)" in said
    fitting = SkellamShares(of=of, parties=7, dropouts=1, colluding=0)
    assert secure.Round(parties=7, length=1, dropouts=1, noise=fitting).noise == fitting
    assert "parties=7" in refusal(
        lambda: secure.Round(parties=7, length=1, noise=of)  # type: ignore[arg-type]
    )


def test_a_step_out_of_order_says_which_one_comes_next_and_the_round_goes_on():
    round_ = secure.Round(parties=2, length=1)
    parties, coordinator = [secure.Party(round_, i) for i in range(2)], secure.Coordinator(round_)
    early = refusal(lambda: parties[0].share(b""), dp.MessageRejected)
    assert "fix:  it sends KEYS next" in early
    coordinator.receive(*(p.advertise() for p in parties))
    assert "fix:  it sends SHARES next" in refusal(parties[0].advertise, dp.MessageRejected)
    assert "this one is at KEYS" in refusal(coordinator.survivors, dp.MessageRejected)
    assert "but at KEYS" in refusal(coordinator.total, dp.MessageRejected)
    rosters = coordinator.rosters()
    coordinator.receive(*(p.share(rosters[p.index]) for p in parties))


def test_messages_in_a_list_are_refused_with_a_call_that_takes_them():
    round_ = secure.Round(parties=2, length=1)
    messages = [secure.Party(round_, i).advertise() for i in range(2)]
    coordinator = secure.Coordinator(round_)
    said = refusal(lambda: coordinator.receive(messages), dp.MessageRejected)  # type: ignore[arg-type]
    assert "fix:  coordinator.receive(*messages)" in said
    coordinator.receive(*messages)
    assert len(coordinator.rosters()) == 2


def test_a_directory_has_public_bytes_by_party():
    identities = [secure.Identity() for _ in range(2)]
    round_ = secure.Round(parties=2, length=1)
    for given in ([each.public for each in identities], dict(enumerate(identities)), "all"):
        said = refusal(lambda given=given: secure.Party(round_, 0, directory=given))  # type: ignore[misc]
        assert "fix:  directory={i: each.public for i, each in enumerate(identities)}" in said
    directory = {i: each.public for i, each in enumerate(identities)}
    parties = [secure.Party(round_, i, identity=identities[i], directory=directory) for i in (0, 1)]
    coordinator = secure.Coordinator(round_)
    coordinator.receive(*(p.advertise() for p in parties))
    rosters = coordinator.rosters()
    coordinator.receive(*(p.share(rosters[p.index]) for p in parties))
