"""The junction tree, the fit and the rows, against the whole table computed by brute force."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.sampling.public import PublicRandom
from deniable.synthetic.inference import (
    Measurement,
    Model,
    drawn_rows,
    fit,
    growing,
    junction_tree,
    noisy_total,
    tree_cells,
)
from deniable.synthetic.inference.fitting import Calibrated
from deniable.synthetic.inference.junction import Edge, Tree


def marginal(table, columns):
    summed = table.sum(axis=tuple(i for i in range(table.ndim) if i not in columns))
    order = sorted(columns)
    return summed.transpose([order.index(a) for a in columns])


def brute_force(sizes, measured, total, steps=4000):
    """Mirror descent on the whole table."""
    table = np.full(sizes, 1 / np.prod(sizes))
    for _ in range(steps):
        slope = np.zeros(sizes)
        for m in measured:
            miss = (total * marginal(table, m.columns) - m.counts) / m.sigma**2
            order = sorted(m.columns)
            miss = miss.transpose([m.columns.index(a) for a in order])
            slope = slope + miss.reshape([n if i in order else 1 for i, n in enumerate(sizes)])
        table = table * np.exp(-slope * 1.5 / (total / 9 * len(measured)))
        table /= table.sum()
    return table


def measured_from(table, cliques, total, sigma, draw):
    return [
        Measurement(
            columns=c,
            counts=marginal(table, c) * total + draw.normal(0, sigma, marginal(table, c).shape),
            sigma=sigma,
        )
        for c in cliques
    ]


@pytest.mark.parametrize(
    "cliques",
    [
        [(0,), (1,), (2,), (3,), (4,)],
        [(0, 1), (1, 2), (2, 3), (3, 4)],
        [(0, 1), (1, 2), (2, 3), (3, 0), (4,)],  # a cycle: the tree has a clique of three
        [(2, 0, 1), (1, 3), (4, 2), (0,), (0,)],  # axes in any order, one column measured twice
    ],
)
def test_the_fit_is_that_of_the_whole_table(cliques):
    draw = np.random.default_rng(len(cliques))
    sizes = (3, 2, 4, 2, 3)
    truth = draw.dirichlet(np.full(int(np.prod(sizes)), 0.3)).reshape(sizes)
    measured = measured_from(truth, cliques, 1000, 3.0, draw)
    total = noisy_total(measured)
    found = fit(Model.uniform(sizes), measured, total=total, steps=3000, tolerance=1e-10)
    expected = brute_force(sizes, measured, total)
    for ways in range(1, 6):
        for columns in permutations(range(5), ways):
            assert np.allclose(
                found.model.marginal(columns), marginal(expected, columns), atol=3e-4
            )


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sets(st.integers(0, 4), min_size=1, max_size=3), min_size=1, max_size=5),
    st.integers(0, 2**32),
)
def test_tables_agree_after_any_change_and_old_ones_stay_as_they_were(cliques, seed):
    """Against the whole table, multiplied by the same factors and divided by its sum."""
    draw, sizes = np.random.default_rng(seed), (2, 3, 2, 4, 3)
    tree = junction_tree(sizes, cliques)
    old = Calibrated.of(tree, Model.uniform(sizes).over(tree).tables)
    kept = [each.copy() for each in old.tables]
    whole, changed = np.full(sizes, 1 / np.prod(sizes)), {}
    for at in draw.permutation(len(tree.cliques))[: draw.integers(1, len(tree.cliques) + 1)]:
        clique, factor = tree.cliques[at], np.exp(draw.normal(0, 3, old.tables[at].shape))
        changed[int(at)] = old.tables[at] * factor
        order = np.argsort(clique)
        shape = [n if a in clique else 1 for a, n in enumerate(sizes)]
        whole = whole * factor.transpose(order).reshape(shape)
    new = old.grown(tree, changed)
    for clique, table in zip(tree.cliques, new.tables, strict=True):
        assert np.allclose(table, marginal(whole / whole.sum(), clique))
    for edge, table in zip(tree.edges, new.shared, strict=True):
        assert np.allclose(table, marginal(whole / whole.sum(), edge.separator))
    assert all((a == b).all() for a, b in zip(old.tables, kept, strict=True))


def test_a_warm_start_ends_where_a_cold_one_does():
    draw = np.random.default_rng(5)
    sizes = (3, 4, 2, 3)
    truth = draw.dirichlet(np.full(72, 0.5)).reshape(sizes)
    measured = measured_from(truth, [(0,), (1, 2), (2, 3), (0, 3)], 500, 2.0, draw)
    total = noisy_total(measured)
    first = fit(Model.uniform(sizes), measured[:2], total=total, steps=500)
    warm = fit(first.model, measured, total=total, steps=3000, start=first.step, tolerance=1e-10)
    cold = fit(Model.uniform(sizes), measured, total=total, steps=3000, tolerance=1e-10)
    assert warm.loss == pytest.approx(cold.loss, rel=1e-6)
    for columns in combinations(range(4), 2):
        assert np.allclose(warm.model.marginal(columns), cold.model.marginal(columns), atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=8).flatmap(
        lambda sizes: st.tuples(
            st.just(sizes),
            st.lists(st.sets(st.integers(0, len(sizes) - 1), min_size=1, max_size=4), max_size=6),
        )
    )
)
def test_a_junction_tree_holds_what_was_measured_and_runs_together(case):
    sizes, cliques = case
    tree = junction_tree(sizes, cliques)
    assert set().union(*tree.cliques) == set(range(len(sizes)))
    assert all(tree.holder(clique) is not None for clique in cliques)
    assert len(tree.edges) == len(tree.cliques) - 1
    assert tree.cells == tree_cells(sizes, cliques)
    for more in ((0,), (0, len(sizes) - 1), tuple(range(len(sizes)))):
        assert growing(sizes, cliques)(more) == tree_cells(sizes, [*cliques, more])
    for column in range(len(sizes)):  # the cliques of a column are one connected part
        holding = {i for i, clique in enumerate(tree.cliques) if column in clique}
        inside = [e for e in tree.edges if {e.child, e.parent} <= holding]
        assert len(inside) == len(holding) - 1
        assert all(column in e.separator for e in inside)


def test_measurements_with_impossible_counts_still_give_a_distribution():
    measured = [
        Measurement(columns=(0, 1), counts=np.array([[-50.0, -20.0], [-1e6, -3.0]]), sigma=1.0),
        Measurement(columns=(1,), counts=np.array([1e9, -1e9]), sigma=0.01),
    ]
    assert noisy_total(measured) >= 1
    found = fit(Model.uniform((2, 2)), measured, total=noisy_total(measured), steps=200)
    table = found.model.marginal((0, 1))
    assert np.isfinite(table).all()
    assert table.min() >= 0
    assert table.sum() == pytest.approx(1)


def test_more_than_fifty_columns_can_be_asked_together():
    sizes = (2,) * 60
    cliques = [(i, i + 1) for i in range(59)]
    draw = np.random.default_rng(1)
    measured = [
        Measurement(columns=c, counts=draw.dirichlet(np.ones(4)).reshape(2, 2) * 100, sigma=1.0)
        for c in cliques
    ]
    found = fit(Model.uniform(sizes), measured, total=100, steps=50)
    table = found.model.marginal((59, 0, 30))
    assert table.shape == (2, 2, 2)
    assert table.sum() == pytest.approx(1)


def test_rows_have_every_marginal_of_the_model():
    """Stratified rows stray by less than a multinomial sample: 6 of its deviations, 1e-8 each."""
    draw = np.random.default_rng(3)
    sizes = (3, 4, 2, 5)
    truth = draw.dirichlet(np.full(120, 0.4)).reshape(sizes)
    measured = measured_from(truth, [(0, 1), (1, 2), (2, 3)], 1e6, 1.0, draw)
    model = fit(Model.uniform(sizes), measured, total=1e6, steps=500).model
    count = 20_000
    rows = drawn_rows(model, count, random=PublicRandom(4))
    for ways in (1, 2, 3, 4):
        for columns in combinations(range(4), ways):
            expected = model.marginal(columns).ravel()
            shape = [sizes[a] for a in columns]
            place = np.ravel_multi_index(rows[:, columns].T, shape)
            found = np.bincount(place, minlength=expected.size)
            deviation = np.sqrt(count * expected * (1 - expected)) + 1
            assert (np.abs(found - count * expected) <= 6 * deviation).all()


@pytest.mark.parametrize("count", [0, 1, 7])
def test_few_rows_can_be_drawn(count):
    rows = drawn_rows(Model.uniform((2, 3, 1)), count, random=PublicRandom(0))
    assert rows.shape == (count, 3)
    assert (rows < [2, 3, 1]).all()


def test_conditionally_independent_columns_stay_so_in_rows():
    """If ranks followed the order of rows, columns 0 and 2 would be tied through it.

    A χ² of independence with 9 degrees of freedom exceeds 60 with probability 1e-9; stratified
    rows are nearer than independent ones.
    """
    table = np.full((4, 4), 1 / 16)
    measured = [
        Measurement(columns=(1, 0), counts=table * 1e5, sigma=1.0),
        Measurement(columns=(1, 2), counts=table * 1e5, sigma=1.0),
    ]
    model = fit(Model.uniform((4, 4, 4)), measured, total=1e5, steps=50).model
    rows = drawn_rows(model, 40_000, random=PublicRandom(9))
    found = np.zeros((4, 4))
    np.add.at(found, (rows[:, 0], rows[:, 2]), 1)
    assert ((found - 2500) ** 2 / 2500).sum() < 60


@pytest.mark.parametrize("shape", ["chain", "star"])
@pytest.mark.parametrize("seed", range(3))
def test_columns_that_no_clique_holds_together_are_combined_evenly(shape, seed):
    """Independent draws miss a mean n·p by about √(n·p·(1 − p)·2/π): these by a fraction of that.

    In these cases ranks that are shuffled miss by 0.84 to 0.92 of it, spread ones by 0.25 to 0.28.
    """
    draw = np.random.default_rng(seed)
    sizes, count = (3, 5, 4, 6, 5), 3_000
    pairs = [(a, a + 1) if shape == "chain" else (0, a + 1) for a in range(4)]
    truth = draw.dirichlet(np.full(np.prod(sizes), 0.3)).reshape(sizes)
    measured = measured_from(truth, pairs, 1e6, 1.0, draw)
    model = fit(Model.uniform(sizes), measured, total=1e6, steps=300).model
    rows = drawn_rows(model, count, random=PublicRandom(seed))
    off, usual = [], []
    for columns in combinations(range(5), 3):
        p = model.marginal(columns).ravel()
        place = np.ravel_multi_index(rows[:, columns].T, [sizes[a] for a in columns])
        off.append(np.abs(np.bincount(place, minlength=p.size) - count * p).sum())
        usual.append(np.sqrt(count * p * (1 - p) * 2 / np.pi).sum())
    assert sum(off) < 0.4 * sum(usual)


@pytest.mark.parametrize("shape", ["apart", "chain", "star"])
def test_many_columns_are_not_tied_together_by_the_order_of_rows(shape):
    """Beyond a few columns almost every row is unlike all others, and rows keep their order.

    If ranks of two columns then follow the same sequence, one column determines the other: triples
    of columns that are apart would miss by 3.0 times as much as independent draws do, and those of
    a star by 2.3 times; with a sequence for each they miss by 0.9 and 1.0.
    """
    draw = np.random.default_rng(14)
    sizes, count = tuple(range(4, 18)), 3_000
    columns = range(len(sizes))
    pairs = {
        "apart": [(a,) for a in columns],
        "chain": [(a, a + 1) for a in columns[:-1]],
        "star": [(0, a) for a in columns[1:]],
    }[shape]
    measured = [
        Measurement(
            columns=pair,
            counts=1e6 * draw.dirichlet(np.full(np.prod(held), 2.0)).reshape(held),
            sigma=1.0,
        )
        for pair in pairs
        for held in [tuple(sizes[a] for a in pair)]
    ]
    model = fit(Model.uniform(sizes), measured, total=1e6, steps=100).model
    rows = drawn_rows(model, count, random=PublicRandom(14))
    off, usual = [], []
    for triple in list(combinations(columns, 3))[::5]:
        p = model.marginal(triple).ravel()
        place = np.ravel_multi_index(rows[:, triple].T, [sizes[a] for a in triple])
        off.append(np.abs(np.bincount(place, minlength=p.size) - count * p).sum())
        usual.append(np.sqrt(count * p * (1 - p) * 2 / np.pi).sum())
    assert sum(off) < 1.2 * sum(usual)


class Highest:
    """Uniform numbers at the top of their range."""

    def __init__(self):
        self.generator = self

    def permutation(self, count):
        return np.arange(count)

    def random(self, count):
        return np.full(count, np.nextafter(1.0, 0.0))

    def integers(self, low, high, count):
        return np.full(count, high - 1)


@pytest.mark.parametrize("groups", [2, 1000])
def test_no_row_is_drawn_from_a_cell_of_probability_0(groups):
    tree = Tree(
        sizes=(groups, 3),
        cliques=((0,), (0, 1)),
        edges=(Edge(child=1, parent=0, separator=(0,)),),
    )
    draw = np.random.default_rng(1)
    table = np.stack([draw.random(groups), draw.random(groups), np.zeros(groups)], axis=1)
    table[::2] = table[::2, [0, 2, 1]]
    table[:, 1] = 0.0 if groups == 2 else table[:, 1]
    table /= table.sum()
    model = Model(tree=tree, tables=(table.sum(axis=1), table))
    rows = drawn_rows(model, 5000, random=Highest())
    assert (table[rows[:, 0], rows[:, 1]] > 0).all()
