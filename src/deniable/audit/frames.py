"""Frames, series, tables and arrays of pandas, Polars and PyArrow, taken apart without import.

Beside its cells a frame tells its index, its columns and their order, its data types, names, and
the categories and levels it still lists although no row has them any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from .parts import Parts, Path, type_name, typed

Frame = Any
"""Of a library that need not be there."""


def of_pandas(answer: Frame) -> Parts | None:
    """A DataFrame, a Series, an Index or an array of pandas; None for its single values."""
    if hasattr(answer, "iloc") and hasattr(answer, "columns"):
        columns = [answer.iloc[:, place] for place in range(answer.shape[1])]
        facts = {
            "index": _index(answer.index),
            "columns": _index(answer.columns),
            "dtypes": ", ".join(_dtype(column.dtype) for column in columns),
            "attributes": repr(answer.attrs),
        }
        cells = [column.tolist() for column in columns]
        return _table(answer, cells, facts, index=answer.index, columns=answer.columns)
    if hasattr(answer, "iloc"):
        facts = {
            "index": _index(answer.index),
            "name": repr(answer.name),
            "dtypes": _dtype(answer.dtype),
            "attributes": repr(answer.attrs),
        }
        return _series(answer, answer.tolist(), facts, index=answer.index)
    if hasattr(answer, "levels") or (hasattr(answer, "tolist") and hasattr(answer, "dtype")):
        index = _index(answer) if hasattr(answer, "names") else ""
        facts = {"index": index, "dtypes": _dtype(answer.dtype)}
        return _series(answer, answer.tolist(), facts)
    return None


def of_polars(answer: Frame) -> Parts | None:
    """A DataFrame or a Series of Polars; None for anything else."""
    if hasattr(answer, "get_columns"):
        columns = answer.get_columns()
        facts = {
            "columns": repr(answer.columns),
            "dtypes": ", ".join(_polars_dtype(column) for column in columns),
        }
        cells = [column.to_list() for column in columns]
        return _table(answer, cells, facts, columns=answer.columns)
    if hasattr(answer, "to_list") and hasattr(answer, "dtype"):
        facts = {"name": repr(answer.name), "dtypes": _polars_dtype(answer)}
        return _series(answer, answer.to_list(), facts)
    return None


def of_pyarrow(answer: Frame) -> Parts | None:
    """A Table, a RecordBatch, an Array or a ChunkedArray; None for a Scalar and for types."""
    if hasattr(answer, "schema") and hasattr(answer, "column_names"):
        columns = [answer.column(place) for place in range(answer.num_columns)]
        facts = {
            "columns": repr(answer.column_names),
            "dtypes": answer.schema.to_string(
                truncate_metadata=False, show_field_metadata=True, show_schema_metadata=True
            ),
            "categories": ", ".join(map(_dictionaries, columns)),
            "chunks": ", ".join(map(_chunks, columns)),
        }
        cells = [column.to_pylist() for column in columns]
        return _table(answer, cells, facts, columns=answer.column_names)
    if hasattr(answer, "to_pylist"):
        facts = {
            "dtypes": str(answer.type),
            "categories": _dictionaries(answer),
            "chunks": _chunks(answer),
        }
        return _series(answer, answer.to_pylist(), facts)
    return None


LIBRARIES: Final[Mapping[str, Callable[[Frame], Parts | None]]] = {
    "pandas": of_pandas,
    "polars": of_polars,
    "pyarrow": of_pyarrow,
}


def _placed(labels: Mapping[str, Iterable[object]]) -> Iterator[tuple[Path, object]]:
    """Each label at its place: labels may carry numbers too."""
    for name, listed in labels.items():
        for place, label in enumerate(listed):
            yield ((name, None), ("entry", place)), label


def _table(
    answer: Frame,
    cells: Sequence[Sequence[object]],
    facts: Mapping[str, str],
    **labels: Iterable[object],
) -> Parts:
    def entries() -> Iterator[tuple[Path, object]]:
        yield from _placed(labels)
        for row in range(len(answer)):
            for place, column in enumerate(cells):
                yield (("entry", row), ("entry", place)), column[row]

    kinds = [typed(column, column) for column in cells]
    return Parts(
        kind="a table",
        type=f"{type_name(answer)} with columns: {'; '.join(kinds)}",
        length=len(answer),
        facts=facts,
        entries=entries(),
    )


def _series(
    answer: Frame, values: Sequence[object], facts: Mapping[str, str], **labels: Iterable[object]
) -> Parts:
    def entries() -> Iterator[tuple[Path, object]]:
        yield from _placed(labels)
        for place, value in enumerate(values):
            yield (("entry", place),), value

    kind = typed(answer, values)
    return Parts(kind="a list", type=kind, length=len(values), facts=facts, entries=entries())


def _index(index: Frame) -> str:
    """Labels, names, types; and all levels, those without rows included."""
    levels = getattr(index, "levels", None)
    types = [_dtype(i.dtype) for i in levels] if levels is not None else [_dtype(index.dtype)]
    listed = [level.tolist() for level in levels] if levels is not None else []
    return (
        f"{index.tolist()!r} named {list(index.names)!r}, {type(index).__name__} {types} {listed}"
    )


def _dtype(dtype: Frame) -> str:
    """A data type; of a categorical one also every category and whether they are ordered."""
    categories = getattr(dtype, "categories", None)
    if categories is None or not hasattr(categories, "tolist"):
        return repr(dtype)
    return f"{dtype.name} {categories.tolist()!r} of {categories.dtype}, ordered {dtype.ordered}"


def _polars_dtype(series: Frame) -> str:
    categories: Frame = getattr(series.dtype, "categories", None)
    listed = categories.to_list() if hasattr(categories, "to_list") else categories
    return f"{series.dtype!r} {listed} {series.flags} {series.chunk_lengths()}"


def _dictionaries(column: Frame) -> str:
    chunks = getattr(column, "chunks", [column])
    return repr([c.dictionary.to_pylist() for c in chunks if hasattr(c, "dictionary")])


def _chunks(column: Frame) -> str:
    return repr([len(chunk) for chunk in getattr(column, "chunks", [column])])
