"""Is the claim true? Black-box audits of any function, and audits of one training run."""

from __future__ import annotations

from .blackbox import audit
from .one_run import audit_scores, audit_training
from .verdict import Verdict

__all__ = ["Verdict", "audit", "audit_scores", "audit_training"]
