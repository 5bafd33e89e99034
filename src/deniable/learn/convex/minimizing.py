"""`minimize`: a private minimum of a mean of convex losses."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from deniable import parameters
from deniable.ledger import Entry, open_ledger
from deniable.losses import Approx, Loss
from deniable.losses.filters import Price
from deniable.mechanisms import Step
from deniable.release import Noisy, Plan
from deniable.session import Session
from deniable.session.asked import released
from deniable.session.offers import offering
from deniable.units import Unit, rows

from .descent import Descent
from .domains import Domain
from .grid import Grid
from .held import Held
from .minimum import Minimum
from .objectives import Brought
from .problems import RESERVED, Found, Problem
from .stochastic import Stochastic

_EXAMPLE = (
    'minimize("logistic", data=(X, y), domain=Ball(5.0), lipschitz=1.0, '
    "spend=dp.epsilon(1.0, delta=1e-6))"
)


@parameters.called(_EXAMPLE)
def minimize(
    loss: str | Brought = "logistic",
    *,
    data: object,
    domain: Domain,
    lipschitz: float,
    spend: Loss,
    method: str = "regularised",
    unit: Unit | None = None,
    size: int | None = None,
    session: Session | None = None,
) -> Minimum:
    """Minimise the mean of F(x; row) over a ball, a box or the simplex, with privacy.

    `loss` is "logistic", "huber", "hinge" or "absolute", of the rows X (clipped to the norm
    `lipschitz`; an intercept is a column of yours) and the targets y; or a function
    f(x, X, y) → (values, gradients) with one of each per row, convex and `lipschitz`-Lipschitz in
    x, where a row's results depend on that row alone; it is tried on made-up rows before anything
    is spent. Labels above 0 are the one class, all others the other. A row with a number that is
    missing or infinite has no influence.

    `method` is

    regularised    the regularised exponential mechanism, by a sampler with certified error: needs
                   a δ; best for smooth losses, for thousands of rows. Where rows reach the corner
                   of hinge or absolute loss it takes many steps: `explain` says how long
    exponential    the exponential mechanism: of pure ε on a grid in up to three dimensions, by the
                   same sampler if you spend a δ
    descent        noisy gradient descent: any size, and any function
    stochastic     the same on a fresh Poisson sample per step, 16 passes over the rows in all:
                   needs a δ and a public size, rows added or removed

    What each promises is proved in `exponential.ConvexExponential`, `grid` and `descent`. `size` is
    the number of rows, if it is public; otherwise 2 % of the loss buys a noisy count, on which the
    bound and the lengths of steps rest. Stand-alone, the call keeps its own books: `spend` is all
    that it costs. With `session` it is charged there.

    >>> import deniable as dp, numpy as np
    >>> from deniable.learn.convex import Ball
    >>> X = np.linspace(-1, 1, 400)[:, None]
    >>> found = minimize("logistic", data=(X, X[:, 0] > 0), domain=Ball(2.0), lipschitz=1.0,
    ...                  spend=dp.epsilon(1.0, delta=1e-6))
    >>> bool(abs(found.x[0]) <= 2.0), found.loss
    (True, Approx(epsilon=1.0, delta=1e-06))
    """
    held = Held.of(data)
    whom = _unit(unit, session)
    given = {"loss": loss, "domain": domain, "lipschitz": lipschitz, "spend": spend}
    problem = _problem(held, whom, size, method=method, **given)
    if session is not None:
        session.spending(spend)
        with offering(session, spend, lambda loss: _due(problem.paid_with(loss), session)):
            session.ledger.check(_due(problem, session))
    books = session or own_session(problem.budget, unit=whom)
    made: list[Step[Any]] = []
    charges: list[Entry] = []
    steps = _noted(problem.steps(held), made)
    found = books.run(steps, name=f"minimize, {method}", charges=charges)
    title = f"minimize {problem.name} on {domain}, {method}"
    cells = Noisy(cells=tuple(found.x.tolist()), shape=found.x.shape)
    index = {"index": tuple(range(found.x.size))}
    columns = (index, {"x": cells})
    release = released(books, made, columns, spend, entry=charges[-1], question=title)
    return Minimum(x=found.x, excess_bound=found.excess, loss=spend, method=method, release=release)


def _due(problem: Problem, session: Session) -> Price:
    """What all steps are charged; how many rows there are changes only how it is divided."""
    price, way, noise = session.ledger.price, problem.way(problem.size or 1000), problem.count
    counted = Price.zero if noise is None else price(noise)
    if isinstance(way, Descent):
        return counted + way.turns * price(way.mechanism)
    if isinstance(way, Stochastic):
        return counted + price(way.mechanism, delta=way.loss.delta)
    return counted + price(way.mechanism if isinstance(way, Grid) else way)


@parameters.called('explain("logistic", columns=10, size=1000, ...)')
def explain(
    loss: str | Brought = "logistic",
    *,
    columns: int,
    size: int | None = None,
    domain: Domain,
    lipschitz: float,
    spend: Loss,
    method: str = "regularised",
    unit: Unit | None = None,
) -> Plan:
    """What `minimize` would do, cost and achieve: from public facts alone, free.

    `errors["excess"]` bounds the mean loss above the least (95 % confidence); None without a size.

    >>> import deniable as dp
    >>> from deniable.learn.convex import Ball
    >>> plan = explain("logistic", columns=10, size=1000, domain=Ball(1.0), lipschitz=1.0,
    ...                spend=dp.epsilon(1.0, delta=1e-6))
    >>> round(plan.errors["excess"], 4)
    0.0283
    """
    problem = Problem.of(
        loss=loss,
        domain=domain,
        coordinates=parameters.whole("columns", columns),
        lipschitz=lipschitz,
        spend=spend,
        method=method,
        unit=_unit(unit, None),
        size=None if size is None else parameters.whole("size", size),
    )
    return problem.plan()


@parameters.called('s.run(minimizing("logistic", data=(X, y), ..., unit=s.unit))')
def minimizing(
    loss: str | Brought = "logistic",
    *,
    data: object,
    domain: Domain,
    lipschitz: float,
    spend: Loss,
    method: str = "regularised",
    unit: Unit | None = None,
    size: int | None = None,
) -> Generator[Any, Any, Found]:
    """The steps of `minimize`, for `s.run` or as a part of an algorithm of yours.

    Returns the point with its bound: `.x` and `.excess`.
    """
    held, whom = Held.of(data), _unit(unit, None)
    given = {"loss": loss, "domain": domain, "lipschitz": lipschitz, "spend": spend}
    problem = _problem(held, whom, size, method=method, **given)
    return problem.steps(held)


def _problem(held: Held, unit: Unit, size: int | None, **asked: Any) -> Problem:
    """Of rows that nobody has looked at yet."""
    size = held.public_size(size, unit)
    return Problem.of(coordinates=held.coordinates, unit=unit, size=size, **asked)


def own_session(budget: Loss, *, unit: Unit) -> Session:
    """A session without tables, with books in memory; all of its δ may go to one release."""
    reserve = budget.delta * RESERVED if isinstance(budget, Approx) else None
    ledger = open_ledger(budget=budget, unit=unit, name="minimize", reserve=reserve)
    return Session(tables={}, schema=None, ledger=ledger)


def _unit(unit: Unit | None, session: Session | None) -> Unit:
    if unit is None:
        return rows() if session is None else session.unit
    return unit


def _noted(steps: Generator[Any, Any, Found], made: list[Step[Any]]) -> Generator[Any, Any, Found]:
    """The same steps, each noted."""
    answer: Any = None
    wanted: Callable[[Any], Any] = steps.send
    while True:
        try:
            step = wanted(answer)
        except StopIteration as end:
            found: Found = end.value
            return found
        if isinstance(step, Step):
            made.append(step)
        answer = yield step
