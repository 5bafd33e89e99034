"""What mechanisms that count over time share: values come one a step, totals go out one a step."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.mechanisms._mechanism import Norm
from deniable.mechanisms._priced import PricedAs
from deniable.mechanisms.interactive import Interaction
from deniable.mechanisms.numbers._additive import as_numbers


class Counter(PricedAs):
    """A running total of whole numbers over at most `steps` steps, with noise.

    The value is the whole stream, and the answer all running totals; or a session opens the
    mechanism and gives it one number a step. Either way it is charged once, for all steps.
    """

    norm: ClassVar[Norm] = "l1"

    steps: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", parameters.whole("steps", self.steps))

    @abstractmethod
    def _totals(self) -> Callable[[int], float]:
        """A function to call with each value in turn; it answers with the noisy total so far."""

    def draw(self, value: object) -> NDArray[np.float64]:
        """The noisy running total after each step."""
        stream = as_numbers(value)
        if stream.dtype != np.int64 or stream.ndim != 1 or not 0 < stream.size <= self.steps:
            raise BadParameter(f"the stream must be a list of 1 to {self.steps} whole numbers")
        total = self._totals()
        return np.array([total(number) for number in stream.tolist()], dtype=np.float64)

    def begin(self) -> Interaction:
        """The counter at the start, for values that come one by one."""
        return _Counting(self, self._totals())


class _Counting(Interaction):
    """A counter that has seen some of its values."""

    def __init__(self, counter: Counter, total: Callable[[int], float]) -> None:
        self._counter, self._total, self._left = counter, total, counter.steps

    def answering(self) -> Counter | None:
        """The counter, until its steps are used up."""
        return self._counter if self._left else None

    def ask(self, value: object) -> float:
        """Take the next value; answer with the noisy total so far."""
        number = as_numbers(value)
        if number.dtype != np.int64 or number.ndim:
            raise BadParameter("a counter takes one whole number a step")
        self._left -= 1
        return self._total(int(number))
