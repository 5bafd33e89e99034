"""The exact law of a randomized program: run it once for every outcome of its draws.

The samplers that a protocol calls are replaced by ones that follow a script of choices and multiply
the exact probability of each; a depth-first search over scripts visits every outcome.
"""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np

from deniable.local import heavy, means, several, vectors
from deniable.local.protocols import bitmaps, coded, hashed, repeated
from deniable.mechanisms.local import support_response, unary_response

MODULES = [
    bitmaps, coded, hashed, heavy, means, repeated, several, support_response, unary_response,
    vectors,
]  # fmt: skip


class Choices:
    """Draws that follow a script; beyond its end the first outcome is taken."""

    def __init__(self, script, coin=0):
        self.script, self.sizes, self.chance, self.coin = script, [], Fraction(1), coin

    def pick(self, weights):
        place = len(self.sizes)
        assert place < 50, "it draws again and again"
        chosen = self.script[place] if place < len(self.script) else 0
        self.sizes.append(len(weights))
        self.chance *= weights[chosen]
        return chosen

    def below(self, bound, count=1, **_):
        if bound == 1 << 64:  # hash functions are public: the law is that given one of eight
            odd = 0x9E3779B97F4A7C15 * (2 * self.pick([Fraction(1, 8)] * 8) + 1)
            return np.array([odd * (i + 1) % 2**64 for i in range(count)], dtype=np.uint64)
        if bound == 1 << 63:  # a public list of directions
            return np.full(count, 12345)
        if bound == 1 << 53:  # a coin that protects nobody: the law is that given how it fell
            return np.full(count, self.coin * (bound - 1))
        return np.array([self.pick([Fraction(1, bound)] * bound) for _ in range(count)], dtype=int)

    def bernoulli(self, p, count=1, **_):
        return np.array([self.pick([1 - p, p]) == 1 for _ in range(count)], dtype=bool)

    def bits(self, width):
        def draw(p, count=1, **_):
            assert count == 1
            coins = [self.pick([1 - p, p]) for _ in range(width)]
            return np.array([sum(bit << i for i, bit in enumerate(coins))], dtype=np.uint64)

        return draw


def law(monkeypatch, run, *, width=0, coin=0):
    """{outcome: probability} of `run()`, which must end whatever is drawn."""
    return runs(monkeypatch, run, width=width, coin=coin)[0]


def worst_ratio(laws):
    """The largest ratio of the probabilities of an outcome under two of the laws: e^ε."""
    return max(
        chance / second[report] if report in second else math.inf
        for first in laws
        for second in laws
        for report, chance in first.items()
    )


def runs(monkeypatch, run, *, width=0, coin=0):
    """The law, and all lists of how many outcomes each draw had: one if none depends on others."""
    script, found, shapes = [], defaultdict(Fraction), set()
    while True:
        choices = Choices(script, coin)
        for module in MODULES:
            for name in ("below", "bernoulli"):
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, getattr(choices, name))
        monkeypatch.setattr(unary_response, "bernoulli_bits", choices.bits(width))
        outcome = run()
        if choices.chance:
            found[outcome] += choices.chance
        shapes.add(tuple(choices.sizes))
        script = [*script, *[0] * len(choices.sizes)][: len(choices.sizes)]
        while script and script[-1] + 1 >= choices.sizes[len(script) - 1]:
            script.pop()
        if not script:
            return dict(found), shapes
        script[-1] += 1
