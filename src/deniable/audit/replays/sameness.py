"""Whether two results are the same: what a program returns may depend on released answers alone."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from numbers import Number
from typing import Any

import numpy as np

from deniable.audit.leaves import parts_of, shown
from deniable.audit.outputs import tabulate
from deniable.release import Release
from deniable.session import Session


def difference(first: object, second: object, where: str = "the result") -> str | None:
    """Where two results differ, in words; None if they are the same, or cannot be compared."""
    if isinstance(first, Session) and isinstance(second, Session):
        return None  # its ledger was compared line by line
    if type(first) is not type(second):
        types = (type(side).__name__ for side in (first, second))
        return "{} is of type {} on one side, {} on the other".format(where, *types)
    match first, second:
        case Release() as one, Release() as other:
            return _of_parts(shown(one), shown(other), where)
        case Mapping() as one, Mapping() as other:
            return _of_parts(one, other, where)
        case AbstractSet(), _:
            same = first == second
        case (list() | tuple()) as one, (list() | tuple()) as other:
            return _of_lists(one, other, where)
        case np.ndarray(), _:
            same = _same_leaves(first, second)
        case Number(), _:
            same = first == second or (_is_nan(first) and _is_nan(second))
        case BaseException(), _:
            same = str(first) == str(second)
        case _ if dataclasses.is_dataclass(first) and not isinstance(first, type):
            return _of_parts({**vars(first)}, {**vars(second)}, where)
        case _ if parts_of(first) is not None:  # frames and tables, with all their labels
            same = _same_leaves(first, second)
        case _:  # what compares by identity (a function, a generator) has nothing to compare
            same = type(first).__eq__ is object.__eq__ or bool(first == second)
    return None if same else f"{where} is not the same"


def _of_parts(first: Mapping[Any, object], second: Mapping[Any, object], where: str) -> str | None:
    if list(map(_told, first)) != list(map(_told, second)):
        return f"{where} has other keys"
    for key, value in first.items():
        found = difference(value, second[key], f"{key!r} of {where}")
        if found:
            return found
    return None


def _told(key: object) -> tuple[str, str]:
    """A key as it is read: 1, 1.0 and True are equal, and not the same."""
    return type(key).__name__, repr(key)


def _of_lists(first: Sequence[object], second: Sequence[object], where: str) -> str | None:
    if len(first) != len(second):
        return f"{where} has another length"
    parts = enumerate(zip(first, second, strict=True))
    found = (difference(a, b, f"entry {i} of {where}") for i, (a, b) in parts)
    return next((words for words in found if words), None)


def _same_leaves(first: object, second: object) -> bool:
    """Is everything that can be read off two containers the same? One nan is like another."""
    a, b = tabulate([first]), tabulate([second])
    for path in {*a.columns, *b.columns}:
        mine, its = a.column(path), b.column(path)
        same = int(mine.identity[0]), int(its.identity[0])
        nan = np.isnan(mine.numbers[0]) and np.isnan(its.numbers[0])
        if same[0] != same[1] and not (
            nan and same[0] not in mine.labels and same[1] not in its.labels
        ):
            return False
    return True


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
