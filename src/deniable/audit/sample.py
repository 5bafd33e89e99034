"""Drawing answers from both data sets, in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from deniable.errors import BadParameter
from deniable.progress import say
from deniable.sampling.public import PublicRandom

from .leaves import Raised, observed
from .outputs import Table, tabulate

D = TypeVar("D")

_CHUNK = 100_000
_SAY = 100
_SEED = 0x6175646974
"""Of the order of calls; unlike the seeds people choose for the mechanisms they audit."""


@dataclass(kw_only=True)
class Sampler(Generic[D]):
    """Asks a mechanism about two data sets, alternately, so that what drifts drifts for both.

    Call by call the order within a pair is a fair coin. Then, whatever else the machine does, both
    data sets meet the same moments on average, and rates of slow calls can be compared.
    """

    f: Callable[[D], object] | None
    batch: Callable[[D, int], object] | None
    data: tuple[D, D]
    timing: bool
    drawn: int = 0
    _coins: PublicRandom = field(default_factory=lambda: PublicRandom(_SEED))

    def __post_init__(self) -> None:
        if self.batch is None and not callable(self.f):
            raise BadParameter.of("f", self.f, must="a function of the data")
        if self.batch is not None and not callable(self.batch):
            raise BadParameter.of("batch", self.batch, must="a function of the data and a number")
        if self.batch is not None and self.timing:
            raise BadParameter(
                "timing needs single calls; leave out batch",
                why="the run time of one answer cannot be read off many at once",
            )

    def draw(self, size: int, *, until: float | None = None) -> tuple[Table, Table]:
        """`size` answers of each data set; fewer (at least 2) if the clock passes `until`."""
        tables = self._in_batches(size) if self.batch is not None else self._one_by_one(size, until)
        self.drawn += tables[0].size
        return tables

    def _one_by_one(self, size: int, until: float | None) -> tuple[Table, Table]:
        answers: tuple[list[object], list[object]] = ([], [])
        seconds: tuple[list[float], list[float]] = ([], [])
        coins = self._coins.generator.integers(0, 2, size).tolist()
        for count, coin in enumerate(coins):
            if count % _SAY == 0:
                say(f"calling f on each data set: {count:,} of {size:,}")
            for side in (coin, 1 - coin):
                start = time.perf_counter()
                answer = self._ask(self.data[side])
                seconds[side].append(time.perf_counter() - start)
                answers[side].append(answer)
            if until is not None and count >= 1 and time.perf_counter() > until:
                break
        times = [np.array(each) if self.timing else None for each in seconds]
        return tabulate(answers[0], seconds=times[0]), tabulate(answers[1], seconds=times[1])

    def _ask(self, data: D) -> object:
        assert self.f is not None
        return observed(self.f, data, raised=Raised.of)

    def _in_batches(self, size: int) -> tuple[Table, Table]:
        parts: tuple[list[object], list[object]] = ([], [])
        for count, start in enumerate(range(0, size, _CHUNK)):
            for side in (count % 2, 1 - count % 2):
                parts[side].append(self._ask_for(self.data[side], min(_CHUNK, size - start)))
        return tabulate(_joined(parts[0])), tabulate(_joined(parts[1]))

    def _ask_for(self, data: D, size: int) -> object:
        assert self.batch is not None
        answers = self.batch(data, size)
        if not isinstance(answers, np.ndarray | Sequence) or len(answers) != size:
            raise BadParameter(
                f"batch(data, {size}) must give {size} answers, as an array or a list",
                why="each row is one independent answer",
            )
        return answers


def _joined(parts: list[object]) -> object:
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate([np.asarray(part) for part in parts])
    return [answer for part in parts if isinstance(part, np.ndarray | Sequence) for answer in part]
