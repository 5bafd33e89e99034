"""A synthetic table: a private model of a table, and as many rows of it as you like."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable import cards, parameters
from deniable.errors import BadParameter
from deniable.losses import Loss
from deniable.release import Release
from deniable.release.certificate import Certificate
from deniable.release.numbers import amount, decimals
from deniable.sampling import below
from deniable.sampling.public import PublicRandom

from .domain import Domain
from .inference import Measurement, Unfolded, drawn_rows
from .marginal import Marginal, marginal_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes

    from .evaluation import Report

MOST_ROWS: Final = 100_000_000
"""More rows are drawn only if their number is given."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Synthetic:
    """A private model of a table. Rows, marginals and copies of it cost nothing more.

    `total` is the noisy number of rows; `measured` are the noisy marginals that the model was
    fitted to; `release` says what was charged, for whom and how it was drawn.
    """

    domain: Domain
    model: Unfolded = field(repr=False)
    total: float
    method: str
    measured: tuple[Measurement, ...] = field(repr=False)
    release: Release = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def loss(self) -> Loss:
        """What the whole run loses: no more than was offered."""
        return self.release.loss

    def certificate(self) -> Certificate:
        """What is claimed about the table, and all that is needed to check it."""
        return self.release.certificate()

    # ---- rows

    def codes(self, n: int | None = None, *, seed: int | None = None) -> NDArray[np.int64]:
        """Rows as numbers of cells."""
        if n is None and self.total > MOST_ROWS:
            raise BadParameter(
                f"the table has about {self.total:.3g} rows by a noisy count: say how many to draw",
                why="after a small spend the noise can be far larger than the table",
                fix="y.rows(1000)",
                cost="nothing more was spent",
            )
        count = round(self.total) if n is None else parameters.whole("n", n, least=0)
        return drawn_rows(self.model, count, random=PublicRandom(self._start(seed)))

    def columns(self, n: int | None = None, *, seed: int | None = None) -> dict[str, NDArray[Any]]:
        """Rows as one array per column, in the original types; missing values are None or NaN."""
        start = self._start(seed)
        codes, random = self.codes(n, seed=start), PublicRandom(start + 1)
        return {
            name: cells.decode(codes[:, i], random.generator.random(len(codes)))
            for i, (name, cells) in enumerate(self.domain.cells.items())
        }

    def rows(self, n: int | None = None, *, seed: int | None = None) -> list[dict[str, object]]:
        """Rows as dictionaries, in the original types; about as many as the table has without `n`.

        The same rows whenever they are asked for, in whatever form; another `seed` gives others.
        """
        found: list[dict[str, object]] = self.to_arrow(n, seed=seed).to_pylist()
        return found

    @cached_property
    def _seed(self) -> int:
        """The seed where none is given; drawn once, so that repeated calls return the same rows."""
        return int(below(2**62)[0])

    def _start(self, seed: int | None) -> int:
        return self._seed if seed is None else parameters.whole("seed", seed, least=0)

    def to_arrow(self, n: int | None = None, *, seed: int | None = None) -> pa.Table:
        """Rows as an Arrow table."""
        import pyarrow as pa

        kinds = {
            "int": pa.int64(),
            "float": pa.float64(),
            "text": pa.string(),
            "bool": pa.bool_(),
            "date": pa.date32(),
            "timestamp": pa.timestamp("us"),
        }
        made = {}
        for name, values in self.columns(n, seed=seed).items():
            cells = self.domain.cells[name]
            gone = np.isnan(values) if values.dtype.kind == "f" else None
            made[name] = pa.array(values, type=kinds[cells.type], mask=gone)
        return pa.table(made)

    def to_pandas(self, n: int | None = None, *, seed: int | None = None) -> pd.DataFrame:
        """Rows as a pandas frame; whole numbers stay whole where some are missing."""
        import pandas as pd

        def kept(name: str, values: NDArray[Any]) -> object:
            if self.domain.cells[name].type == "int" and values.dtype == object:
                return pd.array(values.tolist(), dtype="Int64")
            return values

        columns = self.columns(n, seed=seed)
        return pd.DataFrame({name: kept(name, values) for name, values in columns.items()})

    # ---- what is known of it

    @parameters.called('y.marginal(["age", "income"])')
    def marginal(self, columns: str | Sequence[str]) -> Marginal:
        """How many rows each cell of these columns has, by the model: nearer than rows are.

        The ± (95 % confidence, cell by cell) is known where these columns were measured, alone or
        within a larger marginal.
        """
        return marginal_of(
            self.domain,
            self.model,
            self.measured,
            self.domain.place(columns, what="columns"),
            self.total,
        )

    def plot(self, columns: str | Sequence[str], *, ax: Axes | None = None) -> Axes:
        """A chart of one marginal of the model: `model.plot("age")`; free."""
        return self.marginal(columns).plot(ax=ax)

    def evaluate(self, table: object, *, target: str | None = None, seed: int = 0) -> Report:
        """Compare with the real table: for the curator's eyes, as the figures are not private."""
        from .evaluation import evaluated

        return evaluated(self, table, target=target, seed=seed)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Keep the model in a file, which `deniable.synthetic.load` reads."""
        from .files import save

        save(self, path)

    # ---- how it looks

    def _facts(self) -> dict[str, str]:
        return {
            "columns": ", ".join(f"{n} ({c.count})" for n, c in self.domain.cells.items()),
            "rows": f"about {decimals(self.total)}; drawing more is free",
            "method": f"{self.method}: {len(self.measured)} noisy marginals",
            "cost": amount(self.loss, "up"),
            "protects": str(self.release.unit),
        }

    def __repr__(self) -> str:
        lines = [f"  {name:<9} {text}" for name, text in self._facts().items()]
        return "\n".join(["synthetic table", *lines, *(f"  note      {n}" for n in self.notes)])

    def _repr_html_(self) -> str:
        notes = {f"note {i}": note for i, note in enumerate(self.notes, 1)}
        table = self.release.provenance.table
        return cards.card(f"synthetic {table}", cards.facts(self._facts() | notes))
