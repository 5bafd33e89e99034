"""One name for the three: what was published decides which attack it is."""

from __future__ import annotations

from typing import Any

from deniable.attacks.evidence import Membership

from .frequencies import from_frequencies
from .models import from_model
from .synthetic import from_synthetic


def membership(published: Any, *, members: Any, controls: Any, **options: Any) -> Membership:
    """Who is in the data, from published means, from a model or from synthetic records.

    A model is anything with `predict_proba` (`members` and `controls` are then pairs of rows and
    labels), synthetic data any table, and means a plain sequence of numbers. The options are those
    of `from_model`, `from_synthetic` and `from_frequencies`.

    >>> import numpy as np
    >>> pool, others = np.eye(4)[:2], np.eye(4)[2:]
    >>> membership(pool.mean(axis=0), members=pool, controls=others, reference=[0.25] * 4).auc
    1.0
    """
    if hasattr(published, "predict_proba"):
        return from_model(published, members=members, controls=controls, **options)
    if isinstance(published, dict) or hasattr(published, "columns"):
        return from_synthetic(published, members=members, controls=controls, **options)
    return from_frequencies(published, members=members, controls=controls, **options)
