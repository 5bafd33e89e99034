"""The adaptive experiment: an adversary asks, sees answers, asks again, and guesses a bit.

A bit b is drawn. In each step the adversary chooses a question and two neighbouring data sets, in
the light of all earlier answers, and is told what the question answers on data set b. In the end
they guess b. If all the questions together are (ε, δ)-private, then

    P[guess 1 | b = 1] ≤ e^ε · P[guess 1 | b = 0] + δ,      and the same for guess 0,

so the advantage P[guess 1 | 1] − P[guess 1 | 0] is at most (e^ε − 1 + 2δ)/(e^ε + 1) [DRV10, KOV15].
"""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.progress import Progress
from deniable.sampling.public import PublicRandom

from .certify import lower_rate, upper_rate
from .claims import EpsilonDelta
from .leaves import observed
from .power import smallest_error
from .verdict import Verdict

Question = tuple[Callable[[Any], object], Any, Any]
"""What is asked of a data set, and the two data sets."""
Adversary = Callable[[], Generator[Question, object, object]]

_SEED = 0x67616D65
"""Of the bits; unlike the seeds people choose for the mechanisms they audit."""
_EXAMPLE = "def adversary():\n    answer = yield ask, first, second\n    return answer > 0.5"


@dataclass(frozen=True, kw_only=True)
class Game(Verdict):
    """How often an adversary guesses the bit, and whether the claim allows it."""

    advantage: float
    """P[guess 1 | b = 1] − P[guess 1 | b = 0], as observed: 0 is guessing, 1 is certainty."""
    advantage_lower: float
    """The advantage is at least this, at `confidence`."""
    advantage_bound: float
    """The largest advantage that the claim allows."""

    def _facts(self) -> list[tuple[str, str]]:
        told = (
            f"{self.advantage:.3f} observed, at least {self.advantage_lower:.3f}; "
            f"the claim allows {self.advantage_bound:.3f}"
        )
        return [("advantage", told), *super()._facts()]


def game(
    adversary: Adversary,
    *,
    epsilon: float,
    delta: float = 0.0,
    rounds: int = 5_000,
    confidence: float = 0.999,
    seed: int = _SEED,
) -> Game:
    """Play the adaptive experiment many times, and compare the advantage with what ε allows.

    `adversary()` is a generator: it yields (ask, first, second), a function and two neighbouring
    data sets; is sent `ask(first)` if b = 0 and `ask(second)` if b = 1; may yield again; and
    returns its guess, 0 or 1. An error that `ask` raises is sent as the answer. `epsilon` and
    `delta` are claimed for all questions of one round together. A session per data set may take
    the place of data: the claim is then the session's budget.

    `violated` is wrong with probability at most 1 − `confidence`, if rounds are independent.

    >>> from deniable.sampling.public import PublicRandom
    >>> noise = PublicRandom(1).generator.laplace
    >>> def adversary():  # asks the same count again and again, each time "at ε = 1"
    ...     answers = []
    ...     for _ in range(12):
    ...         answers.append((yield (lambda rows: len(rows) + noise()), [7] * 10, [7] * 11))
    ...     return sum(answers) / 12 > 10.5
    >>> found = game(adversary, epsilon=1.0, rounds=1000)
    >>> found.violated, found.advantage > found.advantage_bound
    (True, True)
    """
    claim = EpsilonDelta(
        parameters.non_negative("epsilon", epsilon),
        delta=parameters.fraction_below_one("delta", delta),
        group=1,
    )
    size = parameters.whole("rounds", rounds, least=20)
    doubt = 1 - parameters.confidence("confidence", confidence)
    start = time.perf_counter()
    bits = PublicRandom(seed).generator.permutation(size) % 2  # as many of each, in random order
    guesses = np.zeros(size, dtype=np.int64)
    with Progress("playing") as progress:
        for number, bit in enumerate(bits.tolist()):
            progress.text = f"playing round {number + 1:,} of {size:,}"
            guesses[number] = _play(adversary, bit)
    seconds = time.perf_counter() - start
    return _judge(guesses, bits, claim, doubt=doubt, confidence=confidence, seconds=seconds)


def _play(adversary: Adversary, bit: int) -> int:
    """One round: the adversary's guess."""
    if not inspect.isgeneratorfunction(adversary):
        raise BadParameter.of(
            "adversary", adversary, must="a generator function of no arguments", fix=_EXAMPLE
        )
    play: Generator[Question, object, object] = adversary()
    answer: object = None
    while True:
        try:
            question = play.send(answer)
        except StopIteration as end:
            return _guess(end.value)
        if not _is_question(question):
            raise BadParameter.of(
                "a question", question, must="yielded as (ask, first, second)", fix=_EXAMPLE
            )
        answer = observed(question[0], question[1 + bit])


def _is_question(asked: object) -> bool:
    return isinstance(asked, tuple) and len(asked) == 3 and callable(asked[0])


def _guess(value: object) -> int:
    if isinstance(value, bool | int | np.bool_ | np.integer) and value in (0, 1):
        return int(value)
    raise BadParameter.of("the guess", value, must="0 or 1, returned by the adversary")


def _judge(
    guesses: NDArray[np.int64],
    bits: NDArray[np.int64],
    claim: EpsilonDelta,
    *,
    doubt: float,
    confidence: float,
    seconds: float,
) -> Game:
    """Two bounds hold together: on how often 1 is guessed with b = 1, and with b = 0."""
    right, wrong = int(np.sum(guesses[bits == 1])), int(np.sum(guesses[bits == 0]))
    ones, zeros = int(np.sum(bits == 1)), int(np.sum(bits == 0))
    alpha = doubt / 2
    low = float(lower_rate(right, trials=ones, alpha=alpha))
    high = float(upper_rate(wrong, trials=zeros, alpha=alpha))
    pairs = {"guess 1": (low, high), "guess 0": (1 - high, 1 - low)}
    bounds = {name: float(claim.lower(np.array(p), np.array(q))) for name, (p, q) in pairs.items()}
    best = max(bounds, key=lambda name: bounds[name])
    growth = math.exp(min(claim.limit, 700.0))
    correct = right + zeros - wrong
    return Game(
        violated=any(p > float(claim.most(np.array(q))) for p, q in pairs.values()),
        claim=str(claim),
        epsilon_lower=max(0.0, bounds[best]),
        epsilon_claimed=claim.limit,
        delta=claim.delta,
        witness=f"the adversary's {best}",
        evidence=f"{correct:,} of {bits.size:,} guesses are right",
        power=smallest_error(claim, trials=min(ones, zeros), alpha=doubt),
        samples=bits.size,
        confidence=confidence,
        seconds=seconds,
        bars=tuple(bounds.items()),
        limit=claim.limit,
        axis=claim.axis,
        advantage=right / ones - wrong / zeros,
        advantage_lower=max(0.0, low - high),
        advantage_bound=min(1.0, (growth - 1 + 2 * claim.delta) / (growth + 1)),
    )
