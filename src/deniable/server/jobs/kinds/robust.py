"""The median of a query's values, by frameworks whose noise can follow the data.

    {"kind": "median", "sql": "SELECT AVG(age) FROM visits WHERE city = 'Oslo'", "method": "smooth"}

The query names one average without groups; its rows are the values. Where the privacy unit is a
person, a person's values are first averaged, so that each person has one: a function of their own
rows, which leaves everyone else's value as it was. So one unit, added or removed, adds or removes
one value in [low, high], which is what the three methods assume.

    smooth                noise sized by smooth sensitivity; no ± may be shown          [NRS07]
    propose_test_release  noise for a proposed local sensitivity, or no answer           [DL09]
    sample_and_aggregate  the average of the medians of disjoint parts; its ± is public  [NRS07]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat

from deniable.curator import Curator
from deniable.errors import BadParameter, MissingBounds, UnsupportedQuery
from deniable.losses import Approx, Loss, Pure
from deniable.losses.filters import Price
from deniable.mechanisms import Laplace, Mechanism, ProposeTestRelease, SmoothNoise
from deniable.query.query import Query
from deniable.query.rows import Matrix, Rows
from deniable.release import Noisy, Plan
from deniable.release.noisy import Additive
from deniable.release.plan import balance
from deniable.sampling import below
from deniable.sampling.lattice import Lattice
from deniable.sensitive import Sensitive
from deniable.sensitivity import Quantile, distance_to_instability, smooth_bound
from deniable.session.offers import offering

from ._kind import Answer, Named, Sql

Floats = NDArray[np.float64]
_BITS = 40


class Median(Named):
    """The median (or another quantile) of the values that one AVG of a query is about."""

    starts_from: ClassVar[str] = "average"

    kind: Literal["median"] = "median"
    sql: Sql
    """One average without groups, such as SELECT AVG(age) AS age FROM visits."""
    method: Literal["smooth", "propose_test_release", "sample_and_aggregate"]
    quantile: Annotated[FiniteFloat, Field(ge=0, le=1)] = 0.5
    """0.5 for the median, 0.9 for what nine of ten are below."""
    bound: Annotated[FiniteFloat, Field(gt=0)] | None = None
    """The local sensitivity that propose_test_release proposes."""
    parts: Annotated[int, Field(ge=2, le=10_000)] | None = None
    """How many parts sample_and_aggregate makes."""

    def explain(self, session: Curator, spend: Loss) -> Plan:
        """The cost, and the ± where it may be known."""
        found = self._planned(session, session.sql(self.sql), session.spending(spend))
        ledger = session.ledger
        return Plan(
            question=self.title,
            cost=found.mechanism.loss(type(spend)),
            errors={"median": found.error},
            steps=[found.values.words, repr(found.mechanism)],
            **balance(ledger, ledger.price(found.mechanism)),
            notes=tuple(found.notes),
        )

    def release(self, session: Curator, spend: Loss) -> Answer:
        """The noisy median; None where propose_test_release gives no answer."""
        query = session.sql(self.sql)
        found = self._planned(session, query, session.spending(spend))

        def due(loss: Loss) -> Price:
            return session.ledger.price(self._planned(session, query, loss).mechanism)

        def present(drawn: list[Any]) -> Any:
            cell = found.read(drawn[0])
            told = Noisy(cells=(cell,), spread=found.spread, estimand=found.estimand)
            return {}, {"median": told}

        with offering(session, spend, due):
            made = session.release(
                [found.mechanism.on(found.value)],
                question=f"{self.title} of\n{query.asked}",
                title=self.title,
                present=present,
            )
        asked = replace(made.provenance, question=self.title)
        return Answer(release=replace(made, provenance=asked))

    def _planned(self, session: Curator, query: Query, spend: Loss) -> _Planned:
        values = _values(query, self.quantile)
        if session.unit.sides > 1:
            raise UnsupportedQuery(
                "these methods are proved for units that are added or removed, not replaced"
            )
        if not isinstance(spend, Pure | Approx):
            raise BadParameter("this method is paid for in ε", fix='"spend": {"epsilon": 0.5}')
        epsilon, delta = spend.epsilon, getattr(spend, "delta", 0.0)
        return _METHODS[self.method](self, values, epsilon, delta)


@dataclass(frozen=True, kw_only=True)
class _Values:
    """One value per unit, hidden; its bounds are public."""

    rows: Rows
    statistic: Quantile
    low: float
    high: float
    words: str

    def of(self, matrix: Matrix, count: int, total: int) -> Floats:
        """The value of each unit that has one: the mean of its own rows, clipped."""
        number = self.rows.numbers[total]
        units = matrix.people
        counts = np.bincount(units, weights=matrix.points[:, count])
        sums = np.bincount(units, weights=matrix.points[:, total])
        held = counts > 0
        means = number.centre + sums[held] / counts[held] * float(number.worth)
        return np.clip(means, self.low, self.high)

    def then(self, function: Callable[[Floats], Any], **declared: Any) -> Sensitive[Any]:
        """What a function makes of the values."""
        count, total = _places(self.rows)
        return self.rows.then(lambda m: function(self.of(m, count, total)), **declared)


@dataclass(frozen=True, kw_only=True)
class _Planned:
    """A mechanism with what it is applied to, and how its draw is read."""

    values: _Values
    mechanism: Mechanism
    value: Sensitive[Any]
    error: float | None
    spread: Additive | None = None
    read: Callable[[Any], object] = lambda drawn: drawn
    notes: tuple[str, ...] = ()

    @property
    def estimand(self) -> str:
        """What the answer is about; an answer without a ± says why."""
        return self.values.words if self.spread else "; ".join((self.values.words, *self.notes))


def _values(query: Query, quantile: float) -> _Values:
    rows = query.rows()
    assert rows.unit.column is None or rows.weight > 1, "else rows do not say whose they are"
    places = _places(rows)
    number = rows.numbers[places[1]]
    worth = float(number.worth)
    low, high = number.centre + number.low * worth, number.centre + number.high * worth
    if not low < high:
        raise MissingBounds(f"{number.of} has one possible value, so it has no median to find")
    each = "row's" if rows.unit.column is None else "person's average"
    what = "median" if quantile == 0.5 else f"{quantile:g}-quantile"
    return _Values(
        rows=rows,
        statistic=Quantile(q=quantile),
        low=low,
        high=high,
        words=f"the {what} of each {each} {number.of} in [{low:g}, {high:g}]",
    )


def _places(rows: Rows) -> tuple[int, int]:
    """Where the count and the sum of the one average are."""
    measures = [number.measure for number in rows.numbers]
    if sorted(measures) != ["count", "sum"] or rows.keys:
        raise UnsupportedQuery(
            "a median by this method is about one average without groups",
            fix="SELECT AVG(age) FROM visits WHERE city = 'Oslo'",
        )
    return measures.index("count"), measures.index("sum")


def _smooth(asked: Median, values: _Values, epsilon: float, delta: float) -> _Planned:
    _unused(asked, "bound", "parts")
    low, high, statistic = values.low, values.high, values.statistic
    mechanism = SmoothNoise(epsilon=epsilon, delta=delta, low=low, high=high)

    def compute(found: Floats) -> tuple[float, float]:
        data = np.sort(found)
        bound = smooth_bound(data, statistic, beta=mechanism.beta, low=low, high=high)
        return statistic.value(data, low, high), bound

    return _Planned(
        values=values,
        mechanism=mechanism,
        value=values.then(compute, linf=high - low),
        error=None,
        notes=("the ± depends on the data, so it may not be shown",),
    )


def _proposed(asked: Median, values: _Values, epsilon: float, delta: float) -> _Planned:
    _unused(asked, "parts")
    if asked.bound is None or not delta:
        raise BadParameter(
            "propose_test_release needs `bound`, and an amount with a δ",
            why="it adds noise for that local sensitivity, if the data are safely far from more",
            fix='"bound": 1.0, ..., "spend": {"epsilon": 0.5, "delta": 1e-8}',
        )
    low, high, statistic, bound = values.low, values.high, values.statistic, asked.bound
    mechanism = ProposeTestRelease(
        bound=bound, epsilon_test=epsilon / 2, epsilon_release=epsilon / 2, delta=delta
    )

    def compute(found: Floats) -> tuple[float, int]:
        data = np.sort(found)
        far = distance_to_instability(data, statistic, bound=bound, low=low, high=high)
        return statistic.value(data, low, high), far

    return _Planned(
        values=values,
        mechanism=mechanism,
        value=values.then(compute, linf=1),
        error=mechanism.error(),
        spread=Additive(mechanism=mechanism),
        notes=("there may be no answer; it costs the same",),
    )


def _sampled(asked: Median, values: _Values, epsilon: float, delta: float) -> _Planned:
    _unused(asked, "bound")
    if delta:
        raise BadParameter("sample_and_aggregate spends no δ", fix='"spend": {"epsilon": 0.5}')
    low, high, parts = values.low, values.high, asked.parts or 20
    lattice = Lattice.for_bounds(low, high, bits=_BITS)
    start = lattice.point(low)
    steps = lattice.point(high) - start  # one unit is in one part, and moves its answer alone
    mechanism = Laplace.calibrate(epsilon=epsilon, sensitivity=steps)

    def total(found: Floats) -> int:
        placed = below(parts, found.size)  # a coin for each unit: adding one moves no other
        each = _parted(found, placed, parts)
        answers = np.array([values.statistic.value(part, low, high) for part in each])
        grid = lattice.to_grid(answers, low=low, high=high, missing=low)
        return int((grid - start).sum())

    factor = lattice.width / parts
    return _Planned(
        values=values,
        mechanism=mechanism,
        value=values.then(total, l1=steps, whole=True),
        error=mechanism.error() * factor,
        spread=Additive(mechanism=mechanism, factor=factor),
        read=lambda drawn: min(max(low + float(drawn) * factor, low), high),
        notes=(f"the average over {parts} parts of the median of each",),
    )


def _parted(found: Floats, placed: NDArray[Any], parts: int) -> list[Floats]:
    """The sorted values of each part, in one pass however many parts there are."""
    order = np.lexsort((found, placed))
    return np.split(found[order], np.searchsorted(placed[order], np.arange(1, parts)))


def _unused(asked: Median, *names: str) -> None:
    for name in names:
        if getattr(asked, name) is not None:
            raise BadParameter(f"{asked.method} takes no `{name}`")


_METHODS: dict[str, Callable[[Median, _Values, float, float], _Planned]] = {
    "smooth": _smooth,
    "propose_test_release": _proposed,
    "sample_and_aggregate": _sampled,
}
