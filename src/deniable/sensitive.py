"""Values computed from data that hide themselves.

A `Sensitive` is a promise in two halves: a computation that has not run yet, and what is public
about its result: how far one unit can move it, and its form. Printing, comparing, converting,
hashing, iterating or pickling it is refused; only a session computes it, and only after the charge
is written.

The form (whole or real numbers, how many, under which keys) is declared, never read from the
result: a sum that happens to be an `int`, a list that happens to be longer or a missing group would
tell something about the rows. What is computed is coerced to the declared form, or it fails.

Values may be scaled, added, stacked and computed with; what that is bounded by is derived.

    >>> Sensitive(lambda: 42, l1=1)
    Sensitive(hidden, l1=1)
    >>> f"{Sensitive(lambda: [4, 2], l1=1, whole=True, shape=2)}"
    'Sensitive(hidden, l1=1, whole=True, shape=2)'
    >>> 5 * Sensitive(lambda: 42, l1=1, whole=True) + Sensitive(lambda: 1, l1=2, whole=True)
    Sensitive(hidden, l1=7, l2=7, linf=7, whole=True)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from numbers import Real
from typing import Any, Final, Generic, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import parameters
from .errors import BadParameter, HiddenValue, UnitMismatch
from .forms import Form, exact, read_numbers
from .units import Unit

T = TypeVar("T")

# ‖x‖∞ ≤ ‖x‖₂ ≤ ‖x‖₁: a bound in a norm to the right also bounds every norm to its left.
_IMPLIED_BY = {"linf": ("linf", "l2", "l1"), "l2": ("l2", "l1"), "l1": ("l1",)}


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
    `ready` are entered before the charge and left after the draw: what the computation needs, and
    public facts or the environment alone can refuse, is refused there, free.
    """

    __slots__ = ("__compute", "_bounds", "entries", "form", "ready", "stream", "unit")

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
        ready: Sequence[AbstractContextManager[object]] = (),
    ) -> None:
        if not callable(compute):
            raise BadParameter(
                "compute must be a function without arguments, run after the charge; "
                f"you gave {parameters.a_kind(compute)}",
                fix="dp.Sensitive(lambda: table.sum(), l1=...)",
            )
        given = {"l1": l1, "l2": l2, "linf": linf}
        self._bounds = {k: parameters.non_negative(k, v) for k, v in given.items() if v is not None}
        if not self._bounds:
            raise BadParameter(
                "a sensitive value needs at least one of l1=, l2=, linf=",
                why="without a bound on how much one unit can change it, no noise is enough",
                fix="dp.Sensitive(compute, l1=1)",
            )
        self.__compute = compute
        self.unit = unit
        self.form = Form.of(whole=whole, shape=shape, keys=keys, statistic=statistic)
        self.entries = None if entries is None else parameters.whole("entries", entries)
        if stream is not None and (not isinstance(stream, str) or not stream):
            raise BadParameter.of("stream", stream, must='a name, such as "arrivals"')
        self.stream = stream
        self.ready = tuple(ready)

    def read_by(self, read: Callable[[Any], Any]) -> Sensitive[Any]:
        """The same promise about the value as `read` makes of it, after it is computed."""
        run = self.__compute
        return self._same(lambda: read(run()))

    def kept(self) -> Sensitive[T]:
        """The same value, computed only once: for algorithms that ask about it again and again.

        Each question is charged by itself all the same.
        """
        run, held = self.__compute, list[T]()

        def compute() -> T:
            if not held:
                held.append(run())
            return held[0]

        return self._same(compute)

    def _same(self, compute: Callable[[], Any]) -> Sensitive[Any]:
        made: Sensitive[Any] = Sensitive(compute, l1=0, unit=self.unit, ready=self.ready)
        made._bounds, made.form = self._bounds, self.form
        made.entries, made.stream = self.entries, self.stream
        return made

    def bound(self, norm: str) -> float | None:
        """The least bound in this norm that follows from those given; None if none follows."""
        bounds = [self._bounds[n] for n in _IMPLIED_BY[norm] if n in self._bounds]
        return min(bounds, default=None)

    # ---- values made of values: exact, with the bounds that follow

    def then(self, function: Callable[[Any], Any], **declared: Any) -> Sensitive[Any]:
        """What a function makes of the value in its declared form; you prove its bounds.

        `counts.then(numpy.max, linf=1)`: what is declared is as for `dp.Sensitive`.
        """
        return Sensitive(
            lambda: function(_numbers(self)), unit=self.unit, ready=self.ready, **declared
        )

    def at(self, place: Hashable) -> Sensitive[Any]:
        """One of the numbers, by its key or its place."""
        keys, sizes = self.form.keys, self.form.shape
        if keys is not None:
            place = keys.index(place) if place in keys else None
        places = place if isinstance(place, tuple) else (place,)
        if len(places) != len(sizes) or not all(map(_is_place, places, sizes)):
            raise BadParameter.of("place", place, must=f"one of {self.form.size} numbers")
        return self.then(
            lambda numbers: numbers[places], l1=self.bound("linf"), whole=self.form.whole
        )

    def __mul__(self, factor: float) -> Sensitive[Any]:
        if isinstance(factor, bool) or not isinstance(factor, Real):
            return NotImplemented
        by = Fraction(parameters.real("factor", factor))
        number = int(by) if by.denominator == 1 else by
        bounds = {norm: _above(abs(by) * Fraction(b)) for norm, b in self._bounds.items()}
        whole = self.form.whole if by.denominator == 1 else False
        return _made([self], lambda x: x * number, bounds, replace(self.form, whole=whole))

    __rmul__ = __mul__

    def __add__(self, other: Sensitive[Any]) -> Sensitive[Any]:
        if not isinstance(other, Sensitive):
            return NotImplemented
        return _made([self, other], operator.add, _joint([self, other], _NORMS_OF_SUMS))

    def __sub__(self, other: Sensitive[Any]) -> Sensitive[Any]:
        return self + -1 * other

    @staticmethod
    def stack(values: Sequence[Sensitive[Any]]) -> Sensitive[Any]:
        """Several values of one form as one array, whose first axis tells them apart."""
        if not values:
            raise BadParameter("cannot stack an empty list")
        shape = (len(values), *values[0].form.shape)
        form = Form(whole=_whole(values), shape=shape)
        return _made(values, lambda *x: np.stack(x), _joint(values, _NORMS_OF_STACKS), form)

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
            "a sensitive value cannot be read, compared, converted or stored",
            why="it is computed from people's data and has no noise yet",
            fix="session.release(mechanism.on(value))",
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __refuse
    __array_ufunc__ = None  # NumPy's numbers leave * to us
    __hash__ = __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __refuse
    __int__ = __float__ = __complex__ = __index__ = __bytes__ = __refuse
    __array__ = __call__ = __reduce__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = (
        __refuse
    )


def _made(
    values: Sequence[Sensitive[Any]],
    function: Callable[..., Any],
    bounds: Mapping[str, float],
    form: Form | None = None,
) -> Sensitive[Any]:
    """What a function makes of exact numbers; of one form, about one unit."""
    first, units = values[0], {each.unit for each in values}
    if len(units) > 1:
        raise UnitMismatch("the values are bounded for different units", why=_ONE_UNIT)
    for each in values:
        if (each.form.shape, each.form.keys) != (first.form.shape, first.form.keys):
            raise BadParameter("the values have different shapes or keys")
        if each.form.statistic is not None or each.stream is not None:
            raise BadParameter("values of a sample or a stream cannot be computed with")
    made: Sensitive[Any] = Sensitive(
        lambda: function(*(exact(_numbers(each)) for each in values)),
        l1=bounds.get("l1"),
        l2=bounds.get("l2"),
        linf=bounds.get("linf"),
        unit=first.unit,
        ready=tuple(dict.fromkeys(r for each in values for r in each.ready)),
    )
    made.form = form or replace(first.form, whole=_whole(values))
    entries = [each.entries for each in values]
    made.entries = None if None in entries else sum(e for e in entries if e)
    return made


def _whole(values: Sequence[Sensitive[Any]]) -> bool | None:
    """Whole numbers if all are; real if one is; else as the mechanism decides."""
    declared = {each.form.whole for each in values}
    return False if False in declared else None if None in declared else True


def _joint(
    values: Sequence[Sensitive[Any]], norms: Mapping[str, Callable[[list[Fraction]], float]]
) -> dict[str, float]:
    """The bounds of values together, in each norm in which all of them have one."""
    known = {norm: [each.bound(norm) for each in values] for norm in norms}
    return {
        norm: norms[norm]([Fraction(b) for b in bounds if b is not None])
        for norm, bounds in known.items()
        if None not in bounds
    }


def _above(number: Fraction) -> float:
    """The least float that is not below a number; ∞, which no bound may be, if there is none."""
    try:
        near = float(number)
    except OverflowError:
        return math.inf
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


def _root_above(square: Fraction) -> float:
    """A float that is not below the root of a number, and hardly above it, however small it is."""
    up, down = square.numerator, square.denominator
    shift = max(0, 64 + (down.bit_length() - up.bit_length()) // 2)
    return _above(Fraction(math.isqrt((up << 2 * shift) // down) + bool(up), 1 << shift))


# ‖x + y‖ ≤ ‖x‖ + ‖y‖ in every norm; of (x, y) the parts do not meet.
_NORMS_OF_SUMS: Final = dict.fromkeys(_IMPLIED_BY, lambda bounds: _above(sum(bounds, Fraction(0))))
_NORMS_OF_STACKS: Final = {
    "l1": _NORMS_OF_SUMS["l1"],
    "l2": lambda bounds: _root_above(sum((b * b for b in bounds), Fraction(0))),
    "linf": lambda bounds: _above(max(bounds)),
}
_ONE_UNIT: Final = "a bound holds only for the privacy unit and relation it was stated for"


def _is_place(place: object, size: int) -> bool:
    return isinstance(place, int) and not isinstance(place, bool) and 0 <= place < size


def _numbers(value: Sensitive[Any]) -> NDArray[Any]:
    """The value in its declared form: for the computation of another value, after the charge."""
    return read_numbers(compute(value), value.form)


def compute(value: Sensitive[T]) -> T:
    """Run the computation. A test keeps `session` (and mechanisms asked by it) the only caller."""
    run: Callable[[], T] = value._Sensitive__compute  # type: ignore[attr-defined]  # noqa: SLF001  (the one reader)
    return run()
