"""Sample and aggregate: any function of columns, evaluated on disjoint parts of the rows.

Each unit is in one part, chosen by a coin of its own (all rows of a person go together, by a keyed
hash), so one unit changes the answer of one part, whatever the function makes of it, if it
remembers no other; of two parts if it is replaced. A quarter of the loss finds the sign and the
order of magnitude that most answers have (`sensitivity.sample_range`). The rest pays for the
average of the answers, clipped to a range of that magnitude [NRS07].

Both steps use the same parts and answers: given the parts, each step is private by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.calibration import calibrate
from deniable.errors import BadParameter, DeniableError
from deniable.losses import Approx, Loss, Pure, Zcdp
from deniable.losses.filters import Price
from deniable.mechanisms import Gaussian, Laplace, PermuteAndFlip, QuantileSearch
from deniable.parameters import called
from deniable.query.algebra import Aggregate, Function
from deniable.query.refuse import paid_before
from deniable.query.rows import Matrix, Rows
from deniable.release import Noisy, Plan, Release
from deniable.release.noisy import Additive
from deniable.release.numbers import shown_error
from deniable.release.plan import balance
from deniable.sampling import below
from deniable.sampling.lattice import Lattice
from deniable.sensitivity.sample_aggregate import one_answer
from deniable.sensitivity.sample_range import RANGES, range_at, range_scores
from deniable.session import budgets
from deniable.session.offers import offering
from deniable.workload.split import Vector, noise_for

from .building import About, ask, distinct_columns

Floats = NDArray[np.float64]
Statistic: TypeAlias = Callable[[Floats], float]

_OF_SEARCH: Final = 0.25
_PARTS: Final = 200.0  # per ε: about twice what a search for the magnitude needs
_FEWEST: Final = 20
_MOST: Final = 100_000
_BITS: Final = 40
_SPAN: Final = 4.0  # a range on one side of 0, in powers of two; twice that on both sides


@dataclass(frozen=True, kw_only=True, eq=False)
class Sampled:
    """Any function of columns of a table: `explain` it for nothing, or `release` it."""

    about: About = field(repr=False)
    function: Statistic
    columns: tuple[str, ...]
    parts: int | None = None

    @property
    def title(self) -> str:
        """What is asked, in a line."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"{name} of {', '.join(self.columns)}, by sample and aggregate"

    def __repr__(self) -> str:
        how = ".explain(spend=...) is free, .release(spend=...) spends"
        return f"{self.title}: not asked yet; {how}"

    @called('s.sample_and_aggregate(np.median, "cost").explain(spend=dp.epsilon(0.5))')
    def explain(self, *, spend: Loss) -> Plan:
        """The cost, the steps, and how large the noise is beside the answer; free."""
        search, rest, parts = self._paying(spend)
        noise = self._noise(rest, float(self._sides))
        share = _SPAN * noise.error(0.95) / parts
        return Plan(
            question=self.title,
            cost=budgets.used(spend, search, noise),
            errors={"value": None},
            steps=[
                f"put each unit into one of {parts:,} parts, and evaluate the function on each",
                f"find the order of magnitude of the answers privately (ε {search.epsilon:.3g})",
                "average the answers, clipped to four times that magnitude, with noise",
            ],
            **balance(self.about.session.ledger, self._price(search, rest)),
            notes=(
                f"the ± is {shown_error(100 * share)} % of the magnitude found, a power of two",
                "the ± is twice that where answers lie on both sides of 0",
                f"this needs many more than {parts:,} units: a part without rows has no answer",
                self._few(search, parts),
                _COVERS,
            ),
        )

    @called('s.sample_and_aggregate(np.median, "cost").release(spend=dp.epsilon(0.5))')
    def release(self, *, spend: Loss) -> Release:
        """The average answer of the parts, with the ± of its noise."""
        session = self.about.session
        search, rest, parts = self._paying(spend)
        with offering(session, spend, lambda loss: self._price(*self._paying(loss)[:2])):
            session.ledger.check(self._price(search, rest))
        answers = _Answers(self, parts)
        scores = answers.then(
            lambda found: range_scores(found, parts=parts), linf=self._sides, shape=RANGES
        )
        found = session.release(search.on(scores), title=f"{self.title}: its magnitude")
        (place,) = np.array(found.answers["value"].cells, dtype=np.int64)
        low, high = range_at(int(place))
        try:
            averaged = self._averaged(answers, rest, low, high, few=self._few(search, parts))
        except DeniableError as error:
            paid_before(error, found, "find the magnitude")
            raise
        both = averaged.after(found)
        return replace(both, provenance=replace(both.provenance, question=self.title))

    def _averaged(
        self, answers: _Answers, rest: Loss, low: float, high: float, *, few: str
    ) -> Release:
        lattice = Lattice.for_bounds(low, high, bits=_BITS)
        start = lattice.point(low)
        steps = self._sides * (lattice.point(high) - start)
        noise, factor = self._noise(rest, steps), lattice.width / answers.parts

        def total(found: Floats) -> int:
            held = np.where(np.isnan(found), (low + high) / 2, found)
            return int((lattice.to_grid(held, low=low, high=high, missing=low) - start).sum())

        def present(drawn: list[Any]) -> Any:
            value = min(max(low + float(drawn[0]) * factor, low), high)
            spread = Additive(mechanism=noise, factor=factor)
            words = (
                f"the average over {answers.parts:,} parts, of answers clipped to "
                f"[{low:g}, {high:g}], a range found privately; {_COVERS}"
            ) + (few and f"; {few}")
            return {}, {"value": Noisy(cells=(value,), spread=spread, estimand=words)}

        step = noise.on(answers.then(total, l1=steps, whole=True))
        return self.about.session.release([step], title=self.title, present=present)

    @property
    def _sides(self) -> int:
        """How many parts one unit can change."""
        return self.about.session.unit.sides

    def _paying(self, spend: Loss) -> tuple[PermuteAndFlip, Loss, int]:
        """The search, what is left for the average, and the number of parts."""
        spend = self.about.session.spending(spend)
        if not isinstance(spend, Pure | Approx | Zcdp):
            raise BadParameter.of(
                "spend", spend, must="an amount of ε or ρ", fix="spend=dp.epsilon(0.5)"
            )
        first, rest = spend.split(_OF_SEARCH)
        sides = float(self._sides)
        if isinstance(first, Pure | Approx):
            epsilon = first.epsilon
        else:
            scale = calibrate(lambda s: PermuteAndFlip(epsilon=1 / s, sensitivity=sides), to=first)
            epsilon = 1 / scale
        search = PermuteAndFlip(epsilon=epsilon, sensitivity=sides)
        return search, rest, self.parts or min(max(self._usual(search), _FEWEST), _MOST)

    def _usual(self, search: PermuteAndFlip) -> int:
        """In how many parts the magnitude is found almost surely, and half as many suffice."""
        return math.ceil(_PARTS * _OF_SEARCH * self._sides / search.epsilon)

    def _few(self, search: PermuteAndFlip, parts: int) -> str:
        """A warning where the search may well find a wrong range; else nothing."""
        usual = self._usual(search)
        if 2 * parts >= usual:
            return ""
        return (
            f"{parts:,} parts are too few at this spend: the range may be wrong by orders of "
            f"magnitude, which the ± does not cover; use {usual:,} parts, or spend more"
        )

    def _price(self, search: PermuteAndFlip, rest: Loss) -> Price:
        ledger = self.about.session.ledger
        return ledger.price(search) + ledger.price(self._noise(rest, 1.0))

    def _noise(self, rest: Loss, steps: float) -> Gaussian | Laplace:
        ledger = self.about.session.ledger
        vector = Vector(l1=steps, l2=steps)
        (noise,) = noise_for(lambda _: [vector], spend=rest, filter=ledger.filter)
        assert not isinstance(noise, QuantileSearch)
        return noise


def sampled(
    about: About, function: Statistic, columns: str | Sequence[str], *, parts: int | None = None
) -> Sampled:
    """Any function of columns, on disjoint parts of the rows; refused here if it cannot be asked.

    The function gets an array of the values of a part, sorted: of one column, or a table with a
    line per row. Rows with a missing value are left out. It runs on rows of other people, so it
    must be the curator's own, and must remember nothing from part to part: a model that goes on
    learning would carry one person into all later answers. What it raises, and NaN, count as no
    answer.
    """
    if not callable(function):
        raise BadParameter.of("function", function, must="a function of an array", fix="np.median")
    names = distinct_columns(about, "columns", [columns] if isinstance(columns, str) else columns)
    if parts is not None and parameters.whole("parts", parts, least=2) > _MOST:
        raise BadParameter.of("parts", parts, must=f"at most {_MOST:,}")
    made = Sampled(about=about, function=function, columns=tuple(names), parts=parts)
    _rows(made)
    return made


class _Answers:
    """The answers of the parts, NaN where there is none: computed once, inside the session."""

    def __init__(self, asked: Sampled, parts: int) -> None:
        self.parts, self._asked, self._rows = parts, asked, _rows(asked)
        self._found: Floats | None = None

    def then(self, function: Callable[[Floats], Any], **declared: Any) -> Any:
        """What a function makes of the answers."""
        return self._rows.then(lambda matrix: function(self._of(matrix)), **declared)

    def _of(self, matrix: Matrix) -> Floats:
        if self._found is None:
            points, kept = _values(self._rows, matrix)
            if matrix.digests is None:
                placed = np.asarray(below(self.parts, len(points)))[kept]
            else:
                placed = matrix.digests[kept] % self.parts
            points = points[kept]
            # Sorted by value: how an engine orders a part's rows may depend on other people's.
            order = np.lexsort((*np.atleast_2d(points.T)[::-1], placed))
            ends = np.searchsorted(placed[order], np.arange(1, self.parts))
            split = np.split(points[order], ends)
            found = [one_answer(self._asked.function, part.copy()) for part in split]
            self._found = np.array(found, dtype=np.float64)
        return self._found


def _rows(asked: Sampled) -> Rows:
    what = "sample and aggregate"
    averages = [
        Aggregate(name=name, function=Function.AVG, argument=asked.about.number(name, what=what))
        for name in asked.columns
    ]
    return ask(asked.about, *averages, text=asked.title).rows()


def _values(rows: Rows, matrix: Matrix) -> tuple[Floats, NDArray[np.bool_]]:
    """The columns' values, and which rows have all of them."""
    kept, columns = np.ones(len(matrix.points), dtype=bool), []
    for place, number in enumerate(rows.numbers):
        own = matrix.points[:, place]
        if number.measure == "count":
            kept &= own > 0
        else:
            columns.append(number.centre + own * float(number.worth))
    values = columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
    return np.asarray(values, dtype=np.float64), kept


_COVERS: Final = "the ± covers the noise, not how far answers of parts lie from that of all rows"
