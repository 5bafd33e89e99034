"""A fitted estimator as JSON, and back: numbers and public facts, never code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable import learn
from deniable.errors import BadParameter
from deniable.learn.encoding import Encoding, Numbers
from deniable.learn.models.drafts import LEARNT, SETTINGS
from deniable.losses import Loss
from deniable.synthetic.files import read_cells, written_cells
from deniable.units import Unit


def written(model: Any) -> dict[str, Any]:
    """The name of the estimator, its settings, and what it learnt."""
    learnt = {
        name: _written(value)
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }
    settings = {name: _written(value) for name, value in vars(model)[SETTINGS].items()}
    return {
        "holds": "model",
        "estimator": type(model).__name__,
        "settings": settings,
        "learnt": learnt,
    }


def read(record: Mapping[str, Any]) -> Any:
    """The estimator that `written` wrote: it predicts, and has its certificate."""
    if record["estimator"] not in learn.__all__:
        raise BadParameter(f"{record['estimator']} is not an estimator of deniable.learn")
    settings = {name: _read(value) for name, value in record["settings"].items()}
    model = getattr(learn, record["estimator"])(**settings)
    learnt = {name: _read(value) for name, value in record["learnt"].items()}
    state = learnt | {SETTINGS: settings, LEARNT: frozenset({*learnt, SETTINGS, LEARNT})}
    vars(model).update(state)
    return model


def _written(value: Any) -> Any:
    match value:
        case np.ndarray():
            return {"array": value.tolist(), "dtype": value.dtype.str}
        case np.generic():
            return value.item()
        case Encoding():
            bins = [written_cells(each) for each in value.bins]
            return {"encoding": list(value.names), "bins": bins}
        case Numbers():
            return {"numbers": list(value.names)}
        case Loss():
            return {"loss": value.to_dict()}
        case Unit():
            return {"unit": value.to_dict()}
        case Mapping():
            return {"mapping": dict(value)}
        case list() | tuple():
            return [_written(each) for each in value]
        case str() | int() | float() | bool() | None:
            return value
    raise TypeError(type(value).__name__)


def _read(value: Any) -> Any:
    match value:
        case {"array": array, "dtype": str(dtype)} if np.dtype(dtype).kind in "biufU":
            return np.array(array, dtype=dtype)
        case {"encoding": names, "bins": bins}:
            return Encoding(names=tuple(names), bins=tuple(map(read_cells, bins)))
        case {"numbers": names}:
            return Numbers(names=tuple(names))
        case {"loss": record}:
            return Loss.from_dict(record)
        case {"unit": record}:
            return Unit.from_dict(record)
        case {"mapping": record}:
            return record
        case list():
            return [_read(each) for each in value]
        case str() | int() | float() | bool() | None:
            return value
    raise BadParameter("this is not the record of a fitted estimator")
