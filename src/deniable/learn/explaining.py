"""What a fit will cost and how good it will be, before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from deniable.losses import Loss
from deniable.mechanisms import Gaussian, Mechanism
from deniable.mechanisms.combine import Composed, Sampled
from deniable.release import Plan
from deniable.release.plan import balance
from deniable.session import Session

from .engine.batches import DisjointBatches
from .engine.perturbed import ObjectivePerturbation
from .fitting import Prepared, prepared

if TYPE_CHECKING:
    from .models._estimator import PrivateEstimator


def explain_fit(
    session: Session,
    estimator: PrivateEstimator,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    spend: Loss,
    table: str | None = None,
) -> Plan:
    """The plan of a fit: see `s.explain_fit`."""
    found = prepared(session, estimator, target=target, features=features, spend=spend, table=table)
    name, held, ledger = type(estimator).__name__, found.held, session.ledger
    read = f"read {', '.join(found.features)} as {held.space.dimension} features"
    size = None if session.schema is None else session.schema.size
    notes = (_quality(found, size), _left_out(held.needs), found.model.caveat)
    return Plan(
        question=f"fit {name}" + (f" to predict {target}" if target else ""),
        cost=found.loss,
        errors={},
        steps=[read, *_noises(found.plan)],
        **balance(ledger, ledger.price(found.plan, delta=found.delta)),
        notes=tuple(note for note in notes if note),
    )


def _left_out(needs: Sequence[str]) -> str:
    """Which rows the schema's `missing="drop"` leaves out of this fit."""
    *others, last = needs or ("",)
    named = f"{', '.join(others)} or {last}" if others else last
    return f"rows with a missing {named} are left out" if named else ""


def _noises(plan: Mechanism) -> list[str]:
    """Each noise in words: how often, and how large beside what one unit can do."""
    match plan:
        case Composed():
            return [_noise(part, times) for part, times in plan.parts]
        case DisjointBatches():
            sums = f"{plan.epochs} × {plan.batches} sums over disjoint batches"
            return [_drawn(sums, plan.of)]
    return [_noise(plan, 1)]


def _noise(part: Mechanism, times: int) -> str:
    if isinstance(part, ObjectivePerturbation):
        ratio = part.sigma / part.sensitivity
        return (
            f"minimise the loss plus a penalty ({part.ridge:.3g}) and a random linear term: "
            f"σ is {ratio:.3g} times the sensitivity"
        )
    inner, of = part, ""
    if isinstance(part, Sampled):
        inner, of = part.of, f" over Poisson samples at rate {part.rate:g}"
    sums = "one vector of sums" if times == 1 else f"{times} vectors of sums, one after the other,"
    return _drawn(f"{sums}{of}", inner)


def _drawn(sums: str, of: Mechanism) -> str:
    return f"release {sums} with Gaussian noise: σ is {_multiple(of):.3g} times the sensitivity"


def _multiple(noise: object) -> float:
    return noise.sigma / noise.sensitivity if isinstance(noise, Gaussian) else math.nan


def _quality(found: Prepared, size: int | None) -> str:
    """What noise adds to the mean loss of a row, where a formula for it is known."""
    excess = found.model.expected_excess(found, size=1 if size is None else size)
    if excess is None:
        return (
            "no formula says how good it will be: try it on public or made-up rows with "
            "deniable.learn.effect(model, X, y, epsilon=[0.1, 1, 3])"
        )
    if size is None:
        return "state the number of rows in dp.Schema(size=...) to see a bound on the excess loss"
    return f"expected excess loss per row: at most {excess:.2g} above the penalised minimum"
