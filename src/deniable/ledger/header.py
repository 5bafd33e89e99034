"""The first line of a ledger: the ceiling, how it is enforced, and whom it protects."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from deniable.errors import DeniableError, LedgerFailure, UnitMismatch
from deniable.losses import Loss
from deniable.losses.filters import Filter
from deniable.release.numbers import amount, parameters_of
from deniable.units import Unit

from .entry import FORMAT, Record, canonical, digest, opened
from .store import Row


@dataclass(frozen=True, kw_only=True)
class Header:
    """What every line of a ledger is measured against; it never changes."""

    name: str
    unit: Unit
    budget: Loss
    filter: Filter

    def to_record(self) -> dict[str, object]:
        """As it is written, in line 0."""
        return {
            "kind": "header",
            "format": FORMAT,
            "name": self.name,
            "unit": self.unit.to_dict(),
            "budget": self.budget.to_dict(),
            "filter": self.filter.to_dict(),
        }

    @staticmethod
    def read(rows: Sequence[Row], *, where: str) -> Header:
        """The header in the first line, or LedgerFailure if it cannot be understood."""
        if not rows or rows[0].sequence != 0 or rows[0].hash != digest(rows[0].line):
            raise LedgerFailure(
                f"{where} has no header, or it was changed",
                why="without its first line nobody knows what the ceiling was",
                fix="restore it from a copy whose verify() passes",
            )
        header = Header._understood(opened(rows[0]).record)
        if header is None:
            raise LedgerFailure(
                f"{where} was written by a later version of deniable",
                why="its first line says things that this version does not understand",
                fix="pip install --upgrade deniable",
            )
        return header

    @staticmethod
    def _understood(record: Record) -> Header | None:
        unit, budget, filter_ = (record.get(name) for name in ("unit", "budget", "filter"))
        if record.get("format") != FORMAT or not isinstance(unit, dict):
            return None
        if not isinstance(budget, dict) or not isinstance(filter_, dict):
            return None
        with suppress(DeniableError):
            return Header(
                name=str(record.get("name")),
                unit=Unit.from_dict(unit),
                budget=Loss.from_dict(budget),
                filter=Filter.from_dict(filter_),
            )
        return None

    def agree(self, *, unit: Unit | None, budget: Loss | None, where: str) -> None:
        """Refuse to be opened as if it were a ledger for someone else or of another size."""
        if unit is not None and unit != self.unit:
            raise units_differ(self.unit, unit, where=where)
        if budget is not None and canonical(budget.to_dict()) != canonical(self.budget.to_dict()):
            kept, given = amount(self.budget), amount(budget)
            if kept == given:  # they differ in a later digit
                kept, given = repr(self.budget), repr(budget)
            raise LedgerFailure(
                f"{where} has a ceiling of {kept}; you gave {given}",
                why="a ceiling that could be raised would be none",
                fix=(
                    f"budget={_written(self.budget)}    or leave it out: the ledger knows it",
                    "or another ledger, whose losses add up with this one's",
                ),
            )


def _written(loss: Loss) -> str:
    """A ceiling as one types it."""
    figures = parameters_of(loss)
    name, figure = next(iter(figures.items()), ("", 0.0))
    more = f", delta={figures['delta']}" if "delta" in figures else ""
    return f"dp.{name}({figure}{more})" if name else f"dp.{loss!r}"


def units_differ(ledger: Unit, given: Unit, *, where: str) -> UnitMismatch:
    """Two ideas of whom to protect met in one sum."""
    return UnitMismatch(
        f"{where} protects {ledger!r}; you gave {given!r}",
        why="losses add up only when they protect the same unit under the same relation",
        fix=f"unit=dp.{ledger!r}, or a ledger of its own",
    )
