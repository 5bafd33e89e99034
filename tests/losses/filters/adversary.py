"""Adversaries with coins: mechanisms of two outcomes, chosen after earlier answers, exactly known.

A coin lands heads with probability p on one data set and q on its neighbour. A tree of coins, each
chosen after the outcomes before it, is an adaptive session whose transcripts can all be listed.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator

from hypothesis import strategies as st

from deniable.losses.filters import Filter, Price


@dataclasses.dataclass(frozen=True)
class Coin:
    """Heads with probability p here and q there."""

    p: float
    q: float

    def outcomes(self):
        return (self.p, self.q), (1 - self.p, 1 - self.q)

    def pure(self):
        return max(abs(math.log(a / b)) for a, b in self.outcomes()) * (1 + 1e-12)

    def approx(self):
        return self.pure(), 0.0

    def zcdp(self):
        return math.inf

    gdp = zcdp

    def renyi(self, order):
        return max(self.divergence(order), Coin(self.q, self.p).divergence(order)) * (1 + 1e-12)

    def divergence(self, order):
        terms = [order * math.log(a) + (1 - order) * math.log(b) for a, b in self.outcomes()]
        top = max(terms)
        return (top + math.log(sum(math.exp(term - top) for term in terms))) / (order - 1)

    def pairs(self):
        return None


PROBABILITIES = st.floats(0.001, 0.999)
COINS = st.builds(Coin, PROBABILITIES, PROBABILITIES)

Choice = Callable[[tuple[int, ...]], Coin | None]


def transcripts(admits, price, choose: Choice, depth: int) -> Iterator[tuple[float, float]]:
    """The probabilities, here and there, of all transcripts of a session under a ceiling."""

    def walk(history: tuple[int, ...], total: Price, p: float, q: float):
        coin = choose(history) if len(history) < depth else None
        after = total + price(coin) if coin else total
        if coin is None or not admits(after):
            yield p, q
            return
        for side, (a, b) in enumerate(coin.outcomes()):
            yield from walk((*history, side), after, p * a, q * b)

    yield from walk((), Price.zero, 1.0, 1.0)


def run(ceiling: Filter, choose: Choice, *, depth: int) -> list[tuple[float, float]]:
    return list(transcripts(ceiling.admits, ceiling.price, choose, depth))


def delta(pairs: list[tuple[float, float]], epsilon: float) -> float:
    """The exact δ of a session at ε, the larger of both directions."""
    factor = math.exp(epsilon)
    here = math.fsum(max(0.0, p - factor * q) for p, q in pairs)
    there = math.fsum(max(0.0, q - factor * p) for p, q in pairs)
    return max(here, there)


def divergence(pairs: list[tuple[float, float]], order: float) -> float:
    """The exact Rényi divergence of a session, the larger of both directions."""
    both = [
        math.fsum(math.exp(order * math.log(a) + (1 - order) * math.log(b)) for a, b in direction)
        for direction in (pairs, [(q, p) for p, q in pairs])
    ]
    return math.log(max(both)) / (order - 1)
