"""Scores of candidates: moved by one row no further than declared, whatever was measured before."""

import warnings

import numpy as np
import pytest

import deniable as dp
from deniable.schema.binning import Listed
from deniable.sensitive import compute
from deniable.synthetic.counting import Hidden
from deniable.synthetic.domain import Domain
from deniable.synthetic.inference import Measurement, Model, Partition
from deniable.synthetic.purse import Purse
from deniable.synthetic.run import Run, View

DOMAIN = Domain(cells={n: Listed(type="text", keys=("a", "b")) for n in "xyz"})
JOINED = Partition(np.array([0, 0]))
TOTALS = [1.0, 1e6, *(10.0**k for k in range(12, 24)), 2.0**43, 2.0**63, 1e100, 1e300]


def hidden(clique, counts, worth):
    unit = round(1 / worth)
    held = np.asarray(counts, dtype=np.int64)
    value = dp.Sensitive(lambda: held, l1=unit, l2=unit, whole=True, shape=held.size)
    return Hidden(columns=clique, value=value, worth=worth, shape=(2, 2))


def run_on(tables, total, worth=1.0, model=None):
    run = Run(
        domain=DOMAIN,
        marginals={c: hidden(c, counts, worth) for c, counts in tables.items()},
        purse=Purse(kind=dp.Pure, total=1.0),
        model=model or Model.uniform(DOMAIN.sizes),
    )
    run.measured = [Measurement(columns=(0,), counts=np.array([total / 2, total / 2]), sigma=1.0)]
    return run


def scores(run, candidates):
    """The hidden scores that a choice would be made from, and how far they are said to move."""
    views = {View(clique): each for clique, each in candidates.items()}
    step = next(run.choose(views, 0.5))[0]
    return np.asarray(compute(step.read)).astype(object), step.mechanism.sensitivity


@pytest.mark.parametrize("worth", [1.0, 2.0**-20])
@pytest.mark.parametrize("total", TOTALS)
def test_one_row_moves_a_score_no_further_than_declared(total, worth):
    draw = np.random.default_rng(3)
    row = round(1 / worth)
    for _ in range(20):
        share = draw.dirichlet(np.full(2, draw.choice([0.1, 1.0])))
        uniform = Model.uniform(DOMAIN.sizes)
        model = Model(tree=uniform.tree, tables=(share, *uniform.tables[1:]))
        few = draw.integers(0, 3, 4) * row * draw.choice([1, 10**6])
        more = few + row * (np.arange(4) == draw.integers(4))
        weights = {(0, 1): (int(draw.integers(1, 1001)), float(draw.choice([0.0, total / 3])))}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            (one, declared), (other, _) = (
                scores(run_on({(0, 1): counts}, total, worth, model), weights)
                for counts in (few, more)
            )
        assert abs(one[0] - other[0]) <= declared


@pytest.mark.parametrize("worth", [1.0, 2.0**-20])
@pytest.mark.parametrize("rows", [10**4, 10**6, 10**7, 10**8, 10**10, 10**12])
def test_scores_tell_candidates_apart_on_tables_of_any_size(rows, worth):
    size = rows * round(1 / worth)
    equal, alike = [size // 2, 0, 0, size // 2], [size * 42 // 100, size * 8 // 100] * 2
    run = run_on({(0, 1): equal, (0, 2): [*alike[:2], *alike[1::-1]]}, float(rows), worth)
    (best, second), moved = scores(run, {(0, 1): (1000, 10.0), (0, 2): (1000, 10.0)})
    # ‖counts − n/4‖₁ is n for equal columns and 0.68 n for others: 0.32 n rows apart.
    assert (best - second) / moved == pytest.approx(0.32 * rows, rel=1e-3)


def test_counts_in_groups_are_added_up_once_and_anew_after_a_fold():
    read = []

    def counts():
        read.append(1)
        return np.array([3, 4, 5, 6])

    run = run_on({}, 18.0)
    value = dp.Sensitive(counts, l1=1, l2=1, whole=True, shape=4)
    run.marginals = {(0, 1): Hidden(columns=(0, 1), value=value, worth=1.0, shape=(2, 2))}
    rows, columns = View((0, 1), (JOINED, None)), View((0, 1), (None, JOINED))
    for _ in range(3):
        assert compute(run.hidden(rows).value).tolist() == [8, 10]
        assert compute(run.hidden(columns).value).tolist() == [7, 11]
    assert len(read) == 2
    run._seen = [Measurement(columns=(0,), counts=np.array([50.0, 1.0]), sigma=3.0)]
    run.fold()
    assert run.hidden(View((0, 1))).shape == (1, 2)
    assert compute(run.hidden(View((0, 1))).value).tolist() == [8, 10]
    assert compute(run.hidden(columns).value).tolist() == [18]
