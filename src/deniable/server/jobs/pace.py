"""Public steps of time: when what a question came to may be known."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from deniable.server.database import now


@dataclass(frozen=True, kw_only=True)
class Pace:
    """When a question's turn came, and the public step at which its outcome may be known."""

    steps: Sequence[float]
    start: float = field(default_factory=now)

    @cached_property
    def end(self) -> float:
        """The step after the work so far; fixed when it is first asked for."""
        return self.start + step_after(now() - self.start, self.steps)

    def wait(self) -> None:
        """Until the step has come; not longer than to it if the clock was set back meanwhile."""
        most = self.end - self.start
        while (left := min(self.end - now(), most)) > 0:
            time.sleep(left)
            most -= left


def step_after(taken: float, steps: Sequence[float]) -> float:
    """The first step that work of so many seconds is done by; beyond the last, a multiple of it.

    >>> [step_after(taken, (0.5, 2.0)) for taken in (0.0, 0.5, 0.6, 2.1)]
    [0.5, 0.5, 2.0, 4.0]
    """
    found = next((step for step in steps if step >= taken), None)
    return steps[-1] * (taken // steps[-1] + 1) if found is None else found
