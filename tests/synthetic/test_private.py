"""Every method, replayed on neighbours and audited from outside."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from tests.synthetic.people import SCHEMA, people

import deniable as dp
from deniable.audit import audit, replay, search
from deniable.schema.binning import Listed
from deniable.sensitive import compute
from deniable.synthetic.counting import Hidden
from deniable.synthetic.domain import Domain
from deniable.synthetic.inference import Model, fit
from deniable.synthetic.methods import adaptive, fixed, tree
from deniable.synthetic.purse import Purse
from deniable.synthetic.run import Run

SPENDS = {
    "laplace": (dp.epsilon(1.0), dp.epsilon(1.0)),
    "gaussian": (dp.epsilon(1.0, delta=1e-5), dp.epsilon(1.0, delta=1e-5)),
    "zcdp": (dp.rho(0.1), dp.rho(0.1)),
    "gdp": (dp.mu(0.5), dp.mu(0.5)),
}
OPTIONS = {
    "independent": {"method": "independent"},
    "marginals": {"marginals": [["age", "sex"], ["sex", "score"]]},
    "tree": {"method": "tree"},
    "adaptive": {"method": "adaptive"},
    "private cells": {"method": "adaptive", "bins": "private"},
    "wide": {"method": "tree", "bins": 300},  # counted from rows, not by the engine
}
COLUMNS = ["age", "sex", "score"]


@pytest.fixture(autouse=True)
def _short_fits(monkeypatch):
    """Fits see released numbers alone: how good they are is nothing to what is tested here."""
    short = lambda *given, **more: fit(*given, **(more | {"steps": 6}))  # noqa: E731
    monkeypatch.setattr("deniable.synthetic.run.fit", short)


def program(spend, budget, options, unit=None):
    def made(frame):
        s = dp.open(frame, unit=unit or dp.rows(), budget=budget, schema=SCHEMA)
        y = s.synthesize(COLUMNS, spend=spend, **({"bins": 4} | options))
        return y.total, [m.counts.tolist() for m in y.measured], y.rows(3, seed=1)

    return made


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("name", SPENDS)
def test_a_run_on_a_neighbour_moves_no_further_than_declared(name, options):
    spend, budget = SPENDS[name]
    some = people(12)
    for more in (some.iloc[1:], pd.concat([some, some.iloc[:1]])):
        found = replay(program(spend, budget, options), some, more.reset_index(drop=True))
        assert found.ok, found
        assert found.steps >= 1
        assert found.moved <= found.declared


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("method", ["tree", "adaptive"])
def test_the_same_for_persons_with_more_rows_than_count(method, relation):
    unit = dp.person("id", rows=2, relation=relation)
    ids = ["a"] * 5 + ["b"] * 2 + ["c", "d", "e", "f", "g"]
    some = people(12).assign(id=ids)
    if relation == "add_remove":
        more = some[some["id"] != "a"]
    else:
        more = some.assign(age=some["age"].where(some["id"] != "a", 20))
    spend = dp.epsilon(1.0, delta=1e-5)
    made = program(spend, spend, {"method": method}, unit)
    found = replay(made, some, more.reset_index(drop=True))
    assert found.ok, found


def test_no_pair_of_neighbours_that_tends_to_hurt_breaks_a_run():
    frame = people(4)
    spend, budget = SPENDS["gaussian"]
    found = search(program(spend, budget, {"method": "tree"}), frame, most=25)
    assert found.ok, found


def driven(steps):
    """Run a method by hand: what a session does after it has charged."""
    try:
        wanted = next(steps)
        while True:
            wanted = steps.send([s.mechanism.draw(np.asarray(compute(s.read))) for s in wanted])
    except StopIteration:
        pass


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["independent", "tree", "adaptive"])
def test_the_black_box_auditor_finds_nothing(method):
    """The verdict is wrong with probability 1e-8."""
    few = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 0]])
    more = np.array([*few.tolist(), [1, 0, 1]])
    cells = Listed(type="int", keys=(0, 1))
    domain = Domain(cells=dict.fromkeys("xyz", cells))
    cliques = [c for ways in (1, 2, 3) for c in combinations(range(3), ways)]

    def hidden(rows, clique):
        place = np.ravel_multi_index([rows[:, a] for a in clique], (2,) * len(clique))
        counts = np.bincount(place, minlength=2 ** len(clique))
        value = dp.Sensitive(lambda: counts, l1=1, l2=1, whole=True, shape=counts.size)
        return Hidden(columns=clique, value=value, worth=1.0, shape=(2,) * len(clique))

    def made(rows):
        run = Run(
            domain=domain,
            marginals={c: hidden(rows, c) for c in cliques},
            purse=Purse(kind=dp.Pure, total=1.0),
            model=Model.uniform(domain.sizes),
        )
        if method == "tree":
            driven(tree(run, cliques[3:6]))
        elif method == "adaptive":
            driven(adaptive(run, cliques[6:], cells=1000))
        else:
            driven(fixed(run, cliques[:3]))
        assert run.purse.spent == pytest.approx(1.0)
        return [
            *(float(m.counts.sum()) for m in run.measured[:3]),
            run.unfolded.marginal((0, 1, 2))[1, 0, 1],
        ]

    verdict = audit(made, few, more, epsilon=1.0, samples=200, confidence=1 - 1e-8)
    assert not verdict.violated, verdict
