"""Values computed from data that hide themselves.

A `Sensitive` is a promise in two halves: a computation that has not run yet, and how far one unit
can move its result. Printing, comparing, converting, hashing, iterating or pickling it is refused;
only a session computes it, and only after the charge is written.

    >>> Sensitive(lambda: 42, l1=1)
    Sensitive(hidden, l1=1)
    >>> f"{Sensitive(lambda: 42, l1=1)}"
    'Sensitive(hidden, l1=1)'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NoReturn, TypeVar

from . import parameters
from .errors import BadParameter, HiddenValue
from .units import Unit

T = TypeVar("T")

# ‖x‖∞ ≤ ‖x‖₂ ≤ ‖x‖₁: a bound in a norm to the right also bounds every norm to its left.
_IMPLIED_BY = {"linf": ("linf", "l2", "l1"), "l2": ("l2", "l1"), "l1": ("l1",)}


@parameters.made("dp.Sensitive(lambda: 3, l1=1)")
class Sensitive(Generic[T]):
    """A lazy private value with bounds on how far one unit can move it (L1, L2, L∞)."""

    __slots__ = ("__compute", "_bounds", "unit")

    def __init__(
        self,
        compute: Callable[[], T],
        *,
        l1: object = None,
        l2: object = None,
        linf: object = None,
        unit: Unit | None = None,
    ) -> None:
        if not callable(compute):
            raise BadParameter.of(
                "compute",
                type(compute),
                must="a function without arguments, run after the charge",
                fix="dp.Sensitive(lambda: table.sum(), l1=...)",
            )
        given = {"l1": l1, "l2": l2, "linf": linf}
        self._bounds = {k: parameters.non_negative(k, v) for k, v in given.items() if v is not None}
        if not self._bounds:
            raise BadParameter(
                "a sensitive value needs at least one of l1=, l2=, linf=",
                why="without a bound on how far one unit can move it, no noise is enough",
                fix="dp.Sensitive(compute, l1=1)",
            )
        self.__compute = compute
        self.unit = unit

    def bound(self, norm: str) -> float | None:
        """The least bound in this norm that follows from those given; None if none follows."""
        bounds = [self._bounds[n] for n in _IMPLIED_BY[norm] if n in self._bounds]
        return min(bounds, default=None)

    def __repr__(self) -> str:
        bounds = "".join(f", {name}={bound:g}" for name, bound in self._bounds.items())
        unit = f", unit={self.unit!r}" if self.unit is not None else ""
        return f"Sensitive(hidden{bounds}{unit})"

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __refuse(self, *_: object) -> NoReturn:
        raise HiddenValue(
            "a sensitive value cannot be looked at, compared, converted or stored",
            why="it is computed from people's data and carries no noise yet",
            fix="session.release(mechanism.on(value))",
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __refuse
    __hash__ = __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __refuse
    __int__ = __float__ = __complex__ = __index__ = __bytes__ = __refuse
    __array__ = __call__ = __reduce__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = (
        __refuse
    )


def compute(value: Sensitive[T]) -> T:
    """Run the computation. A test keeps `session` (and mechanisms asked by it) the only caller."""
    run: Callable[[], T] = value._Sensitive__compute  # type: ignore[attr-defined]  # noqa: SLF001
    return run()
