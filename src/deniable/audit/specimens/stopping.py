"""An adversary who breaks "stop when no order is within the budget", in two coins.

Each coin lands heads with probability p on one data set and q on its neighbour, so that all four
transcripts can be listed. After the first answer the adversary chooses the second coin for the
order that still has the most room: a high order after a rare answer, a low one after a likely one.
"""

from __future__ import annotations

import math

from deniable.losses import convert

_EPSILON, _DELTA = 1.0, 1e-6
_RARE, _LIKELY = 200.0, 20.0
_FIRST = (3e-4, 3e-4 * math.exp(-0.1))

Coin = tuple[float, float]


def best_order() -> tuple[float, float]:
    """(true δ, promised δ) if each answer's own best order may admit the second coin."""
    return _delta([_second(_FIRST, _RARE), _second(_tails(_FIRST), _LIKELY)]), _DELTA


def one_order() -> tuple[float, float]:
    """(true δ, promised δ) if the order is fixed: the other second coin is then refused."""
    return _delta([None, _second(_tails(_FIRST), _LIKELY)]), _DELTA


def _delta(seconds: list[Coin | None]) -> float:
    """Σ (p − e^ε·q)₊ over all transcripts."""
    paths: list[Coin] = []
    for (p, q), second in zip((_FIRST, _tails(_FIRST)), seconds, strict=True):
        sides = [(1.0, 1.0)] if second is None else [second, _tails(second)]
        paths += [(p * a, q * b) for a, b in sides]
    return math.fsum(max(0.0, p - math.exp(_EPSILON) * q) for p, q in paths)


def _second(before: Coin, order: float) -> Coin:
    """The likeliest coin of the ratio that hurts most, within what the order still allows."""
    room = convert.approx_budget_as_renyi(_EPSILON, _DELTA, order)
    left = (room - max(_divergence(_FIRST, order), _divergence(_FIRST[::-1], order))) * (1 - 1e-9)
    ratio = math.exp(_EPSILON) * order / (order - 1) * before[1] / before[0]
    low, high = 1e-30, 1.0
    for _ in range(200):
        p = math.sqrt(low * high)
        low, high = (p, high) if _divergence((p, p / ratio), order) <= left else (low, p)
    return low, low / ratio


def _divergence(coin: Coin, order: float) -> float:
    """Rényi divergence of two coins, the sum taken relative to its largest term."""
    terms = [order * math.log(a) + (1 - order) * math.log(b) for a, b in (coin, _tails(coin))]
    top = max(terms)
    return (top + math.log(math.fsum(math.exp(term - top) for term in terms))) / (order - 1)


def _tails(coin: Coin) -> Coin:
    return 1 - coin[0], 1 - coin[1]
