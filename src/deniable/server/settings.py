"""The settings of a server: public facts, none of which can weaken a privacy guarantee but `steps`.

`steps` are the seconds after which answers are given: coarse, public, and the last is the deadline.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

STEPS = (0.5, 2.0, 8.0, 30.0)
LOCAL = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where a server keeps its state, whom it listens to, and its limits."""

    folder: Path
    state: Path
    """For ledgers and accounts in files; of mode 0700."""
    anchors: Path
    """For the newest line of each ledger: not in `state`, so that a restored back-up shows."""
    database: str | None = None
    """postgresql://…, for more than one server process; else files in `state`."""
    hosts: tuple[str, ...] = field(default=LOCAL)
    https: bool = False
    """Whether browsers reach it by https: cookies are then sent by https alone."""
    steps: tuple[float, ...] = STEPS
    workers: int = 2
    memory: int = 4 << 30
    """Bytes of memory that one question may use."""
    asks: int = 60
    prices: int = 600
    """Questions, and prices, per person and minute."""
    sign_ins: int = 20
    """Failed attempts to sign in per address and minute."""
    fresh: float = 15 * 60.0
    """Seconds after signing in during which a curator may see causes and change what is served."""
    arrival: float = 30.0
    """Seconds within which the body of a request must have come."""
    longest_body: int = 64 * 1024
    longest_schema: int = 1024 * 1024
    """Bytes of a curator's form; it is read only after its sender was recognised."""
    longest_sql: int = 10_000

    @property
    def deadline(self) -> float:
        """A question that takes longer fails: it is charged, and its asker is stopped."""
        return self.steps[-1]
