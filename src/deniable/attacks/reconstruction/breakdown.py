"""Where reconstruction breaks down: the share of bits found against noise in units of √n."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable import parameters
from deniable.attacks.telling import Facts, Told, percent
from deniable.plots import Axes, curves
from deniable.sampling.public import PublicRandom

from ._reconstruct import reconstruct
from .fourier import hadamard_counts

_ATTACKS = (
    "bounded noise, least squares",
    "Laplace noise, least absolute",
    "Gaussian noise, Fourier",
)
_LEVELS = (0.1, 0.2, 1 / 3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Breakdown(Told):
    """The share of bits that each attack finds, for noise of each size."""

    people: int
    questions: int
    levels: tuple[float, ...]
    """Standard deviations of the noise, in units of √n."""
    accuracy: dict[str, tuple[float, ...]]
    private: float
    """The standard deviation, in the same units, of Laplace noise for all questions at ε = 1."""

    def _headline(self) -> str:
        best = max(self.accuracy, key=lambda name: sum(self.accuracy[name]))
        first, last = self.accuracy[best][0], self.accuracy[best][-1]
        return (
            f"{percent(first)} of {self.people:,} bits are found at noise {self.levels[0]:g} × √n, "
            f"{percent(last)} at {self.levels[-1]:g} × √n; guessing finds 50 %."
        )

    def _facts(self) -> Facts:
        facts = [
            (name.split(",")[0], " ".join(f"{share:.2f}" for share in shares))
            for name, shares in self.accuracy.items()
        ]
        levels = " ".join(f"{level:.2f}" for level in self.levels)
        return [
            ("noise / √n", levels),
            *facts,
            ("ε = 1", f"Laplace noise for all questions: {self.private:.3g} × √n"),
        ]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Accuracy against noise; ½ is guessing."""
        return curves(
            list(self.levels),
            {name: list(shares) for name, shares in self.accuracy.items()},
            x="standard deviation of the noise, in units of √n",
            y="share of bits found",
            title="Where noise stops reconstruction",
            marks={"√n": 1.0},
            logarithmic=True,
            unit=f"n = {self.people:,} people, {self.questions:,} questions",
            ax=ax,
        )


def breakdown(
    *,
    people: int = 512,
    questions: int | None = None,
    levels: Sequence[float] = _LEVELS,
    repeats: int = 3,
    seed: int = 0,
) -> Breakdown:
    """Attack made-up bits under noise of each size and law, and count what is found.

    The noise here is simulated to attack made-up people: it protects nobody. `people` is rounded up
    to a power of two, for the Fourier attack.
    """
    n = 1 << (parameters.whole("people", people, least=2) - 1).bit_length()
    m = 8 * n if questions is None else parameters.whole("questions", questions)
    sizes = [parameters.positive("levels", level) for level in levels]
    rounds = parameters.whole("repeats", repeats)
    random = PublicRandom(seed)
    right = [
        np.mean([_once(random, n, m, level) for _ in range(rounds)], axis=0).tolist()
        for level in sizes
    ]
    return Breakdown(
        people=n,
        questions=m,
        levels=tuple(sizes),
        accuracy={name: tuple(each[i] for each in right) for i, name in enumerate(_ATTACKS)},
        private=float(np.sqrt(2) * m / np.sqrt(n)),
    )


def _once(source: PublicRandom, n: int, m: int, level: float) -> list[float]:
    """The accuracy of each attack on one made-up table."""
    random = source.generator
    bits = random.integers(0, 2, n)
    asked = random.integers(0, 2, (m, n), dtype=np.int8)
    counts = asked.astype(np.float32) @ bits.astype(np.float32)
    sigma = level * np.sqrt(n)
    reach = np.sqrt(3) * sigma
    bounded = reconstruct(asked, counts + random.uniform(-reach, reach, m), noise="bounded")
    heavy = counts + random.laplace(scale=sigma / np.sqrt(2), size=m)
    absolute = reconstruct(asked, heavy, noise="laplace")
    waves = hadamard_counts(bits) + random.normal(scale=sigma, size=n)
    fourier = reconstruct(None, waves, method="fourier")
    return [each.accuracy(bits) for each in (bounded, absolute, fourier)]
