"""What mechanisms that count over time share: values come one a step, totals go out one a step."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter, SensitivityMismatch
from deniable.forms import Form, needs_shape, read_numbers
from deniable.mechanisms._mechanism import Norm
from deniable.mechanisms._priced import PricedAs
from deniable.mechanisms.interactive import Interaction
from deniable.mechanisms.numbers._additive import as_numbers, needs_whole
from deniable.sensitive import Sensitive

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

_ENDLESS: Final = 2**40  # steps of a counter for streams of any length


class Counter(PricedAs):
    """A running total of whole numbers over at most `steps` steps, with noise.

    The value is the whole stream, and the answer all running totals; or a session opens the
    mechanism and gives it one number a step. Either way it is charged once, for all steps, and its
    sensitivity is how far one unit moves the whole stream in L1: the bounds of what is asked add
    up, but for values that were declared to be of one `stream`, which are bounded together.
    """

    norm: ClassVar[Norm] = "l1"

    steps: int

    def __post_init__(self) -> None:
        self._canonical(steps=parameters.whole)

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """The whole stream, in whole numbers; its length is public."""
        name = type(self).__name__
        what = f"a stream of at most {self.steps} whole numbers"
        needs_shape(name, form, dimensions=1, what=what, example=str(self.steps))
        if form.size > self.steps:
            raise BadParameter.of("shape", form.size, must=f"at most steps = {self.steps}")
        return super().reading(needs_whole(self, form))

    @property
    @abstractmethod
    def sensitivity(self) -> float:
        """How far one unit may move the whole stream, in L1."""

    @abstractmethod
    def deviations(self, steps: int) -> Floats:
        """The standard deviation of the noise in each of the first totals, or a little more."""

    @abstractmethod
    def totals(self) -> Callable[[int], float]:
        """A function to call with each value in turn; it answers with the noisy total so far."""

    def draw(self, value: object) -> Floats:
        """The noisy running total after each step."""
        stream = as_numbers(value)
        if stream.dtype != np.int64 or stream.ndim != 1 or not 0 < stream.size <= self.steps:
            raise BadParameter(f"the stream must be a list of 1 to {self.steps} whole numbers")
        total = self.totals()
        return np.array([total(number) for number in stream.tolist()], dtype=np.float64)

    def begin(self) -> Interaction:
        """The counter at the start, for values that come one by one."""
        return _Counting(self, self.totals())


class _Counting(Interaction):
    """A counter that has seen some of its values."""

    def __init__(self, counter: Counter, total: Callable[[int], float]) -> None:
        self._counter, self._total, self._left = counter, total, counter.steps
        self._moved, self._streams = Fraction(0), dict[str, Fraction]()

    def answering(self) -> Counter | None:
        """The counter, until its steps are used up."""
        return self._counter if self._left else None

    def reading(self, form: Form) -> Callable[[Any], Any]:
        if form.shape:
            raise BadParameter(
                "an opened counter takes one number per step, and the value is declared an array",
                fix="one handle.on(dp.Sensitive(...)) for each step",
            )
        exact = needs_whole(self._counter, form)
        return lambda value: read_numbers(value, exact)

    def admit(self, value: Sensitive[Any]) -> None:
        """Add up how far one unit may move the stream: a unit may be in every step."""
        super().admit(value)
        known = value.bound("l1")
        assert known is not None  # it was checked just now
        bound = Fraction(known)
        moved, streams = self._moved, dict(self._streams)
        if value.stream is None:
            moved += bound
        else:
            streams[value.stream] = max(bound, streams.get(value.stream, Fraction(0)))
        check_covered(self._counter, moved + sum(streams.values()), bound)
        self._moved, self._streams = moved, streams

    def ask(self, value: Any) -> float:
        """Take the next value; answer with the noisy total so far."""
        number = as_numbers(value)
        if number.dtype != np.int64 or number.ndim:
            raise BadParameter("a counter takes one whole number per step")
        self._left -= 1
        return self._total(int(number))


def check_covered(counter: Counter, total: Fraction, bound: Fraction) -> None:
    """Refuse values that one unit moves by `total` together, if the counter covers less."""
    covered = float(counter.sensitivity)
    if total <= Fraction(covered):
        return
    larger = float(bound) * counter.steps
    raise SensitivityMismatch(
        f"one unit may move the values of this stream by {float(total):g} together, and "
        f"{type(counter).__name__} covers {covered:g} over all steps",
        why="a unit that is counted at every step shows in every step",
        fix=f'dp.Sensitive(..., l1={float(bound):g}, stream="arrivals")    '
        "if one unit moves all steps together by at most that"
        + (f"\nor a counter of sensitivity={larger:g}" if counter.steps < _ENDLESS else ""),
    )


def moved_together(values: Sequence[Sensitive[Any]]) -> Fraction:
    """How far one unit may move all of these together, in L1."""
    alone, streams = Fraction(0), dict[str, Fraction]()
    for value in values:
        bound = Fraction(value.bound("l1") or 0)
        if value.stream is None:
            alone += bound
        else:
            streams[value.stream] = max(bound, streams.get(value.stream, Fraction(0)))
    return alone + sum(streams.values())
