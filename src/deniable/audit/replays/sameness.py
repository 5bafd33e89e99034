"""Whether two results are the same: what a program returns may depend on released answers alone."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.release import Release
from deniable.session import Session


def difference(first: object, second: object, where: str = "the result") -> str | None:
    """Where two results differ, in words; None if they are the same, or cannot be compared."""
    if isinstance(first, Session) and isinstance(second, Session):
        return None  # its ledger was compared line by line
    if type(first) is not type(second):
        types = (type(side).__name__ for side in (first, second))
        return "{} is of type {} on one side, {} on the other".format(where, *types)
    match first:
        case Release():
            return _of_parts(_shown(first), _shown(second), where)  # type: ignore[arg-type]
        case Mapping():
            return _of_parts(first, second, where)  # type: ignore[arg-type]
        case AbstractSet():
            same = first == second
        case list() | tuple():
            return _of_lists(first, second, where)  # type: ignore[arg-type]
        case np.ndarray():
            same = _same_arrays(first, np.asarray(second))
        case Number():
            same = first == second or (_is_nan(first) and _is_nan(second))
        case BaseException():
            same = str(first) == str(second)
        case _ if dataclasses.is_dataclass(first) and not isinstance(first, type):
            return _of_parts({**vars(first)}, {**vars(second)}, where)
        case _ if hasattr(first, "equals"):  # frames and tables
            same = bool(first.equals(second))
        case _:  # what compares by identity (a function, a generator) has nothing to compare
            same = type(first).__eq__ is object.__eq__ or bool(first == second)
    return None if same else f"{where} is not the same"


def _shown(release: Release) -> dict[str, object]:
    """All of a release but when it was made and where it is written."""
    return {
        "keys": release.keys,
        "answers": release.answers,
        "loss": release.loss,
        "mechanisms": release.mechanisms,
    }


def _of_parts(first: Mapping[Any, object], second: Mapping[Any, object], where: str) -> str | None:
    if list(first) != list(second):
        return f"{where} has other keys"
    for key, value in first.items():
        found = difference(value, second[key], f"{key!r} of {where}")
        if found:
            return found
    return None


def _of_lists(first: list[object], second: list[object], where: str) -> str | None:
    if len(first) != len(second):
        return f"{where} has another length"
    parts = enumerate(zip(first, second, strict=True))
    found = (difference(a, b, f"entry {i} of {where}") for i, (a, b) in parts)
    return next((words for words in found if words), None)


def _same_arrays(a: NDArray[Any], b: NDArray[Any]) -> bool:
    if a.dtype != b.dtype:
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
