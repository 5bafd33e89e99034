"""Counts of a model and their ±: from the measurement with the least noise that shows them."""

import importlib
import math
from types import SimpleNamespace

import numpy as np
import pytest
from mpmath import erfinv, mp, sqrt

from deniable.schema.binning import Intervals, Listed
from deniable.synthetic.domain import Domain
from deniable.synthetic.inference import Measurement, Partition
from deniable.synthetic.marginal import Marginal, marginal_of

bars, bands = map(importlib.import_module, ("deniable.plots.answers", "deniable.plots.bands"))
DOMAIN = Domain(
    cells={
        "x": Listed(type="text", keys=("a", "b"), missing=-1),
        "y": Intervals(type="int", edges=(0, 2, 4, 6), low=0, high=5, missing=-1),
    }
)
TABLE = np.arange(6.0).reshape(2, 3) / 15
MODEL = SimpleNamespace(
    marginal={(0, 1): TABLE, (0,): TABLE.sum(axis=1), (1,): TABLE.sum(axis=0)}.get
)
PAIR = Measurement(
    columns=(0, 1),
    counts=np.array([[1.0, 9.0, 21.0], [28.0, 43.0, 47.0]]),
    sigma=3.0,
    law="gaussian",
    grain=0.5,
)


def spread(sigma, grain, terms):
    """Noise and rounding, of a sum of cells."""
    return math.sqrt(terms * (sigma**2 + grain**2 / 12))


def reach(law, deviations, grain):
    with mp.workdps(30):
        factor = float(sqrt(2) * erfinv(0.95)) if law == "gaussian" else math.log(20) / math.sqrt(2)
    return factor * deviations + grain / 2


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize(("clique", "terms"), [((0, 1), 1), ((0,), 3), ((1,), 2)])
def test_the_error_is_the_distance_to_the_measurement_and_its_own_reach(law, clique, terms):
    held = Measurement(columns=(0, 1), counts=PAIR.counts, sigma=3.0, law=law, grain=0.5)
    found = marginal_of(DOMAIN, MODEL, [held], clique, 150.0)
    gone = tuple({0, 1} - set(clique))
    near = PAIR.counts.sum(axis=gone)
    assert np.allclose(found.counts, 150 * MODEL.marginal(clique))
    own = reach(law, spread(3.0, 0.5, terms), 0.5)
    assert np.allclose(found.error, np.abs(found.counts - near) + own, rtol=1e-12)
    assert found.columns == tuple("xy"[a] for a in clique)
    assert [len(labels) for labels in found.labels] == [(2, 3)[a] for a in clique]


def test_of_several_measurements_the_least_noisy_one_counts():
    """The pair's cells, six of them, are three times as noisy when added up as by themselves."""
    for sigma, better in ((5.0, True), (5.3, False)):
        counts = np.array([40.0, 90.0])
        single = Measurement(columns=(0,), counts=counts, sigma=sigma, law="gaussian", grain=0.5)
        assert (spread(sigma, 0.5, 1) < spread(3.0, 0.5, 3)) == better
        found = marginal_of(DOMAIN, MODEL, [PAIR, single], (0,), 150.0)
        near = counts if better else PAIR.counts.sum(axis=1)
        own = reach("gaussian", min(spread(sigma, 0.5, 1), spread(3.0, 0.5, 3)), 0.5)
        assert np.allclose(found.error, np.abs(found.counts - near) + own)


def test_groups_of_cells_do_not_show_a_cell():
    part = Partition(np.array([0, 0, 1]))
    held = Measurement(
        columns=(0, 1),
        counts=np.array([[10.0, 21.0], [71.0, 47.0]]),
        sigma=3.0,
        law="gaussian",
        grain=0.5,
        partitions=(None, part),
    )
    assert marginal_of(DOMAIN, MODEL, [held], (1,), 150.0).error is None
    assert marginal_of(DOMAIN, MODEL, [held], (0, 1), 150.0).error is None
    found = marginal_of(DOMAIN, MODEL, [held], (0,), 150.0)
    own = reach("gaussian", spread(3.0, 0.5, 2), 0.5)
    assert np.allclose(found.error, np.abs(found.counts - [31, 118]) + own)


def test_what_was_not_measured_has_no_error_and_no_number_in_its_frame():
    found = marginal_of(DOMAIN, MODEL, [], (0, 1), 150.0)
    assert found.error is None
    frame = found.to_pandas()
    assert frame["±"].isna().all()
    assert frame["count"].tolist() == (150 * TABLE).ravel().tolist()
    frame = marginal_of(DOMAIN, MODEL, [PAIR], (0, 1), 150.0).to_pandas()
    assert frame["±"].notna().all()


@pytest.mark.parametrize(("clique", "ordered"), [((0,), False), ((1,), True), ((0, 1), False)])
def test_only_one_column_of_numbers_is_in_order(clique, ordered):
    assert marginal_of(DOMAIN, MODEL, [], clique, 1.0).in_order is ordered


@pytest.mark.parametrize("error", [None, 2.5])
@pytest.mark.parametrize(
    ("cells", "in_order", "way"), [(5, True, "bars"), (6, True, "line"), (6, False, "bars")]
)
def test_many_cells_in_order_are_drawn_as_a_line_and_others_as_bars(
    cells, in_order, way, error, monkeypatch
):
    drawn = []
    monkeypatch.setattr(bars, "MOST_BARS", 5)
    monkeypatch.setattr(bars, "answers", lambda *given, **facts: drawn.append(("bars", given)))
    monkeypatch.setattr(bands, "in_cells", lambda *given, **facts: drawn.append(("line", given)))
    counts, labels = np.arange(float(cells)), tuple("abcdef"[:cells])
    errors = np.full(cells, math.nan if error is None else error)
    Marginal(
        columns=("x",), labels=(labels,), counts=counts,
        error=None if error is None else errors, in_order=in_order,
    ).plot()  # fmt: skip
    ((how, (names, heights, reaches)),) = drawn
    assert how == way
    assert names == (labels if way == "line" else {"x": labels})
    assert [*heights] == [*counts]
    assert np.array_equal(reaches, errors, equal_nan=True)
