"""Running totals of counts or sums that come one at a time.

The loss is charged once, for the whole stream, however long it gets. Which counter errs least under
it is known before the first value: a binary tree or the square root of running sums. For streams
whose length nobody knows it is a tree in epochs that double in length, or a square root that falls
so much faster that its price is bounded.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters
from deniable.errors import BadParameter
from deniable.losses import Loss
from deniable.losses.filters import Filter
from deniable.mechanisms import (
    BinaryTreeCounter,
    Gaussian,
    Laplace,
    OpenEndedTreeCounter,
    SquareRootCounter,
    UnboundedCounter,
)
from deniable.mechanisms.counting._stream import Counter, check_covered, moved_together
from deniable.parameters import called
from deniable.sensitive import Sensitive
from deniable.workload.linear import Asked, a_loss
from deniable.workload.plans import Estimates, Floats, WorkloadPlan
from deniable.workload.split import AN_AMOUNT, Noise, Vector, noise_under
from deniable.workload.strategies.noises import Noises, finite
from deniable.workload.tails import Law

from .known import next_of

_NAMES: Final = {
    SquareRootCounter: "square root",
    BinaryTreeCounter: "binary tree",
    UnboundedCounter: "square root, unbounded",
    OpenEndedTreeCounter: "binary tree, in epochs",
}
_AHEAD: Final = 1000
"""How many steps a plan lists the errors of, where the length of the stream is not known."""


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Running totals over `steps` steps at most, or over as many as come if that is None."""

    steps: int | None = None

    def __str__(self) -> str:
        return "running totals of a stream" + (f" of {self.steps:,} steps" if self.steps else "")

    @called("workload.stream(steps=365).counter(spend=dp.epsilon(1.0))")
    def counter(
        self,
        *,
        spend: Loss,
        sensitivity: float = 1.0,
        filter: Filter | None = None,
    ) -> Counter:
        """The counter that errs least; a session opens it: `s.open(counter)`.

        `sensitivity` is how far one unit moves all values of the stream together, in L1.
        """
        moved, spend = parameters.positive("sensitivity", sensitivity), a_loss(spend)
        made = [self._tree(moved, spend, filter), self._root(moved, spend, filter)]
        at = self.steps or _AHEAD
        found = [each for each in made if each is not None]
        if not found:
            raise BadParameter.of("spend", spend, must=AN_AMOUNT)
        return min(found, key=lambda each: float(np.square(each.deviations(at)).mean()))

    def _noise(
        self, law: Law, moved: float, times: int, spend: Loss, filter_: Filter | None
    ) -> Noise | None:
        vectors = [Vector(l1=moved, l2=moved)] * times
        noise = noise_under(law, vectors, spend=spend, filter=filter_)
        return None if noise is None else finite(noise[-1])

    def _tree(self, moved: float, spend: Loss, filter_: Filter | None) -> Counter | None:
        levels = self.steps.bit_length() if self.steps else 1
        noise = self._noise("laplace", moved, levels, spend, filter_)
        if not isinstance(noise, Laplace):
            return None
        if self.steps:
            return BinaryTreeCounter(steps=self.steps, noise=noise)
        return OpenEndedTreeCounter(scale=noise.scale, sensitivity=noise.sensitivity)

    def _root(self, moved: float, spend: Loss, filter_: Filter | None) -> Counter | None:
        noise = self._noise("gaussian", moved, 1, spend, filter_)
        if not isinstance(noise, Gaussian):
            return None
        if self.steps:
            return SquareRootCounter(
                steps=self.steps, sigma=noise.sigma, sensitivity=noise.sensitivity
            )
        return UnboundedCounter(sigma=noise.sigma, sensitivity=noise.sensitivity)

    @called("workload.stream(steps=365).plan(spend=dp.epsilon(1.0))")
    def plan(self, *, spend: Loss, sensitivity: float = 1.0) -> WorkloadPlan:
        """The counter, and the errors to expect: free; of an endless stream, those to step 1000."""
        made = self.counter(spend=spend, sensitivity=sensitivity)
        return self.planned(made, spend)

    def planned(self, counter: Counter, spend: Loss) -> WorkloadPlan:
        """The errors of a counter; of an endless stream, those to step 1000."""
        return self._planned(counter, spend, self.steps or _AHEAD)

    def _planned(self, counter: Counter, spend: Loss, steps: int) -> WorkloadPlan:
        deviations = counter.deviations(steps)
        gaussian = not isinstance(counter, BinaryTreeCounter | OpenEndedTreeCounter)
        return WorkloadPlan(
            workload=str(self),
            strategy=_NAMES[type(counter)],
            spend=spend,
            rmse=float(np.sqrt(np.square(deviations).mean())),
            worst=float(deviations.max()),
            deviations=deviations,
            law="gaussian" if gaussian else "laplace",
            step=0.0 if gaussian else 1.0,  # totals of a tree are whole numbers
            wider=_wider(counter),
        )

    @called("workload.stream().release([3, 0, 7], spend=dp.epsilon(1.0))")
    def release(self, values: ArrayLike, *, spend: Loss, sensitivity: float = 1.0) -> Estimates:
        """The totals after each value, outside any session: you keep the books.

        Values are whole numbers: give sums of money in cents.
        """
        made = self.counter(spend=spend, sensitivity=sensitivity)
        return self._estimates(made, spend, made.release(values))

    def _estimates(self, counter: Counter, spend: Loss, totals: Floats) -> Estimates:
        plan = self._planned(counter, spend, len(totals))
        steps = np.arange(1, len(totals) + 1)
        return Estimates(
            values=totals,
            deviations=plan.deviations,
            plan=plan,
            labels={"step": steps},
        )

    @called("workload.stream().on(values, spend=dp.epsilon(1.0))")
    def on(
        self,
        values: Iterable[Sensitive[Any]],
        *,
        spend: Loss,
        sensitivity: float | None = None,
        filter: Filter | None = None,
    ) -> Asked[Estimates]:
        """An algorithm for a session: `s.run(workload.stream().on(values, spend=...))`.

        Values that one unit moves by at most `l1` together are declared with a common `stream=`,
        and `sensitivity` is that of the first. If `values` is a generator it is sent each total.
        """
        listed = list(values) if isinstance(values, Sequence) else []
        coming = iter(values)
        first = next_of(coming, None)
        if not isinstance(first, Sensitive):
            raise BadParameter.of("values", first, must="dp.Sensitive numbers", fix=_FIX)
        moved = first.bound("l1") if sensitivity is None else sensitivity
        if moved is None:
            raise BadParameter("a stream needs an L1 bound on its values", fix=_FIX)
        made = self.counter(spend=spend, sensitivity=moved, filter=filter)
        for each in listed:
            if not isinstance(each, Sensitive):
                raise BadParameter.of("values", each, must="dp.Sensitive numbers", fix=_FIX)
        together = moved_together(listed[: made.steps])
        check_covered(made, together, Fraction(first.bound("l1") or 0))

        def asked() -> Generator[Any, Any, Estimates]:
            opened, totals = (yield made), list[float]()
            value: Sensitive[Any] | None = first
            while value is not None and len(totals) < made.steps:
                totals.append((yield opened.on(value)))
                value = next_of(coming, totals[-1])
            return self._estimates(made, spend, np.array(totals))

        return asked()


def _wider(counter: Counter) -> float:
    """How much a ± exceeds what follows from the standard deviations: see `Noises`."""
    if not isinstance(counter, BinaryTreeCounter | OpenEndedTreeCounter):
        return 1.0
    return Noises(noise=(counter.noise,), multiples=(1,)).wider


@called("workload.stream(steps=365)")
def stream(*, steps: int | None = None) -> Stream:
    """Running totals of values that come one at a time: `steps` of them at most, if that is known.

    >>> import deniable as dp
    >>> found = stream().release([3, 0, 7, 2], spend=dp.rho(0.5))
    >>> len(found.values), found.plan.strategy
    (4, 'square root, unbounded')
    >>> stream(steps=365).plan(spend=dp.epsilon(1.0)).strategy
    'binary tree'
    """
    return Stream(steps=None if steps is None else parameters.whole("steps", steps))


_FIX: Final = 'dp.Sensitive(lambda: arrived(day), l1=1, whole=True, stream="arrivals")'
