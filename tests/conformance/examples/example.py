"""What an example says, and the ways of asking and the laws that examples share."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from deniable.mechanisms import Mechanism


@dataclass(frozen=True, kw_only=True)
class Example:
    mechanism: Mechanism
    twin: Mechanism
    """The same with a fault: its answers must fail the law of `mechanism`."""
    first: object
    second: object
    """A neighbour, as far from `first` as the mechanism covers."""
    declared: dict[str, object]
    """What a session is told about `first`: bounds and form, as arguments of `dp.Sensitive`."""
    ask: Callable[[Mechanism, object, int], np.ndarray]
    """n independent answers about a value, each read as one number."""
    law: Callable[[Mechanism], tuple[np.ndarray, np.ndarray]]
    """Increasing points x and P(answer about `first` ≤ x)."""
    draws: int = 20_000
    error: Callable[[Mechanism, float], float] | None = None
    """The stated ± of the answers about `first`, whose truth is `truth`; None: it states none."""
    truth: float = 0.0
    asked: object = None
    """The value that a session is given, where that is not `first`."""
    signed: tuple[str, ...] = ()
    """Parameters that may be 0 or below."""


# ---- how to ask


def at_once(mechanism, value, n):
    """One call with an array of n copies of a number."""
    return np.asarray(mechanism.release(np.full(n, value)), dtype=float)


def one_by_one(read=float):
    """n calls, each answer read as a number."""
    return lambda mechanism, value, n: np.array([read(mechanism.release(value)) for _ in range(n)])


def key_by_key(mechanism, people, n):
    """One call about n keys of so many people each: the count shown (1 without counts), or 0."""
    shown = mechanism.release(dict.fromkeys(range(n), people))
    counts = list(shown.values()) if isinstance(shown, dict) else [1] * len(shown)
    return np.array(counts + [0] * (n - len(counts)), dtype=float)


# ---- laws: points and P(answer ≤ point)


WHOLE = np.arange(-60, 61).astype(float)


def laplace(x, b):
    return np.where(x < 0, np.exp(np.minimum(x, 0) / b) / 2, 1 - np.exp(-np.maximum(x, 0) / b) / 2)


def rounded_laplace(b, centre=0.0):
    return WHOLE, laplace(WHOLE + 0.5 - centre, b)


def rounded_gaussian(sigma, centre=0.0):
    return WHOLE, special.ndtr((WHOLE + 0.5 - centre) / sigma)


def masses(weights, points=WHOLE):
    """A law on whole numbers from unnormalised masses."""
    return points, np.cumsum(weights) / np.sum(weights)


def discrete_laplace(m, centre=0):
    return masses(np.exp(-np.abs(WHOLE - centre) / m.scale))


def gaussian(sigma, centre=0.0):
    points = centre + sigma * np.linspace(-4, 4, 81)
    return points, special.ndtr((points - centre) / sigma)


def sum_of(law, times):
    """The law of a sum of independent copies of a law on WHOLE."""
    one = np.diff(law[1], prepend=0.0)
    total = one
    for _ in range(times - 1):
        total = np.convolve(total, one)
    reach = (len(total) - 1) // 2
    return masses(total, np.arange(-reach, reach + 1).astype(float))


def mixture(first, second, share):
    return first[0], (1 - share) * first[1] + share * second[1]


def coin(chance):
    return np.array([0.0, 1.0]), np.array([1 - chance, 1.0])


def threshold(m, rounded):
    """0 stands for a key that is not shown."""
    points, below = rounded
    shown = points >= m.threshold
    hidden = below[shown][0] - np.diff(below, prepend=0.0)[shown][0]
    return np.concatenate([[0.0], points[shown]]), np.concatenate([[hidden], below[shown]])


def plain_error(m, confidence):
    return m.error(confidence)


def whole_error(m, confidence):
    return m.error(confidence, whole=True)
