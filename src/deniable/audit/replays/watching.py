"""What a run is watched for: every charge, every value before its noise, every answer.

The first run is recorded. In the second, each step computes its own value, but draws with the value
and the noise that were recorded: so the answers are the same, an adaptive program takes the same
path, and a mechanism that remembers earlier answers remembers the same ones. What is left to differ
is what one unit did.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from deniable.forms import attempted
from deniable.ledger import Entry
from deniable.mechanisms import Mechanism
from deniable.mechanisms.interactive import Interaction
from deniable.sampling import PublicRandom
from deniable.sampling.source import Source, Words, using
from deniable.sensitive import Sensitive
from deniable.session.drawing import watched

Draw = Callable[[Any], object]
_COMPUTING, _DRAWING, _ELSEWHERE = 0, 1, 2


class Frozen(Source):
    """Frozen noise of a replay: it repeats, and hides nobody."""

    def __init__(self, step: int, part: int) -> None:
        self._generator = PublicRandom(3 * step + part).generator

    def words(self, count: int) -> Words:
        """The next words of a sequence that anybody can compute."""
        return self._generator.integers(0, 2**64, size=count, dtype=np.uint64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Charge:
    """A line that was written in the ledger."""

    mechanism: object
    price: object
    what: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """A step: the value before noise, what was declared of it, and the noisy answer."""

    number: int
    mechanism: Mechanism
    declared: Sensitive[Any]
    opened: Interaction | None = None
    """The opened mechanism that answers, if one does."""
    value: Any = None
    drawn: object = None
    failure: str = ""
    """The type of the exception, if the value could not be computed or drawn."""


Event = Charge | Answer
Feed = Callable[[Answer], Answer | None]


@dataclass(kw_only=True)
class Watch:
    """Watches one run. `feed` is shown each step's own value and may bring back a recorded step."""

    feed: Feed | None = None
    events: list[Event] = field(default_factory=list)
    steps: int = 0

    def charged(self, entry: Entry) -> None:
        """Note what was written."""
        told, price, what = map(entry.record.get, ("mechanisms", "price", "what"))
        self.events.append(Charge(mechanism=told, price=price, what=str(what or "")))

    def answer(self, draw: Draw, value: Sensitive[Any], compute: Callable[[], object]) -> object:
        """Compute this run's value; draw with it, or with the recorded one."""
        self.steps += 1
        owner = getattr(draw, "__self__", None)  # whose method the session was about to call
        opened = owner if isinstance(owner, Interaction) else None
        mechanism = opened.answering() if opened is not None else owner
        assert isinstance(mechanism, Mechanism)
        step = Answer(number=self.steps, mechanism=mechanism, declared=value, opened=opened)
        try:
            with using(Frozen(self.steps, _COMPUTING)):
                step = replace(step, value=_kept(compute()))
            recorded = self.feed(step) if self.feed is not None else None
            used = step if recorded is None else recorded
            with using(Frozen(self.steps, _DRAWING)):
                step = replace(step, drawn=draw(used.value))
        except Exception as error:
            step = replace(step, failure=type(error).__name__)
            raise
        finally:
            self.events.append(step)
        return step.drawn


@contextmanager
def replaying(watch: Watch) -> Iterator[None]:
    """Inside, sessions show this watch what they do, and all noise is frozen."""
    with using(Frozen(0, _ELSEWHERE)), watched(watch):
        yield


def _kept(value: object) -> object:
    """The value as it is now: a program may change its arrays later; a stream is read once."""
    if isinstance(value, Iterator):
        return list(value)
    return attempted(copy.deepcopy, value, otherwise=value)  # what cannot be copied, as it is
