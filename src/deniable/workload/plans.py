"""Plans and estimates of workloads: what is known before anything is spent, and what is after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.losses import Loss
from deniable.losses.rounding import shown_up

from .strategies import Chosen
from .tails import Law, factor

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_SHOWN: Final = 5


def half_width(deviations: Any, law: Law, confidence: float, *, step: float = 0.0) -> Floats:
    """The ± of sums of noises; where these are multiples of a step, it is one as well.

    A multiple k of the step covers all that is rounded to it, so k + ½ steps must hold the noise. A
    ± in between covers no more than the multiple below it: 85 % in place of 95 %, at worst. Noises
    that are not answers themselves must be fine beside their lattice: see `Noises`.

    >>> half_width([0.43, 2.0], "laplace", 0.95, step=1.0).tolist()
    [1.0, 4.0]
    """
    times = factor(law, parameters.confidence("confidence", confidence))
    half = np.asarray(deviations, dtype=np.float64) * times
    return (np.ceil(half / step - 0.5) + 0.0) * step if step else half


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkloadPlan:
    """How a workload will be answered, and how well: free, and the same whatever the data are.

    `rmse` is the root mean squared error over all queries, `worst` the largest standard deviation
    of one of them, and `errors` the ± (95 % confidence) of each listed answer.
    """

    workload: str
    strategy: str
    spend: Loss
    rmse: float
    worst: float
    deviations: Floats = field(repr=False)
    law: Law
    chosen: Chosen | None = field(repr=False, default=None)
    step: float = field(repr=False, default=0.0)
    """Answers are multiples of this, where all are."""
    wider: float = field(repr=False, default=1.0)
    """By how much a ± exceeds what follows from standard deviations alone: see `Noises`."""

    @property
    def errors(self) -> Floats:
        """The ± of each listed answer (95 % confidence)."""
        return self.half_width(self.deviations)

    def half_width(
        self, deviations: Any, confidence: float = 0.95, *, worth: float = 1.0
    ) -> Floats:
        """The ± of answers with these standard deviations, in a unit that is worth so much."""
        spread = np.asarray(deviations, dtype=np.float64) * self.wider
        return half_width(spread, self.law, confidence, step=self.step * worth)

    def instead(self, worth: float = 1.0) -> str:
        """Why this strategy: the errors of the next best ones."""
        others = {} if self.chosen is None else self.chosen.others
        near = [f"{name} {error * worth:.3g}" for name, error in list(others.items())[:3]]
        return f"smallest root mean squared error; next best: {', '.join(near)}" if near else ""

    def __str__(self) -> str:
        noise = "Laplace" if self.law == "laplace" else "Gaussian"
        why = self.instead()
        return (
            f"{self.workload}\n"
            f"  strategy  {self.strategy}, {noise} noise\n"
            + (f"  why       {why}\n" if why else "")
            + f"  cost      {self.spend}\n"
            f"  expect    root mean squared error {self.rmse:.3g}, "
            f"largest standard deviation {self.worst:.3g}"
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Estimates:
    """Noisy answers with their ± (95 % confidence); `labels` name them."""

    values: Floats
    deviations: Floats = field(repr=False)
    plan: WorkloadPlan = field(repr=False)
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    worth: float = field(default=1.0, repr=False)
    """What 1 in the vectors that got noise is worth."""

    @property
    def errors(self) -> Floats:
        """The ± of each value (95 % confidence)."""
        return self.error(0.95)

    def error(self, confidence: float = 0.95) -> Floats:
        """The ± of each value."""
        return self.plan.half_width(self.deviations, confidence, worth=self.worth)

    def times(self, worth: float) -> Self:
        """The same answers in another unit: 1 of these is worth so much."""
        values, spread = self.values * worth, self.deviations * worth
        return replace(self, values=values, deviations=spread, worth=self.worth * worth)

    def to_pandas(self) -> pd.DataFrame:
        """Labels, values and errors as a frame."""
        import pandas as pd

        return pd.DataFrame({**self.labels, "value": self.values, "error": self.errors})

    def names(self) -> dict[str, list[object]]:
        """What each value is about; None where a label does not apply to it."""
        return {name: column.tolist() for name, column in self.labels.items()}

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """The values, with a band for their ±; bars in panels where they have names."""
        from deniable.plots.bands import band
        from deniable.plots.panels import panels

        caption = f"{self.plan.strategy}, {self.plan.spend}; 95 % confidence"
        if self.labels and "step" not in self.labels:
            return panels(
                self.names(),
                self.values.tolist(),
                self.errors.tolist(),
                title=self.plan.workload,
                axis_label="value",
                caption=caption,
                ax=ax,
            )
        return band(
            np.arange(1, len(self.values) + 1),
            self.values,
            self.errors,
            title=self.plan.workload,
            x="step" if "step" in self.labels else "cell",
            y="value",
            caption=caption,
            ax=ax,
        )

    def __repr__(self) -> str:
        """The first values with their ±, and how they were made."""
        rows = zip(self.values[:_SHOWN].tolist(), self.errors[:_SHOWN].tolist(), strict=True)
        shown = ", ".join(f"{value:,.6g} ± {shown_up(error)}" for value, error in rows)
        more = f", … ({len(self.values):,} values)" if len(self.values) > _SHOWN else ""
        return f"{self.plan.workload}: {shown}{more}"
