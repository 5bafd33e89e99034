"""One name for all four: what was published decides which attack it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable import parameters
from deniable.attacks.evidence import Membership

from .correlations import from_correlations
from .frequencies import from_frequencies
from .models import from_model
from .synthetic import from_synthetic


@parameters.called("attacks.membership(published, members=inside, controls=outside)")
def membership(published: Any, *, members: Any, controls: Any, **options: Any) -> Membership:
    """Who is in the data, from published means, correlations, a model or synthetic records.

    A model is anything with `predict_proba` (`members` and `controls` are then pairs of rows and
    labels), synthetic data any table, correlations a square matrix, and means a plain sequence of
    numbers. The options are those of `from_model`, `from_synthetic`, `from_correlations` and
    `from_frequencies`.

    >>> import numpy as np
    >>> pool, others = np.eye(4)[:2], np.eye(4)[2:]
    >>> membership(pool.mean(axis=0), members=pool, controls=others, reference=[0.25] * 4).auc
    1.0
    """
    if hasattr(published, "predict_proba"):
        return from_model(published, members=members, controls=controls, **options)
    if isinstance(published, dict) or hasattr(published, "columns"):
        return from_synthetic(published, members=members, controls=controls, **options)
    shape = np.shape(published)
    if len(shape) == 2 and shape[0] == shape[1] > 1:
        return from_correlations(published, members=members, controls=controls, **options)
    return from_frequencies(published, members=members, controls=controls, **options)
