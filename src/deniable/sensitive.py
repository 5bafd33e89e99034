"""Values computed from data that hide themselves.

A `Sensitive` is a promise in two halves: a computation that has not run yet, and what is public
about its result: how far one unit can move it, and its form. Printing, comparing, converting,
hashing, iterating or pickling it is refused; only a session computes it, and only after the charge
is written.

The form (whole or real numbers, how many, under which keys) is declared, never read from the
result: a sum that happens to be an `int`, a list that happens to be longer or a missing group would
tell something about the rows. What is computed is coerced to the declared form, or it fails.

    >>> Sensitive(lambda: 42, l1=1)
    Sensitive(hidden, l1=1)
    >>> f"{Sensitive(lambda: [4, 2], l1=1, whole=True, shape=2)}"
    'Sensitive(hidden, l1=1, whole=True, shape=2)'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, Generic, NoReturn, TypeVar

from . import parameters
from .errors import BadParameter, HiddenValue
from .units import Unit

T = TypeVar("T")

# ‖x‖∞ ≤ ‖x‖₂ ≤ ‖x‖₁: a bound in a norm to the right also bounds every norm to its left.
_IMPLIED_BY = {"linf": ("linf", "l2", "l1"), "l2": ("l2", "l1"), "l1": ("l1",)}


@dataclass(frozen=True, kw_only=True)
class Form:
    """What the result of a computation looks like: public, and fixed before it runs.

    `whole` is None where nothing was declared: the mechanism decides, and real is the default.
    """

    whole: bool | None = None
    shape: tuple[int, ...] = ()
    keys: tuple[Hashable, ...] | None = None
    statistic: Callable[[Any], object] | None = None

    @staticmethod
    def of(*, whole: object, shape: object, keys: object, statistic: object = None) -> Form:
        """The form that the arguments of a `Sensitive` declare."""
        if statistic is not None and not callable(statistic):
            raise BadParameter.of("statistic", statistic, must="a function of a sample's rows")
        form = Form._numbers(whole=whole, shape=shape, keys=keys)
        return replace(form, statistic=statistic)

    @staticmethod
    def _numbers(*, whole: object, shape: object, keys: object) -> Form:
        if whole is not None and not isinstance(whole, bool):
            raise BadParameter.of("whole", whole, must="True (whole numbers) or False (real ones)")
        listed = None if keys is None else _keys(keys)
        if shape is None:
            return Form(whole=whole, shape=() if listed is None else (len(listed),), keys=listed)
        sizes = shape if isinstance(shape, tuple | list) else (shape,)
        exact = tuple(parameters.whole("shape", size, least=0) for size in sizes)
        if listed is not None and exact != (len(listed),):
            raise BadParameter.of("shape", shape, must=f"{len(listed)}, one for each key")
        return Form(whole=whole, shape=exact, keys=listed)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return math.prod(self.shape)

    def __str__(self) -> str:
        whole = "" if self.whole is None else f", whole={self.whole}"
        if self.keys is not None:
            return f"{whole}, {len(self.keys)} keys"
        shape = self.shape[0] if len(self.shape) == 1 else self.shape
        return whole + (f", shape={shape}" if self.shape else "")


@parameters.made("dp.Sensitive(lambda: 3, l1=1)")
class Sensitive(Generic[T]):
    """A lazy private value with bounds on how far one unit can move it (L1, L2, L∞).

    It is one real number unless more is declared: `whole=True` for whole numbers, `shape=3` or
    `shape=(2, 3)` for arrays, `keys=["a", "b"]` for one number per key (a key that the result lacks
    counts as 0, one that is not listed is left out). `entries` says how many of the numbers (of a
    sample: rows) one unit may change, for mechanisms that randomize each entry by itself. Values
    with the same `stream` name are bounded together: one unit moves all of them by l1 in total.
    Where a mechanism draws a sample, the value is one row per unit, and everything declared is
    about what is made of the sample: the sum of its rows, or what `statistic` returns for them.
    """

    __slots__ = ("__compute", "_bounds", "entries", "form", "stream", "unit")

    def __init__(
        self,
        compute: Callable[[], T],
        *,
        l1: object = None,
        l2: object = None,
        linf: object = None,
        unit: Unit | None = None,
        whole: object = None,
        shape: object = None,
        keys: object = None,
        entries: object = None,
        stream: object = None,
        statistic: Callable[[Any], object] | None = None,
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
        self.form = Form.of(whole=whole, shape=shape, keys=keys, statistic=statistic)
        self.entries = None if entries is None else parameters.whole("entries", entries)
        if stream is not None and (not isinstance(stream, str) or not stream):
            raise BadParameter.of("stream", stream, must='a name, such as "arrivals"')
        self.stream = stream

    def read_by(self, read: Callable[[Any], Any]) -> Sensitive[Any]:
        """The same promise about the value as `read` makes of it, after it is computed."""
        run = self.__compute
        coerced: Sensitive[Any] = Sensitive(lambda: read(run()), l1=0, unit=self.unit)
        coerced._bounds, coerced.form = self._bounds, self.form
        coerced.entries, coerced.stream = self.entries, self.stream
        return coerced

    def bound(self, norm: str) -> float | None:
        """The least bound in this norm that follows from those given; None if none follows."""
        bounds = [self._bounds[n] for n in _IMPLIED_BY[norm] if n in self._bounds]
        return min(bounds, default=None)

    def __repr__(self) -> str:
        bounds = "".join(f", {name}={bound:g}" for name, bound in self._bounds.items())
        unit = f", unit={self.unit!r}" if self.unit is not None else ""
        entries = f", entries={self.entries}" if self.entries is not None else ""
        stream = f", stream={self.stream!r}" if self.stream is not None else ""
        return f"Sensitive(hidden{bounds}{self.form}{entries}{stream}{unit})"

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


def _keys(keys: object) -> tuple[Hashable, ...]:
    must = "a list of different keys"
    if not isinstance(keys, list | tuple) or not keys:
        raise BadParameter.of("keys", type(keys), must=must)
    try:
        different = len(set(keys)) == len(keys)
    except TypeError:
        different = False
    if not different:
        raise BadParameter("keys must be a list of different keys, each hashable")
    return tuple(keys)


def compute(value: Sensitive[T]) -> T:
    """Run the computation. A test keeps `session` (and mechanisms asked by it) the only caller."""
    run: Callable[[], T] = value._Sensitive__compute  # type: ignore[attr-defined]  # noqa: SLF001
    return run()
