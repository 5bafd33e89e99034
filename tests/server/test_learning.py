"""Fits by name: how large they may be, which charges are theirs, and what is told of a model."""

from types import SimpleNamespace

import numpy as np
import pytest

import deniable as dp
from deniable.losses.filters import Price
from deniable.mechanisms import Laplace
from deniable.server.jobs.kinds import learning
from deniable.server.jobs.kinds.learning import Fit, _coefficients


def test_leaves_that_are_left_open_count_as_the_most_there_may_be():
    """32 leaves, 40 rounds and 79 bins multiply to 101,120; with 78 to 99,840 of 100,000."""
    for bins, fits in ((78, True), (79, False)):
        asked = Fit(
            estimator="GradientBoosting", parameters={"rounds": 40, "bins": bins}, target="x"
        )
        if fits:
            assert asked._made().max_leaves is None
        else:
            with pytest.raises(dp.BadParameter, match="max_leaves = 32 takes too long"):
                asked._made()


def line(kind="charge", asker="ann", price=0.25, **more):
    held = None if price is None else Price(epsilon=price)
    return SimpleNamespace(kind=kind, asker=asker, price=held, **more)


OWN = [line(name="first"), line(price=0.5, name="last")]
OTHERS = [line("answer"), line(asker="bob"), line(price=None), line("stop", price=None)]


@pytest.mark.parametrize(("table", "shown"), [("visits", "visits"), (None, "visits, homes")])
def test_the_price_of_a_fit_is_of_its_askers_charges_since_it_began(monkeypatch, table, shown):
    monkeypatch.setattr(
        learning, "facts_of", lambda session, paid: {"time": "2026", "entry_hash": paid.name}
    )
    lines = [line(price=4.0, name="before"), OTHERS[0], OWN[0], *OTHERS[1:], OWN[1], OTHERS[0]]
    session = SimpleNamespace(
        ledger=SimpleNamespace(entries=lines), asker="ann", unit=dp.rows(), version="7",
        tables={"visits": 0, "homes": 1},
    )  # fmt: skip
    fitted = SimpleNamespace(loss_=dp.epsilon(0.75), plan_=Laplace(scale=2.0).to_dict())
    asked = Fit(estimator="KMeans", table=table, parameters={})
    found = asked._released(session, fitted, 1)
    where = found.provenance
    assert Price.from_dict(where.price).epsilon == 0.75
    assert (where.entry_hash, where.table, where.data_version) == ("last", shown, "7")
    assert (where.question, found.loss) == (asked.title, dp.epsilon(0.75))


@pytest.mark.parametrize(
    ("coefficients", "features", "told"),
    [
        (None, ["a"], False), ([[1.0, 2.0]], ["a", "b"], True), ([1.0, 2.0], ["a", "b"], True),
        ([[1.0, 2.0], [3.0, 4.0]], ["a", "b"], False), ([1.0], [], False),
    ],
)  # fmt: skip
def test_coefficients_are_told_where_there_is_one_for_each_feature(coefficients, features, told):
    model = SimpleNamespace(features_=features)
    if coefficients is not None:
        model.coef_ = np.array(coefficients)
    keys, answers = _coefficients(model)
    if told:
        assert keys == {"feature": ("a", "b")}
        assert answers["coefficient"].cells == (1.0, 2.0)
    else:
        assert (keys, answers) == ({}, {})


def test_a_model_without_names_of_features_tells_no_coefficients():
    assert _coefficients(SimpleNamespace(coef_=np.array([1.0]))) == ({}, {})
