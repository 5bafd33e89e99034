"""Audit a training run by one run: guess which of many canaries were in it.

Each canary is put in or left out by a fair coin of its own. Whoever sees the result guesses the
coins it is surest of and abstains from the rest. Under (ε, δ) differential privacy, for adding or
removing one canary, the number of right guesses among r is hardly larger than that of r coins that
each show heads with probability e^ε/(1+e^ε) [SNJ23, Thm 5.2]:

    P[right ≥ v]  ≤  β(v) + 2mδ · max_{1≤i≤v} (β(v−i) − β(v))/i

with β(v) = P[Bin(r, e^ε/(1+e^ε)) ≥ v] and m canaries. The largest ε for which this is below the
allowed doubt is refuted.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from deniable import parameters
from deniable.errors import BadParameter
from deniable.sampling.public import PublicRandom

from .certify import FloatArray
from .verdict import Verdict

BoolArray = NDArray[np.bool_]

_SEED = 0x63616E617279
"""Of the coins; unlike the seeds people choose for the training they audit."""
_SHARES = (1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01)


def audit_training(
    train: Callable[[BoolArray], ArrayLike],
    *,
    canaries: int,
    epsilon: float,
    delta: float = 0.0,
    guesses: int | None = None,
    confidence: float = 0.999,
    seed: int = _SEED,
) -> Verdict:
    """Train once, with each canary in or out by a coin, and guess from the scores who was in.

    `train(included)` takes one truth value a canary, trains with those that are in, and gives one
    score a canary: the higher, the likelier it was in (such as the drop of its loss, or the inner
    product of its gradient with the noisy sums). `epsilon` and `delta` are claimed for adding or
    removing one canary. The scores may use everything the claim says may be published, and
    nothing else: not `included`.

    >>> from deniable.sampling.public import PublicRandom
    >>> noise = PublicRandom(5).generator.laplace
    >>> leaky = lambda included: included + noise(scale=0.2, size=included.size)
    >>> audit_training(leaky, canaries=2000, epsilon=1.0).violated
    True
    """
    count = parameters.whole("canaries", canaries)
    included = PublicRandom(seed).generator.integers(0, 2, count).astype(np.bool_)
    start = time.perf_counter()
    scores = np.asarray(train(included.copy()), dtype=np.float64)
    verdict = audit_scores(
        scores, included, epsilon=epsilon, delta=delta, guesses=guesses, confidence=confidence
    )
    return dataclasses.replace(verdict, seconds=time.perf_counter() - start)


def audit_scores(
    scores: ArrayLike,
    included: ArrayLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    guesses: int | None = None,
    confidence: float = 0.999,
) -> Verdict:
    """Audit a run that is over: scores of canaries, and which of them were in.

    Each canary must have been in or out by a fair coin of its own. The `guesses` surest canaries
    are guessed: half of them, with the highest scores, as in, and half, with the lowest, as out.
    Without `guesses` seven numbers from 1 % of the canaries to all are tried and the doubt is
    shared among them.
    """
    claimed = parameters.non_negative("epsilon", epsilon)
    delta = parameters.fraction_below_one("delta", delta)
    doubt = 1 - parameters.confidence("confidence", confidence)
    score, truth = _checked(scores, included)
    start = time.perf_counter()
    tried = _numbers_of_guesses(guesses, score.size)
    alpha = doubt / len(tried)
    right = [_right_guesses(score, truth, number) for number in tried]
    bounds = [
        epsilon_lower(canaries=score.size, guesses=number, right=hits, delta=delta, alpha=alpha)
        for number, hits in zip(tried, right, strict=True)
    ]
    best = int(np.argmax(bounds))
    return Verdict(
        violated=bounds[best] > claimed,
        claim=f"ε = {claimed:g}" + (f", δ = {delta:g}" if delta else ""),
        epsilon_lower=bounds[best],
        epsilon_claimed=claimed,
        delta=delta,
        witness=f"{right[best]:,} of {tried[best]:,} guesses who was in were right",
        evidence=f"{score.size:,} canaries, each in or out by a fair coin",
        power=_smallest_error(claimed, delta=delta, canaries=score.size, tried=tried, alpha=alpha),
        samples=score.size,
        confidence=confidence,
        seconds=time.perf_counter() - start,
        bars=tuple(
            (f"{number:,} guesses", bound) for number, bound in zip(tried, bounds, strict=True)
        ),
        limit=claimed,
        axis="ε is at least",
    )


def p_value(
    *, canaries: int, guesses: int, right: int, epsilon: float, delta: float = 0.0
) -> float:
    """The chance of so many right guesses if (ε, δ) held: an upper bound [SNJ23, Thm 5.2].

    >>> p_value(canaries=10, guesses=10, right=10, epsilon=0.0) == 2**-10
    True
    """
    accuracy = 1 / (1 + math.exp(-epsilon))
    tail = float(stats.binom.sf(right - 1, guesses, accuracy))
    if delta == 0 or right == 0:
        return min(1.0, tail)
    slope = _steepest(right, guesses, accuracy, steps=min(right, 2048))
    return min(1.0, tail + 2 * canaries * delta * slope)


def _steepest(right: int, guesses: int, accuracy: float, *, steps: int) -> float:
    """max (β(v−i) − β(v))/i over 1 ≤ i ≤ v; beyond i steps it is below 1/i, so few are needed."""
    back = np.arange(1, steps + 1)
    rise = np.cumsum(stats.binom.pmf(right - back, guesses, accuracy))
    slope = float((rise / back).max())
    if slope >= 1 / steps or steps == right:
        return slope
    return _steepest(right, guesses, accuracy, steps=min(right, 8 * steps))


def epsilon_lower(*, canaries: int, guesses: int, right: int, delta: float, alpha: float) -> float:
    """The largest ε that so many right guesses refute at doubt α; 0 if none.

    The p-value grows with ε, as heads become likelier.
    """
    seen = partial(p_value, canaries=canaries, guesses=guesses, right=right, delta=delta)

    def refuted(epsilon: float) -> bool:
        return seen(epsilon=epsilon) < alpha

    if not refuted(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while refuted(high):
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def _checked(scores: ArrayLike, included: ArrayLike) -> tuple[FloatArray, BoolArray]:
    score, truth = np.asarray(scores, dtype=np.float64), np.asarray(included)
    if score.ndim != 1 or truth.shape != score.shape or score.size == 0:
        raise BadParameter(
            f"scores and included must have one entry per canary; their shapes are "
            f"{score.shape} and {truth.shape}",
            fix="audit_scores(scores, included, epsilon=1.0)",
        )
    if truth.dtype.kind != "b":
        raise BadParameter.of("included", included, must="one boolean per canary")
    return np.nan_to_num(score), truth


def _numbers_of_guesses(guesses: int | None, canaries: int) -> list[int]:
    if guesses is None:
        return sorted({max(1, int(canaries * part)) for part in _SHARES}, reverse=True)
    number = parameters.whole("guesses", guesses)
    if number > canaries:
        raise BadParameter.of(
            "guesses", guesses, must=f"at most the number of canaries, {canaries}"
        )
    return [number]


def _right_guesses(scores: FloatArray, included: BoolArray, guesses: int) -> int:
    """The guesses look at the scores only: the highest half is in, the lowest half is out."""
    order = np.argsort(scores, kind="stable")
    low = guesses // 2
    high = scores.size - (guesses - low)
    return int(np.count_nonzero(~included[order[:low]]) + np.count_nonzero(included[order[high:]]))


def _smallest_error(
    epsilon: float, *, delta: float, canaries: int, tried: list[int], alpha: float
) -> float:
    """The least relative error in noise scale that is caught 9 times in 10; ∞ if none is.

    Meant are canaries that do not disturb one another, each answered by randomized response at the
    claimed ε or, with noise too small by the factor 1 − error, at ε/(1 − error).
    """
    claimed = partial(p_value, canaries=canaries, epsilon=epsilon, delta=delta)

    def caught(error: float) -> bool:
        accuracy = 1 / (1 + math.exp(-min(epsilon / (1 - error), 700.0)))
        likely = ((number, int(stats.binom.ppf(0.1, number, accuracy))) for number in tried)
        return any(claimed(guesses=number, right=right) < alpha for number, right in likely)

    if epsilon == 0 or not caught(1 - 1e-9):
        return math.inf
    low, high = 0.0, 1 - 1e-9
    for _ in range(14):
        error = (low + high) / 2
        low, high = (low, error) if caught(error) else (error, high)
    return high
