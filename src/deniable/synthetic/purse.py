"""What a run may spend, as one figure that adds up although each step is chosen after the last.

A run decides as it goes what to measure and how precisely, so its price needs a filter of its own
(see `losses.filters`): one figure, fixed in advance, whose sum stays within a ceiling.

    spend      figure                   noise      choices
    ε          ε                        Laplace    exponential mechanism
    ρ          ρ                        Gaussian   exponential mechanism, by its bounded range
    ε, δ       Rényi divergence at one order α, fixed before the run; the ceiling is the largest
               divergence that implies (ε, δ)       [FZ21]
    μ          μ²                       Gaussian   exponential mechanism, by the least μ that every
                                                   ε-private mechanism satisfies      [DRS22]

The session charges every step by its own filter all the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from deniable.calibration import last_met
from deniable.errors import BadParameter
from deniable.losses import Approx, Gdp, Loss, Pure, Zcdp, convert, rounding
from deniable.losses.filters import ApproxFilter, Filter, Price
from deniable.mechanisms import Exponential, Gaussian, Laplace, Mechanism

Noise = Gaussian | Laplace


@dataclass(kw_only=True)
class Purse:
    """An amount to spend step by step; `kind` says what it is an amount of."""

    kind: type[Loss]
    total: float
    order: float = 1.0
    spent: float = field(default=0.0, init=False)

    @property
    def left(self) -> float:
        """What is left, rounded down."""
        return max(0.0, math.nextafter(self.total - self.spent, 0.0))

    @property
    def rho(self) -> float:
        """About how much zCDP it buys: for decisions about effort, never for prices."""
        if self.kind is Pure:
            return self.total**2 / 2
        return self.total / (2.0 if self.kind is Gdp else self.order)

    def cost(self, mechanism: Mechanism) -> float:
        """What one step takes: never below its price."""
        if self.kind is Pure:
            return mechanism.pure()
        if self.kind is Gdp:
            mu = Gdp.from_facts(mechanism).mu
            return rounding.product(mu, mu)
        if self.kind is Zcdp:
            return mechanism.zcdp()
        return mechanism.renyi(self.order)

    def pay(self, *mechanisms: Mechanism) -> None:
        """Take the price of steps that are about to be charged."""
        for each in mechanisms:
            self.spent = rounding.add_up(self.spent, self.cost(each))
        assert rounding.within(self.spent, self.total), "a run never spends more than it was given"

    def noise(self, amount: float, *, l1: float, l2: float) -> Noise:
        """The least noise that costs no more than this."""
        if self.kind is Pure:
            return Laplace.calibrate(epsilon=amount, sensitivity=l1)
        mu = math.sqrt(amount) if self.kind is Gdp else math.sqrt(2 * amount / self.order)
        made, step = Gaussian.calibrate(mu=mu, sensitivity=l2), 2.0**-50
        while self.cost(made) > amount:
            made, step = Gaussian(sigma=made.sigma * (1 + step), sensitivity=l2), 2 * step
        return made

    def choice(self, amount: float, *, sensitivity: float) -> Exponential:
        """The sharpest choice that costs no more than this."""
        if self.kind is Pure:
            return Exponential(epsilon=amount, sensitivity=sensitivity)

        def excess(epsilon: float) -> float:
            return self.cost(Exponential(epsilon=epsilon, sensitivity=sensitivity)) - amount

        near = math.sqrt((1 if self.kind is Gdp else 8) * amount / self.order)
        high = near
        while excess(high) <= 0:
            high *= 1.5
        epsilon = last_met(excess, near / 2, high, width=1e-6 * near)
        return Exponential(epsilon=epsilon, sensitivity=sensitivity)

    def due(self, filter_: Filter) -> Price:
        """About what the whole run will be charged by a session's filter, at most."""
        if self.kind is Pure:
            return filter_.block(self.total)
        if self.kind is Gdp:
            return Price(mu_squared=self.total)
        if isinstance(filter_, ApproxFilter):
            return Price(epsilon=math.inf, renyi=(self.total * filter_.order / self.order,))
        return Price(rho=self.total)


def purse_for(spend: Loss, *, filter: Filter) -> Purse:
    """A purse with this amount, for a session with that filter."""
    match spend:
        case Pure():
            return Purse(kind=Pure, total=spend.epsilon)
        case Approx() if spend.delta == 0:
            return Purse(kind=Pure, total=spend.epsilon)
        case Zcdp():
            return Purse(kind=Zcdp, total=spend.rho)
        case Gdp():
            return Purse(kind=Gdp, total=math.nextafter(spend.mu**2, 0.0))
        case Approx() if isinstance(filter, ApproxFilter):
            return _approximate(spend, filter)
    raise BadParameter.of("spend", spend, must="an ε, an (ε, δ), a ρ or a μ")


def _approximate(spend: Approx, filter_: ApproxFilter) -> Purse:
    """At the session's order where that is nearly the best one for this amount, else at the best.

    The session adds up at its own order α: Gaussian noise costs α/α′ times as much there.
    """
    delta = math.nextafter(spend.delta, 0.0)
    own = convert.best_order(spend.epsilon, delta)
    orders = [filter_.order, own]
    worth = [convert.approx_budget_as_renyi(spend.epsilon, delta, a) / a for a in orders]
    order = filter_.order if worth[0] >= 0.98 * worth[1] else own
    most = convert.approx_budget_as_renyi(spend.epsilon, delta, order)
    inside = spend.epsilon <= filter_.budget.epsilon and spend.delta <= filter_.budget.delta
    if inside:  # what the session keeps in reserve for blocks is not for noise
        most = min(most, filter_.divergence * min(1.0, order / filter_.order))
    total = math.nextafter(most, 0.0)
    if not total > 0:
        raise BadParameter(
            f"ε {spend.epsilon:g} with δ {spend.delta:g} buys no noise in this session",
            fix="a larger ε or δ in spend=",
        )
    return Purse(kind=Approx, total=total, order=order)
