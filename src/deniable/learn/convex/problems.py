"""A minimisation as public facts: which steps it takes, what they cost, what they achieve."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter, UnitMismatch
from deniable.learn.engine.budget import gaussian
from deniable.losses import Approx, Gdp, Loss, Pure, Zcdp, rounding
from deniable.mechanisms import Gaussian, Laplace
from deniable.release import Plan
from deniable.release.numbers import digits, shown_error
from deniable.sensitive import Sensitive
from deniable.units import Unit

from . import brought
from .descent import Descent, sums_of_gradients
from .domains import Domain, extent
from .exponential import ConvexExponential
from .grid import Grid
from .held import Held
from .objectives import NAMES, Brought, Rows, clipped, link
from .restricted import Floats
from .stochastic import Stochastic

METHODS = ("regularised", "exponential", "descent", "stochastic")
Way = ConvexExponential | Grid | Descent | Stochastic
RESERVED = 1 - 2.0**-20
"""The share of a δ that one block may use: the rest would be for Gaussian noise beside it."""
_COUNT = 0.02  # the share of the loss that buys a noisy count
_SURE = 0.99
_WORK = 2e13  # products, at most: about a day
_FINEST = 90.0  # −ln of the least total variation for which a sampler is offered


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """A point, and a bound on its expected excess."""

    x: NDArray[np.float64]
    excess: float


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is minimised where, for how much."""

    loss: str | Brought
    domain: Domain
    coordinates: int
    lipschitz: float
    spend: Loss
    method: str
    unit: Unit
    size: int | None

    @staticmethod
    def of(**given: Any) -> Problem:
        """Checked by public facts; nothing is spent before."""
        parameters.one_of("method", given["method"], METHODS)
        if not isinstance(given["domain"], Domain):
            must = "Ball(radius), Box(low, high) or Simplex()"
            raise BadParameter.of("domain", given["domain"], must=must, fix="domain=Ball(1.0)")
        given["lipschitz"] = extent("lipschitz", given["lipschitz"])
        if isinstance(given["loss"], str):
            parameters.one_of("loss", given["loss"], NAMES)
        if given["unit"].column is not None:
            raise UnitMismatch(
                "minimize protects one row, and the unit is a person with several",
                why="the Lipschitz bound is that of one row",
                fix="sum or choose one row per person first, with unit=dp.rows()",
            )
        if (given["size"] or 0) > 2**53:
            raise BadParameter.of("size", given["size"], must="at most 2⁵³")
        domain, coordinates = given["domain"], given["coordinates"]
        domain.dimension(coordinates)
        problem = Problem(**given)
        problem._check_currency()
        if not isinstance(given["loss"], str):
            brought.check(given["loss"], domain=domain, coordinates=coordinates)
        return problem

    def paid_with(self, spend: Loss) -> Problem:
        """The same for another loss."""
        problem: Problem = replace(self, spend=spend)
        problem._check_currency()
        return problem

    def _check_currency(self) -> None:
        if not isinstance(self.spend, Loss):
            fix = "spend=dp.epsilon(1.0, delta=1e-6)"
            raise BadParameter.of("spend", self.spend, must="a privacy loss", fix=fix)
        allowed: dict[str, tuple[type[Loss], ...]] = {
            "regularised": (Approx,),
            "exponential": (Approx, Pure),
            "descent": (Approx, Gdp, Zcdp),
            "stochastic": (Approx,),
        }
        if not isinstance(self.spend, allowed[self.method]) or (
            isinstance(self.spend, Approx) and not self.spend.delta > 0
        ):
            raise BadParameter(
                f'method="{self.method}" cannot be paid for with {self.spend}',
                why="a sampler with a certified error has a δ, and Gaussian noise has one too",
                fix="spend=dp.epsilon(1.0, delta=1e-6)",
            )
        if self.method == "stochastic" and self.size is None:
            raise BadParameter(
                'method="stochastic" needs size=, the number of rows as far as it is public',
                why="the share of the rows that a step sees is fixed in advance",
                fix='size=10_000, or method="descent"',
            )
        stepping = self.method in ("descent", "stochastic")
        if not isinstance(self.loss, str) and not stepping and not self._gridded:
            raise BadParameter(
                f'method="{self.method}" takes the named losses',
                why="the sampler needs a convex loss with an enforced Lipschitz constant; clipping "
                "a function's gradients enforces the constant, but clipped gradients need not be "
                "those of any convex function",
                fix='method="descent", or method="exponential" with spend=dp.epsilon(1.0)',
            )
        self.way(self.size or 1000)  # what cannot be done is refused here, free

    @property
    def _gridded(self) -> bool:
        return self.method == "exponential" and isinstance(self.spend, Pure)

    @property
    def name(self) -> str:
        """The loss by its name."""
        return self.loss if isinstance(self.loss, str) else "a function"

    @property
    def budget(self) -> Loss:
        """What a session of its own is opened with: descent adds up best in μ."""
        if self.method == "descent" and isinstance(self.spend, Approx):
            return Gdp(self._mu)
        return self.spend

    @property
    def _mu(self) -> float:
        """The μ of normal noise that the loss buys."""
        return gaussian(self.spend)

    # ---- the ways

    @property
    def count(self) -> Laplace | Gaussian | None:
        """The noise on the number of rows; None if that is public."""
        if self.size is not None:
            return None
        if self.method == "descent":
            return Gaussian.calibrate(mu=math.sqrt(_COUNT) * self._mu)
        assert isinstance(self.spend, Pure | Approx)
        return Laplace.calibrate(epsilon=_COUNT * self.spend.epsilon)

    def way(self, size: float) -> Way:
        """The mechanism for about so many rows."""
        left = 1.0 if self.size is not None else 1 - _COUNT
        facts: dict[str, Any] = {
            "domain": self.domain,
            "coordinates": self.coordinates,
            "lipschitz": self.lipschitz,
        }
        if self.method == "descent":
            mu = math.sqrt(left) * self._mu * (1 - 2.0**-40)
            return Descent(mu=mu, size=max(size, 1.0), unit=self.unit, **facts)
        assert isinstance(self.spend, Pure | Approx)
        epsilon = left * self.spend.epsilon * (1 - 2.0**-45)
        if self._gridded:
            return Grid(epsilon=epsilon, unit=self.unit, **facts)
        assert isinstance(self.spend, Approx)
        delta = self.spend.delta * RESERVED
        if self.method == "stochastic":
            paid = Approx(epsilon, delta=delta)
            return Stochastic(loss=paid, size=max(size, 1.0), unit=self.unit, **facts)
        assert isinstance(self.loss, str)
        if epsilon - math.log(delta) > _FINEST:
            raise _too_long()
        made = partial(
            ConvexExponential.calibrate,
            loss=self.loss,
            sides=self.unit.sides,
            epsilon=epsilon,
            delta=delta,
            regularised=self.method == "regularised",
            **facts,
        )
        blur = min(0.25, max(made(blur=2.0**-30).excess(size) / 4, 2.0**-10))
        mechanism = made(blur=blur)
        _check_work(mechanism, size)
        return mechanism

    def plan(self) -> Plan:
        """The steps in words, and the bound if the number of rows is public."""
        way, steps = self.way(self.size or 1000), []
        if self.count is not None:
            steps.append(
                f"count the rows ± {shown_error(self.count.error(0.95))} (2 % of the loss)"
            )
        bound = None
        notes: tuple[str, ...] = ("excess is the mean loss of clipped rows above the least one",)
        if self.size is not None:
            bound = _excess(way, least=self.size, most=self.size, confidence=0.95)
            mean = _excess(way, least=self.size, most=self.size)
            notes += (f"expected: at most {digits(mean, 'up')} above the least mean loss",)
            notes += _pace(way, self.size)
        steps.append(_words(way, self.name))
        return Plan(
            question=f"minimize {self.name} on {self.domain}, {self.method}",
            cost=self.spend,
            errors={"excess": bound},
            steps=steps,
            notes=notes,
        )

    # ---- the steps

    def steps(self, held: Held) -> Generator[Any, Any, Found]:
        """Count if need be, then minimise."""
        least = most = middle = float(self.size or 0)
        if (noise := self.count) is not None:
            counted = Sensitive(lambda: len(held.rows), l1=1, unit=self.unit, whole=True)
            middle = float((yield noise.on(counted)))
            reach = noise.error(_SURE, whole=True)
            least, most = middle - reach, middle + reach
        way = self.way(max(middle, 1.0))
        x = yield from self._run(way, held)
        return Found(x=x, excess=_excess(way, least=least, most=most))

    def _run(self, way: Way, held: Held) -> Generator[Any, Any, Floats]:
        if isinstance(way, Descent):
            return (yield from way.steps(self._gradients(held)))
        if isinstance(way, Stochastic):
            return (yield from way.steps(self._sampled(held), lambda: len(held.rows)))
        if isinstance(way, Grid):
            points = way.points()
            scores = Sensitive(
                lambda: self._scores(way, points, held),
                linf=way.mechanism.sensitivity,
                unit=self.unit,
                whole=True,
                shape=len(points),
            )
            chosen = yield way.mechanism.on(scores)
            point: Floats = points[int(chosen)]
            return point
        value = Sensitive(
            lambda: self._rows(held, center=True),
            l2=self.unit.sides * self.lipschitz,
            unit=self.unit,
            shape=self.coordinates,
        )
        drawn: Floats = yield way.on(value)
        return drawn

    def _rows(self, held: Held, *, center: bool = False) -> Rows:
        """In units of the Lipschitz bound; `center` is where neighbours are compared."""
        assert isinstance(self.loss, str)
        made = link(self.loss)
        points, targets = clipped(*held.numbers(), norm=self.lipschitz, labels=made.labels)
        far = self.lipschitz * self.domain.norm(self.coordinates) + 2
        middle = self.domain.center(self.coordinates) * self.lipschitz if center else None
        near = np.clip(targets, -far, far)
        return Rows(points=points, targets=near, link=made, center=middle, norm=self.lipschitz)

    def _gradients(self, held: Held) -> Callable[[Floats], Any]:
        """Sums at a point; rows are looked at when the first is computed."""
        if isinstance(self.loss, str):
            rows = cache(partial(self._rows, held))
            return lambda x: rows().sums(x * self.lipschitz)
        function = self.loss
        at = cache(lambda: brought.called(function, *held.numbers()))
        return lambda x: sums_of_gradients(at()(x)[1], norm=self.lipschitz)

    def _sampled(self, held: Held) -> Callable[[Floats, NDArray[np.int64]], Any]:
        """The same sums over the rows at some places."""
        rows, numbers = cache(partial(self._rows, held)), cache(held.numbers)

        def sums(x: Floats, places: NDArray[np.int64]) -> Any:
            if not isinstance(self.loss, str):
                at = brought.called(self.loss, *(each[places] for each in numbers()))
                return sums_of_gradients(at(x)[1], norm=self.lipschitz)
            points, targets = rows().points[places], rows().targets[places]
            return replace(rows(), points=points, targets=targets).sums(x * self.lipschitz)

        return sums

    def _scores(self, way: Grid, points: Floats, held: Held) -> list[int]:
        center = self.domain.center(self.coordinates)
        if isinstance(self.loss, str):
            rows = self._rows(held)

            def values(x: Floats) -> Floats:
                return rows.values(x * self.lipschitz)
        else:
            at = brought.called(self.loss, *held.numbers())

            def values(x: Floats) -> Floats:
                return at(x)[0]

        base = values(center)
        spare = 0.0 if isinstance(self.loss, str) else brought.SPARE
        return [way.scores(values(x), base, spare=spare) for x in points]


def _excess(
    way: Way,
    *,
    least: float,
    most: float,
    confidence: float | None = None,
) -> float:
    if isinstance(way, Descent | Stochastic):
        return way.excess(least=least, most=most, confidence=confidence)
    return way.excess(least, confidence)


def _check_work(mechanism: ConvexExponential, size: float) -> None:
    """Refuse what would take days, by public facts."""
    if mechanism.pace(size).steps * size * mechanism.coordinates * 16 > _WORK:
        raise _too_long()


def _too_long() -> BadParameter:
    return BadParameter(
        "the sampler would run for days on so many rows and columns, or at so small a δ",
        why="its number of steps is fixed by a theorem",
        fix='method="descent"',
    )


def _pace(way: Way, size: int) -> tuple[str, ...]:
    """How long a sampler runs: corners, rounded over a small width, take many steps."""
    if not isinstance(way, ConvexExponential):
        return ()
    steps, took = way.pace(size).steps, digits(max(way.seconds(size), 0.1), "up")
    said = f"time: up to {steps:,} pairs of draws, about {took} s of CPU; less where rows are short"
    corners = link(way.loss_name, blur=way.blur).blur > 0
    return (said + (", or far from the corner of the loss on all of the set" if corners else ""),)


def _words(way: Way, name: str) -> str:
    if isinstance(way, Stochastic):
        return (
            f"{way.turns} noisy gradient steps for {name} loss, each on a Poisson sample of "
            f"{way.rate:.3g} of the rows, and the average of their points"
        )
    if isinstance(way, Descent):
        return f"{way.turns} noisy gradient steps for {name} loss, and the average of their points"
    if isinstance(way, Grid):
        return f"choose one of {len(way.points()):,} points of a grid by the exponential mechanism"
    _, mu = way.ideal()
    shown = rounding.shown_up(mu)
    return (
        f"draw a point with density ∝ exp(−{way.weight:.3g}·Σ{name} − {way.ridge:.3g}·‖x‖²/2), "
        f"of μ = {shown}, within {way.distance:.0e} in total variation"
    )
