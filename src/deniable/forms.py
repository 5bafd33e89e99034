"""What a private value looks like is declared; whatever was computed is coerced to that.

A pandas sum is an int without and a float with a missing value; a NumPy scalar, a `Decimal` or a
0-d array may hold the same number. A mechanism must not see which: it gets int64 if whole numbers
are declared, float64 if real ones are, in the declared shape. A value that does not have that form
is refused, and as this happens after the charge, the session makes a data failure of it.

Real numbers that float64 cannot hold (a third, 2⁵³ + 1) stay exact, as an array of fractions:
rounding them could move two neighbours further apart than was declared.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from numbers import Number
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import parameters
from .errors import BadParameter

V = TypeVar("V")
R = TypeVar("R")

_INT64 = np.iinfo(np.int64)
_EXACT = 2**53
_FAR = 2**63
LONGEST = 4300  # digits that Python writes of a whole number (sys.int_info.default_max_str_digits)
_LONGEST_BITS = 14_280  # of at most that many digits


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
        if whole is not None and not isinstance(whole, bool):
            raise BadParameter.of("whole", whole, must="True (whole numbers) or False (real ones)")
        listed = None if keys is None else _keys(keys)
        numbers = () if listed is None else (len(listed),)
        sizes = numbers if shape is None else shape if isinstance(shape, tuple | list) else (shape,)
        exact = tuple(parameters.whole("shape", size, least=0) for size in sizes)
        if listed is not None and exact != numbers:
            raise BadParameter.of("shape", shape, must=f"{len(listed)}, one for each key")
        return Form(whole=whole, shape=exact, keys=listed, statistic=statistic)

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


def read_numbers(value: Any, form: Form) -> NDArray[Any]:
    """The numbers of the declared form: int64, float64, or fractions where floats do not do."""
    array = as_array(value, form)
    if array.shape != form.shape:
        raise BadParameter(
            f"the value has shape {array.shape}; the declared shape is {form.shape}",
            fix=f"dp.Sensitive(..., shape={array.shape}), if that is public",
        )
    return read_whole(array) if form.whole else read_real(array)


def needs_shape(name: str, form: Form, *, dimensions: int, what: str, example: str) -> None:
    """Refuse a form that does not say how many numbers there are; by public facts alone."""
    if len(form.shape) != dimensions or not form.size:
        raise BadParameter(
            f"{name} takes {what}, and their number is not declared",
            why="the length of a list computed from rows reveals something about them",
            fix=f"dp.Sensitive(..., shape={example})",
        )


def read_pair(value: Any) -> tuple[float, float]:
    """Two real numbers that float64 can hold."""
    first, second = (float(read_floats(part, Form())) for part in value)
    return first, second


def read_floats(value: Any, form: Form) -> NDArray[np.float64]:
    """Real numbers that float64 can hold: what it cannot is refused, as rounding may add to Δ."""
    array = read_numbers(value, Form(whole=False, shape=form.shape, keys=form.keys))
    if array.dtype == object:
        raise BadParameter("the value must be a number that a float can hold")
    return array


def exact(array: NDArray[Any]) -> NDArray[Any]:
    """Numbers that were read, as Python's: whole ones as int, real ones as fractions."""
    if array.dtype.kind == "i":
        return array.astype(object)
    made = np.empty(array.size, dtype=object)
    made[:] = [Fraction(x) for x in array.ravel().tolist()]
    return made.reshape(array.shape)


def read_whole(array: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers as int64, held at its ends, which never moves two of them apart."""
    array = _typed(array)
    if array.dtype.kind in "bi":
        return array.astype(np.int64)
    if array.dtype.kind == "u":
        return np.minimum(array.astype(np.uint64), np.uint64(_INT64.max)).astype(np.int64)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        floats = array.astype(np.float64)
        if not (np.isfinite(floats) & (floats == np.rint(floats))).all():
            raise _not_numbers("whole numbers")
        inside = np.abs(floats) < 2.0**63
        ends = np.where(floats < 0, _INT64.min, _INT64.max)
        return np.where(inside, np.where(inside, floats, 0.0).astype(np.int64), ends)
    exact = [_exact(x) for x in array.flat]
    if any(x.denominator != 1 for x in exact):
        raise _not_numbers("whole numbers")
    held = [max(_INT64.min, min(int(x), _INT64.max)) for x in exact]
    return np.array(held, dtype=np.int64).reshape(array.shape)


def read_real(array: NDArray[Any]) -> NDArray[Any]:
    """Real numbers as float64 if it holds all of them exactly, else as fractions."""
    array = _typed(array)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        if not np.isfinite(array).all():
            raise _not_numbers("finite numbers")
        return array.astype(np.float64)
    if array.dtype.kind in "biu" and (not array.size or _within(array)):
        return array.astype(np.float64)
    exact = [_exact(x) for x in array.flat]
    floats = [_nearest(x) for x in exact]
    if all(float(x) == y for x, y in zip(floats, exact, strict=True)):
        return np.array(floats, dtype=np.float64).reshape(array.shape)
    kept = np.empty(len(exact), dtype=object)
    kept[:] = exact
    return kept.reshape(array.shape)


def plain_key(key: object) -> Hashable:
    """A key as its value alone decides: keys that are equal come out as one type, written alike.

    Whichever of two equal keys came first is the one that a dict keeps, so its type would tell
    about a row; and one missing value makes floats of a column of whole numbers. Hence 1.0, True,
    NumPy's 1 and `Decimal("1.00")` are 1, a moment is a `datetime`, with a zone in UTC, and a tuple
    holds such keys. All that is missing is None, and so are moments beyond the calendar and numbers
    of more digits than Python writes.

    >>> plain_key((1.0, Decimal("0.50"), np.str_("a"), Fraction(1, 10), float("nan")))
    (1, 0.5, 'a', Decimal('0.1'), None)
    """
    if type(key) is str or (type(key) is int and -_FAR < key < _FAR):
        return key
    if type(key) is tuple:
        return tuple(map(plain_key, key))
    return None if is_missing(key) else _plain_value(key)


def _plain_value(key: object) -> Hashable:
    if hasattr(key, "as_py"):  # a scalar of PyArrow
        return plain_key(key.as_py())
    match key:
        case str():
            return str.__str__(key)
        case bytes():
            return bytes(key)
        case np.datetime64() | np.timedelta64():
            return _numpy_moment(key)
        case dt.datetime() | dt.timedelta():
            return _moment(key)
        case dt.time():
            return key.replace(fold=0)
        case tuple():
            return tuple(map(plain_key, key))
        case frozenset():
            return frozenset(map(plain_key, key))
        case Number() | np.generic():
            return _plain_number(key.item() if isinstance(key, np.generic) else key)
    return _interval(key) if type(key).__name__ == "Interval" else key


def _interval(key: Any) -> Hashable:
    """An interval of pandas.cut; that of another library as it is."""
    made: Hashable = key
    if isinstance(key.left, Number):
        made = type(key)(plain_key(key.left), plain_key(key.right), closed=key.closed)
    return made


def attempted(read: Callable[[V], R], value: V, *, otherwise: R) -> R:
    """What `read` makes of rows, or else this: whatever is raised there may depend on rows.

    An object may raise what it likes, exit codes too. Ctrl-C comes from outside.
    """
    try:
        return read(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  all of it may depend on rows
        return otherwise


def is_missing(key: object) -> bool:
    """None, and what does not equal itself: NaN, NaT and pandas.NA."""
    try:
        return key is None or not operator.eq(key, key)  # NaN; pandas.NA
    except (TypeError, ValueError, ArithmeticError):
        return True


def _plain_number(number: Any) -> Hashable:
    """An int if it is whole, a float if one holds it exactly; else a Decimal or a Fraction."""
    if isinstance(number, complex):
        return _plain_number(number.real) if number.imag == 0 else number
    if isinstance(number, Decimal) and number.is_finite() and abs(number.adjusted()) > LONGEST:
        return None  # and its digits are not made
    try:
        exact = Fraction(*map(int, number.as_integer_ratio()))
    except OverflowError:
        return float(number)  # infinite
    except (AttributeError, TypeError, ValueError):
        return number  # type: ignore[no-any-return]  # of another library
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > _LONGEST_BITS:
        return None
    if exact.denominator == 1:
        return exact.numerator
    near = _nearest(exact)
    return near if near == exact else _terminating(exact) or exact


def decimal_places(exact: Fraction) -> int | None:
    """How many digits after the point write a fraction exactly; None if none do, or too many."""
    twos = (exact.denominator & -exact.denominator).bit_length() - 1
    fives, rest = 0, exact.denominator >> twos
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    places = max(twos, fives)
    return None if rest != 1 or places > LONGEST else places


def _terminating(exact: Fraction) -> Decimal | None:
    """The decimal that a fraction equals, in its fewest digits; None if it equals none."""
    places = decimal_places(exact)
    if places is None:
        return None
    digits = tuple(map(int, str(abs(exact.numerator) * 10**places // exact.denominator)))
    return Decimal((int(exact < 0), digits, -places))


def _moment(moment: Any) -> Hashable:
    """A moment or a duration of Python or pandas; one finer than a microsecond stays NumPy's."""
    if getattr(moment, "nanosecond", getattr(moment, "nanoseconds", 0)):
        return _numpy_moment(moment.to_numpy())
    try:
        if isinstance(moment, dt.timedelta):
            return dt.timedelta(moment.days, moment.seconds, moment.microseconds)
        zone = None if moment.utcoffset() is None else dt.UTC
        plain = moment if zone is None else moment.astimezone(zone)
        day, time = (plain.year, plain.month, plain.day), (plain.hour, plain.minute, plain.second)
        return dt.datetime(*day, *time, plain.microsecond, tzinfo=zone)
    except (OverflowError, ValueError):
        return None


def _numpy_moment(moment: Any) -> Hashable:
    """Python's, if it has it."""
    kind = "datetime64" if isinstance(moment, np.datetime64) else "timedelta64"
    held: Hashable = moment.item()
    if isinstance(held, int) and np.datetime_data(moment.dtype)[0] in ("ns", "ps", "fs", "as"):
        coarse = moment.astype(f"{kind}[us]")
        held = coarse.item() if coarse == moment else moment.astype(f"{kind}[ns]")
    if isinstance(held, dt.date) and not isinstance(held, dt.datetime):
        return dt.datetime.combine(held, dt.time())
    return None if isinstance(held, int) else held


def as_array(value: Any, form: Form) -> NDArray[Any]:
    """The result as it is, in an array: by the order of its keys, or by place."""
    if form.keys is not None and (isinstance(value, Mapping) or hasattr(value, "items")):
        value = _by_key(value, form.keys)
    if isinstance(value, Iterator) and len(form.shape) == 1:
        value = list(islice(value, form.shape[0] + 1))
    if hasattr(value, "as_py"):  # a scalar of PyArrow
        value = value.as_py()
    if hasattr(value, "__array__"):
        return np.asarray(value)
    if isinstance(value, list | tuple):
        return np.array(value, dtype=object)
    array = np.empty((), dtype=object)
    array[()] = value
    return array


def _by_key(value: Any, keys: tuple[Hashable, ...]) -> list[object]:
    """The numbers of the listed keys; of others it does not matter how often they come."""
    listed = {plain_key(key) for key in keys}
    pairs = [(plain_key(key), number) for key, number in value.items()]
    found = [(key, number) for key, number in pairs if key in listed]
    if len(dict(found)) != len(found):
        raise BadParameter("every key must come once")
    return [dict(found).get(plain_key(key), 0) for key in keys]


def _typed(array: NDArray[Any]) -> NDArray[Any]:
    """A list of Python's own small numbers as NumPy's, without loss: long lists are read fast."""
    if array.dtype != object or not array.size:
        return array
    kinds = set(map(type, array.flat))
    if kinds == {float}:
        return array.astype(np.float64)
    if kinds <= {bool, int} and _within(array):
        return array.astype(np.int64)
    if kinds <= {bool, int, float} and all(-_EXACT <= x <= _EXACT for x in array.flat):
        return array.astype(np.float64)
    return array


def _within(array: NDArray[Any]) -> bool:
    return int(array.min()) >= -_EXACT and int(array.max()) <= _EXACT


def _exact(number: Any) -> Fraction:
    """The number itself: of an int, bool, float, Decimal, Fraction or NumPy scalar of any width."""
    if hasattr(number, "as_py"):
        number = number.as_py()
    if isinstance(number, np.generic | np.ndarray):
        number = number.item() if np.ndim(number) == 0 else None
    try:
        return Fraction(*number.as_integer_ratio())
    except (AttributeError, OverflowError, TypeError, ValueError):
        raise _not_numbers("finite numbers") from None


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return 0.0


def _not_numbers(what: str) -> BadParameter:
    return BadParameter(f"the value must consist of {what}, as declared")


def _keys(keys: object) -> tuple[Hashable, ...]:
    must = "a list of different keys"
    if not isinstance(keys, list | tuple) or not keys:
        raise BadParameter(f"keys must be {must}; you gave {parameters.a_kind(keys)}")
    try:
        different = len(set(keys)) == len(keys)
    except TypeError:
        different = False
    if not different:
        raise BadParameter("keys must be a list of different keys, each hashable")
    return tuple(keys)
