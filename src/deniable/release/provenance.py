"""Where an answer came from: the question, the charge, the budget and the state of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

ONLY_NOISE = (
    "± covers the noise (95 % confidence), not any bias from clipping values "
    "or limiting a person's rows"
)


def version() -> str:
    """The version of deniable; asked when needed, because the package loads this module."""
    return str(import_module("deniable").__version__)


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where an answer came from; public facts only."""

    question: str
    table: str
    time: str
    version: str = field(default_factory=version)
    entry: int | None = None
    entry_hash: str = ""
    ledger: str = ""
    entries: Sequence[str] = ()
    """The hashes of all charges, where there were several; `entry_hash` is the last."""
    price: Mapping[str, object] = field(default_factory=dict)
    budget: Mapping[str, object] = field(default_factory=dict)
    bounds: Mapping[str, object] = field(default_factory=dict)
    note: str = ONLY_NOISE
    noise: Sequence[str] = ()
    """The noise in words, in units of the answer: mechanisms add it in steps of a lattice."""
    resumptions: int = 0
    """How often the curator resumed an asker's session after a failure, before this release."""
    failures: int = 0
    """The failures the curator dismissed by resuming; each may have revealed one exact fact."""
    data_version: str = ""
    """The curator's name for this state of the data, if any; `version` is the library's."""

    @property
    def before(self) -> str:
        """The remark shown when this stored answer is returned again."""
        about = f" about data version {self.data_version}" if self.data_version else ""
        doubt = "" if self.data_version else "; the data may have changed since then"
        return f"stored answer from {self.time[:10]}{about}, not recomputed{doubt}"

    def to_dict(self) -> dict[str, object]:
        """A record, for stored answers and certificates: the same before and after JSON."""
        facts = {n: dict(v) if isinstance(v, Mapping) else v for n, v in vars(self).items()}
        return facts | {"entries": list(self.entries), "noise": list(self.noise)}

    @staticmethod
    def from_dict(record: Mapping[str, Any]) -> Provenance:
        """Read a record written by `to_dict`, ignoring fields that a later version added."""
        known = Provenance.__dataclass_fields__
        kept: dict[str, Any] = {name: v for name, v in record.items() if name in known}
        lists = {name: tuple(v) for name, v in kept.items() if isinstance(v, list)}
        return Provenance(**kept | lists)
