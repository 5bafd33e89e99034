"""The columns that are written: keys, noisy values, and `<column>_error`, the ± of 95 %."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable.errors import UnsupportedQuery
from deniable.query.aggregates import Derived
from deniable.query.algebra import Column, Kind, columns_of
from deniable.query.allocate import Allocation
from deniable.query.answer import tabled
from deniable.query.execute import canonical

if TYPE_CHECKING:
    import pyarrow as pa

Keys = Mapping[str, Any]
Drawn = Sequence[NDArray[np.int64]]
CONFIDENCE: Final = 0.95
_INT64: Final = np.iinfo(np.int64)
_LAST: Final = float(2**63 - 1024)  # the last float below 2⁶³


@dataclass(frozen=True, kw_only=True)
class Field:
    """One column: its name and kind; of which output it is the value, or the ±."""

    name: str
    kind: Kind
    output: str
    error: bool = False


def fields(allocation: Allocation) -> tuple[Field, ...]:
    """All columns in order; the same for every row and batch, known from public facts alone."""
    table = tabled(allocation, (), [() for _ in allocation.parts])
    found: list[Field] = []
    for output in allocation.plan.question.outputs:
        made = output.expression
        noisy = [name for name in columns_of(made) if name in table.aggregates]
        kind = made.kind
        if isinstance(made, Column) and noisy:
            kind = Kind.INT if table.aggregates[made.name].whole else Kind.FLOAT
        found.append(Field(name=output.name, kind=kind, output=output.name))
        if noisy and kind in (Kind.INT, Kind.FLOAT):
            name = f"{output.name}_error"
            found.append(Field(name=name, kind=Kind.FLOAT, output=output.name, error=True))
    _refuse_twins([field.name for field in found])
    return tuple(found)


def _refuse_twins(names: Sequence[str]) -> None:
    seen = set[str]()
    for name in names:
        if not name or name.lower() in seen:
            raise UnsupportedQuery(
                f"two columns would be written as `{name}`" if name else "a column has no name",
                why="the ± of a column `n` is written beside it as `n_error`; case is ignored",
                fix="another name for one of them, by AS",
            )
        seen.add(name.lower())


def arrow_schema(written: Sequence[Field]) -> pa.Schema:
    """The columns as Arrow has them."""
    import pyarrow as pa

    types = {
        Kind.INT: pa.int64(),
        Kind.FLOAT: pa.float64(),
        Kind.TEXT: pa.string(),
        Kind.BOOL: pa.bool_(),
        Kind.DATE: pa.date32(),
        Kind.TIMESTAMP: pa.timestamp("us"),
    }
    return pa.schema([pa.field(field.name, types[field.kind]) for field in written])


# ---- from noisy numbers to columns


def written(
    allocation: Allocation, asked: Sequence[Field], keys: Keys, drawn: Drawn
) -> pa.RecordBatch:
    """The columns of some groups: a function of their keys and noisy numbers alone.

    Total: no noisy number makes it fail, else a task that is tried again would choose its noise.
    `asked` are all `fields`; `keys` are columns of Arrow, by the names of keys.
    """
    import pyarrow as pa

    schema = arrow_schema(asked)
    question = allocation.plan.question
    plain = question.having is None and len(question.plain) == len(question.outputs)
    found = (_by_column if plain else _row_by_row)(allocation, asked, keys, drawn)
    arrays = [
        each.cast(kind) if isinstance(each, pa.Array) else pa.array(each, type=kind)
        for each, kind in zip(found, schema.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _by_column(
    allocation: Allocation, asked: Sequence[Field], keys: Keys, drawn: Drawn
) -> list[Any]:
    """All rows at once: what `answer` gives for each, as a test compares."""
    table = tabled(allocation, (), drawn)
    names = table.question.plain

    def column(field: Field) -> Any:
        name = names[field.output]
        if name not in table.aggregates:
            return keys[name]
        return (_error if field.error else _value)(table.aggregates[name])

    return [column(field) for field in asked]


def _value(found: Derived) -> NDArray[Any]:
    if not found.whole:
        return found.values
    whole = np.floor(found.values + 0.5)
    held = np.clip(whole, -(2.0**63), _LAST).astype(np.int64)
    return np.where(whole > _LAST, _INT64.max, held)


def _error(found: Derived) -> NDArray[np.float64]:
    if found.flat is not None:
        return np.full(found.values.shape, found.flat.half(CONFIDENCE))
    low, high = found.interval(CONFIDENCE)
    return np.maximum(high - found.values, found.values - low)


def _row_by_row(
    allocation: Allocation, asked: Sequence[Field], keys: Keys, drawn: Drawn
) -> list[Any]:
    """As `answer` does, without notes: expressions of aggregates, and HAVING."""
    columns = [
        [canonical(value, key.expression.kind) for value in keys[key.name].to_pylist()]
        for key in allocation.plan.question.keys
    ]
    shown, noisy = tabled(allocation, list(zip(*columns, strict=True)), drawn).present()
    found: list[Any] = []
    for field in asked:
        column = noisy.get(field.output)
        if field.error:
            assert column is not None
            cells: Sequence[object] = column.errors(CONFIDENCE)
        else:
            cells = shown[field.output] if column is None else column.cells
        found.append([_held(cell, field.kind) for cell in cells])
    return found


def _held(cell: Any, kind: Kind) -> object:
    """A cell that its column can hold."""
    match cell, kind:
        case None, _:
            return None
        case _, Kind.INT:
            return max(_INT64.min, min(int(cell), _INT64.max))
        case _, Kind.FLOAT:
            return float(cell)
        case _, Kind.TEXT:
            return str(cell)
    return cell
