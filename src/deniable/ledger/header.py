"""The first line of a ledger: the ceiling, how it is enforced, and whom it protects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from deniable import fixes
from deniable.errors import DeniableError, LedgerFailure, UnitMismatch
from deniable.fixes import Fix
from deniable.losses import Loss
from deniable.losses.filters import Filter
from deniable.release.numbers import amount
from deniable.units import Unit

from .entry import FORMAT, Entry, Record, canonical, digest
from .stores.store import Row
from .trust import NOT_TRUSTED, UNREADABLE, check_link, intact, read


@dataclass(frozen=True, kw_only=True)
class Header:
    """What every line of a ledger is measured against; it never changes."""

    name: str
    unit: Unit
    budget: Loss
    filter: Filter
    hash_of_key: str = ""
    """The SHA-256 of the secret under which questions are hashed; empty in early ledgers."""

    def key(self, kept: str, *, where: str) -> bytes:
        """The secret, if what is kept of it is whole."""
        whole = len(kept) == 64 and not set(kept) - set("0123456789abcdef")
        if whole and self.hash_of_key in ("", digest(kept)):
            return bytes.fromhex(kept)
        raise LedgerFailure(
            f"the secret of {where} is damaged",
            why="with another secret, no stored answer could be found",
            fix=f"restore {where} from a copy",
            cost=NOT_TRUSTED,
        )

    def to_record(self) -> dict[str, object]:
        """As it is written, in line 0."""
        return {
            "kind": "header",
            "format": FORMAT,
            "name": self.name,
            "unit": self.unit.to_dict(),
            "budget": self.budget.to_dict(),
            "filter": self.filter.to_dict(),
            "key": self.hash_of_key or None,
        }

    @staticmethod
    def read(rows: Sequence[Row], *, where: str) -> Header:
        """The header in the first of the first two lines, if the second says that it is whole."""
        first = Header._first(rows, where=where)
        header = Header._understood(first.record)
        if header is None:
            raise LedgerFailure(
                f"{where} was written by a later version of deniable",
                why="its first line has fields that this version does not know",
                fix="pip install --upgrade deniable",
            )
        return header

    @staticmethod
    def _first(rows: Sequence[Row], *, where: str) -> Entry:
        first: Entry | None = None
        with suppress(LedgerFailure):
            first = intact(rows[0], where=where) if rows else None
        if first is not None and (first.sequence, first.kind) == (0, "header"):
            for row in rows[1:]:
                check_link(rows[0], read(row, where=where), where=where)
            return first
        raise LedgerFailure(
            f"{where} has no header, or it was changed",
            why="without its first line, the budget is unknown",
            fix="restore it from a copy whose verify() passes",
            cost=NOT_TRUSTED,
        )

    @staticmethod
    def _understood(record: Record) -> Header | None:
        if record.get("format") != FORMAT:
            return None
        unit, budget, filter_ = (record.get(name) for name in ("unit", "budget", "filter"))
        with suppress(DeniableError, *UNREADABLE):
            assert isinstance(unit, dict)
            assert isinstance(budget, dict)
            assert isinstance(filter_, dict)
            return Header(
                hash_of_key=str(record.get("key", "")),
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
                f"{where} has a budget of {kept}; you gave {given}",
                why="a budget that could be raised would promise nothing",
                fix=(
                    _written(self.budget, note="or leave it out: the ledger stores it"),
                    "or use another ledger; the losses of both then add up",
                ),
            )


def _written(loss: Loss, note: str) -> Fix:
    """A ceiling as one types it."""
    figures = loss.figures()
    if not figures:
        return Fix(f"budget=dp.{loss!r}", note=note)
    name, figure = next(iter(figures.items()))
    return fixes.amount("budget", name, figure, delta=figures.get("delta"), note=note)


def units_differ(ledger: Unit, given: Unit, *, where: str) -> UnitMismatch:
    """Two different privacy units met in one sum."""
    return UnitMismatch(
        f"{where} was opened with unit=dp.{ledger!r}; you gave unit=dp.{given!r}",
        why="losses add up only if they protect the same privacy unit",
        fix=(_unit(ledger), "or use a separate ledger; the losses of both then add up"),
    )


def _unit(unit: Unit) -> Fix:
    """The unit as one types it: commands read it from the schema file."""
    stated = ", ".join(f"{n} = {json.dumps(v)}" for n, v in unit.to_dict().items())
    return Fix(f"unit=dp.{unit!r}", command=f"unit = {{{stated}}}    in the schema file")
