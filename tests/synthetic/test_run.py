"""The state of a synthesis: what its views are, and how many counts they have."""

from types import SimpleNamespace

import numpy as np
import pytest

from deniable.synthetic.inference.partition import Partition
from deniable.synthetic.run import Run, View

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


def test_a_folded_marginal_is_kept_by_how_many_counts_it_has():
    kept = []
    folded = SimpleNamespace(
        get=lambda columns: None, put=lambda columns, found, size: kept.append((columns, size))
    )
    found = SimpleNamespace(shape=(3, 4), merged=lambda partitions: partitions)
    found_of = {(0, 1): SimpleNamespace(merged=lambda parts: found)}
    run = SimpleNamespace(_folded=folded, folds=(None, None, None), marginals=found_of)
    assert Run.hidden(run, View((0, 1), (None, HALVES))) == (None, HALVES)
    assert kept == [((0, 1), 12)]
