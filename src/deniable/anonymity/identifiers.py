"""Which columns name people, and a table without them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from deniable import parameters
from deniable.parameters import one_of
from deniable.sampling.source import current

from .pseudonyms import pseudonymize
from .tables import Coded, Frame, arrow, check_columns, encoded, rebuilt

# Whole words of a column's name.
_NAMES: Final = (
    r"(first|last|full|user|maiden|middle|given)?name|surname|ssn|social|e?mail|phone|telephone|fax"
    r"|mobile|passport|licen[cs]e|account|iban|card|street|address|ip|mac|url|photo|plate|mrn|vin"
    r"|id|uuid|guid|user|login|npi"
)
_QUASI: Final = (
    r"birth|birthday|dob|born|date|age|sex|gender|race|ethnicity|religion|zip|zipcode|postcode"
    r"|postal|city|county|state|region|country|nationality|education|occupation|job|marital"
    r"|language|height|weight|admission|discharge"
)
_PATTERNS: Final = {
    "an e-mail address": r"[^@\s]+@[^@\s]+\.[^@\s]+",
    "a social security number": r"\d{3}-\d{2}-\d{4}",
    "a telephone number": r"\+?\d?[\s.-]?\(?\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}|\+\d{8,15}",
    "an IP address": r"(\d{1,3}\.){3}\d{1,3}|([0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}",
    "a UUID": r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "a web address": r"https?://\S+",
    "an account number": r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}",
}
_MOST = 0.9
_SAMPLE = 2_000
# A column of text or whole numbers with so many different values names rows.
_UNIQUE = 0.95


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A column that identifies, alone ("identifier") or with others ("quasi"); and why."""

    column: str
    kind: str
    why: str
    distinct: float


@dataclass(frozen=True, kw_only=True)
class Deidentified:
    """The table without its identifiers, what was found, and the key if names were replaced."""

    frame: Frame = field(repr=False)
    findings: tuple[Finding, ...]
    key: bytes | None = field(default=None, repr=False)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The columns that were dropped or replaced."""
        return tuple(found.column for found in self.findings if found.kind == "identifier")

    @property
    def quasi(self) -> tuple[str, ...]:
        """The columns that may identify together: what to give to `check` and `anonymize`."""
        return tuple(found.column for found in self.findings if found.kind == "quasi")


@parameters.called("anonymity.deidentify(table)")
def deidentify(
    table: object, *, action: str = "drop", keep: Sequence[str] = (), also: Sequence[str] = ()
) -> Deidentified:
    """Drop (or pseudonymize) the columns that name people.

    A column is taken for an identifier by its name, by the look of its values, or because nearly
    all of its values differ; columns that identify in combination are listed, and left as they
    are. `keep` and `also` overrule. A table without names is not anonymous: check it.

    >>> import deniable as dp
    >>> done = deidentify(dp.load_adult(identifiers=True))
    >>> done.identifiers, done.quasi[:3]
    (('name',), ('birth_date', 'zip', 'age'))
    """
    one_of("action", action, ("drop", "pseudonymize"))
    read = arrow(table)
    for names, what in ((keep, "keep"), (also, "also")):
        if names:
            check_columns(names, read.column_names, what=what)
    findings = []
    for name in read.column_names:
        found = _finding(encoded(read, name), read.num_rows)
        if name in also:
            found = Finding(
                column=name, kind="identifier", why="you said so", distinct=found.distinct
            )
        if found.kind and name not in keep:
            findings.append(found)
    gone = [found.column for found in findings if found.kind == "identifier"]
    rows = np.arange(read.num_rows)
    if action == "drop":
        frame = rebuilt(table, read, dict.fromkeys(gone), rows)
        return Deidentified(frame=frame, findings=tuple(findings))
    key = current().integer(256).to_bytes(32, "little")
    frame = rebuilt(table, read, {}, rows)
    for name in gone:
        frame = pseudonymize(frame, name, key=key).frame
    return Deidentified(frame=frame, findings=tuple(findings), key=key)


def _finding(column: Coded, rows: int) -> Finding:
    """What one column is; an empty kind if it is neither."""
    import pyarrow as pa

    distinct = column.size / max(1, rows)
    words = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column.name).lower())
    kind, why = "", ""
    look = _look(column)
    measured = column.ordered and not pa.types.is_integer(column.values.type)
    if any(re.fullmatch(_NAMES, word) for word in words):
        kind, why = "identifier", "its name"
    elif look:
        kind, why = "identifier", f"most values look like {look}"
    elif any(re.fullmatch(_QUASI, word) for word in words):
        kind, why = "quasi", "its name"
    elif rows > 1 and distinct >= _UNIQUE:
        kind, why = "quasi" if measured else "identifier", "nearly all values differ"
    return Finding(column=column.name, kind=kind, why=why, distinct=distinct)


def _look(column: Coded) -> str:
    values = column.values.slice(0, _SAMPLE).to_pylist()
    texts = [value for value in values if isinstance(value, str)]
    for look, pattern in _PATTERNS.items():
        if texts and sum(bool(re.fullmatch(pattern, t)) for t in texts) >= _MOST * len(texts):
            return look
    return ""
