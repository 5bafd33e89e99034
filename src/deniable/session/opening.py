"""Open a session: say whom you protect and how much may be learnt; the data are held, not read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from deniable import fixes
from deniable.errors import BadParameter, DeniableError, MissingUnit, UnitMismatch
from deniable.ledger import Ledger, open_ledger
from deniable.ledger.halts import named
from deniable.losses import Loss
from deniable.schema import Column, Schema
from deniable.units import Unit, rows

from . import budgets, sources
from ._session import Session


def open(
    source: object,
    *,
    unit: Unit | None = None,
    budget: Loss | None = None,
    schema: Schema | Mapping[str, Schema] | str | os.PathLike[str] | None = None,
    ledger: Ledger | str | Path | None = None,
    name: str | None = None,
    version: str | None = None,
    asker: str | None = None,
    of: type[Session] = Session,
) -> Session:
    """A session, `of` some kind, over data that are held, not read: see `dp.open`."""
    facts = _versioned(_schema(schema), version)
    whom = _unit(unit, facts)
    if whom is None:
        raise _missing_unit(source, facts, name)
    limit = None if budget is None else budgets.ceiling(budget, size=_size(facts))
    if limit is None and ledger is None:
        raise BadParameter(
            "a session needs a budget",
            why="without a budget, enough queries would reveal every row",
            fix=fixes.amount("budget", "epsilon", 1.0),
        )
    who = None if asker is None else named(asker)
    tables = sources.tables(source, schema=facts, unit=whom, name=name)
    return of(
        tables=tables,
        schema=facts,
        ledger=_ledger(ledger, unit=whom, budget=limit, name=name or "+".join(tables)),
        asker=who,
    )


def _schema(schema: object) -> Schema | None:
    match schema:
        case None | Schema():
            return schema
        case str() | os.PathLike():
            return Schema.from_toml(schema)
        case Mapping() if any(isinstance(facts, Column) for facts in schema.values()):
            raise BadParameter(
                "schema= of one table is a dp.Schema of columns",
                fix='schema=dp.Schema(columns={"age": dp.bounds(0, 125)})',
            )
        case Mapping():
            return Schema(tables=schema)
    raise BadParameter.of(
        "schema",
        schema,
        must="a dp.Schema or the path of one (.toml)",
        fix='schema=dp.Schema(columns={"age": dp.bounds(0, 125)})',
    )


def _versioned(schema: Schema | None, version: str | None) -> Schema | None:
    """The schema with the version stated here; one stated in both places must be the same."""
    if version is None:
        return schema
    if schema is not None and schema.version not in (None, version):
        raise BadParameter(
            f"you opened version {version} of the data, but the schema says {schema.version}",
            fix="leave out version= here, or change the schema",
        )
    return replace(schema or Schema(), version=version)


def _missing_unit(source: object, schema: Schema | None, name: str | None) -> DeniableError:
    """No privacy unit was given; the fix names a column that looks as if it identified people."""
    try:
        tables = sources.tables(source, schema=schema, unit=rows(), name=name)
    except DeniableError as error:
        return MissingUnit.of(name) if name else error
    return MissingUnit.of(
        ", ".join(tables), columns=[n for t in tables.values() for n in t.columns]
    )


def _unit(unit: object, schema: Schema | None) -> Unit | None:
    stated = None if schema is None else schema.unit
    if unit is not None and not isinstance(unit, Unit):
        column = unit if isinstance(unit, str) and unit.isidentifier() else "user_id"
        fix = fixes.person(column, 10), fixes.rows()
        raise BadParameter.of("unit", unit, must="a privacy unit", fix=fix)
    if unit is not None and stated is not None and unit != stated:
        raise UnitMismatch(
            f"you gave the unit {unit}, but the schema says {stated}",
            why="only one of the two promises could be kept",
            fix="leave out unit= here, or change the schema",
        )
    return unit or stated


def _size(schema: Schema | None) -> int | None:
    """About how many units there are, if the schema says so."""
    if schema is None:
        return None
    sizes = [part.size for part in (schema, *schema.tables.values()) if part.size is not None]
    return schema.size or max(sizes, default=None)


def _ledger(
    ledger: Ledger | str | Path | None, *, unit: Unit, budget: Loss | None, name: str
) -> Ledger:
    if isinstance(ledger, Ledger):
        ledger.header.agree(unit=unit, budget=budget, where=ledger.where)
        opened = ledger
    else:
        opened = open_ledger(ledger, budget=budget, unit=unit, name=name)
    if not opened.budget.figure:
        raise BadParameter(
            f"a session cannot spend from a budget of the kind {opened.budget.symbol}",
            why="what an answer costs is stated as one figure: ε, ρ or μ",
            fix=fixes.amount("budget", "rho", 0.5, note="in a ledger of its own"),
        )
    return opened
