"""Is the claim true? Ask many times about two data sets and look for an event that refutes it.

Answers are drawn in two parts. The first proposes features and picks one event for each direction;
the second, drawn independently, certifies it: a lower bound on its probability on one data set and
an upper bound on the other, each by Clopper–Pearson at a quarter of the allowed doubt. The claim is
refuted if no mechanism as private as claimed can have such rates [DWWZK18, BSBV21].
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from deniable import parameters
from deniable.errors import BadParameter
from deniable.losses import Loss
from deniable.progress import Progress, say

from .certify import RATES, looks
from .claims import Claim, Gaussian, claim_of
from .events import Event, Finding, certify, choose
from .outputs import Table
from .power import smallest_error
from .propose import propose
from .sample import Sampler
from .verdict import Verdict

D = TypeVar("D")

_LEARN, _CHOOSE = 50_000, 200_000
"""No more answers than these are spent on learning and on choosing: the rest certify."""
_FIRST_LOOK, _GROWTH, _LEAST = 250, 4, 10


def audit(
    f: Callable[[D], object] | None,
    first: D,
    second: D,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    mu: float | None = None,
    loss: Loss | None = None,
    group: int = 1,
    samples: int = 200_000,
    confidence: float = 0.999,
    batch: Callable[[D, int], object] | None = None,
    timing: bool = False,
    time_budget: float | None = None,
) -> Verdict:
    """Look for an event on which `f` tells two neighbouring data sets apart more than it claims.

    The claim is `epsilon` (with `delta`), `mu` (Gaussian differential privacy) or a `loss`, whose
    whole curve is tested. `first` and `second` differ in `group` units. Each is asked `samples`
    times; `batch(data, n)`, if given, answers n times at once and is called instead of `f`.
    With `timing` the run time counts as a part of the answer. With `time_budget` (seconds) the
    audit stops when the claim is refuted or the time is used up.

    `violated` is wrong with probability at most 1 − `confidence`, if the calls are independent.

    >>> from deniable.sampling.public import PublicRandom
    >>> noise = PublicRandom(1).generator.laplace
    >>> verdict = audit(lambda x: x + noise(scale=0.5), 0, 1, epsilon=1.0, samples=20_000)
    >>> verdict.violated  # half the noise that ε = 1 needs
    True
    """
    claim = claim_of(epsilon=epsilon, delta=delta, mu=mu, loss=loss, group=group)
    doubt = 1 - parameters.confidence("confidence", confidence)
    samples = parameters.whole("samples", samples, least=10 * _LEAST)
    sampler = Sampler(f=f, batch=batch, data=(first, second), timing=timing)
    if time_budget is None:
        rounds = _one_look(sampler, samples, doubt)
    else:
        seconds = parameters.positive("time_budget", time_budget)
        rounds = _several_looks(sampler, samples, doubt, seconds)
    start = time.perf_counter()
    with Progress("auditing"):
        findings, power = _judge(rounds, claim)
    seconds = time.perf_counter() - start
    return _verdict(claim, findings, power, confidence, samples=sampler.drawn, seconds=seconds)


@dataclass(frozen=True, kw_only=True)
class _Round:
    """One look: answers to learn from, then fresh ones to certify with, and its share of doubt."""

    training: tuple[Table, Table]
    fresh: tuple[Table, Table]
    alpha: float


def _one_look(sampler: Sampler[D], samples: int, doubt: float) -> Iterator[_Round]:
    training = min(samples // 2, _LEARN + _CHOOSE)
    before = sampler.draw(training)
    yield _Round(training=before, fresh=sampler.draw(samples - training), alpha=doubt)


def _several_looks(
    sampler: Sampler[D], samples: int, doubt: float, budget: float
) -> Iterator[_Round]:
    """Looks of growing size; each learns from the look before.

    The size of a look is fixed before its first answer is drawn, from the time earlier ones took:
    stopping in the middle by the clock could favour answers that come quickly.
    """
    start = time.perf_counter()
    before = sampler.draw(min(_FIRST_LOOK, samples // 2), until=start + budget / 4)
    for alpha in looks(doubt):
        spent = time.perf_counter() - start
        affordable = int((budget - spent) / max(spent, 1e-9) * sampler.drawn)
        size = min(_GROWTH * before[0].size, samples - sampler.drawn, affordable)
        if size < _LEAST and sampler.drawn > before[0].size:
            return
        fresh = sampler.draw(max(size, _LEAST))
        yield _Round(training=before, fresh=fresh, alpha=alpha)
        before = fresh


def _judge(rounds: Iterator[_Round], claim: Claim) -> tuple[list[Finding], float]:
    """What the rounds prove together, and their power.

    Their doubts add up to the whole, so all may be believed.
    """
    findings: list[Finding] = []
    trials, alpha = 0, 1.0
    for each in rounds:
        events = _learn(each, claim)
        findings += certify(events, *each.fresh, claim=claim, alpha=each.alpha)
        if each.fresh[0].size > trials:
            trials, alpha = each.fresh[0].size, each.alpha
        if any(finding.violated for finding in findings):
            break
    return findings, smallest_error(claim, trials=trials, alpha=alpha)


def _learn(each: _Round, claim: Claim) -> tuple[Event | None, Event | None]:
    """Features from the first part of the training answers, the best event from the rest."""
    first, second = each.training
    raised = first.all_raised(second)
    if raised is not None:
        raise BadParameter(
            f"f raised {raised} on every call",
            why="an audit needs answers; a function that always fails the same way tells nothing",
            fix="f(first) and f(second) should run by themselves before they are audited",
        )
    say(f"looking for an event in {2 * first.size:,} answers")
    cut = max(1, min(first.size // 3, _LEARN))
    features = propose(first.part(0, cut), second.part(0, cut))
    rest = (first.part(cut, first.size), second.part(cut, second.size))
    return choose(features, *rest, claim=claim, alpha=each.alpha / RATES)


def _verdict(
    claim: Claim,
    findings: list[Finding],
    power: float,
    confidence: float,
    *,
    samples: int,
    seconds: float,
) -> Verdict:
    found = max(findings, key=lambda f: (f.violated, f.lower), default=_NOTHING)
    lower, claimed, delta = claim.epsilon(found.rate, found.other_rate)
    other = "second" if found.likelier == "first" else "first"
    bars: dict[str, float] = {}
    for finding in findings:
        name = f"likelier on the {finding.likelier}"
        bars[name] = max(finding.lower, bars.get(name, -math.inf))
    return Verdict(
        violated=found.violated,
        claim=str(claim),
        epsilon_lower=max(0.0, lower),
        epsilon_claimed=claimed,
        delta=delta,
        mu_lower=max(0.0, found.lower) if isinstance(claim, Gaussian) else None,
        witness=found.event,
        evidence=f"probability at least {found.rate:.4g} on the {found.likelier} data set, "
        f"at most {found.other_rate:.4g} on the {other}",
        power=power,
        samples=samples,
        confidence=confidence,
        seconds=seconds,
        bars=tuple(bars.items()) or (("no event", 0.0),),
        limit=claim.limit,
        axis=claim.axis,
    )


_NOTHING = Finding(
    event="none: every answer is the same",
    likelier="first",
    rate=1.0,
    other_rate=1.0,
    lower=0.0,
    violated=False,
)
