"""Selection and sparse vector by name, over the results of a query."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.server import wire
from deniable.server.api.models import Question
from deniable.server.jobs import choosing, kinds
from deniable.server.jobs.asking import Asking
from deniable.server.jobs.door import Door
from deniable.server.jobs.kinds.choices import Threshold
from deniable.server.pages import answers, charts

from .test_asking import ask_of, charges

BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


@pytest.mark.parametrize("how", ["permute_and_flip", "exponential", "noisy_max"])
def test_the_largest_group_is_chosen_and_charged_once(house, how):
    """At ε = 1.9 and a difference of 66 in steps of 2 a wrong choice has probability < 1e-12."""
    home = house()
    asking = Asking(home)
    for _ in range(2):
        outcome = asking.ask(ask_of(home, sql=BY_CITY, spend=1.9, choose=how))
        release = wire.release_from_dict(outcome.release)
        assert "Oslo" in str(release.rows())
    (charge,) = charges(home)
    assert charge.price.epsilon == pytest.approx(1.9)


def test_a_choice_is_priced_for_free(house):
    home = house()
    body = ask_of(home, sql=BY_CITY, spend=0.5, choose="noisy_max").body
    plan = Door(home, Asking(home)).explain(home.accounts.find("ann"), body)
    assert plan["cost"]["epsilon"] == 0.5
    assert not charges(home)


def test_groups_above_a_threshold_are_found_in_order(house):
    """Oslo has 133 rows and Bergen 67: at ε = 1.9 noise of 33 in steps of 2 is below 1e-6."""
    home = house()
    asking = Asking(home)
    ask = ask_of(home, sql=BY_CITY, spend=1.9, above={"threshold": 100.0, "answers": 1})
    outcome = asking.ask(ask)
    release = wire.release_from_dict(outcome.release)
    assert [row["city"] for row in release.rows()] == ["Oslo"]
    assert len(charges(home)) == 1
    assert asking.ask(ask).release == outcome.release


@pytest.mark.parametrize(
    ("sql", "spend"),
    [
        ("SELECT COUNT(*) AS n FROM visits", {"epsilon": 0.1}),
        ("SELECT city, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY city", {"epsilon": 0.1}),
        (BY_CITY, None),
    ],
)
def test_what_is_no_choice_is_refused_before_the_charge(house, sql, spend):
    home = house()
    ask = ask_of(home, sql=sql, choose="noisy_max")
    outcome = Asking(home).ask(
        type(ask)(
            person=ask.person, key=ask.key, people="people", body={**ask.body, "spend": spend}
        )
    )
    assert outcome.state == "refused"
    assert not charges(home)


SUMS = "SELECT city, SUM(age) AS s FROM data GROUP BY city"


@pytest.mark.parametrize(
    ("threshold", "found"),
    [(-50.0, ["a", "b"]), (150.0, ["a", "b"]), (350.0, ["a"]), (650.0, [])],
)
def test_a_threshold_is_in_the_units_of_the_column(threshold, found):
    """Sums are 500.5 and 250.25 on a lattice of 2⁻²⁰; at ε = 10⁴ noise is below 1, and all
    thresholds are 100 away. With two answers and two groups nobody is left out.
    """
    table = pd.DataFrame({"age": np.array([5.005, 2.5025] * 100), "city": ["a", "b"] * 100})
    columns = {"age": dp.bounds(0.0, 8.0, missing="drop"), "city": dp.keys(["a", "b"])}
    schema, budget = dp.Schema(columns=columns), dp.epsilon(1e5)
    session = dp.open(table, unit=dp.rows(), budget=budget, schema=schema)
    task = {"sql": SUMS, "above": {"threshold": threshold, "answers": 2}}
    released = choosing.released(session, session.sql(SUMS), task, dp.epsilon(1e4))
    assert list(released.keys["city"]) == found
    assert released.loss.epsilon == pytest.approx(1e4)
    plan = choosing.explained(session, session.sql(SUMS), task, dp.epsilon(1e4))
    assert plan.cost.epsilon == pytest.approx(1e4)
    with pytest.raises(dp.DeniableError, match="largest"):
        choosing.explained(session, session.sql(SUMS), {"sql": SUMS, "choose": "largest"}, budget)


ABOVE = {"threshold": 50.0, "answers": 1}
SMOKERS = pd.DataFrame({"smoker": [True] * 90 + [False] * 10, "kind": ["a"] * 95 + ["b"] * 5})


@pytest.mark.parametrize(
    ("sql", "label"),
    [
        ("SELECT smoker, COUNT(*) AS n FROM data GROUP BY smoker", "smoker = True"),
        (
            "SELECT smoker, kind, COUNT(*) AS n FROM data GROUP BY smoker, kind",
            "smoker = True, kind = a",
        ),
    ],
)
@pytest.mark.parametrize("how", [{"choose": "exponential"}, {"above": ABOVE}], ids=str)
def test_a_chosen_group_is_named_with_its_columns(sql, label, how):
    """At ε = 100 a wrong choice, or a wrong side of 50, has a probability below 1e-12."""
    facts = dp.Schema(columns={"smoker": dp.keys([True, False]), "kind": dp.keys(["a", "b"])})
    session = dp.open(SMOKERS, unit=dp.rows(), budget=dp.epsilon(200.0), schema=facts)
    query = session.sql(sql)
    release = choosing.released(session, query, {"sql": sql, **how}, dp.epsilon(100.0))
    assert release.value == label
    assert label in str(release)
    assert label in release._repr_html_()
    (row,) = release.rows()
    assert row["smoker"] is True
    assert charts.bars(release) == ""
    again = wire.release_from_dict(wire.release_to_dict(release, ledger="data"))
    assert again.value == label


def test_the_page_shows_the_label_alone(house):
    """As above: Oslo is chosen but for 1e-12."""
    home = house()
    asking = Asking(home)
    ask = ask_of(home, sql=BY_CITY, spend=1.9, choose="exponential")
    release = wire.release_from_dict(asking.ask(ask).release)
    request = SimpleNamespace(base_url="http://here/")
    shown = answers._shown(request, release, asking.about("ann", ask.key))
    assert shown["single"] == "city = Oslo"


def test_a_threshold_is_described_once():
    schema = Question.model_json_schema()["$defs"]
    assert {"Threshold", "Above", "Choose"} <= set(schema)
    assert not [name for name in schema if "__" in name]  # two classes of one name
    own = {"threshold", "answers"}
    assert set(Threshold.model_fields) == own
    assert own < set(kinds.KINDS["above"].model_fields)


@pytest.mark.parametrize("spend", [None, dp.rho(0.1), dp.epsilon(0.1, delta=1e-9)], ids=str)
def test_a_choice_is_paid_for_in_epsilon_alone(spend):
    with pytest.raises(dp.BadParameter, match="paid for in ε"):
        choosing._mechanism(None, {"choose": "noisy_max"}, spend)
