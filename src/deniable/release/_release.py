"""A release: the answer, its ±, what it cost, and where it came from."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from deniable import cards
from deniable.errors import BadParameter, UnknownName
from deniable.forms import Form
from deniable.losses import Loss
from deniable.losses.filters import Price
from deniable.mechanisms import Mechanism
from deniable.parameters import called
from deniable.units import Unit

from .certificate import Certificate, certify
from .frame import Frame, box
from .noisy import Additive, Noisy, decode, encode, marked, unmarked
from .numbers import amount, plus_minus
from .provenance import Provenance

if TYPE_CHECKING:
    import os

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from altair import LayerChart
    from matplotlib.axes import Axes

_SQL: Final = re.compile(r"\s*[(]*(select|with|from|values)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Release:
    """A released answer, with its ± and the facts behind its privacy claim."""

    keys: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    answers: Mapping[str, Noisy]
    loss: Loss
    mechanisms: tuple[Mapping[str, object], ...]
    unit: Unit
    provenance: Provenance
    randomness: str = ""
    free: str = ""
    """Why this answer was free, if it was."""
    charged: Loss | None = None
    """What was charged this time, if part of the loss had already been paid."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", MappingProxyType(dict(self.keys)))
        object.__setattr__(self, "answers", MappingProxyType(dict(self.answers)))
        lengths = {len(k) for k in self.keys.values()}
        lengths |= {len(a.cells) for a in self.answers.values()}
        assert len(lengths) <= 1, "all columns of a release have one length"

    # ---- the answer

    @property
    def value(self) -> object:
        """The plain value of a one-cell answer; an array where one array was asked for."""
        if len(self.answers) == 1:
            (answer,) = self.answers.values()
            if answer.shape is not None:
                import numpy as np

                return np.array(answer.cells).reshape(answer.shape)
            if len(answer.cells) == 1:
                return answer.cells[0]
        raise BadParameter(
            f"this answer is a table ({', '.join(self.answers)}), so it has no single value",
            fix="r.rows(), r.to_pandas() or r.to_arrow()",
            cost="nothing more was spent",
        )

    @called("r.rows()")
    def rows(self) -> list[dict[str, object]]:
        """One dictionary per row: keys, noisy values, and <column>_error (95 % confidence)."""
        return self._frame().rows()

    @called("r.to_pandas()")
    def to_pandas(self) -> pd.DataFrame:
        """The answer as a pandas frame."""
        return self._frame().to_pandas()

    @called("r.to_arrow()")
    def to_arrow(self) -> pa.Table:
        """The answer as a PyArrow table."""
        return self._frame().to_arrow()

    @called("r.to_polars()")
    def to_polars(self) -> pl.DataFrame:
        """The answer as a Polars frame."""
        return self._frame().to_polars()

    @called('r.to_csv("answer.csv")')
    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The answer as CSV, also written to a file if one is named."""
        return self._frame().to_csv(path)

    @called("r.interval()")
    def interval(self, confidence: float = 0.95) -> Frame:
        """Keys, <column>_low and <column>_high; a pair covers the noise with that probability."""
        columns: dict[str, tuple[object, ...]] = dict(self.keys)
        for name, answer in self.answers.items():
            pairs = [pair or (None, None) for pair in answer.intervals(confidence)]
            columns[f"{name}_low"] = tuple(low for low, _ in pairs)
            columns[f"{name}_high"] = tuple(high for _, high in pairs)
        return Frame(columns)

    def _frame(self) -> Frame:
        columns: dict[str, tuple[object, ...]] = dict(self.keys)
        for name, answer in self.answers.items():
            columns[name] = answer.cells
            if name in self._errors:
                columns[f"{name}_error"] = self._errors[name]
        return Frame(columns)

    @functools.cached_property
    def _errors(self) -> dict[str, tuple[Any, ...]]:
        """The ± (95 % confidence) of each column that has one."""
        errors = {name: answer.errors() for name, answer in self.answers.items()}
        return {name: told for name, told in errors.items() if any(e is not None for e in told)}

    # ---- the claim

    @called("r.certificate()")
    def certificate(self) -> Certificate:
        """Everything needed to check the claim, as JSON or HTML, with fields for a DP registry."""
        return certify(self)

    def to_dict(self) -> dict[str, object]:
        """A record from which the same release can be read back."""
        record = {
            "keys": {name: [encode(k) for k in keys] for name, keys in self.keys.items()},
            "answers": {name: answer.to_dict() for name, answer in self.answers.items()},
            "order": [*self.keys, *self.answers],
            "loss": self.loss.to_dict(),
            "mechanisms": [dict(record) for record in self.mechanisms],
            "unit": self.unit.to_dict(),
            "provenance": self.provenance.to_dict(),
            "randomness": self.randomness,
        }
        return {name: marked(part) for name, part in record.items()}

    @staticmethod
    def from_dict(record: Mapping[str, Any]) -> Release:
        """Read a release written by `to_dict`; being a repeated answer, it is free."""
        record = unmarked(record)
        parts: Mapping[str, Mapping[str, object]] = record
        keys: Mapping[str, list[object]] = record["keys"]
        answers: Mapping[str, Mapping[str, object]] = record["answers"]
        # A ledger sorts what it stores by name; records of old do not say what came first.
        order: list[str] = record.get("order", [*keys, *answers])
        provenance = Provenance.from_dict(parts["provenance"])
        return Release(
            keys={name: tuple(map(decode, keys[name])) for name in order if name in keys},
            answers={n: Noisy.from_dict(answers[n]) for n in order if n in answers},
            loss=Loss.from_dict(parts["loss"]),
            mechanisms=tuple(record["mechanisms"]),
            unit=Unit.from_dict(parts["unit"]),
            provenance=provenance,
            randomness=str(record["randomness"]),
            free=provenance.before,
        )

    # ---- for people

    @called("r.plot()")
    def plot(self, column: str | None = None, *, ax: Axes | None = None) -> Axes:
        """A chart of a column (by default the first), with 95 % confidence intervals.

        Bars; a line with a band over dates; grouped bars for two keys.
        """
        from deniable.plots.answers import answers

        name, numbers, told = self._drawn(column)
        heading = self._heading(name)
        return answers(
            self.keys, numbers, told, name=name, title=heading, caption=self.caption, ax=ax
        )

    @called("r.chart()")
    def chart(self, column: str | None = None) -> LayerChart:
        """A chart of the answer for a browser or a notebook: point at a mark to read its ±.

        It is Altair's (`pip install "deniable[charts]"`): `r.chart().save("answer.html")`.
        """
        from deniable.plots.charts import chart

        name, numbers, told = self._drawn(column)
        pairs = zip(self.answers[name].cells, self._errors.get(name, told), strict=True)
        shown = [plus_minus(value, error) for value, error in pairs]
        heading = self._heading(name)
        return chart(
            self.keys, numbers, told, shown, name=name, title=heading, caption=self.caption
        )

    def _drawn(self, column: str | None) -> tuple[str, list[float], list[float]]:
        """The name of a column (by default the first), its numbers, and their ±."""
        name = next(iter(self.answers)) if column is None else column
        if name not in self.answers:
            raise UnknownName.of("column", name, known=self.answers)
        numbers = [v for v in self.answers[name].cells if isinstance(v, int | float)]
        if len(numbers) < len(self.answers[name].cells):
            raise BadParameter(f"cannot plot `{name}`: it is not a numeric column")
        told = self._errors.get(name, (None,) * len(numbers))
        return name, numbers, [math.nan if e is None else e for e in told]

    @property
    def caption(self) -> str:
        """What stands below a chart: whom the answer protects, its cost, and what the ± is."""
        return f"protects {self.unit}; {amount(self.loss, 'up')}; 95 % confidence"

    def _heading(self, name: str) -> str:
        """The question if it was asked in words; what is shown by what if it was asked in SQL."""
        asked = self.provenance.question
        if not asked or "\n" in asked or _SQL.match(asked):
            return ""
        return asked if len(self.answers) == 1 else f"{asked}: {name}"

    def shown(self, most: int = 40) -> tuple[list[str], list[list[str]]]:
        """The header and the rows as text; a long answer shows only its first and last rows."""
        count = len(next(iter(self.answers.values())).cells) if self.answers else 0
        half = most // 2
        rows = [*range(half), *range(count - half, count)] if count > most else range(count)
        columns = [[str(keys[row]) for row in rows] for keys in self.keys.values()]
        for name, answer in self.answers.items():
            errors = self._errors.get(name, (None,) * count)
            columns.append([plus_minus(answer.cells[row], errors[row]) for row in rows])
        shown = [list(row) for row in zip(*columns, strict=True)]
        if count > most:
            shown.insert(half, ["…"] * len(columns))
        return [*self.keys, *self.answers], shown

    @property
    def cost(self) -> str:
        """What was charged for this answer this time, in words."""
        if self.free:
            return f"free: {self.free}"
        if self.charged is None:
            return f"spent {amount(self.loss, 'up')}"
        together = amount(self.loss, "up")
        return f"spent {amount(self.charged, 'up')} now; {together} with what was charged earlier"

    def after(self, first: Release) -> Release:
        """This answer with the cost of an earlier step included: one claim about both."""
        prices = [Price.from_dict(each.provenance.price) for each in (first, self)]
        paid = [each.loss for each in (first, self) if not each.free]
        return replace(
            self,
            loss=first.loss + self.loss,
            mechanisms=(*first.mechanisms, *self.mechanisms),
            provenance=replace(self.provenance, price=sum(prices, Price.zero).to_dict()),
            free=self.free if first.free else "",
            charged=paid[0] if len(paid) == 1 else None,
        )

    @property
    def notes(self) -> list[str]:
        """What stands below the answer: what its columns are, and where it is mostly noise."""
        estimands = {n: a.estimand for n, a in self.answers.items() if a.estimand}
        shown = [self.provenance.note] if self._errors and self.provenance.note else []
        notes = [*estimands.items(), *self._drowned(), *self._held()]
        return _said_once(notes) + shown

    def _held(self) -> list[tuple[str, str]]:
        """Where an answer is at the limit of int64: the true value may lie beyond it."""
        ends = "at the limit of a 64-bit integer, so the true value may lie far beyond it"
        held = [n for n, errors in self._errors.items() if any(e == math.inf for e in errors)]
        return [(name, ends) for name in held]

    def _drowned(self) -> list[tuple[str, str]]:
        """A warning for columns where the noise is as large as the answer."""
        notes = []
        for name, errors in self._errors.items():
            cells = zip(self.answers[name].cells, errors, strict=True)
            few = sum(_at_most(cell, error) for cell, error in cells)
            if few:
                where = "" if len(errors) == 1 else f" in {few:,} of {len(errors):,} rows"
                notes.append((name, f"the noise is as large as the answer{where}"))
        return notes

    def __str__(self) -> str:
        version = self.provenance.data_version
        about = f" · data version {version}" if version else ""
        facts = f"{self.cost} · protects {self.unit}{about}"
        lines = [box(*self.shown()), facts, *self.notes]
        return "\n".join(([self.provenance.question] if self.provenance.question else []) + lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        made = [f"{m.get('mechanism')}: {_rest(m)}" for m in self.mechanisms]
        steps = " (in steps of the lattice of exact sums)" if self.provenance.noise else ""
        notes = {f"note {n}": text for n, text in enumerate(self.notes, 1)}
        how = {"cost": self.cost, "protects": str(self.unit)} | notes
        noise = self.provenance.noise
        source = {"table": self.provenance.table, "time": self.provenance.time}
        source |= {"ledger entry": self.provenance.entry_hash[:16]}
        source |= {"data version": self.provenance.data_version}
        return cards.card(
            self.provenance.question or "release",
            cards.table(*self.shown()),
            cards.facts(how),
            cards.folded(
                "how it was computed",
                cards.facts(source | {f"noise {n}": text for n, text in enumerate(noise, 1)}),
                cards.facts({"drawn by": "; ".join(made) + steps}),
            ),
        )


def answer_of(
    mechanism: Mechanism, form: Form, drawn: Any
) -> tuple[dict[str, tuple[object, ...]], Noisy]:
    """Keys and column of what one mechanism drew: a number, an array, an index, anything else."""
    shape: tuple[int, ...] = ()
    cells: list[object] = [drawn]
    if hasattr(drawn, "tolist") and hasattr(drawn, "shape"):
        shape = tuple(drawn.shape)
        cells = drawn.reshape(-1).tolist()
    elif isinstance(drawn, list) and all(isinstance(v, int | float) for v in drawn):
        shape, cells = (len(drawn),), drawn
    noisy = Noisy(cells=tuple(cells), shape=shape or None, spread=spread_of(mechanism, form))
    if mechanism.by_entry and form.keys is not None:
        return {"key": form.keys}, noisy
    return (_index(shape) if shape else {}), noisy


def spread_of(mechanism: Mechanism, form: Form) -> Additive:
    """The mechanism's own ±, for whole numbers if those are declared."""
    return Additive(mechanism=mechanism, whole=form.whole is True)


def _index(shape: tuple[int, ...]) -> dict[str, tuple[object, ...]]:
    import numpy as np

    if len(shape) == 1:
        return {"index": tuple(range(shape[0]))}
    places = np.indices(shape).reshape(len(shape), -1).tolist()
    return {f"index_{axis}": tuple(place) for axis, place in enumerate(places)}


def _said_once(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Each note with the columns that it is about.

    >>> _said_once([("a", "clipped"), ("b", "clipped"), ("b", "noisy")])
    ['a, b: clipped', 'b: noisy']
    """
    about: dict[str, list[str]] = {}
    for name, text in notes:
        about.setdefault(text, []).append(name)
    return [
        f"{', '.join(names[:3])}{f' and {len(names) - 3:,} more' * (len(names) > 3)}: {text}"
        for text, names in about.items()
    ]


def _at_most(cell: object, error: Any) -> bool:
    return isinstance(cell, int | float) and bool(error) and abs(cell) <= error < math.inf


def _rest(record: Mapping[str, object]) -> str:
    return ", ".join(f"{k} = {v}" for k, v in record.items() if k != "mechanism")
