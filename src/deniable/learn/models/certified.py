"""The certificate of a model: public facts only."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from deniable.release.certificate import FORMAT, Certificate
from deniable.release.numbers import amount

from .drafts import SETTINGS


def certify(model: Any) -> Certificate:
    """What is claimed of a fitted model: its loss, whom it protects, and the noise that was added.

    Settings are the parameters that it was fitted with; all of them are public.
    """
    loss, unit = model.loss_, model.unit_
    settings = {name: _plain(value) for name, value in vars(model)[SETTINGS].items()}
    return Certificate(
        {
            "format": FORMAT,
            "claim": {
                "definition": loss.definition,
                "this_release": amount(loss, "up"),
                "protects": str(unit),
                "unit": unit.to_dict(),
                "neighbours": unit.neighbours,
            },
            "loss": {"native": loss.to_dict()},
            "mechanisms": [dict(model.plan_)],
            "model": {"kind": type(model).__name__, "settings": settings},
            "features": _features(model),
            **({"caveat": model.caveat} if model.caveat else {}),
            "software": {"deniable": str(import_module("deniable").__version__)},
        }
    )


def _features(model: Any) -> list[str]:
    """The columns that were learnt from, and into how many cells each was divided."""
    encoding = getattr(model, "encoding_", None)
    bins = getattr(encoding, "bins", None)
    if encoding is None or bins is None:
        return list(getattr(model, "features_", ()))
    pairs = zip(encoding.names, bins, strict=True)
    return [f"{name}, {cells.count} cells" for name, cells in pairs]


def _plain(value: Any) -> object:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)
