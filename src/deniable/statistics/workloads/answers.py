"""The answer to all ranges of a column."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter, UnknownName
from deniable.losses import Loss
from deniable.parameters import called
from deniable.release import Certificate, Release
from deniable.schema.arrays import step_of, value_of
from deniable.schema.binning import Intervals, Listed
from deniable.workload.intervals import IntervalEstimates

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Value = int | float | dt.date | dt.datetime

_A: Final = {
    "int": "a whole number",
    "float": "a number",
    "date": "a date",
    "timestamp": "a date and time",
    "bool": "True or False",
    "text": "text",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranges:
    """Noisy counts of cells in order, from which any range and quantile is computed, free.

    `release` is what the session released: the cells, their ±, the cost and the certificate.
    """

    release: Release = field(repr=False)
    cells: Listed | Intervals = field(repr=False)
    estimates: IntervalEstimates = field(repr=False)
    worth: float = field(repr=False)

    @property
    def loss(self) -> Loss:
        """The loss that was charged."""
        return self.release.loss

    @called("r.certificate()")
    def certificate(self) -> Certificate:
        """Everything needed to check the claim."""
        return self.release.certificate()

    @called("r.between(20, 40)")
    def between(
        self,
        low: Value,
        high: Value,
        *,
        confidence: float = 0.95,
        inclusive: Literal["both", "left"] = "both",
    ) -> tuple[float, float]:
        """How many rows have a value from `low` to `high`, and the ±.

        Both ends are included; with `inclusive="left"` the upper one is not. Where an end lies
        inside a cell the cell's count is divided in proportion, and the ± grows by what that may
        miss, as far as the noisy count of the cell says. A real number that is the edge of two
        cells lies inside the upper one: leave it out if you mean the cells below it.
        """
        parameters.one_of("inclusive", inclusive, ("both", "left"))
        first, last, inside = self._place(low, high, open_above=inclusive == "left")
        if first is None or last is None:
            return 0.0, 0.0
        value, half = self.estimates.between(first, last, confidence=confidence)
        for place, share in inside.items():
            own, noise = self.estimates.between(place, place, confidence=confidence)
            value -= (1 - share) * own
            half += max(share, 1 - share) * max(own + noise, 0.0)
        return value * self.worth, half * self.worth

    def _place(
        self, low: Value, high: Value, *, open_above: bool
    ) -> tuple[int | None, int | None, dict[int, float]]:
        """The cells that a range meets, and which part of a cell that is cut lies inside."""
        kind = self.cells.type
        ends = [_end("low", low, kind), _end("high", high, kind)]
        if not ends[0] <= ends[1]:
            raise BadParameter.of("high", high, must="at least low")
        if open_above:
            below = np.nextafter(ends[1], -np.inf) if kind == "float" else np.ceil(ends[1]) - 1
            ends[1] = float(below)
        if kind == "int":  # whole numbers from 3.5 to 9.2 are those from 4 to 9
            ends = [float(np.ceil(ends[0])), float(np.floor(ends[1]))]
        if ends[0] > ends[1]:
            return None, None, {}
        if isinstance(self.cells, Listed):
            least = most = np.array([step_of(k, kind) for k in self.cells.keys], dtype=np.float64)
        else:
            least, most = (part.astype(np.float64) for part in self.cells.spans)
        met = np.flatnonzero((most >= ends[0]) & (least <= ends[1]))
        if not len(met):
            return None, None, {}
        inside = {}
        for place in {int(met[0]), int(met[-1])}:
            width = most[place] - least[place] + (kind != "float")
            held = min(most[place], ends[1]) - max(least[place], ends[0]) + (kind != "float")
            if width > 0 and held < width * (1 - 1e-12):
                inside[place] = float(held / width)
        return int(met[0]), int(met[-1]), inside

    @called("r.quantile(0.5)")
    def quantile(self, q: float) -> Value:
        """The q-quantile of the noisy counts, divided evenly within its cell."""
        q = parameters.probability("q", q)
        below = np.maximum.accumulate(np.cumsum(self.estimates.cells))
        place = self.estimates.quantile(q)
        if isinstance(self.cells, Listed):
            key = self.cells.keys[place]
            assert not isinstance(key, str)  # text has no order
            return key
        before = float(below[place - 1]) if place else 0.0
        inside = float(below[place]) - before
        share = (q * float(below[-1]) - before) / inside if inside > 0 else 0.5
        least, most = (part[place] for part in self.cells.spans)
        at = float(least) + min(max(share, 0.0), 1.0) * (float(most) - float(least))
        return at if self.cells.type == "float" else value_of(round(at), self.cells.type)

    @called("r.to_pandas()")
    def to_pandas(self) -> pd.DataFrame:
        """The cells, their noisy counts and the ± of each."""
        return self.release.to_pandas()

    @called("r.plot()")
    def plot(self, *, ax: Axes | None = None) -> Axes:
        """The noisy counts of the cells in order, with a band for their ±."""
        from deniable.plots.bands import in_cells

        labels = [str(each) for each in self.cells.labels]
        if self.cells.type in ("date", "timestamp"):
            labels = [each.lstrip("[").split(" ")[0].rstrip(",)]") for each in labels]
        return in_cells(
            labels,
            self.estimates.cells * self.worth,
            self.estimates.errors * self.worth,
            title=self.release.provenance.question,
            x=next(iter(self.release.keys)),
            y="count",
            caption=f"{self.release.caption} per cell",
            ax=ax,
        )

    def __str__(self) -> str:
        return str(self.release)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.release._repr_html_()


class Tables(Release):
    """Several tables in one release; a key that a table does not have is None."""

    @called("r.plot()")
    def plot(self, column: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Bars with 95 % confidence intervals, in a panel for each table or level."""
        from deniable.plots.panels import panels

        name = next(iter(self.answers)) if column is None else column
        if name not in self.answers:
            raise UnknownName.of("column", name, known=self.answers)
        return panels(
            self.keys,
            self.answers[name].cells,
            self.answers[name].errors(0.95),
            title=self.provenance.question,
            axis_label=name,
            caption=self.caption,
            ax=ax,
        )


def as_tables(_: object, __: object, released: Release) -> Tables:
    """The release, which plots its tables side by side."""
    return Tables(**{each.name: getattr(released, each.name) for each in fields(released)})


def _end(name: str, end: Value, kind: str) -> float:
    """An end of a range, in steps of its column."""
    try:
        return end if kind == "int" and isinstance(end, float) else float(step_of(end, kind))
    except (TypeError, ValueError, AttributeError, OverflowError, AssertionError):
        raise BadParameter.of(name, end, must=f"{_A[kind]}, like the column") from None
