"""A list of Gaussian noises fixed in advance that meets a loss: priced exactly, charged at once.

Gaussian noises with μᵢ = Δᵢ/σᵢ compose to exactly √Σμᵢ² in Gaussian DP [DRS22, Cor. 3.3], and that
to (ε, δ) by the analytic formula [BW18, Thm 8]: nothing is lost on the way, however many steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

from deniable.calibration import calibrate
from deniable.errors import BadParameter, BudgetExceeded, MixedLosses
from deniable.losses import Approx, Gdp, Loss
from deniable.losses.filters import ApproxFilter, Price
from deniable.mechanisms import Gaussian, Mechanism
from deniable.mechanisms.combine import Composed
from deniable.mechanisms.interactive import Handle
from deniable.session import Session
from deniable.session.offers import offering

from .batches import DisjointBatches
from .examples import Held

MOST_PASSES: Final = 5_000
MOST_NUMBERS: Final = 500_000_000
"""About ten minutes of exact noise."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Noise for `times` sums, each of which one unit moves by at most `l2`."""

    share: float
    """Of μ², for all of them together."""
    l2: float
    numbers: int
    """How many numbers each sum has."""
    times: int = 1


@dataclass(frozen=True, kw_only=True)
class Paid:
    """What a fit was charged for, and the door to its noise."""

    handle: Handle
    plan: Mechanism
    loss: Loss


def plan(parts: Sequence[Part], *, mu: float) -> Composed:
    """Noises that compose to at most μ.

    >>> first = Part(share=0.2, l2=3.0, numbers=10)
    >>> made = plan([first, Part(share=0.8, l2=1.0, numbers=4, times=30)], mu=0.5)
    >>> round(made.gdp(), 6)
    0.5
    """
    check_work(
        passes=sum(part.times for part in parts),
        numbers=sum(part.times * part.numbers for part in parts),
    )
    total = sum(part.share for part in parts)
    made = []
    for part in parts:
        each = mu * math.sqrt(part.share / total / part.times) * (1 - 2.0**-40)
        made.append((Gaussian(sigma=part.l2 / each, sensitivity=part.l2), part.times))
    return Composed.of(*made)


def listed(plan: Mechanism) -> list[Mechanism]:
    """The noises of a plan, in order; those that are equal and follow each other, once."""
    assert isinstance(plan, Composed)
    return [part for part, _ in plan.parts]


def check_work(*, passes: float, numbers: float) -> None:
    """Refuse what would take hours, by public facts, before it is paid for."""
    if passes > MOST_PASSES:
        raise BadParameter(
            f"this fit would read the rows {passes:,.0f} times; the limit is {MOST_PASSES:,}",
            why="every pass takes time after the charge, and each gets less of the loss",
            fix="fewer steps",
        )
    if numbers > MOST_NUMBERS:
        raise BadParameter(
            f"this fit would add noise to {numbers:,.0f} numbers; the limit is {MOST_NUMBERS:,}",
            why="each of them takes time after the charge",
            fix="fewer steps, features, classes, bins or clusters",
        )


def gaussian(loss: Loss) -> float:
    """The largest μ whose Gaussian loss is within a loss."""
    mu = Gaussian.mu_within(loss)
    if mu is not None:
        return mu if isinstance(loss, Gdp) else mu * (1 - 2.0**-40)
    raise MixedLosses(
        "learning adds Gaussian noise, which needs a δ",
        why="Gaussian noise is never ε-DP with δ = 0",
        fix="spend=dp.epsilon(1.0, delta=1e-6), in a session whose budget has a δ",
    )


@contextmanager
def paid(session: Session, held: Held, parts: Sequence[Part], *, spend: Loss) -> Iterator[Paid]:
    """Make the data ready, charge for all parts together, then answer; refused for free if not.

    Under an (ε, δ) budget the list is one block: its ε at a δ that comes out of what the session
    keeps for blocks.
    """
    with paid_as(session, held, lambda loss: plan(parts, mu=gaussian(loss)), spend=spend) as bought:
        yield bought


@contextmanager
def paid_as(
    session: Session, held: Held, planned: Callable[[Loss], Mechanism], *, spend: Loss
) -> Iterator[Paid]:
    """The same for what `planned` makes of the loss that the fit may have."""
    loss, delta = blocked(session, spend)
    made = planned(loss)
    with ExitStack() as ready:
        for each in held.ready:
            ready.enter_context(each)
        with offering(session, spend, partial(due, session)):
            handle = session.open(made, delta=delta)
        yield Paid(handle=handle, plan=made, loss=loss)


def sampled(*, l2: float, rate: float, times: int, to: Loss) -> Composed:
    """Noisy sums over Poisson samples, priced by their loss distribution [ZDW22]."""
    needs_delta(to, "Poisson samples")

    def noises(multiple: float) -> Composed:
        each = Gaussian(sigma=multiple * l2, sensitivity=l2)
        return Composed.of((each.sampled(rate=rate), times))

    return noises(calibrate(noises, to=to, relative=1e-4))


def batched(*, l2: float, batches: int, epochs: int, to: Loss) -> DisjointBatches:
    """Noisy sums over disjoint batches, of which one per epoch is paid for."""
    each = gaussian(to) / math.sqrt(epochs) * (1 - 2.0**-40)
    noise = Gaussian(sigma=l2 / each, sensitivity=l2)
    return DisjointBatches(of=noise, batches=batches, epochs=epochs)


def needs_delta(loss: Loss, what: str) -> None:
    """Refuse a definition in which nothing is proved of `what` but (ε, δ)."""
    if not (isinstance(loss, Approx) and loss.delta > 0):
        raise MixedLosses(
            f"the privacy of {what} is proved only in (ε, δ), and this spend has no δ",
            why="no bound in ε alone, ρ or μ is known for it",
            fix=(
                "dp.open(..., budget=dp.epsilon(1.0, delta=1e-6))",
                "full batches or disjoint ones, which every budget can pay for",
            ),
        )


def due(session: Session, spend: Loss) -> Price:
    """What a fit for this amount is charged at most."""
    return session.ledger.filter.price_of(_blocked(session, spend)[0])


def blocked(session: Session, spend: Loss) -> tuple[Loss, float | None]:
    """What a list of noises may lose, and the δ of its block where it is one.

    A block takes the part of the reserve that its spend is of the budget: equal spends, equal δ.
    """
    spend = session.spending(spend)
    with offering(session, spend, partial(due, session)):
        return _blocked(session, spend)


def _blocked(session: Session, spend: Loss) -> tuple[Loss, float | None]:
    rule = session.ledger.filter
    if not (isinstance(rule, ApproxFilter) and isinstance(spend, Approx) and spend.delta > 0):
        return spend, None
    kept = session.left
    assert isinstance(kept, Approx)
    wanted = spend.delta * (rule.reserve / rule.budget.delta)
    if not kept.delta >= wanted * (1 - _ROUNDING) > 0:
        raise BudgetExceeded(
            f"this fit needs a δ of {wanted:.3g}, and {kept.delta:.3g} is left for blocks",
            why="a fit is charged as one block, and only a part of the budget's δ, usually "
            "a quarter, is kept for blocks",
            fix="open the session with a larger delta, or a budget in mu or rho",
        )
    delta = min(wanted, kept.delta)
    return Approx(spend.epsilon, delta=delta), delta


_ROUNDING: Final = 2.0**-30
"""What rounding may take off the last of several equal shares."""
