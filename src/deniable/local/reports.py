"""Reports: what a client sends, what binds it to its protocol, and how a server reads it.

A report is 5 bytes of header and a payload of a length that the protocol fixes:

    1 byte    format, 1
    4 bytes   fingerprint: the start of the SHA-256 of the protocol's public parameters
    …         payload
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.losses import Approx, Loss, Pure, amplify
from deniable.mechanisms import Mechanism

from .server import AT_ONCE, SAME, Server

Rows = NDArray[np.uint8]
Tally = tuple[NDArray[Any], ...]
E = TypeVar("E")
L = TypeVar("L", bound=Loss)

FORMAT = 1
LEAST = 1e-6
HEADER = 5


@dataclass(frozen=True, kw_only=True)
class Reporter(ABC, Generic[E]):
    """A way to report: a randomizer for the client and a counter for the server."""

    name: ClassVar[str]

    epsilon: float

    def __post_init__(self) -> None:
        epsilon = parameters.positive("epsilon", self.epsilon)
        if epsilon < LEAST:
            raise BadParameter.of(
                "epsilon",
                self.epsilon,
                must=f"at least {LEAST:g}",
                why="with less, no number of people says anything about their answers",
            )
        object.__setattr__(self, "epsilon", epsilon)

    # ---- what a protocol is

    @property
    @abstractmethod
    def randomizer(self) -> Mechanism:
        """The mechanism that draws: what is drawn is what is priced."""

    @property
    @abstractmethod
    def payload(self) -> int:
        """How many bytes a report has after its header."""

    @abstractmethod
    def numbered(self, values: object) -> NDArray[Any]:
        """Values as an array with one row per person; BadParameter where one is not possible."""

    @abstractmethod
    def draw(self, values: NDArray[Any]) -> Rows:
        """The payloads of the reports of these people."""

    @abstractmethod
    def check_payloads(self, payloads: Rows) -> None:
        """Raise where one cannot have been drawn by `draw`."""

    @abstractmethod
    def tally(self) -> Tally:
        """What a server keeps, with nothing counted yet."""

    @abstractmethod
    def count(self, tally: Tally, payloads: Rows) -> None:
        """Add reports to what a server keeps."""

    def join(self, tally: Tally, other: Tally) -> None:
        """Add what another server kept."""
        for mine, theirs in zip(tally, other, strict=True):
            mine[:] += theirs

    @abstractmethod
    def estimated(self, tally: Tally, people: int, *, confidence: float) -> E:
        """What the reports say, with its ±."""

    # ---- for clients

    def encode(self, value: object) -> bytes:
        """One person's report, randomized: all that leaves their device.

        >>> from deniable import local
        >>> len(local.Hadamard(categories=1000, epsilon=1.0).encode(7))
        7
        """
        return bytes(self._encoded(self.numbered_one(value))[0])

    def encode_all(self, values: object) -> Rows:
        """One report for each value: one row of bytes each."""
        return self._encoded(self.numbered(values))

    def numbered_one(self, value: object) -> NDArray[Any]:
        """One person's value as an array of one row."""
        if isinstance(value, Mapping):
            return self.numbered({key: [each] for key, each in value.items()})
        return self.numbered([value])

    def _encoded(self, true: NDArray[Any]) -> Rows:
        reports = np.empty((len(true), self.length), dtype=np.uint8)
        reports[:, :HEADER] = self._header
        for start in range(0, len(true), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            reports[part, HEADER:] = self.draw(true[part])
        return reports

    # ---- for the server

    def server(self) -> Server[E]:
        """A new counter of reports."""
        return Server(self)

    def checked(self, rows: Rows) -> Rows:
        """The payloads of reports that carry this protocol's header."""
        if len(rows) and not (rows[:, :HEADER] == self._header).all():
            raise BadParameter(
                "a report was made for another protocol, another ε or another domain",
                why="read as if it were of this one, it would count for categories at random",
                fix=SAME,
            )
        return rows[:, HEADER:]

    # ---- prices and identity

    def loss(self, kind: type[L] = Pure) -> L:  # type: ignore[assignment]
        """What one report costs its sender."""
        return self.randomizer.loss(kind)

    def shuffled(self, *, people: int, delta: float) -> Approx:
        """What a report costs if a trusted shuffler forgets who sent which, among so many people.

        >>> from deniable import local
        >>> p = local.Hadamard(categories=100, epsilon=1.0)
        >>> round(p.shuffled(people=10_000, delta=1e-6).epsilon, 4)
        0.0432
        """
        n = parameters.whole("people", people)
        return Approx(amplify.shuffled(self.epsilon, delta=delta, population=n), delta=delta)

    @property
    def length(self) -> int:
        """How many bytes a report takes."""
        return HEADER + self.payload

    def to_dict(self) -> dict[str, object]:
        """The public parameters in plain JSON types: what client and server must agree on."""
        listed = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}
        return {"protocol": self.name} | listed

    def bound_to(self) -> dict[str, object]:
        """What a report is bound to: all that decides how it is read."""
        return self.to_dict()

    @property
    def fingerprint(self) -> bytes:
        """Four bytes that bind a report to the protocol, its ε and its domain."""
        return self.identity[:4]

    @cached_property
    def identity(self) -> bytes:
        """SHA-256 of what reports are bound to, which client and server must agree on."""
        text = json.dumps(
            _exactly(self.bound_to()), sort_keys=True, ensure_ascii=True, separators=(",", ":")
        )
        return hashlib.sha256(text.encode()).digest()

    @cached_property
    def _header(self) -> Rows:
        return np.frombuffer(bytes([FORMAT]) + self.fingerprint, dtype=np.uint8)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _exactly(value: object) -> object:
    """Floats by their exact hexadecimal digits."""
    if isinstance(value, Mapping):
        return {key: _exactly(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_exactly(each) for each in value]
    return (value + 0.0).hex() if isinstance(value, float) else value  # −0.0 is 0.0


def as_bytes(codes: NDArray[np.int64], width: int) -> Rows:
    """Numbers as so many bytes each, the lowest first."""
    octets = codes.astype("<u8").view(np.uint8).reshape(codes.size, 8)
    return octets[:, :width]


def as_numbers(payloads: Rows) -> NDArray[np.int64]:
    """The numbers that `as_bytes` was given."""
    octets = np.zeros((len(payloads), 8), dtype=np.uint8)
    octets[:, : payloads.shape[1]] = payloads
    return octets.view("<u8").ravel().astype(np.int64)


def impossible() -> BadParameter:
    """For a report with the right header and a payload that no client draws."""
    return BadParameter(
        "a report is malformed: no client of this protocol can have sent it",
        why="its payload is outside the protocol's set of reports",
    )


def not_numbers() -> BadParameter:
    """For values that are missing, infinite or texts, where numbers are averaged or counted."""
    return BadParameter(
        "values must be finite numbers, one per person",
        why="a person who sends no report, because their number is missing, says that it is",
        fix="np.nan_to_num(values, nan=50.0)    (a public number in place of missing ones)",
    )


def is_a_name(given: object) -> bool:
    """A text that can be stored: half of a surrogate pair cannot."""
    return isinstance(given, str) and not any("\ud800" <= each <= "\udfff" for each in given)
