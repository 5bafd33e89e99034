"""A synthetic table: the answer is the model, from which anyone may draw rows for free."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from deniable.curator import Curator
from deniable.losses import Loss
from deniable.release import Plan

from ._kind import Answer, Bins, Named, Names

if TYPE_CHECKING:
    from deniable.synthetic import Synthesis, Synthetic


class Synthesize(Named):
    """A private model of a table, from which rows that describe nobody can be drawn."""

    patience: ClassVar[int] = 20
    """Fitting a model takes minutes on wide tables."""

    kind: Literal["synthesize"] = "synthesize"
    columns: Names | None = None
    """Those that the synthetic table has; none ticked means all."""
    method: Literal["auto", "independent", "marginals", "tree", "adaptive"] = "auto"
    marginals: (
        Annotated[int, Field(ge=1, le=4)] | Annotated[list[Names], Field(max_length=2000)] | None
    ) = None
    """How many columns are counted together at a time."""
    bins: Bins | dict[str, Bins] | None = None
    """How many cells, or their edges; if empty, the schema's own."""

    def explain(self, session: Curator, spend: Loss) -> Plan:
        """The cost, and how near each marginal would be."""
        return self._synthesis(session).explain(spend=spend)

    def release(self, session: Curator, spend: Loss) -> Answer:
        found = self._synthesis(session).release(spend=spend)
        return Answer(release=found.release, attachment=written(found))

    def _synthesis(self, session: Curator) -> Synthesis:
        from deniable.synthetic import Synthesis

        return Synthesis(
            session=session,
            columns=self.columns,
            method=self.method,
            marginals=self.marginals,
            bins=self.bins,
            table=self.table,
        )


def written(found: Synthetic) -> dict[str, Any]:
    """The file that `Synthetic.save` writes, as text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        found.save(path)
        return {"holds": "synthetic", "file": base64.b64encode(path.read_bytes()).decode()}


def read(record: Mapping[str, Any]) -> Synthetic:
    """The model of an answer; every part of it is checked."""
    from deniable.synthetic import load

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(base64.b64decode(record["file"], validate=True))
        return load(path)
