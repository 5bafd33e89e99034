"""Synthetic data from a session: `deniable.synthetic` is imported on first use.

It lies above this package, so its types (`Synthesis`, `Synthetic`) cannot be named here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, TypedDict, Unpack

from deniable.losses import Loss
from deniable.parameters import called
from deniable.schema.edges import Bins
from deniable.session import Session


class Wanted(TypedDict, total=False):
    """The options of a synthetic table: see `Synthesizing.synthesis`."""

    method: str
    marginals: Sequence[Sequence[str]] | int | None
    bins: Bins | Mapping[str, Bins] | str | None
    constraints: Sequence[object]
    table: str | None
    cells: int


class Synthesizing(Session):
    """A session that makes synthetic tables."""

    @called("s.synthesis().explain(spend=dp.epsilon(1, delta=1e-9))", options=Wanted)
    def synthesis(self, columns: Sequence[str] | None = None, **wanted: Unpack[Wanted]) -> Any:
        """A plan for a synthetic table: `.explain(spend=...)` is free, `.release(...)` spends.

        `method` is "independent" (columns by themselves), "marginals" (those that you list), "tree"
        (fast), "adaptive" (nearest) or "auto". `marginals` are lists of columns that matter
        together, or k for all sets of k columns. `bins` divides numeric columns ("private" finds
        cells with part of the spend), `constraints` says what is impossible, and `cells` bounds the
        size of the model.
        """
        package = import_module("deniable.synthetic")
        return package.Synthesis(session=self, columns=columns, **wanted)

    @called("s.synthesize(spend=dp.epsilon(1, delta=1e-9))", options=Wanted)
    def synthesize(
        self, columns: Sequence[str] | None = None, *, spend: Loss, **wanted: Unpack[Wanted]
    ) -> Any:
        """A private model of the table, and as many rows of it as you like: see `synthesis`."""
        return self.synthesis(columns, **wanted).release(spend=spend)
