"""The same person, another name: pseudonyms by a keyed hash."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field

import numpy as np

from deniable.errors import BadParameter
from deniable.sampling.source import current

from .tables import Frame, arrow, check_columns, encoded, rebuilt

_SHORTEST_KEY = 16


@dataclass(frozen=True, kw_only=True)
class Pseudonymized:
    """The table with its names replaced, and the key that did it: keep it apart, or lose it."""

    frame: Frame = field(repr=False)
    key: bytes = field(repr=False)


def pseudonymize(table: object, column: str, *, key: bytes | None = None) -> Pseudonymized:
    """Replace each value of a column by HMAC-SHA-256 of it under a secret key, cut to 128 bits.

    Equal values get equal pseudonyms, so tables under one key can still be joined. Without the key
    nobody can try out names (an unkeyed hash of a name or a phone number is undone by hashing them
    all). With it, anyone can: who holds the key holds the names. NULL stays NULL.

    A pseudonym hides a name and nothing else: what else is in the row may still identify it.

    >>> import deniable as dp
    >>> people = dp.load_adult(identifiers=True)
    >>> hidden = pseudonymize(people, "name")
    >>> len(hidden.frame["name"][0].as_py())
    32
    """
    import pyarrow as pa

    if key is not None and len(key) < _SHORTEST_KEY:
        raise BadParameter(
            f"key must be at least {_SHORTEST_KEY} bytes",
            why="a short key can be found by trying",
            fix="key=None draws a fresh one; the result has it",
        )
    read = arrow(table)
    (name,) = check_columns([column], read.column_names, what="column")
    secret = current().integer(256).to_bytes(32, "little") if key is None else key
    coded = encoded(read, name)
    names = [
        v if v is None else hmac.new(secret, str(v).encode(), hashlib.sha256).hexdigest()[:32]
        for v in coded.values.to_pylist()
    ]
    changes = {name: pa.array(names, pa.string()).take(coded.codes)}
    frame = rebuilt(table, read, changes, np.arange(read.num_rows))
    return Pseudonymized(frame=frame, key=secret)
