"""Cells merged into groups: exact sums, shares that add up, and no further moved by one unit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import deniable as dp
from deniable.sampling.public import PublicRandom
from deniable.sensitive import compute
from deniable.synthetic.counting import Hidden
from deniable.synthetic.inference import (
    Fold,
    Measurement,
    Model,
    Partition,
    Unfolded,
    by_count,
    by_mass,
    drawn_rows,
    fit,
    merged,
)
from deniable.synthetic.inference.partition import unmerged

groups = st.lists(st.integers(0, 4), min_size=1, max_size=12).map(
    lambda g: np.unique(g, return_inverse=True)[1].astype(np.int64)
)


@given(groups, groups, st.integers(0, 2**32))
def test_merging_adds_up_and_unmerging_is_its_transpose(first, second, seed):
    draw = np.random.default_rng(seed)
    parts = (Partition(first), Partition(second))
    table = draw.integers(0, 9, (len(first), len(second)))
    small = merged(table, parts)
    for i, j in np.ndindex(small.shape):
        assert small[i, j] == table[np.ix_(first == i, second == j)].sum()
    other = draw.integers(0, 9, small.shape)
    assert (small * other).sum() == (table * unmerged(other, parts)).sum()


@given(groups, st.integers(0, 2**32))
def test_groups_of_groups_are_groups_of_cells(first, seed):
    draw = np.random.default_rng(seed)
    inner = Partition(first)
    outer = Partition(np.unique(draw.integers(0, 3, inner.count), return_inverse=True)[1])
    table = draw.integers(0, 9, len(first))
    twice = merged(merged(table, (inner,)), (outer,))
    assert np.array_equal(merged(table, (outer.after(inner),)), twice)


@example([0.0, 1.0, 1.0], 1.0, True, False)
@given(
    st.lists(st.floats(-50, 500), min_size=1, max_size=30),
    st.floats(0.1, 100),
    st.booleans(),
    st.booleans(),
)
def test_cells_that_stand_out_stay_apart_and_the_others_are_joined(counts, least, ordered, missing):
    counts = np.array(counts)
    within = max(0, len(counts) - missing) if ordered else 0
    part = by_count(counts, least, ordered=within)
    group = np.arange(len(counts)) if part is None else part.group
    assert sorted(set(group)) == list(range(group.max() + 1))
    for cells in (np.flatnonzero(group == g) for g in set(group)):
        assert (counts[cells] >= least).sum() <= 1
        inside = cells[cells < within]
        assert (np.diff(inside) == 1).all()  # neighbours


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.integers(2, 16), st.booleans())
def test_groups_by_mass_are_few_and_in_order(mass, count, ordered):
    part = by_mass(np.array(mass), count, ordered=ordered)
    if part is None:
        assert len(mass) <= count
        return
    assert part.count <= count < len(mass)
    if ordered:
        assert (np.diff(part.group) >= 0).all()


def test_an_unfolded_model_has_shares_in_its_marginals_and_in_its_rows():
    fold = Fold.of(Partition(np.array([0, 1, 1, 0, 2])), np.array([0.2, 0.1, 0.3, 0.0, 0.0]))
    measured = [Measurement(columns=(0, 1), counts=np.array([[6.0, 2], [1, 9], [1, 1]]), sigma=1.0)]
    folded = fit(Model.uniform([3, 2]), measured, total=20, steps=300).model
    model = Unfolded(folded, (fold, None))
    assert model.sizes == (5, 2)
    both = model.marginal([1, 0])
    assert both.sum() == pytest.approx(1.0)
    assert both[:, 1] * 3 == pytest.approx(both[:, 2])
    assert both[:, 3].max() == 0
    assert model.marginal([0]) == pytest.approx(both.sum(axis=0))
    rows = drawn_rows(model, 20_000, random=PublicRandom(3))
    found = np.bincount(rows[:, 0], minlength=5)
    assert found == pytest.approx(20_000 * model.marginal([0]), abs=2)  # as even as rows can be
    assert found[3] == 0
    split = np.bincount(rows[rows[:, 0] == 2, 1], minlength=2) / found[2]
    # independent given the group: 6 deviations of a share of about 7,000 rows
    assert split[0] == pytest.approx(both[0, 2] / both[:, 2].sum(), abs=6 * 0.5 / 7000**0.5)


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_groups_of_cells_move_no_further_than_declared(relation):
    """Whatever a unit adds and takes away: two vectors of counts that add up to at most 3."""
    draw = np.random.default_rng(5)
    unit = dp.person("id", rows=3, relation=relation)
    for _ in range(200):
        base, gone, new = (draw.multinomial(n, np.full(6, 1 / 6)) for n in (20, 3, 3))
        other = base + new - (gone if relation == "replace" else 0)
        part = Partition(np.unique(draw.integers(0, 3, 6), return_inverse=True)[1])
        made = [_hidden(counts, unit).merged((part, None)) for counts in (base, other)]
        one, two = (
            np.asarray(compute(dp.Laplace(scale=9.0, sensitivity=6.0).on(m.value).read))
            for m in made
        )
        assert np.abs(one - two).sum() <= made[0].l1
        assert np.linalg.norm(one - two) <= made[0].l2


def _hidden(counts, unit):
    most = 3.0 * unit.sides
    table = np.repeat(counts, 2) * np.tile([1, 0], 6)
    value = dp.Sensitive(
        lambda: table, l1=most, l2=most / unit.sides**0.5, whole=True, shape=12, unit=unit
    )
    return Hidden(columns=(0, 1), value=value, worth=1.0, shape=(6, 2))


@pytest.mark.parametrize("sides", [1, 2])
def test_the_bound_in_l2_of_groups_is_rounded_up_and_hardly(sides):
    unit = dp.rows(relation="add_remove" if sides == 1 else "replace")
    for most in range(1, 200):
        value = dp.Sensitive(
            lambda: np.zeros(12, int), l1=most, l2=most, whole=True, shape=12, unit=unit
        )
        made = Hidden(columns=(0, 1), value=value, worth=1.0, shape=(6, 2))
        l2 = made.merged((Partition(np.array([0, 0, 1, 1, 2, 2])), None)).l2
        square = Fraction(l2) ** 2 * sides
        assert most**2 <= square <= most**2 * Fraction(1 + 2.0**-40)
