"""Counts estimated from randomized reports, with their ±: unbiased, and projected.

One report supports each category or not: its own with probability p, any other with probability q.
If y of n reports support a category that c people are in, E y = c·p + (n − c)·q, so

    ĉ = (y − n·q)/(p − q),    Var ĉ = (c·p(1 − p) + (n − c)·q(1 − q))/(p − q)²

for every protocol here [WBLJ17]. Both terms count: heavy categories vary by p(1 − p).

Where only a of the n people were asked, chosen at random, y counts among these a and ĉ is scaled by
n/a. The choice adds (n/a)·c(n − c)/n·(n − a)/(n − 1), the variance of sampling without replacement.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import MissingExtra
from deniable.mechanisms.local import reach
from deniable.release.numbers import decimals, percent, shown_error

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_PRINTED, _DRAWN = 20, 40  # categories


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """How many people are in each category, from their reports.

    `counts` are unbiased and may be negative; `error` is the half-width of each one's interval.
    `projected` is the nearest list of counts that are not negative and add up to the number of
    reports: biased, never farther from the truth in total (the truth is in that convex set), and
    far nearer on skewed data. `error` belongs to `counts`.
    """

    supports: NDArray[np.int64]
    people: int
    chances: tuple[float, float]
    """(p, q)."""
    labels: tuple[str, ...]
    epsilon: float
    confidence: float = 0.95
    shared: float = 0.0
    """1/(K(m − 1)) for K hash functions into m cells that people share; 0 if each has their own."""
    asked: int | None = None
    """How many of the people, chosen at random, reported on these categories; None if all did."""

    @cached_property
    def counts(self) -> Floats:
        """Unbiased estimates of the number of people in each category."""
        p, q = self.chances
        asked = self.people if self.asked is None else self.asked
        return np.asarray(self._each * (self.supports - asked * q) / (p - q), dtype=np.float64)

    @cached_property
    def error(self) -> Floats:
        """Half-width of the interval of each count at `confidence`."""
        return self._reach(self.confidence)

    @cached_property
    def projected(self) -> Floats:
        """The nearest counts that are at least 0 and add up to the number of reports."""
        return projected(self.counts, self.people)

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of an interval for each count, within 0 and the number of people."""
        reach = self._reach(parameters.confidence("confidence", confidence))
        ends = (np.clip(self.counts + sign * reach, 0, self.people) for sign in (-1, 1))
        low, high = ends
        return low, high

    def variance(self, counts: ArrayLike) -> Floats:
        """The variance of estimates where these are the true counts."""
        true = np.asarray(counts, dtype=np.float64)
        squares = np.square(np.clip(true, 0, None)).sum()
        none, linear, square = self._coefficients
        return np.asarray(none + linear * true + square * true**2 + self.shared * squares)

    def variance_of_sum(self, weights: Floats) -> float:
        """The variance of Σ weight·count, for any weights, and whatever the counts in reach are.

        Reports: the ends of each count's interval give the larger variance of that count. Counts
        of one report exclude each other at most as those of `Direct` with k categories do, which
        multiplies the variance of a difference by (k + 1)/(k − 1) at most. People: who was asked
        adds Σc·(w − m)², where m is the mean weight; any other m gives more.
        """
        if not self.people:
            return 0.0
        choice, own, high = self._largest
        k = weights.size
        reports = (k + 1) / (k - 1) * float((weights**2 * own).sum())
        middle = float((weights * high).sum()) / max(1.0, float(high.sum()))
        shared = self.shared * float(np.square(high).sum() * np.square(weights).sum())
        return reports + choice * float((high * (weights - middle) ** 2).sum()) + shared

    @cached_property
    def _largest(self) -> tuple[float, Floats, Floats]:
        """What the choice adds per person, the largest variance by reports, the largest counts."""
        none, linear, square = self._coefficients
        choice = -square * self.people
        low, high = self.interval(self.confidence)
        return choice, none + np.maximum((linear - choice) * low, (linear - choice) * high), high

    @property
    def _each(self) -> float:
        """How many people each report stands for."""
        if self.asked is None or not self.people:
            return 1.0
        return self.people / max(1, self.asked)

    @property
    def _coefficients(self) -> tuple[float, float, float]:
        """The variance of a count as a polynomial of degree 2 in the true count."""
        n, each = max(1, self.people), self._each
        rest = 0 if self.asked is None else self.people - self.asked
        choice = each * rest / max(1, n - 1)
        none, linear, _ = reach.variance(self.chances, n)
        return each * none, each * linear + choice, -choice / n

    def _reach(self, confidence: float) -> Floats:
        """z standard deviations at the worst of the true counts within reach, and a few reports."""
        if self.asked == 0:  # nobody was asked, so anything is possible
            return np.full(self.supports.shape, float(self.people))
        z = reach.deviations(confidence)
        off = self._each * reach.steps(self.chances, z)
        none, linear, square = self._coefficients
        if self.shared:
            most = np.clip(self.counts, 0, self.people)
            most = np.clip(self.counts + z * np.sqrt(self.variance(most)) + off, 0, self.people)
            none += self.shared * float(np.square(most).sum())
        terms = (none, linear, square)
        return reach.widest(self.counts, self.people, z=z, off=off, terms=terms)

    def top(self, k: int = 10) -> list[tuple[str, float, float]]:
        """The k largest counts: (label, count, ±).

        Each ± holds for its category alone: of many rare ones the largest are large by chance.
        """
        order = np.argsort(-self.counts, kind="stable")[: parameters.whole("k", k)]
        return [(self._label(i), float(self.counts[i]), float(self.error[i])) for i in order]

    def rows(self) -> list[dict[str, object]]:
        """One record per category, in plain JSON types: category, count, error and projected."""
        columns = (self.counts.tolist(), self.error.tolist(), self.projected.tolist())
        return [
            {"category": self._label(i), "count": count, "error": error, "projected": cut}
            for i, (count, error, cut) in enumerate(zip(*columns, strict=True))
        ]

    def to_pandas(self) -> pd.DataFrame:
        """The estimate as a pandas frame."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra.of("pandas", extra="frames") from None
        return pd.DataFrame(self.rows())

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Bars with whiskers: the unbiased counts of at most 40 largest categories."""
        from deniable.plots.bars import bars

        shown = self.top(_DRAWN)
        some = f"the {_DRAWN} largest of {len(self.counts):,} categories · "
        return bars(
            [label for label, _, _ in shown],
            [count for _, count, _ in shown],
            [error for _, _, error in shown],
            title="Counts estimated from randomized reports",
            axis_label="people",
            caption=f"{some if len(self.counts) > _DRAWN else ''}{self.people:,} reports "
            f"· ε = {self.epsilon:.3g} per person · {percent(self.confidence)} confidence",
            ax=ax,
        )

    def _label(self, place: int) -> str:
        return self.labels[place] if self.labels else str(place)

    def __repr__(self) -> str:
        shown, rest = self._listed()
        width = max((len(label) for label, _, _ in shown), default=0)
        lines = [f"  {a:<{width}}  {decimals(b):>14} ± {shown_error(c)}" for a, b, c in shown]
        return "\n".join([self._facts(), *lines, *(f"  {each}" for each in rest)])

    def _facts(self) -> str:
        facts = f"{self.people:,} reports, ε = {self.epsilon:.3g} per person"
        return f"{facts}; counts with their ± ({percent(self.confidence)} confidence)"

    def _listed(self) -> tuple[list[tuple[str, float, float]], list[str]]:
        """The largest counts, and a line on those that are left out."""
        shown = self.top(_PRINTED)
        more = len(self.counts) - len(shown)
        return shown, [f"… and {more:,} more: .to_pandas() has all"] if more else []

    def _repr_html_(self) -> str:
        from html import escape

        shown, rest = self._listed()
        body = "".join(
            f"<tr><td>{escape(a)}</td>"
            f"<td style='text-align:right'>{decimals(b)} ± {shown_error(c)}</td></tr>"
            for a, b, c in shown
        )
        body += "".join(f"<tr><td colspan='2'>{escape(each)}</td></tr>" for each in rest)
        return f"<table><caption>{escape(self._facts())}</caption>{body}</table>"


def projected(counts: Floats, total: float) -> Floats:
    """The Euclidean projection to {c ≥ 0, Σc = total}: subtract one number, cut at 0 [WC13].

    >>> projected(np.array([5.0, 4.0, -3.0]), 7).tolist()
    [4.0, 3.0, 0.0]
    """
    falling = np.sort(counts)[::-1]
    over = (np.cumsum(falling) - total) / np.arange(1, counts.size + 1)
    cut = over[np.flatnonzero(falling - over >= 0)[-1]]
    return np.asarray(np.maximum(counts - cut, 0.0), dtype=np.float64)
