"""A specimen: what a δ may hide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from deniable import parameters
from deniable.errors import BadParameter
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.sampling import bernoulli
from deniable.sensitive import Form, Sensitive


@dataclass(frozen=True, kw_only=True)
class Catastrophe(Mechanism):
    """Catastrophe: publish the data as they are, with probability δ; else nothing.

    Releases   x with probability δ, None otherwise
    Privacy    (0, δ)-DP: the definition allows it                           [DR14, Sec. 2.3]
    Error      none, when disaster strikes
    Assumes    nothing
    Numerics   the coin is exact

    It exists to be looked at: a δ near 1/n lets someone's row out with the blessing of the
    definition. Choose δ so that even this would not happen in the lifetime of the data.

    >>> Catastrophe(delta=1e-12).release("everybody's rows") is None
    True
    """

    name: ClassVar[str] = "catastrophe"
    norm: ClassVar[Norm] = "linf"

    delta: float

    def __post_init__(self) -> None:
        if not parameters.fraction_below_one("delta", self.delta) > 0:
            raise BadParameter.of("delta", self.delta, must="a number between 0 and 1")

    def approx(self) -> tuple[float, float]:
        """(0, δ)."""
        return 0.0, self.delta

    def _check_covers(self, value: Sensitive[Any]) -> None:
        """Any value will do: it is published whole."""

    def reading(self, form: Form) -> Callable[[Any], Any]:  # noqa: ARG002  any value will do
        """The value as it is."""
        return lambda value: value

    def draw(self, value: object) -> object:
        """Everything or nothing."""
        return value if bool(bernoulli(Fraction(self.delta), 1)[0]) else None
