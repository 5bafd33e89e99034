"""A workload takes counts that are declared as it needs them."""

import pytest

import deniable as dp
from deniable.workload.strategies import Bounds, Identity, Sine, SquareRoot
from deniable.workload.strategies.chosen import bounds_of, choose


def test_a_workload_is_about_as_many_whole_numbers_as_it_has_cells():
    good = {"l1": 1, "l2": 1, "whole": True, "shape": 4}
    found = bounds_of(dp.Sensitive(lambda: [1, 2, 3, 4], **good), 4)
    assert (found.l1, found.l2) == (1, 1)
    for wrong in ({"whole": False}, {"whole": None}, {"shape": 5}, {"shape": (2, 2)}):
        with pytest.raises(dp.BadParameter, match="4 whole numbers"):
            bounds_of(dp.Sensitive(lambda: [1, 2, 3, 4], **good | wrong), 4)


def test_the_best_is_chosen_and_all_others_are_told_with_their_errors():
    made = [kind(cells=4, bounds=Bounds()) for kind in (Identity, Sine, SquareRoot)]
    errors = dict(zip((each.name for each in made), (9.0, 4.0, 25.0), strict=True))

    def score(strategy, deviations):
        assert len(deviations) == len(strategy.vectors)
        return errors[strategy.name]

    def some(law):
        return made if law == "gaussian" else []

    chosen = choose(some, score, whole=lambda _: True, spend=dp.mu(1.0))
    assert chosen.strategy is made[1]
    assert chosen.others == {f"{made[0].name} (Gaussian)": 3.0, f"{made[2].name} (Gaussian)": 5.0}
