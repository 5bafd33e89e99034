"""Membership from a trained model: it is surer of the people it was trained on [SSSS17, YGFJ18]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters
from deniable.attacks.evidence import Membership
from deniable.attacks.tables import Floats
from deniable.errors import BadParameter
from deniable.sampling.public import PublicRandom

_MANY = 64

Labelled = tuple[ArrayLike, ArrayLike]
"""Rows and their labels."""


class Classifier(Protocol):
    """Any fitted model that gives a probability to each class, as scikit-learn's do."""

    def predict_proba(self, X: Any, /) -> Any:
        """A row a person, a column a class."""


def from_model(
    model: Classifier,
    *,
    members: Labelled,
    controls: Labelled,
    train: Callable[[Any, Any], Classifier] | None = None,
    reference: Labelled | None = None,
    shadows: int = 16,
    size: int | None = None,
    seed: int = 0,
    epsilon: float | None = None,
) -> Membership:
    """Score people by how sure the model is of their true label.

    Without more, the score is the log-odds of the true label (a loss threshold). With `train` (how
    such a model is made) and `reference` (labelled people the attacker owns), the attacker trains
    `shadows` models without the person, on `size` people each (as many as the real one had; half of
    the reference if not said), and scores how far the real one is surer than those, in standard
    deviations: hard and easy people are then judged alike [CCNSTT22].

    A model that knows its training rows by heart gives all of them away:

    >>> import numpy as np
    >>> seen, unseen = np.arange(50.0)[:, None], np.arange(50.0, 100.0)[:, None]
    >>> class ByHeart:
    ...     classes_ = np.array([0, 1])
    ...     def predict_proba(self, rows):
    ...         sure = np.where(rows[:, 0] < 50, 0.99, 0.5)
    ...         return np.stack([1 - sure, sure], axis=1)
    >>> ones = np.ones(50, dtype=int)
    >>> found = from_model(ByHeart(), members=(seen, ones), controls=(unseen, ones))
    >>> found.auc
    1.0
    """
    if (train is None) != (reference is None):
        raise BadParameter("shadow models need both: train= and reference=")
    inside, outside = _log_odds(model, members), _log_odds(model, controls)
    test = "loss threshold"
    if train is not None and reference is not None:
        count = parameters.whole("shadows", shadows, least=2)
        copies = _shadow_models(train, reference, count, size=size, seed=seed)
        inside = _surer(inside, copies, members)
        outside = _surer(outside, copies, controls)
        test = f"likelihood ratio against {count} shadow models"
    return Membership(
        inside=inside, outside=outside, source="a trained model", test=test, epsilon=epsilon
    )


def _log_odds(model: Classifier, people: Labelled) -> Floats:
    rows, labels = people
    given = np.asarray(labels).reshape(-1)
    chances = np.asarray(model.predict_proba(rows), dtype=np.float64)
    if chances.ndim != 2 or chances.shape[0] != given.size:
        raise BadParameter("predict_proba must return one row per person and one column per class")
    classes = getattr(model, "classes_", None)
    if classes is None:
        place = given.astype(np.int64)
    else:
        known = np.asarray(classes).tolist()
        place = np.array([known.index(label) for label in given.tolist()])
    sure = np.clip(chances[np.arange(given.size), place], 1e-12, 1 - 1e-12)
    return np.asarray(np.log(sure) - np.log1p(-sure), dtype=np.float64)


def _shadow_models(
    train: Callable[[Any, Any], Classifier],
    reference: Labelled,
    count: int,
    *,
    size: int | None,
    seed: int,
) -> list[Classifier]:
    rows, labels = np.asarray(reference[0]), np.asarray(reference[1])
    draw = PublicRandom(seed).generator
    owned = labels.shape[0]
    some = max(2, owned // 2) if size is None else parameters.whole("size", size, least=2)
    if some > owned:
        raise BadParameter.of("size", some, must="no larger than the reference")
    picks = [draw.choice(owned, some, replace=False) for _ in range(count)]
    return [train(rows[pick], labels[pick]) for pick in picks]


def _surer(scores: Floats, copies: list[Classifier], people: Labelled) -> Floats:
    """How far above those of models that never saw these people, in standard deviations.

    Few models estimate each person's deviation badly: then it is pooled over all.
    """
    told = np.array([_log_odds(copy, people) for copy in copies])
    spread = told.std(axis=0, ddof=1)
    if len(copies) < _MANY:
        spread = np.full(spread.shape, np.sqrt(np.mean(spread**2)))
    return np.asarray((scores - told.mean(axis=0)) / np.maximum(spread, 1e-6))
