"""How long random lists of mechanisms take to price, and how tight the price is.

Draws lists of up to ten kinds with counts from 1 to 10⁴ and a δ down to 1e-20, and prints for each
CPU seconds, the most memory so far, and how far ε lies above a reference, which is the same
contour with a smoothing of a hundredth and without its shortcuts.

    python -m bench.accounting_survey [lists] [seed]
"""

import math
import random
import resource
import sys
import time

from deniable.losses import Profile, contour, pricing
from deniable.losses.pairs import (
    ApproxPair,
    BoundedRangePair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pairs,
    ResponsePair,
    sampled,
)


def kind(draw):
    """One pair of a random kind, sampled half of the time where that is offered."""
    scale = math.exp(draw.uniform(math.log(0.01), math.log(2)))
    pair = draw.choice(
        [
            LaplacePair(ratio=scale),
            GaussianPair(mu=scale),
            DiscreteLaplacePair(scale=1 / scale, shift=draw.randint(1, 4)),
            DiscreteGaussianPair(sigma=1 / scale, shift=1),
            ResponsePair(epsilon=scale, categories=draw.randint(2, 9)),
            BoundedRangePair(epsilon=scale),
            ApproxPair(epsilon=scale, delta=draw.choice([0.0, 1e-30])),
        ]
    )
    both = Pairs.symmetric(pair)
    return sampled(both, rate=10 ** draw.uniform(-3, -0.1)) if draw.random() < 0.5 else both


def one_list(draw):
    """A profile and a δ."""
    total = Profile(())
    for _ in range(draw.randint(1, 10)):
        total += Profile.of(kind(draw), times=round(10 ** draw.uniform(0, draw.choice([1, 4]))))
    return total, 10 ** draw.uniform(-20, -3)


def reference(profile, delta):
    """ε with a hundredth of the smoothing."""
    usual = pricing.SMOOTHING
    pricing.SMOOTHING = contour.SMOOTHING / 100
    try:
        return profile.epsilon_at(delta)
    finally:
        pricing.SMOOTHING = usual


def main(lists=20, seed=0, *, compare=True):
    """Print one line per list, the slowest last."""
    draw, found = random.Random(seed), []
    for number in range(lists):
        profile, delta = one_list(draw)
        begun = time.process_time()
        epsilon = profile.epsilon_at(delta)
        seconds = time.process_time() - begun
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        gap = epsilon - reference(profile, delta) if compare else math.nan
        found.append((seconds, number, memory, gap, epsilon, delta, profile))
    for seconds, number, memory, gap, epsilon, delta, profile in sorted(found, key=lambda f: f[0]):
        kinds = ", ".join(f"{k}×{p.remove.name}" for p, k in profile.counts)
        print(
            f"{number:4d} {seconds:7.3f} s {memory:6.0f} MB  {gap:+9.1e}  "
            f"ε {epsilon:.9g} at δ {delta:.1e}: {kinds}"
        )
    return found


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
