"""A cache of what was used last, up to a total size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Latest(Generic[K, V]):
    """Keeps values up to a total size, and forgets the least recently used ones first.

    >>> kept = Latest(2)
    >>> for name in "abc":
    ...     kept.put(name, name.upper(), size=1)
    >>> kept.get("a"), kept.get("c")
    (None, 'C')
    """

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._held: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The value, or None if it was forgotten."""
        if key not in self._held:
            return None
        self._held.move_to_end(key)
        return self._held[key][0]

    def put(self, key: K, value: V, *, size: int) -> None:
        """Keep a value that is not kept; the last one stays however large it is."""
        self._held[key] = value, size
        self._size += size
        while self._size > self._most and len(self._held) > 1:
            _, (_, gone) = self._held.popitem(last=False)
            self._size -= gone
