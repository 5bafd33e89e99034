"""What a minimisation returns: the point, how good it is expected to be, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

import numpy as np
from numpy.typing import NDArray

from deniable.losses import Loss
from deniable.release import Release
from deniable.release.certificate import Certificate
from deniable.release.numbers import amount, digits


@dataclass(frozen=True, kw_only=True, eq=False)
class Minimum:
    """A private minimum.

    `x` is the point. `excess_bound` bounds the *expected* mean loss above the least one on the set
    (of the clipped rows; the expectation is over the noise), computed from public facts and from
    the noisy number of rows. `loss` is what was spent.
    """

    x: NDArray[np.float64]
    excess_bound: float
    loss: Loss
    method: str
    release: Release = field(repr=False)

    def certificate(self) -> Certificate:
        """What was promised about whom, and where it is written down."""
        return self.release.certificate()

    def _facts(self) -> dict[str, str]:
        return {
            "method": self.method,
            "excess": f"expected at most {digits(self.excess_bound, 'up')} above the least loss",
            "cost": amount(self.loss, "up"),
        }

    def __str__(self) -> str:
        point = np.array2string(self.x, precision=4, threshold=12)
        return "\n".join(
            [f"minimum at {point}", *(f"  {k:<7} {v}" for k, v in self._facts().items())]
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
