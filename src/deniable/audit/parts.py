"""What a container among the answers consists of, whatever library made it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

Step = tuple[str, object]
Path = tuple[Step, ...]


class Kind(str):
    """A leaf that is a description and no value: what a container is, its labels, its types."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A container taken apart: what can be said of it as a whole, and its entries."""

    kind: str
    """In words: "a list"."""
    type: str
    """Its type, and those of its entries."""
    length: int
    facts: Mapping[str, str] = field(default_factory=dict)
    """Labels, data types, names and order, each as one text."""
    entries: Iterable[tuple[Path, object]] = ()


def typed(container: object, entries: Iterable[object]) -> str:
    """The type of a container with those of its entries: once if they are all the same."""
    kinds = list(map(type_name, entries))
    inside = kinds[0] if len(set(kinds)) == 1 else ", ".join(kinds) or "nothing"
    return sys.intern(f"{type_name(container)} of {inside}")


PLAIN: dict[type, str] = {kind: kind.__name__ for kind in (type(None), bool, int, float)}
PLAIN |= {kind: f"numpy.{kind.__name__}" for kind in (np.bool_, np.int64, np.float64)}
"""Types of which there is nothing to say but their name: most of what is taken apart."""


def type_name(value: object) -> str:
    """A type with the library it is from."""
    kind = type(value)
    if kind in PLAIN:
        return PLAIN[kind]
    if isinstance(value, np.ndarray) and not value.ndim:
        return f"numpy.ndarray of {value.dtype}"
    if hasattr(value, "as_py"):
        return f"pyarrow.Scalar of {getattr(value, 'type', '')}"
    library = kind.__module__.partition(".")[0]
    return kind.__qualname__ if library == "builtins" else f"{library}.{kind.__qualname__}"
