"""The state of a synthesis: its views, what they score, and what was measured so far."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from tests.synthetic.test_scores import DOMAIN, JOINED, run_on

import deniable as dp
from deniable import progress
from deniable.mechanisms import Gaussian, Laplace
from deniable.schema.binning import Listed
from deniable.sensitive import compute
from deniable.synthetic import run as run_module
from deniable.synthetic.counting import Hidden
from deniable.synthetic.inference import Fold
from deniable.synthetic.inference.partition import Partition
from deniable.synthetic.run import Measurement, Run, View, _distance, mean_size

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


# ---- scores

SAFE, FARTHEST = 2**53, 2**200


def hidden(counts, worth, l1):
    held = np.asarray(counts, dtype=np.int64)
    value = dp.Sensitive(lambda: held, l1=l1, l2=l1, whole=True, shape=held.size)
    return Hidden(columns=(0, 1), value=value, worth=worth, shape=(2, 2))


def halvings(total, candidates):
    """The least number of halvings after which four times the table fits in 53 bits."""
    most = max(w * (4 * Fraction(total) + min(Fraction(a), FARTHEST)) for w, a in candidates)
    return next(k for k in range(400) if most * 2**20 < SAFE * 2**k)


def expected(counts, worth, total, weight, allowance):
    """w·(Σ|counts − total/4| − a) by fractions: the model says that all four cells are alike."""
    unit = min(Fraction(1, 2**20), Fraction(worth))
    limit = 2**61 // int(Fraction(worth) / unit) * int(Fraction(worth) / unit)
    model = min(round(Fraction(total) / 4 / unit), 2**61)
    apart = sum(abs(min(int(c * Fraction(worth) / unit), limit) - model) for c in counts)
    exact = weight * (apart - round(min(Fraction(allowance), FARTHEST) / unit))
    shift = halvings(total, [(weight, allowance)])
    moves = weight * Fraction(worth) / unit / 2**shift
    return max(-SAFE, min(math.floor(Fraction(exact, 2**shift)), SAFE)), moves


@pytest.mark.parametrize("worth", [1.0, 0.5, 2.0**-20, 2.0**-23])
@pytest.mark.parametrize(
    ("total", "factor"), [(4.0, 1), (101.0, 10), (2.0**43, 2**38), (1.0, 2**62)]
)
@pytest.mark.parametrize(("weight", "allowance"), [(1, 0.0), (1000, 7.25), (3, 1e12), (1, 1e300)])
def test_a_score_is_how_wrong_the_model_is_by_fractions(worth, total, factor, weight, allowance):
    counts = [0, 1 * factor, 2 * factor - 1, 0]
    run = run_on({}, total)
    run.marginals = {(0, 1): hidden(counts, worth, l1=1.5)}
    found = run.scores({View((0, 1)): (weight, allowance)})
    score, moves = expected(counts, worth, total, weight, allowance)
    assert int(compute(found.value)[0]) == score
    assert found.value.bound("linf") == math.ceil(moves * 2)  # l1 is whole: 1.5 counts as 2


def test_all_scores_are_halved_as_often_as_the_farthest_takes():
    run = run_on({}, 100.0)
    run.marginals = {(0, 1): hidden([100, 0, 0, 0], 1.0, l1=1)}
    joined = View((0, 1), (JOINED, None))
    asked = {View((0, 1)): (1, 0.0), joined: (1000, 2.0**40)}
    found = run.scores(asked)
    shift = halvings(100.0, asked.values())
    assert shift > 10
    wanted = [150 * 2**20, 1000 * (100 - 2**40) * 2**20]
    assert [int(x) for x in compute(found.value)] == [x >> shift for x in wanted]
    assert found.views == [*asked]


@pytest.mark.parametrize(("among", "views"), [(None, [0, 1, 2]), ([0, 2], [0, 2]), ([1], [1])])
def test_a_choice_is_made_among_the_views_at_the_given_places(among, views):
    run = run_on({}, 100.0)
    run.marginals = {
        pair: hidden(counts, 1.0, l1=1)
        for pair, counts in {
            (0, 1): [100, 0, 0, 0],
            (0, 2): [25] * 4,
            (1, 2): [50, 50, 0, 0],
        }.items()
    }
    scores = run.scores({View(pair): (1, 0.0) for pair in run.marginals})
    whole = compute(scores.value).tolist()
    steps = run.chosen(scores, 0.5, among)
    (step,) = next(steps)
    assert compute(step.read).tolist() == [whole[i] for i in views]
    assert run.purse.spent == 0.5
    with pytest.raises(StopIteration) as ended:
        steps.send([len(views) - 1])
    assert ended.value.value is scores.views[views[-1]]
    assert run.mechanisms == [step.mechanism]


@pytest.mark.parametrize("most", [0, 1, 2**20 - 1, 2**20, 2**40 + 3, 2**61])
def test_a_distance_is_exact_whatever_its_size(most):
    left, right = np.array([most, 0, most, 5, 2**20]), np.array([0, most, most, 2**20 + 7, 1])
    assert _distance(left, right) == 2 * most + 2**20 + 2 + 2**20 - 1
    many = np.full(1000, most)
    assert _distance(many, -many) == 2000 * most


def test_the_mean_size_of_noise_is_that_of_its_law():
    """By sums over the density, at steps of a thousandth."""
    x = np.arange(-40, 40, 1e-3)
    for noise, density in (
        (Gaussian(sigma=3.0), np.exp(-(x**2) / 18)),
        (Laplace(scale=3.0), np.exp(-abs(x) / 3)),
    ):
        assert mean_size(noise) == pytest.approx((abs(x) * density).sum() / density.sum(), rel=1e-3)


# ---- measuring


@pytest.mark.parametrize(
    ("noise", "law", "sigma"),
    [
        (Gaussian(sigma=6.0, sensitivity=4), "gaussian", 6.0),
        (Laplace(scale=6.0, sensitivity=4), "laplace", 6.0 * 2**0.5),
    ],
)
def test_what_was_measured_is_counted_in_rows(noise, law, sigma):
    """In a run whose first column is one group already, a view in groups of the second."""
    run = run_on({}, 100.0)
    run.purse = SimpleNamespace(pay=lambda *mechanisms: None)
    run.marginals = {(1, 2): hidden([1, 2, 3, 4], 0.25, l1=4)}
    run.folds = (None, Fold(JOINED, np.array([0.5, 0.5])), None)
    first = list(run.measured)
    steps = run.measure([View((1, 2), (None, JOINED))], [noise])
    (step,) = next(steps)
    assert compute(step.read).tolist() == [10]
    with pytest.raises(StopIteration):
        steps.send([[12]])
    (*kept, new), (seen,) = run.measured, run._seen
    assert kept == first
    assert (new.counts.tolist(), new.sigma, new.law, new.grain) == ([[3.0]], sigma / 4, law, 0.25)
    assert [part.group.tolist() for part in new.partitions] == [[0, 0], [0, 0]]
    assert seen.counts is new.counts
    assert seen.partitions == (None, JOINED)
    assert run.mechanisms == [noise]
    assert not run.converged


LETTERS = Listed(type="text", keys=tuple("abcdef"))
NUMBERS = Listed(type="int", keys=(1, 2, 3, 4, 5, 6))
NOISY = [100.0, 2.0, 3.0, 90.0, 1.0, 80.0]  # three cells stand out from noise of σ = 5


@pytest.mark.parametrize(
    ("cells", "most", "groups"),
    [
        (LETTERS, None, [0, 1, 1, 2, 1, 1]),  # what does not stand out joins the smallest group
        (LETTERS, 2, [0, 1, 1, 2, 1, 1]),
        (NUMBERS, None, [0, 0, 0, 1, 1, 2]),  # or the one before
        (NUMBERS, 3, [0, 0, 0, 1, 1, 2]),
        (NUMBERS, 2, [0, 0, 0, 1, 1, 1]),
        (NUMBERS, 1, [0, 0, 0, 0, 0, 0]),
    ],
)
def test_cells_that_hardly_stand_out_are_joined_and_ordered_ones_to_few_groups(cells, most, groups):
    run = SimpleNamespace(
        domain=SimpleNamespace(cells={"other": None, "this": cells}),
        most_groups=most,
        model=SimpleNamespace(marginal=lambda columns: np.array(NOISY) / sum(NOISY)),
    )
    measured = Measurement(columns=(1,), counts=np.array(NOISY), sigma=5.0)
    assert Run._groups(run, measured).group.tolist() == groups


@pytest.mark.parametrize(("sigma", "joined"), [(1.0, False), (3.3, False), (3.4, True)])
def test_a_cell_stands_out_by_three_standard_deviations(sigma, joined):
    run = SimpleNamespace(domain=SimpleNamespace(cells={"x": LETTERS}), most_groups=None)
    counts = np.array([10.0, 10.0, 99.0, 99.0, 99.0, 99.0])
    found = Run._groups(run, Measurement(columns=(0,), counts=counts, sigma=sigma))
    assert (found is not None) == joined


def test_a_run_begins_without_folds():
    assert run_on({}, 1.0).folds == (None, None, None)
    assert len(DOMAIN.sizes) == 3


def test_the_time_that_is_left_is_told_once_some_is_done(monkeypatch):
    told = []
    monkeypatch.setattr(progress, "say", told.append)
    monkeypatch.setattr(run_module, "time", SimpleNamespace(monotonic=lambda: 130.0))
    run = SimpleNamespace(started=100.0)
    Run.say(run, "fitting")
    Run.say(run, "fitting", 0.25)
    assert told == ["synthesis: fitting", "synthesis: fitting, about 90 s left"]
