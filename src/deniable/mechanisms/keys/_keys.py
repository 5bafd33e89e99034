"""What mechanisms on private keys share: how counts come in, in which order keys go out."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter, SensitivityMismatch
from deniable.forms import Form, plain_key, read_numbers
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.sensitive import Sensitive

Counts: TypeAlias = Mapping[Hashable, int] | tuple[Sequence[Hashable], Sequence[int]]
T = TypeVar("T")

_ORDERED = {str, bytes, int, dt.date}
_AS_THEY_ARE = {str, bytes, type(None)}

LEAST = 2.0**-1000  # a chance that is smaller counts as this: it is not 0
_LEAST_DELTA = 2.0**-900


class KeyMechanism(Mechanism):
    """Shows some of the keys that people have, from how many people have each.

    The value is {key: number of distinct people}, or the pair (keys, numbers). A person has at most
    `groups` keys, so one person moves at most that many numbers, each by one. (Where people are
    replaced, they leave some keys and enter others: give `groups` twice the limit.)
    """

    norm: ClassVar[Norm] = "linf"

    groups: int

    def __post_init__(self) -> None:
        self._canonical(groups=parameters.whole)

    def reading(self, _form: Form) -> Callable[[Any], Any]:
        """Keys and whole counts; which keys there are is what the mechanism protects."""
        return checked_counts

    def _check_covers(self, value: Sensitive[T]) -> None:
        most, total = value.bound("linf"), value.bound("l1")
        if most is None or total is None or most > 1 or total > self.groups:
            raise SensitivityMismatch(
                f"{type(self).__name__} covers counts of which one unit moves at most "
                f"{self.groups}, each by one",
                why="a person who alone has many keys, or is counted twice, shows more easily",
                fix=f"dp.Sensitive(..., linf=1, l1={self.groups})",
            )


def checked_delta(delta: object) -> float:
    """A δ that a threshold can meet, whose own chance counts as at least 2⁻¹⁰⁰⁰ per key."""
    share = parameters.confidence("delta", delta)
    if share < _LEAST_DELTA:
        raise BadParameter.of("delta", delta, must="at least 2⁻⁹⁰⁰")
    return share


def checked_counts(value: Any) -> tuple[list[Hashable], NDArray[np.int64]]:
    """Keys that someone has, and by how many people; refused before anything is drawn."""
    if isinstance(value, Mapping) or hasattr(value, "items"):
        pairs = list(value.items())
        value = ([key for key, _ in pairs], [count for _, count in pairs])
    if not isinstance(value, tuple) or len(value) != 2:
        raise BadParameter("keys come as {key: number of people} or as (keys, numbers)")
    try:
        listed = list(value[0])
        distinct = len(set(listed))
    except TypeError:
        raise BadParameter("keys must be a list of hashable values") from None
    if len(listed) != distinct:
        raise BadParameter("every key must come once, with one whole number of people")
    counts = read_numbers(value[1], Form(whole=True, shape=(len(listed),)))
    present = counts > 0
    kept = [key for key, there in zip(listed, present.tolist(), strict=True) if there]
    return _as_values(kept, counts[present].astype(np.int64))


def _as_values(
    keys: list[Hashable], counts: NDArray[np.int64]
) -> tuple[list[Hashable], NDArray[np.int64]]:
    """Keys as their values alone decide; of keys that are one value, the largest count.

    Not their sum: one person moves each count by one, and so their largest by at most one.
    """
    if set(map(type, keys)) <= _AS_THEY_ARE:
        return keys, counts
    largest: dict[Hashable, int] = {}
    for key, count in zip(map(plain_key, keys), counts.tolist(), strict=True):
        largest[key] = max(count, largest.get(key, 0))
    return list(largest), np.array(list(largest.values()), dtype=np.int64)


def in_order(keys: Iterable[Hashable]) -> list[Hashable]:
    """Sorted: the order in which rows came must not be shown.

    >>> in_order([(10, dt.date(2024, 10, 1)), (9, None), (10, dt.date(2024, 2, 1))])
    [(9, None), (10, datetime.date(2024, 2, 1)), (10, datetime.date(2024, 10, 1))]
    """
    listed = list(keys)
    kinds = {type(key) for key in listed}
    if len(kinds) == 1 and kinds <= _ORDERED:
        return sorted(listed)  # type: ignore[type-var]
    return sorted(listed, key=_rank)


def _rank(key: Hashable) -> tuple[str, Any]:
    """By type, then by value: a total order, also over keys that cannot be compared.

    Dates and moments sort as ISO 8601 writes them, since moments with and without a zone cannot be
    compared; NaN is last.
    """
    kind, value = type(key).__name__, repr(key)
    match key:
        case tuple():
            return kind, tuple(map(_rank, key))
        case str() | bytes() | int():
            return kind, key
        case float():
            return kind, (math.isnan(key), 0.0 if math.isnan(key) else key)
        case dt.date():
            return kind, key.isoformat()
    return kind, value
