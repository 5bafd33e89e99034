"""Is the claim true? Black-box audits, audits of one training run, and replays of a computation."""

from __future__ import annotations

from .blackbox import audit
from .one_run import audit_scores, audit_training
from .replays import Replay, neighbours, replay, search
from .verdict import Verdict

__all__ = [
    "Replay",
    "Verdict",
    "audit",
    "audit_scores",
    "audit_training",
    "neighbours",
    "replay",
    "search",
]
