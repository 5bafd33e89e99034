"""The state of a synthesis: what its views are, and how many counts they have."""

from types import SimpleNamespace

import numpy as np
import pytest

from deniable.synthetic import run as run_module
from deniable.synthetic.inference.partition import Partition
from deniable.synthetic.run import Measurement, Run, View

SIZES = (3, 4, 6)
HALVES = Partition(np.array([0, 0, 1, 1]))


@pytest.mark.parametrize(
    ("view", "counts"),
    [
        (View((0,)), 3),
        (View((0, 2)), 18),
        (View((0, 1, 2)), 72),
        (View((0, 1), (None, HALVES)), 6),
        (View((1, 2), (HALVES, None)), 12),
        (View(()), 1),
    ],
)
def test_a_view_has_a_count_for_each_combination_of_groups(view, counts):
    assert Run.size_of(SimpleNamespace(sizes=SIZES), view) == counts


def test_a_view_adds_up_the_cells_of_a_group():
    table = np.arange(12.0).reshape(3, 4)
    model = SimpleNamespace(marginal=lambda columns: table if columns == (0, 1) else None)
    assert (View((0, 1)).of(model) == table).all()
    merged = View((0, 1), (None, HALVES)).of(model)
    assert merged.tolist() == [[1.0, 5.0], [9.0, 13.0], [17.0, 21.0]]


def test_counts_of_a_view_are_kept_whole_and_in_groups_by_how_many_there_are():
    kept = []
    latest = SimpleNamespace(
        get=lambda view: None, put=lambda view, found, size: kept.append((view, found, size))
    )
    grouped = SimpleNamespace(shape=(3, 2))
    whole = SimpleNamespace(shape=(3, 4), merged={(None, HALVES): grouped}.get)
    run = SimpleNamespace(
        _hidden=latest,
        _parts_of=lambda view: ("folds of", view.columns),
        marginals={(0, 1): SimpleNamespace(merged={("folds of", (0, 1)): whole}.get)},
    )
    view = View((0, 1), (None, HALVES))
    assert Run.hidden(run, view) is grouped
    assert kept == [(View((0, 1)), whole, 12), (view, grouped, 6)]
    assert Run.hidden(run, View((0, 1))) is whole


def test_what_was_measured_is_kept_folded_or_not(monkeypatch):
    """Column 0 has public zeros, so its cells stay; those of column 1 are added up by group."""
    bare = SimpleNamespace(cliques=[])
    monkeypatch.setattr(run_module, "junction_tree", lambda shape, cliques: bare)
    monkeypatch.setattr(run_module, "Model", lambda tree, tables: (tree, tables))
    first, second = (
        Measurement(columns=(a,), counts=np.arange(4.0) + a, sigma=1.0, law="gaussian", grain=1.0)
        for a in (0, 1)
    )
    model = SimpleNamespace(marginal=lambda columns: np.ones(4), tree=bare)
    run = SimpleNamespace(
        fixed=[(0,)], folds=(None, None), sizes=(4, 4), model=model, _seen=[first, second],
        _groups=lambda measured: HALVES,
    )  # fmt: skip
    Run.fold(run)
    assert run.folds[0] is None
    assert run.folds[1].partition is HALVES
    assert run._seen[0] is first
    assert run._seen[1].counts.tolist() == [3.0, 7.0]
    assert run._seen[1].terms.tolist() == [2.0, 2.0]
