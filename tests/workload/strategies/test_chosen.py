"""A workload takes counts that are declared as it needs them."""

import pytest

import deniable as dp
from deniable.workload.strategies import Bounds, Identity, Sine, SquareRoot
from deniable.workload.strategies.chosen import bounds_of, choose, size_of


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


def test_a_workload_needs_a_hidden_value_with_bounds():
    with pytest.raises(dp.BadParameter, match="Sensitive"):
        bounds_of([1, 2], 2)
    assert size_of(dp.Sensitive(lambda: [1, 2], l1=1, whole=True, shape=2)) == 2
    with pytest.raises(dp.BadParameter, match="L1 bound"):
        bounds_of(dp.Sensitive(lambda: [1, 2], linf=1, l2=1, whole=True, shape=2), 2)


def test_of_the_same_name_the_better_is_kept_and_nothing_is_no_choice():
    made = [Identity(cells=n, bounds=Bounds()) for n in (4, 5, 6)]
    errors = {4: 9.0, 5: 4.0, 6: 16.0}
    options = {"whole": lambda _: True, "spend": dp.epsilon(1.0)}
    chosen = choose(
        lambda law: made if law == "laplace" else [], lambda s, _: errors[s.cells], **options
    )
    assert chosen.strategy is made[1]
    assert chosen.others == {}
    with pytest.raises(dp.BadParameter):
        choose(lambda _: [], lambda *_: 0.0, **options)
