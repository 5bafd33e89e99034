"""What trusting nobody costs: the ± of local protocols beside that of a trusted curator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from deniable import parameters
from deniable.mechanisms import Laplace

from .choosing import choose
from .protocols import Direct, Hadamard, Protocol

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@parameters.called("local.plot_error(categories=1024, epsilon=1.0)")
def plot_error(
    *,
    categories: int | Sequence[str],
    epsilon: float,
    reports: Sequence[int] = (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    ax: Axes | None = None,
) -> Axes:
    """The ± of a rare category as a share of all people, by how many take part.

    A trusted curator adds noise once, so the ± falls as 1/n; in the local model everyone adds
    noise, and it falls as 1/√n. The curator's histogram changes by 2 if one person's answer does.
    """
    from deniable.plots.curves import curves

    people = [parameters.whole("reports", each) for each in reports]
    chosen = choose(categories=categories, epsilon=epsilon, reports=max(people))
    shown: dict[str, Protocol] = {
        type(each).__name__: each
        for each in (
            chosen,
            Hadamard(categories=categories, epsilon=epsilon),
            Direct(categories=categories, epsilon=epsilon),
        )
    }
    values = {
        f"local: {name}": [100 * p.error(reports=n) / n for n in people]
        for name, p in shown.items()
    }
    central = Laplace(scale=2 / epsilon, sensitivity=2.0).error(0.95)
    values["trusted curator: Laplace"] = [100 * central / n for n in people]
    drawn = curves(
        people,
        values,
        x="people who report",
        y="± of a rare category, % of all people",
        title="What trusting nobody costs",
        logarithmic=True,
        unit=f"ε = {epsilon:.3g} per person · 95 % confidence",
        ax=ax,
    )
    drawn.set_yscale("log")
    return drawn
