"""The smallest loss that meets every ±: it does meet them, and wastes little."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import BadParameter
from deniable.losses import Pure
from deniable.workload import Balance, Vector, cheapest, noise_for

targets = st.lists(st.floats(0.5, 1e4), min_size=1, max_size=5)


def errors(names):
    """Counts with Laplace noise, each in a vector of its own: ± = b·ln 20."""

    def told(loss: float, balance: Balance):
        vectors = [Vector(l1=1.0, l2=1.0, weight=balance.weights.get(n, 1.0)) for n in names]
        noise = noise_for(lambda _: vectors, spend=Pure(loss))
        return {n: m.scale * math.log(20) for n, m in zip(names, noise, strict=True)}

    return told


@settings(max_examples=25, deadline=None)
@given(wanted=targets)
def test_every_target_is_met_at_nearly_the_least_possible_loss(wanted):
    names = [f"n{i}" for i in range(len(wanted))]
    named = dict(zip(names, wanted, strict=True))
    told = errors(names)
    loss, balance = cheapest(told, smooth=told, wanted=named)
    assert all(told(loss, balance)[n] <= named[n] for n in names)
    # Each target needs ε = ln 20/±, and losses add: no split can cost less.
    least = sum(math.log(20) / each for each in wanted)
    assert least * (1 - 1e-9) <= loss <= 1.05 * least + 1e-6 * max(wanted)


def test_an_answer_without_a_target_gets_little():
    told = errors(["n", "other"])
    loss, balance = cheapest(
        lambda x, b: {"n": told(x, b)["n"]},
        smooth=lambda x, b: {"n": told(x, b)["n"]},
        wanted={"n": 10.0},
        others=["other"],
    )
    assert balance.weights["other"] < balance.weights["n"]
    assert loss < 2 * math.log(20) / 10  # an even split


def test_targets_that_any_loss_meets_are_refused():
    with pytest.raises(BadParameter):
        cheapest(lambda *_: {"n": 1.0}, smooth=lambda *_: {"n": 1.0}, wanted={"n": 2.0})


def test_a_stated_error_of_nothing_can_still_be_cheaper():
    """Whole numbers with little noise have a ± of 0; the least loss is where it becomes 1."""

    def stated(loss, _):
        return {"n": float(math.floor(1 / loss))}

    loss, _ = cheapest(stated, smooth=lambda x, _: {"n": 1 / x}, wanted={"n": 0.5}, alone=True)
    assert loss == pytest.approx(1.0, rel=1e-5)


def test_the_second_of_several_targets_counts_too():
    told = errors(["a", "b"])
    wanted = {"a": 100.0, "b": 1.0}
    loss, balance = cheapest(told, smooth=told, wanted=wanted)
    assert all(told(loss, balance)[n] <= wanted[n] for n in wanted)
    assert balance.weights["b"] > balance.weights["a"] == 1.0


@pytest.mark.parametrize("power", [1, 2])
def test_errors_may_fall_with_a_root_of_the_loss(power):
    """± = c/loss^(1/power): the balanced loss is found in six rounds from a rough start."""

    def told(loss, balance):
        total = sum(balance.weights.get(n, 1.0) ** (1 / 3) for n in "ab") or 1.0
        share = {n: balance.weights.get(n, 1.0) ** (1 / 3) / total for n in "ab"}
        return {n: 1 / (loss * share[n]) ** (1 / power) for n in "ab"}

    wanted = {"a": 1.0, "b": 0.1}
    loss, balance = cheapest(told, smooth=told, wanted=wanted, power=power)
    best = sum(w**-power for w in wanted.values())
    assert best * (1 - 1e-9) <= loss <= 1.02 * best
    assert all(told(loss, balance)[n] <= wanted[n] * (1 + 1e-9) for n in wanted)


@pytest.mark.parametrize("other", [0.5, 2.0])
def test_answers_are_balanced_at_the_loss_that_they_will_have(other):
    """Errors that fall at different rates are in balance at one loss and not at another.

    a needs 1,000 of the loss and b 10,000, so that 11,000 is the least; at first it is 20,000.
    """

    def told(loss, balance):
        roots = {n: balance.weights.get(n, 1.0) ** (1 / 3) for n in "ab"}
        share = {n: root / sum(roots.values()) for n, root in roots.items()}
        return {"a": 1 / (loss * share["a"]), "b": (loss * share["b"]) ** -other}

    loss, _ = cheapest(told, smooth=told, wanted={"a": 1e-3, "b": 1e4**-other})
    assert 11_000 * (1 - 1e-6) <= loss <= 11_800
