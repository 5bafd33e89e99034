"""The rows to learn from: hidden, with how far one unit moves a sum over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter
from deniable.query.rows import Each, Rows
from deniable.sampling import below
from deniable.sensitive import Sensitive
from deniable.units import Unit

from .batches import label
from .spaces import Integers, Space, chunks, up, weighed


@dataclass(frozen=True, kw_only=True, eq=False)
class Examples:
    """Private: features as the space holds them, targets as whole numbers, weights or None.

    `y` is the number of a class, −1 where it is not a public one; or a target on its lattice.
    `w` is in units of 2⁻²⁰ of a row, where persons have several rows; `who` is a keyed hash
    of whose each row is.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    w: Integers | None = None
    who: Integers | None = None
    _lengths: NDArray[np.float64] | float | None = field(default=None, init=False, repr=False)

    def lengths(self, space: Space) -> NDArray[np.float64] | float:
        """The L2 norm of each row in its space, computed once for all steps."""
        if self._lengths is None:
            object.__setattr__(self, "_lengths", space.lengths(self.x))
        assert self._lengths is not None
        return self._lengths

    def parts(self, space: Space) -> Iterator[Examples]:
        """All rows, some at a time: what is made of some stays in a processor's cache."""
        lengths = self.lengths(space)
        for part in chunks(len(self.y)):
            some = self.some(part, space.axis)
            own = lengths if isinstance(lengths, float) else lengths[part]
            object.__setattr__(some, "_lengths", own)
            yield some

    def where(self, kept: NDArray[np.bool_], axis: int) -> Examples:
        """The rows that are kept; each is judged by itself."""
        return self if kept.all() else self.some(kept, axis)

    def some(self, places: NDArray[Any] | slice, axis: int = 0) -> Examples:
        """The rows at these places."""
        weights = None if self.w is None else self.w[places]
        who = None if self.who is None else self.who[places]
        x = self.x[:, places] if axis else self.x[places]
        return Examples(x=x, y=self.y[places], w=weights, who=who)

    def taken(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Whole numbers, one (or a row) per row, as much as the row weighs."""
        if self.w is None:
            return terms
        return weighed(terms, self.w if terms.ndim == 1 else self.w[:, None])


def unlabelled(x: NDArray[Any]) -> Examples:
    """Rows without a target: all of one group."""
    return Examples(x=x, y=np.zeros(len(x), dtype=np.int64))


class Held:
    """Examples that nobody has read yet, and what is public about them."""

    def __init__(
        self,
        read: Callable[[Any], Examples],
        *,
        space: Space,
        unit: Unit,
        rows: Rows | None = None,
        needs: Sequence[str] = (),
    ) -> None:
        """`rows` are those of a session, and `read` makes examples of them; or of rows at hand.

        `needs` are the columns without which `read` leaves a row out.
        """
        self._read, self.space, self.unit, self._rows = read, space, unit, rows
        self.needs = tuple(needs)
        self._then = self._alone if rows is None else rows.in_parts
        self._found: Examples | None = None
        self._batch: Integers | None = None
        self.ready = self._then(lambda _: 0, l2=0).ready

    def _alone(self, function: Callable[[Any], Any], **declared: Any) -> Sensitive[Any]:
        """Of rows that are at hand."""
        return Sensitive(lambda: function(lambda read: [read(None)]), unit=self.unit, **declared)

    @property
    def weighted(self) -> bool:
        """Whether persons may have several rows, each of which then has a weight."""
        return self.unit.column is not None

    @property
    def rows(self) -> int:
        """How many rows one unit can add, remove or exchange, by weight."""
        return self.unit.rows * self.unit.sides

    def sum(
        self, terms: Callable[[Examples], Any], *, l2: float, shape: int | tuple[int, ...]
    ) -> Sensitive[Any]:
        """A sum over rows in whole numbers, to which no row of weight 1 adds more than `l2`.

        Rows of one person weigh at most `unit.rows` together, so by the triangle inequality one
        unit moves the sum by at most `rows · l2`.
        """
        declared: dict[str, Any] = {"l2": up(self.rows * l2), "whole": True, "shape": shape}
        if self._rows is not None and self._rows.apart:
            return self._rows.total(_OfPart(read=self._read, terms=terms), **declared)
        return self._then(lambda each: terms(self._examples(each)), **declared)

    def given(
        self, function: Callable[[Examples], Any], *, l2: float, shape: int | tuple[int, ...]
    ) -> Sensitive[Any]:
        """What a function makes of all rows, which one unit moves by at most `l2`: proved there."""
        return self._then(lambda each: function(self._examples(each)), l2=l2, shape=shape)

    def sampled(
        self, terms: Callable[[Examples], Any], *, l2: float, shape: int | tuple[int, ...]
    ) -> Sensitive[Any]:
        """The same sum over a sample of the rows, for a mechanism that draws one; rows are units.

        The value is the places of all rows. The mechanism draws some, and `terms` sees those.
        """
        self.check_sampled()
        return self._then(
            lambda each: np.arange(len(self._examples(each).y)),
            statistic=_OfSample(terms=terms, held=self),
            l2=up(l2),
            whole=True,
            shape=shape,
            entries=1,
        )

    def check_sampled(self) -> None:
        """Refuse samples where a unit is not one row that comes or goes; public facts decide."""
        if self.unit.column is not None or self.unit.sides != 1:
            raise BadParameter(
                "samples of rows need the unit dp.rows(), with rows added or removed",
                why="the rows of one person would be drawn apart, and the price is for one unit",
                fix="full batches: leave out sample_rate=",
            )

    def batch(
        self,
        terms: Callable[[Examples], Any],
        *,
        number: int,
        of: int,
        l2: float,
        shape: int | tuple[int, ...],
    ) -> Sensitive[Any]:
        """The same sum over one of several disjoint batches, for `DisjointBatches`.

        A person's batch is a keyed hash of who they are; a row that is a unit by itself draws its
        own by a fair die, once per fit. So nobody's batch depends on who else is there.
        """

        def summed(each: Each) -> Any:
            rows = self._examples(each)
            if self._batch is None:
                self._batch = below(of, len(rows.y)) if rows.who is None else rows.who % of
            return terms(rows.some(self._batch == number))

        return self._then(
            summed, l2=up(self.rows * l2), whole=True, shape=shape, stream=label(number, of)
        )

    def at(self, places: NDArray[np.int64]) -> Examples:
        """The examples that a sample drew, after the charge."""
        assert self._found is not None
        return self._found.some(places)

    def _examples(self, each: Each) -> Examples:
        """Read once, after the charge: only a session computes what calls this."""
        if self._found is None:
            self._found = _joined(each(self._read), self.space.axis)
        return self._found


def _joined(parts: list[Examples], axis: int) -> Examples:
    """All parts as one; each array of a part is let go as soon as it is copied."""
    if len(parts) == 1:
        return parts[0]
    made: dict[str, Any] = {}
    for name in ("x", "y", "w", "who"):
        found = [getattr(part, name) for part in parts]
        for part in parts:
            object.__setattr__(part, name, None)
        along = axis if name == "x" else 0
        made[name] = None if found[0] is None else np.concatenate(found, axis=along)
    return Examples(**made)


@dataclass(frozen=True, kw_only=True)
class _OfPart:
    """A sum over some of the rows, made where they are; travels there by pickle."""

    read: Callable[[Any], Examples]
    terms: Callable[[Examples], Any]

    def __call__(self, some: Any) -> Any:
        return self.terms(self.read(some))


@dataclass(frozen=True, kw_only=True)
class _OfSample:
    """A sum over the rows at some places. What is declared of it is the same whatever rows are."""

    terms: Callable[[Examples], Any] = field(compare=False)
    held: Held = field(compare=False)

    def __call__(self, places: NDArray[np.int64]) -> Any:
        return self.terms(self.held.at(places))
