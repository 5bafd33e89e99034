"""The tree of pairs: what is chosen from, how the spend is split, and when it is a forest."""

import importlib
from itertools import combinations
from types import SimpleNamespace

import pytest

from deniable.synthetic.methods.tree import SHARE, pairs_within, parts_of
from deniable.synthetic.run import View

module = importlib.import_module("deniable.synthetic.methods.tree")  # a function hides it


@pytest.mark.parametrize(
    ("pairs", "parts"),
    [
        ([], 4),
        ([(0, 1)], 3),
        ([(0, 1), (1, 0)], 3),
        ([(0, 1), (2, 3)], 2),
        ([(0, 1), (2, 3), (1, 2)], 1),
        ([(0, 1), (1, 2), (0, 2)], 2),
        (list(combinations(range(4), 2)), 1),
    ],
)
def test_pairs_join_parts(pairs, parts):
    assert parts_of(4, pairs) == parts


def test_pairs_have_at_most_so_many_cells():
    assert pairs_within((2, 3, 5), 10) == [(0, 1), (0, 2)]
    assert pairs_within((2, 3, 5), 9) == [(0, 1)]
    assert pairs_within((2, 3, 5), 15) == [(0, 1), (0, 2), (1, 2)]
    assert pairs_within((2,), 100) == []


class Recorded:
    """A run that does what it is asked and remembers it; pairs are chosen as told."""

    def __init__(self, columns, choices):
        self.domain = SimpleNamespace(sizes=(2,) * columns)
        self.purse = SimpleNamespace(left=8.0)
        self.choices, self.seen = iter(choices), []

    def say(self, phase):
        self.seen.append(("say", phase))

    def measure(self, views, noise):
        self.seen.append(("measure", [v.columns for v in views], noise))
        self.purse.left = 5.0
        return
        yield

    def refit(self, *, steps, tolerance=1e-4):
        self.seen.append(("refit", steps, tolerance))

    def fold(self):
        self.seen.append(("fold",))

    def scores(self, candidates):
        assert candidates, "nothing can be chosen from"
        assert all(each == (1, 0.0) for each in candidates.values())
        return [view.columns for view in candidates]

    def chosen(self, scores, amount, among):
        self.seen.append(("choose", amount, [scores[i] for i in among]))
        return View(next(self.choices))
        yield


def ran(run, pairs, monkeypatch):
    monkeypatch.setattr(module, "equal_noise", lambda run, views, amount: amount)
    assert list(module.tree(run, pairs)) == []
    return run.seen


def test_columns_choices_and_pairs_share_the_spend(monkeypatch):
    """A quarter of 8 for columns, a quarter for two choices, and for pairs all that is left."""
    pairs = [(0, 1), (0, 2), (1, 2)]
    seen = ran(Recorded(3, [(0, 2), (0, 1)]), pairs, monkeypatch)
    assert SHARE == 0.25
    assert seen == [
        ("say", "measuring columns"),
        ("measure", [(0,), (1,), (2,)], 2.0),
        ("refit", 500, 1e-4),
        ("fold",),
        ("say", "choosing pairs, 1 of 2"),
        ("choose", 1.0, pairs),
        ("say", "choosing pairs, 2 of 2"),
        ("choose", 1.0, [(0, 1), (1, 2)]),
        ("say", "measuring pairs"),
        ("measure", [(0, 2), (0, 1)], 5.0),
        ("say", "fitting the model"),
        ("refit", 500, 1e-5),
    ]


def test_pairs_within_a_part_are_not_offered_again(monkeypatch):
    """Four columns: after 0–1 and 2–3 only pairs across are left."""
    pairs = list(combinations(range(4), 2))
    seen = ran(Recorded(4, [(0, 1), (2, 3), (1, 2)]), pairs, monkeypatch)
    offered = [each[2] for each in seen if each[0] == "choose"]
    assert offered == [pairs, pairs[1:], [(0, 2), (0, 3), (1, 2), (1, 3)]]
    assert [each[1] for each in seen if each[0] == "choose"] == pytest.approx([2 / 3] * 3)


def test_a_forest_has_as_many_pairs_as_join_something(monkeypatch):
    seen = ran(Recorded(4, [(0, 1)]), [(0, 1)], monkeypatch)
    assert [each for each in seen if each[0] == "choose"] == [("choose", 2.0, [(0, 1)])]


def test_without_pairs_columns_are_all(monkeypatch):
    seen = ran(Recorded(2, []), [], monkeypatch)
    assert [each[0] for each in seen] == ["say", "measure", "refit", "fold"]
