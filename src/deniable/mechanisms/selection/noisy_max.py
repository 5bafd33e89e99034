"""Report noisy max: add noise to every score, say which is largest, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from numpy.typing import ArrayLike

from deniable import parameters
from deniable.sampling import select

from ._scores import Selection, checked_scores


@parameters.made("dp.NoisyMax(epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class NoisyMax(Selection):
    """NoisyMax: the candidate whose score is largest after noise.

    Releases   argmaxᵢ uᵢ + noise of scale 2Δ/ε; Δ/ε if monotonic
    Privacy    ε-DP with Laplace, exponential or Gumbel noise     [DR14, Claim 3.9; DKSSWXZ21]
               Gumbel noise is the exponential mechanism: below ε²/8-zCDP  [DR19, Lemma 4.2; DDR20]
    Error      the score is within 2·(2Δ/ε)·ln(m/β) of the best of m with probability 1 − β
    Assumes    Δ ≥ max |uᵢ(x) − uᵢ(x′)| over neighbours and candidates; candidates are public
    Numerics   exact: real noise, compared lazily; only the index leaves

    The scale Δ/ε that is often printed for any score holds for monotonic scores only: in general
    it is 2ε-private.

    >>> NoisyMax(epsilon=10.0).release([0, 0, 1000])
    2
    """

    name: ClassVar[str] = "noisy_max"

    noise: Literal["laplace", "exponential", "gumbel"] = "laplace"

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters.one_of("noise", self.noise, ("laplace", "exponential", "gumbel"))

    @property
    def bounded_range(self) -> bool:
        """Only Gumbel noise bounds the range."""
        return self.noise == "gumbel"

    def error(self, confidence: float = 0.95, *, candidates: int | None = None) -> float:
        """How far below the best the chosen score may be, with this probability, among so many."""
        once = super().error(confidence, candidates=candidates)
        # Laplace noise errs on both sides; with the others one side is enough.
        return 2 * once if self.noise == "laplace" else once

    def draw(self, value: ArrayLike) -> int:
        """The index of the chosen candidate."""
        return select.noisy_max(checked_scores(value), self.scale, noise=self.noise)
