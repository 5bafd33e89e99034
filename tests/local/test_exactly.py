"""The exact ε of means, vectors, attributes, ranges and heavy hitters, by enumeration.

Numbers are rounded, and vectors turned around, by coins that protect nobody. Given how they fall,
two laws differ by e^ε at most; so do mixtures of them.
"""

from fractions import Fraction

import pytest
from tests.local.enumerating import law, worst_ratio

from deniable import local
from deniable.local import means
from deniable.sampling.exact import exp_bounds


def few_directions(**parameters):
    p = local.Vector(dimension=2, **parameters)
    p.__dict__["directions"] = 8
    return p


UNIT = {"low": 0, "high": 1}
WAYS = {
    "duchi": (lambda **e: local.Mean(method="duchi", **UNIT, **e), [0, 0.37, 1, 9]),
    "piecewise": (lambda **e: local.Mean(method="piecewise", **UNIT, **e), [0, 0.37, 1, -9]),
    "hybrid": (lambda **e: local.Mean(**UNIT, **e), [0, 0.37, 1]),
    "vector": (few_directions, [[1, 0], [-0.6, 0.8], [0, 0], [0.1, 0.2], [-9, 1e300]]),
    "attributes": (
        lambda **e: local.Attributes(categories={"a": 2, "b": ["x", "y", "z"]}, **e),
        [{"a": 0, "b": "x"}, {"a": 1, "b": "y"}, {"a": 0, "b": "z"}],
    ),
    "ranges": (lambda **e: local.Ranges(cells=4, branching=2, **UNIT, **e), [0, 0.3, 0.6, 0.9]),
    "heavy hitters": (lambda **e: local.HeavyHitters(bits=3, start=1, step=1, **e), [0, 1, 5, 7]),
}


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """A window of few reports."""
    monkeypatch.setattr(means, "_OUTPUTS", 16)


def laws_of(name, epsilon, monkeypatch, sabotaged=False):
    make, values = WAYS[name]
    p = make(epsilon=epsilon)
    if sabotaged:
        p.randomizer.__dict__["chance"] = p.randomizer.chance + Fraction(1, 10**13)
    return [
        law(monkeypatch, lambda value=value: p.encode(value), coin=coin)
        for value in values
        for coin in (0, 1)
    ]


@pytest.mark.parametrize("epsilon", [1e-6, 2.5])
@pytest.mark.parametrize("name", WAYS)
def test_the_exact_epsilon_of_a_report_is_what_was_asked(name, epsilon, monkeypatch):
    laws = laws_of(name, epsilon, monkeypatch)
    assert all(sum(each.values()) == 1 for each in laws)
    ratio = worst_ratio(laws)
    assert ratio <= Fraction(exp_bounds(Fraction(epsilon), 200)[1], 1 << 200)
    assert ratio - 1 >= (Fraction(exp_bounds(Fraction(epsilon), 200)[0], 1 << 200) - 1) * (
        1 - Fraction(1, 10**8)
    )


@pytest.mark.parametrize("name", sorted(set(WAYS) - {"attributes", "ranges"}))
def test_the_enumeration_sees_a_chance_that_was_rounded_the_wrong_way(name, monkeypatch):
    ratio = worst_ratio(laws_of(name, 1.0, monkeypatch, sabotaged=True))
    assert ratio > Fraction(exp_bounds(Fraction(1), 200)[1], 1 << 200)
