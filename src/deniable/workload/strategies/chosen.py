"""The strategy and the noise with the least expected error, before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from deniable.errors import BadParameter
from deniable.losses import Loss
from deniable.losses.filters import Filter
from deniable.mechanisms import Step
from deniable.progress import say
from deniable.sensitive import Sensitive
from deniable.workload.split import AN_AMOUNT, noise_under
from deniable.workload.tails import LAWS, Law

from ._strategy import Bounds, Strategy
from .exact import Floats, Integers
from .noises import Noises


@dataclass(frozen=True, kw_only=True, eq=False)
class Chosen:
    """A strategy with noise for each of its vectors."""

    strategy: Strategy
    noise: Noises
    others: Mapping[str, float] = field(default_factory=dict)
    """The root mean squared errors of the other kinds of strategies that were tried."""

    @property
    def deviations(self) -> tuple[float, ...]:
        """The standard deviation of the noise on each vector."""
        return self.noise.deviations

    @property
    def law(self) -> Law:
        """The law of all its noise."""
        return self.noise.law

    def steps(self, counts: Sensitive[Any]) -> list[Step[Any]]:
        """What a session releases: one step per vector."""
        parts = zip(self.strategy.vectors, self.strategy.lengths, strict=True)
        return self.noise.steps(
            (counts, partial(self.strategy.encode, part), vector, length)
            for part, (vector, length) in enumerate(parts)
        )

    def draw(self, counts: Integers) -> Floats:
        """The counts of cells that fit noisy vectors best, outside any session."""
        parts = range(len(self.strategy.lengths))
        drawn = self.noise.draw(self.strategy.encode(part, counts) for part in parts)
        return self.strategy.decode(drawn, self.deviations)

    def read(self, drawn: Sequence[object]) -> Floats:
        """The counts of cells that fit best what a session drew."""
        return self.strategy.decode(self.noise.read(drawn), self.deviations)


def choose(
    candidates: Callable[[Law], Iterable[Strategy]],
    score: Callable[[Strategy, Sequence[float]], float],
    *,
    whole: Callable[[Strategy], bool],
    spend: Loss,
    filter: Filter | None = None,
) -> Chosen:
    """Of all strategies under Laplace and under Gaussian noise, that with the least error.

    `whole` says whether answers are the vectors of a strategy, or sums of their numbers.
    """
    found: dict[str, tuple[float, Chosen]] = {}
    for law in LAWS:
        for strategy in candidates(law):
            say(f"planning: {strategy.name}, {law} noise")
            noise = noise_under(law, strategy.vectors, spend=spend, filter=filter)
            if noise is None:
                break
            made = Chosen(strategy=strategy, noise=Noises.of(noise, whole=whole(strategy)))
            error, name = score(strategy, made.deviations), f"{strategy.name} ({law.title()})"
            if name not in found or error < found[name][0]:
                found[name] = error, made
    if not found:
        raise BadParameter.of(
            "spend",
            spend,
            must=AN_AMOUNT,
            fix="spend=dp.epsilon(1.0, delta=1e-9)",
        )
    ranked = sorted(found.items(), key=lambda item: item[1][0])
    others = {name: math.sqrt(error) for name, (error, _) in ranked[1:]}
    return replace(ranked[0][1][1], others=others)


def size_of(counts: object) -> int:
    """How many numbers a hidden value has."""
    if not isinstance(counts, Sensitive):
        raise BadParameter.of("counts", type(counts), must="a dp.Sensitive", fix=_FIX)
    return counts.form.size


def bounds_of(counts: Sensitive[Any], cells: int) -> Bounds:
    """How far one unit moves counts of so many cells; an error where their form does not fit."""
    size_of(counts)
    l1, l2 = counts.bound("l1"), counts.bound("l2")
    if counts.form.shape != (cells,) or not counts.form.whole:
        raise BadParameter(
            f"this workload needs {cells:,} whole numbers, and the value is declared otherwise",
            why="its shape must be the number of cells, and its entries whole",
            fix=f"dp.Sensitive(..., l1=1, whole=True, shape={cells})",
        )
    if l1 is None or l2 is None:
        raise BadParameter("a workload needs an L1 bound on the counts", fix=_FIX)
    return Bounds(l1=l1, l2=l2)


_FIX = "dp.Sensitive(lambda: counts, l1=1, whole=True, shape=len(counts))"
