"""What the adaptive method compares, how it splits its spend, and when it takes larger rounds."""

import importlib
import math
from fractions import Fraction
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest

from deniable.mechanisms import Gaussian
from deniable.synthetic.inference import Model, Partition
from deniable.synthetic.methods.adaptive import (
    CHOOSING,
    COLUMNS,
    COMPARED,
    FEWER,
    TURN,
    candidates_of,
    cells_for,
    rounds_for,
    taking_turns,
)
from deniable.synthetic.run import View

module = importlib.import_module("deniable.synthetic.methods.adaptive")  # a function hides it


@pytest.mark.parametrize(
    ("rho", "columns", "rounds"),
    [(1.0, 3, 48.0), (7.0, 3, 48.0), (0.25, 3, 24.0), (0.01, 4, 10.0), (0.0, 4, 10.0)],
)
def test_more_to_spend_is_spent_in_more_rounds(rho, columns, rounds):
    """16·√ρ per column, of ρ at most 1, and at least 2.5."""
    assert rounds_for(rho, columns) == pytest.approx(rounds)


@pytest.mark.parametrize(
    ("rho", "cells"), [(1.0, 1000), (0.125, 1000), (0.001, 200), (0.008, 400), (0.0, 200)]
)
def test_more_to_spend_allows_a_larger_model(rho, cells):
    """2·∛ρ of the most, of ρ at least 0.001 and never all of it twice; at least one cell."""
    assert cells_for(rho, 1000) == cells
    assert cells_for(rho, 1) == 1
    assert cells_for(0.001, 2) == 1


def test_candidates_are_all_parts_weighted_by_how_often_their_columns_are_asked_for():
    found = candidates_of([(0, 1, 2), (1, 3), (1,)])
    asked = {0: 1, 1: 3, 2: 1, 3: 1}
    parts = [(0,), (1,), (2,), (3,), (0, 1), (0, 2), (1, 2), (1, 3), (0, 1, 2)]
    assert sorted(found) == sorted(parts)
    for part, weight in found.items():
        exact = Fraction(1000 * sum(asked[a] for a in part), 5)
        assert weight == math.ceil(exact)
        assert isinstance(weight, int)
    thirds = candidates_of([(0, 1, 2)])
    assert (thirds[0,], thirds[0, 1], thirds[0, 1, 2]) == (334, 667, 1000)
    assert candidates_of([(0, 1), *([(0,)] * 50_000)])[1,] == 1  # and never 0


@pytest.mark.parametrize("others", [COMPARED, COMPARED + 1])
def test_up_to_a_limit_all_are_compared_and_beyond_it_they_take_turns(others):
    weights = {(0,): 5, (1,): 6, **{(0, i): i for i in range(2, 2 + others)}}
    rounds = list(islice(taking_turns(weights), 8))
    for each in rounds:
        assert list(each)[:2] == [(0,), (1,)]
        assert len(each) == 2 + (others if others == COMPARED else TURN)
        assert all(weights[c] == w for c, w in each.items())
    firsts = [c for each in rounds for c in list(each)[2:]]
    assert set(firsts[: 4 * TURN]) == {c for c in weights if len(c) > 1}
    if others > COMPARED:
        assert len(set(firsts[:others])) == others
        assert firsts[others : 2 * others] == firsts[:others]
        assert firsts[:others] != sorted(firsts[:others])


# ---- the views of a round


def run_with(sizes, ordered=True, total=100.0):
    cells = {f"c{i}": SimpleNamespace(ordered=ordered) for i in range(len(sizes))}
    return SimpleNamespace(
        sizes=sizes,
        total=total,
        domain=SimpleNamespace(cells=cells),
        model=Model.uniform(sizes),
        fixed=(),
        measured=[SimpleNamespace(columns=(a,)) for a in range(len(sizes))],
    )


def shape_of(view, sizes):
    parts = view.partitions
    return tuple(
        sizes[a] if p is None else p.count for a, p in zip(view.columns, parts, strict=True)
    )


def test_a_marginal_is_also_counted_in_16_8_and_4_groups_per_column():
    sizes, groups = (32, 20, 3), {}
    found = module._views(run_with(sizes), {(0,): 7, (0, 1): 8, (1, 2): 9}, 0.1, groups)
    shapes = [(view.columns, shape_of(view, sizes)) for view in found]
    assert shapes == [
        ((0,), (32,)),
        ((0, 1), (32, 20)),
        ((0, 1), (16, 16)),
        ((0, 1), (8, 8)),
        ((0, 1), (4, 4)),
        ((1, 2), (20, 3)),
        ((1, 2), (8, 3)),  # 16 × 3 counts are more than 0.7 times 20 × 3
        ((1, 2), (4, 3)),
    ]
    for view, (weight, allowance) in found.items():
        assert weight == {(0,): 7, (0, 1): 8, (1, 2): 9}[view.columns]
        assert allowance == pytest.approx(0.1 * math.prod(shape_of(view, sizes)))
    assert len(groups) == 6
    again = module._views(run_with(sizes), {(0, 1): 8}, 0.1, groups)
    assert [v.partitions for v in again] == [v.partitions for v in found if v.columns == (0, 1)]


@pytest.mark.parametrize(
    ("noise", "kept"), [(100 / 16, [(4, 4)]), (6.26, []), (100 / 64, [(8, 8), (4, 4)])]
)
def test_a_view_whose_noise_exceeds_the_table_is_left_out_unless_it_is_a_column(noise, kept):
    sizes = (32, 20)
    found = module._views(run_with(sizes), {(0,): 1, (0, 1): 1}, noise, {})
    assert [shape_of(v, sizes) for v in found] == [(32,), *kept]


def test_a_view_of_exactly_the_share_of_the_one_before_is_kept():
    """14 of 20 is 0.7."""
    run, cut = run_with((10, 2)), Partition(np.array([0, 0, 0, 0, 1, 2, 3, 4, 5, 6]))
    whole = module.by_mass
    try:
        module.by_mass = lambda mass, most, ordered: cut if most == 8 and len(mass) == 10 else None
        found = module._views(run, {(0, 1): 1}, 0.01, {})
    finally:
        module.by_mass = whole
    assert [shape_of(v, (10, 2)) for v in found] == [(10, 2), (7, 2)]


@pytest.mark.parametrize("ordered", [False, True])
def test_groups_are_runs_only_of_cells_in_order(ordered):
    run = run_with((6, 5), ordered=ordered)
    run.model = SimpleNamespace(
        marginal=lambda c: np.array([9.0, 1, 1, 1, 9, 1]) if c == (0,) else np.ones(5)
    )
    found = list(module._views(run, {(0, 1): 1}, 0.01, {}))
    group = found[1].partitions[0].group.tolist()
    assert (group == sorted(group)) == ordered


# ---- what still fits


def test_a_candidate_fits_if_the_model_with_it_is_within_the_limit():
    run, known = run_with((10, 10, 10)), {}
    weights = {(0,): 1, (0, 1): 2, (0, 1, 2): 3}
    for limit, found in ((29, [(0,)]), (110, [(0,), (0, 1)]), (1000, list(weights))):
        assert module._fitting(run, weights, limit, known) == {c: weights[c] for c in found}
    assert known == {(0, 1): 110, (0, 1, 2): 1000}


def test_what_is_known_not_to_fit_is_not_computed_again(monkeypatch):
    run, asked = run_with((10, 10)), []

    def growing(sizes, cliques):
        assert (sizes, cliques) == ((10, 10), [(0,), (1,), (0, 1)])
        return lambda clique: asked.append(clique) or 100

    monkeypatch.setattr(module, "growing", growing)
    run.fixed, run.model = [(0, 1)], SimpleNamespace(tree=SimpleNamespace(holder=lambda c: None))
    for known, computed, fits in (
        ({}, 1, True),
        ({(0, 1): 500}, 0, False),
        ({(0, 1): 300}, 1, True),
    ):
        asked.clear()
        assert bool(module._fitting(run, {(0, 1): 4}, 300, known)) == fits
        assert len(asked) == computed
    run.model = SimpleNamespace(tree=SimpleNamespace(holder=lambda c: 0))
    assert module._fitting(run, {(0, 1): 4}, 0, {}) == {(0, 1): 4}


# ---- one round


@pytest.mark.parametrize("left", [10.0, 0.5])
def test_a_tenth_of_a_round_chooses_and_the_rest_measures(left, monkeypatch):
    asked, view = [], View((0, 1))
    sample = SimpleNamespace(l1=2.0, l2=1.5, worth=0.25)

    def noise(amount, *, l1, l2):
        asked.append(("noise", amount, l1, l2))
        return Gaussian(sigma=4.0, sensitivity=l2)

    def choose(scored, amount):
        asked.append(("choose", amount))
        return view
        yield

    def measure(views, noises):
        asked.append(("measure", views, noises))
        return
        yield

    def views(run, weights, each, groups):
        assert each == pytest.approx(4.0 * math.sqrt(2 / math.pi) * 0.25)
        assert (weights, groups) == ({(0, 1): 3}, {})
        return {view: (3, 17.0)}

    monkeypatch.setattr(module, "_views", views)
    monkeypatch.setattr(module, "equal_noise", lambda run, views, amount: (views, amount))
    run = SimpleNamespace(
        marginals={(0, 1): sample},
        purse=SimpleNamespace(noise=noise, left=left),
        choose=choose,
        measure=measure,
    )
    ended = list_of(module._round(run, {(0, 1): 3}, 1.0, {}))
    measuring = 1 - CHOOSING
    assert ended == (view, 17.0)
    assert asked[0] == ("noise", measuring, 2.0, 1.5)
    assert asked[1] == ("choose", 1.0 - measuring)
    assert asked[2] == ("measure", [view], ([view], min(left, measuring)))
    assert len(asked) == 3


def list_of(generator):
    """What a generator that yields nothing returns."""
    try:
        while True:
            next(generator)
    except StopIteration as stop:
        return stop.value


def test_the_model_moves_by_rows():
    run = SimpleNamespace(model="new", total=50.0)
    view = SimpleNamespace(of={"new": np.array([0.7, 0.3]), "old": np.array([0.5, 0.5])}.get)
    assert module._moved(run, "old", view) == pytest.approx(20.0)


# ---- the whole schedule


class Recorded:
    """A run whose rounds take exactly their amount, and whose model moves as it is told."""

    def __init__(self, moves, converged):
        self.purse, self.said, self.steps = self, [], []
        self.total, self.spent, self.rho = 2.0, 0.0, 0.3
        self.domain = SimpleNamespace(sizes=(2, 3))
        self.moves, self.endings, self.converged = iter(moves), iter(converged), True
        self.measured, self.model = [], "model"

    @property
    def left(self):
        return self.total - self.spent

    def say(self, phase, done=0.0):
        self.said.append((phase, round(done, 9)))

    def measure(self, views, noise):
        assert views == [View((0,)), View((1,))]
        self.spent += noise
        self.measured += views
        self.steps.append("measure")
        return
        yield

    def refit(self, *, steps, tolerance=1e-4):
        self.steps.append((steps, tolerance))
        self.converged = next(self.endings)

    def fold(self):
        self.steps.append("fold")


def scripted(monkeypatch, one, fitting=lambda *given: {}):
    """Rounds are as told; noise stands for its amount."""
    monkeypatch.setattr(module, "equal_noise", lambda run, views, amount: amount)
    monkeypatch.setattr(module, "_moved", lambda run, before, view: next(run.moves))
    monkeypatch.setattr(module, "_fitting", fitting)
    monkeypatch.setattr(module, "_round", one)


def test_rounds_follow_what_was_learnt_until_all_is_spent(monkeypatch):
    """Eight planned rounds of 0.25 after a tenth of 2 for the columns.

    The first teaches much; the second nothing, although its fit was finished; from then on a round
    takes four times as much, so the rest is one round, which is then all that is left.
    """
    run = Recorded(moves=[9, 9, 2, 2, 9, 9], converged=[True] * 5)
    limits, amounts = [], []

    def fitting(run, turn, limit, known):
        limits.append((limit, turn))
        return {(0, 1): 1}

    def one(run, weights, amount, groups):
        assert weights == {(0, 1): 1}
        amounts.append(amount)
        run.spent += amount
        run.measured.append(View((0, 1)))
        return View((0, 1)), 5.0
        yield

    monkeypatch.setattr(
        module, "rounds_for", lambda rho, columns: 8 * (rho == 0.3) * (columns == 2)
    )
    monkeypatch.setattr(module, "cells_for", lambda rho, cells: cells * (rho == 0.3))
    scripted(monkeypatch, one, fitting)
    list_of(module.adaptive(run, [(0, 1)], cells=1000))
    rest = 2 - 2 * COLUMNS - 0.5
    assert amounts == pytest.approx([0.25, 0.25, rest])
    assert rest < 2 * 0.25 * FEWER
    turn = candidates_of([(0, 1)])
    assert [t for _, t in limits] == [turn] * 3
    assert [x for x, _ in limits] == pytest.approx([225, 350, 1000])
    assert run.steps == ["measure", (120, 1e-4), "fold", *([(120, 1e-4)] * 3), (960, 1e-5)]
    said = ["measuring columns", *(f"round {i}" for i in ("1, 10%", "2, 22%", "3, 35%"))]
    assert [phase.removesuffix(" spent") for phase, _ in run.said] == said
    assert [done for _, done in run.said] == [0.0, 0.1, 0.225, 0.35]


@pytest.mark.parametrize(
    ("moves", "converged", "refits", "rounds"),
    [
        ([5.1, 5.1] * 3, [True] * 9, [120] * 3, 3),
        ([5.0, 5.0, 9, 9], [True] * 9, [120, 120], 2),
        ([5.0, 5.1, 9, 9, 9, 9], [True, False, *[True] * 9], [120, 480, 120, 120], 3),
        ([5.0, 5.0, 9, 9], [True, False, *[True] * 9], [120, 480, 120], 2),
        ([5.1, 5.1, 9, 9, 9, 9], [True, False, *[True] * 9], [120, 120, 120], 3),
    ],
)
def test_only_a_round_that_taught_less_than_its_noise_makes_the_next_one_larger(
    moves, converged, refits, rounds, monkeypatch
):
    """A fit that did not end is first continued. Moving by exactly the noise is learning nothing.

    Of three rounds of 0.6 the last takes what is left; one of 2.4 takes all.
    """
    run, amounts = Recorded(moves=moves, converged=converged), []

    def one(run, weights, amount, groups):
        amounts.append(amount)
        run.spent += amount
        return View((0, 1)), 5.0
        yield

    monkeypatch.setattr(module, "rounds_for", lambda rho, columns: 1 / 0.3)
    scripted(monkeypatch, one)
    list_of(module.adaptive(run, [(0, 1)], cells=10))
    assert len(amounts) == rounds
    assert sum(amounts) == pytest.approx(1.8)
    assert [s for s, _ in run.steps[3:-1]] == refits


def test_what_is_left_is_one_round_if_it_is_less_than_two(monkeypatch):
    for planned, rounds in ((0.451, 1), (0.45, 2), (0.449, 2)):
        run, amounts = Recorded(moves=[9] * 99, converged=[True] * 99), []
        run.total = 1.0

        def one(run, weights, amount, groups, amounts=amounts):
            amounts.append(amount)
            run.spent = 1.0 if run.spent + amount > 1 - 1e-12 else run.spent + amount
            return View((0, 1)), 5.0
            yield

        def measure(views, noise, run=run):
            run.spent = 0.1
            return
            yield

        run.measure = measure
        monkeypatch.setattr(module, "rounds_for", lambda rho, columns, p=planned: 1 / p)
        scripted(monkeypatch, one)
        list_of(module.adaptive(run, [(0, 1)], cells=10))
        assert len(amounts) == rounds, planned


def test_a_billionth_that_is_left_is_not_worth_a_round(monkeypatch):
    for left, rounds in ((2e-9, 0), (2.1e-9, 1)):
        run, amounts = Recorded(moves=[9] * 9, converged=[True] * 9), []

        def one(run, weights, amount, groups, amounts=amounts):
            amounts.append(amount)
            run.kept = 0.0
            return View((0, 1)), 5.0
            yield

        monkeypatch.setattr(Recorded, "left", property(lambda run: run.kept))
        scripted(monkeypatch, one)
        run.kept = left
        list_of(module.adaptive(run, [(0, 1)], cells=10))
        assert amounts == [left] * rounds
