"""Any answer taken apart into leaves: its numbers, and all else that an observer can read off it.

Labels tell as much as values do: the index and the columns of a frame, the keys of a dictionary and
their order, data types, names, categories nobody has, the length, the wording of a text, and the
type and text of a raised exception. Each is a leaf of its own, at a path from the answer inwards.

Iterators and functions are refused. An object of an unknown class with a `__repr__` of its own is
taken at its word: what that text leaves out is not looked into.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, TypeVar

import numpy as np

from deniable.errors import BadParameter
from deniable.release import Release

from .frames import LIBRARIES
from .parts import PLAIN, Kind, Parts, Path, Step, type_name, typed

D = TypeVar("D")

LENGTH: Step = ("length", None)
TYPE: Step = ("type", None)

_TYPE_OF_ALL: Path = (TYPE,)
_DEEPEST = 24
_LONG_TEXT = 40
_NUMBER = re.compile(r"[-+]?\d+(?:_\d+)*(?:\.\d+(?:_\d+)*)?(?:[eE][-+]?\d+)?")
_CODE = (FunctionType, BuiltinFunctionType, MethodType, functools.partial)


@dataclasses.dataclass(frozen=True)
class Raised:
    """An exception as an answer: an observer sees its type and its text."""

    kind: str
    text: str = ""

    @staticmethod
    def of(error: BaseException) -> Raised:
        """The exception with its notes, and what caused it."""
        told: list[str] = []
        cause: BaseException | None = error
        while cause is not None and len(told) < _DEEPEST:
            named = "" if cause is error else f"{type(cause).__name__}: "
            told += [named + str(cause), *getattr(cause, "__notes__", ())]
            cause = cause.__cause__ or cause.__context__
        return Raised(type(error).__name__, "\n".join(told))


def observed(
    ask: Callable[[D], object], data: D, *, raised: Callable[[Exception], object] = lambda e: e
) -> object:
    """What an observer of one call sees: its answer, or what is made of the exception it raised."""
    try:
        return ask(data)
    except Exception as error:  # noqa: BLE001  whichever it is, an observer sees it
        return raised(error)


def leaves(answer: object) -> Iterator[tuple[Path, object]]:
    """The leaves of one answer, outermost first; what is said of a container before its entries."""
    parts = parts_of(answer)
    if parts is None:
        yield _TYPE_OF_ALL, Kind(type_name(answer))
    yield from _inside(answer, parts, ())


def _inside(answer: object, parts: Parts | None, path: Path) -> Iterator[tuple[Path, object]]:
    if parts is None:
        yield from _single(answer, path)
        return
    yield path, Kind(parts.kind)
    yield (*path, TYPE), Kind(parts.type)
    yield (*path, LENGTH), parts.length
    for name, text in parts.facts.items():
        yield (*path, (name, None)), Kind(sys.intern(text))
    for within, value in parts.entries:
        inner = (*path, *within) if path else within
        if type(value) in PLAIN:
            yield inner, value
        else:
            deep = len(inner) > _DEEPEST
            yield from _inside(value, None if deep else parts_of(value), inner)


def _single(answer: object, path: Path) -> Iterator[tuple[Path, object]]:
    """A leaf that is not a container; of a text also its wording and the numbers in it."""
    if type(answer) in PLAIN:
        yield path, answer
        return
    if isinstance(answer, Raised):
        yield path, answer
        yield from _single(answer.text, (*path, ("text", None)))
        return
    if hasattr(answer, "as_py"):  # a PyArrow scalar
        answer = answer.as_py()
    elif isinstance(answer, np.ndarray):
        answer = answer.item()
    elif isinstance(answer, memoryview | bytearray):
        answer = bytes(answer)
    yield path, answer
    if isinstance(answer, str | bytes):
        text = answer if isinstance(answer, str) else answer.decode("latin-1")
        numbers = _NUMBER.findall(text)
        if numbers or len(text) > _LONG_TEXT:
            yield (*path, LENGTH), len(text)
            yield (*path, ("wording", None)), Kind(sys.intern(_NUMBER.sub("#", text)))
            for place, number in enumerate(numbers):
                yield (*path, ("number", place)), float(number.replace("_", ""))


def parts_of(answer: object) -> Parts | None:
    """What an answer is made of; None if it is a single thing."""
    if type(answer) in PLAIN or isinstance(answer, str | bytes | int | float | Raised | type):
        return None
    match answer:
        case Release():
            return _of_mapping(shown(answer), answer)
        case Mapping():
            return _of_mapping(answer, answer)
        case AbstractSet():
            return _of_set(answer)
        case list() | tuple():
            return _of_sequence(answer)
        case np.void() if answer.dtype.names:
            return _of_mapping({name: answer[name] for name in answer.dtype.names}, answer)
        case np.ndarray() if answer.ndim:
            return _of_array(answer, answer)
    if isinstance(answer, (Iterator, *_CODE)):
        raise BadParameter(
            f"the auditor cannot look into a {type_name(answer)}",
            why="reading an iterator uses it up, and a function's state cannot be inspected",
            fix="return list(...), or the result of calling the function",
        )
    for base in type(answer).__mro__:
        library = LIBRARIES.get(base.__module__.partition(".")[0])
        if library is not None:
            return library(answer)
    return _of_object(answer)


def shown(release: Release) -> dict[str, object]:
    """All of a release but when it was made and where it is written."""
    return {name: getattr(release, name) for name in ("keys", "answers", "loss", "mechanisms")}


def _of_mapping(parts: Mapping[Any, object], answer: object) -> Parts:
    return Parts(
        kind="a dictionary",
        type=typed(answer, parts.values()),
        length=len(parts),
        facts={"order of the keys": ", ".join(map(repr, parts))},  # 1, 1.0 and True differ
        entries=(((("key", key),), value) for key, value in parts.items()),
    )


def _of_set(answer: AbstractSet[object]) -> Parts:
    """Which members there are; they come in no order."""
    return Parts(
        kind="a set",
        type=typed(answer, sorted(answer, key=type_name)),
        length=len(answer),
        entries=(((("key", member),), True) for member in answer),
    )


def _of_sequence(answer: Sequence[object]) -> Parts:
    return Parts(
        kind="a list",
        type=typed(answer, answer),
        length=len(answer),
        entries=(((("entry", place),), value) for place, value in enumerate(answer)),
    )


def _of_array(array: np.ndarray[Any, Any], answer: object) -> Parts:
    """Entries by their place; of records by name; masks and fill values are facts."""
    facts = {"shape": str(array.shape)}
    if isinstance(array, np.ma.MaskedArray):
        facts |= {
            "mask": str(np.ma.getmaskarray(array).tolist()),
            "fill value": repr(array.fill_value),
        }
        array = array.data
    kind = f"{type_name(answer)} of {array.dtype.descr if array.dtype.names else array.dtype.str}"
    if array.dtype.kind == "O":
        kind = typed(answer, array.ravel().tolist())
    return Parts(kind="a list", type=kind, length=len(array), facts=facts, entries=_entries(array))


def _entries(array: np.ndarray[Any, Any]) -> Iterator[tuple[Path, object]]:
    for place in np.ndindex(array.shape):
        path = tuple(("entry", index) for index in place)
        yield path, array[place] if array.dtype.kind != "O" else array.item(*place)


def _of_object(answer: object) -> Parts | None:
    """Fields of a dataclass, and of whatever does not say in words what it is."""
    if dataclasses.is_dataclass(answer):
        fields = [field.name for field in dataclasses.fields(answer)]
    elif hasattr(answer, "__array__") and np.ndim(answer) > 0:
        return _of_array(np.asarray(answer), answer)
    elif type(answer).__repr__ is object.__repr__:
        slots = (getattr(base, "__slots__", ()) for base in type(answer).__mro__)
        named = ([slot] if isinstance(slot, str) else slot for slot in slots)
        fields = [*getattr(answer, "__dict__", ()), *chain.from_iterable(named)]
    else:
        return None
    held = {name: getattr(answer, name) for name in fields if hasattr(answer, name)}
    return _of_mapping(held, answer)
