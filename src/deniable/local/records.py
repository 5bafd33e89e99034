"""A protocol from its record: what a server publishes, and a client builds on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.errors import BadParameter

from .heavy import HeavyHitters
from .means import Mean
from .protocols import Direct, Hadamard, Hashing, Projective, Repeated, Sketch, Subset, Unary
from .ranges import Ranges
from .reports import Reporter
from .several import Attributes
from .vectors import Vector

_KINDS: dict[str, type[Reporter[Any]]] = {
    kind.name: kind
    for kind in (
        Attributes, Direct, Hadamard, Hashing, HeavyHitters, Mean, Projective, Ranges, Repeated,
        Sketch, Subset, Unary, Vector,
    )
}  # fmt: skip


def from_dict(record: Mapping[str, Any]) -> Reporter[Any]:
    """The protocol that `to_dict` wrote, with the same fingerprint.

    >>> p = Direct(categories=["no", "yes"], epsilon=1.0)
    >>> from_dict(p.to_dict()) == p
    True
    """
    given: object = record
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise BadParameter("a record must be a dict of parameters by name")
    kind = _KINDS.get(str(record.get("protocol")))
    if kind is None:
        raise BadParameter(f"protocol must be one of {', '.join(sorted(_KINDS))}")
    return kind(**{name: value for name, value in record.items() if name != "protocol"})
