"""The answer to all ranges of a column as JSON, and back: noisy numbers and public facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

import numpy as np

from deniable import workload
from deniable.mechanisms import Mechanism
from deniable.release import Release
from deniable.statistics.workloads import Ranges
from deniable.synthetic.files import read_cells, written_cells
from deniable.workload.strategies import Blocks, Bounds, Identity, Sine, SquareRoot, Strategy
from deniable.workload.strategies.chosen import Chosen
from deniable.workload.strategies.noises import Noises

_STRATEGIES: Final[dict[str, type[Strategy]]] = {
    each.name: each for each in (Blocks, Identity, Sine, SquareRoot)
}


def written(found: Ranges) -> dict[str, Any]:
    """All but the release itself."""
    plan = found.estimates.plan
    assert plan.chosen is not None
    strategy = plan.chosen.strategy
    own = {f.name: getattr(strategy, f.name) for f in fields(strategy) if f.name != "bounds"}
    return {
        "holds": "ranges",
        "cells": written_cells(found.cells),
        "worth": found.worth,
        "strategy": {"name": strategy.name, **own},
        "bounds": {"l1": strategy.bounds.l1, "l2": strategy.bounds.l2},
        "noise": [each.to_dict() for each in plan.chosen.noise.noise],
        "multiples": list(plan.chosen.noise.multiples),
    }


def read(record: Mapping[str, Any], release: Release) -> Ranges:
    """The ranges that `written` wrote."""
    cells = read_cells(record["cells"])
    given = dict(record["strategy"])
    kind: Any = _STRATEGIES[given.pop("name")]
    whole: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in given.items()
    }
    strategy = kind(bounds=Bounds(**record["bounds"]), **whole)
    drawn: Any = tuple(map(Mechanism.from_dict, record["noise"]))
    multiples = record.get("multiples", [1] * len(drawn))
    noise = Noises(noise=drawn, multiples=tuple(multiples))
    w = workload.ranges(cells.count)
    plan = w.planned(Chosen(strategy=strategy, noise=noise), spend=release.loss)
    (answer,) = release.answers.values()
    noisy = np.array(answer.cells, dtype=np.float64) / record["worth"]
    return Ranges(
        release=release, cells=cells, estimates=w.estimates(plan, noisy), worth=record["worth"]
    )
