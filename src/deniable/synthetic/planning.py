"""How near a synthetic table would be, known before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from deniable.losses import Loss
from deniable.mechanisms import Gaussian
from deniable.release import Plan
from deniable.release.numbers import digits
from deniable.release.plan import balance
from deniable.workload.tails import factor

from .inference import Clique
from .methods.adaptive import COLUMNS
from .methods.tree import SHARE
from .purse import Noise
from .run import Run, mean_size

if TYPE_CHECKING:
    from .synthesis import Synthesis

_SHOWN: Final = 12


def planned(
    asked: Synthesis, run: Run, *, method: str, spend: Loss, cliques: Sequence[Clique]
) -> Plan:
    """The ± of a cell of each marginal that is measured, and what happens in which order."""
    domain, ledger = run.domain, asked.session.ledger
    errors: dict[str, float | None] = {}
    notes = []
    size = asked.about.source.size
    for clique, share in _shares(run, method, cliques):
        hidden = run.marginals[clique]
        noise = run.purse.noise(run.purse.total * share, l1=hidden.l1, l2=hidden.l2)
        name = domain.called(clique)
        errors[f"count by {name}"] = _reach(noise) * hidden.worth
        if size:
            off = mean_size(noise) * hidden.worth * domain.size_of(clique) / (2 * size)
            lost = digits(100 * min(off, 1.0), significant=2)
            notes.append(f"{name}: noise alone misplaces about {lost} % of the rows")
    more = len(notes) - _SHOWN
    notes = notes[:_SHOWN] + ([f"… {more} more marginal{'s' * (more > 1)}"] if more > 0 else [])
    if method in ("tree", "adaptive"):
        notes.append(
            "further marginals are chosen during the run, so their errors are not known in advance"
        )
    if asked.session.unit.column is not None:
        notes.append(f"a person counts as at most {asked.session.unit.rows} rows")
    return Plan(
        question=f"synthetic rows of {asked.about.source.name}, method {method}",
        cost=spend,
        errors=errors,
        steps=_steps(run, method, cliques),
        **balance(ledger, run.purse.due(ledger.filter)),
        notes=tuple(notes),
        data_version=asked.session.version,
    )


def _shares(run: Run, method: str, cliques: Sequence[Clique]) -> list[tuple[Clique, float]]:
    """Marginals that are measured whatever is found, and the share of the spend each gets."""
    columns: list[Clique] = [(a,) for a in range(len(run.domain.sizes))]
    if method == "tree":
        return [(c, SHARE / len(columns)) for c in columns]
    if method == "adaptive":
        return [(c, COLUMNS / len(columns)) for c in columns]
    return [(c, 1 / len(cliques)) for c in cliques]


def _steps(run: Run, method: str, cliques: Sequence[Clique]) -> list[str]:
    columns = len(run.domain.sizes)
    noise = "Laplace" if run.purse.kind.__name__ == "Pure" else "Gaussian"
    if method == "tree":
        return [
            f"count {columns} columns with {noise} noise ({100 * SHARE:g} % of the spend)",
            f"choose pairs by the exponential mechanism, at most {columns - 1} of {len(cliques):,}",
            f"count them with {noise} noise, fit a tree",
        ]
    counted = "1 marginal" if len(cliques) == 1 else f"{len(cliques):,} marginals"
    if method == "adaptive":
        return [
            f"count {columns} columns with {noise} noise",
            f"choose the marginal that the model gets most wrong, among {counted} and their parts",
            f"count it with {noise} noise, fit the model, and repeat until the spend is used up",
        ]
    return [f"count {counted} with {noise} noise, fit a model"]


def _reach(noise: Noise) -> float:
    """At 95 % confidence, with half a step for the rounding to whole numbers."""
    if isinstance(noise, Gaussian):
        return noise.sigma * factor("gaussian", 0.95) + 0.5
    return noise.scale * math.sqrt(2) * factor("laplace", 0.95) + 0.5
