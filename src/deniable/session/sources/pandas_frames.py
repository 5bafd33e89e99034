"""pandas frames, whose values change their types."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from deniable.errors import BadParameter, MissingExtra
from deniable.schema import Schema
from deniable.session.tables import TableOutline, type_of

from .source import Source, outline


class PandasFrame(Source):
    """Columns become Arrow by their types alone: NumPy's own, and text for objects."""

    kind: ClassVar = "pandas"

    def only(self, columns: Sequence[str]) -> Self:
        return replace(self, held=self.held[columns or list(self.held.columns)[:1]])

    def none(self) -> Self:
        return replace(self, held=self.held.iloc[:0])

    def rows(self) -> Any:
        import pyarrow as pa

        return pa.table({name: _column(pa, self.held[name]) for name in self.held.columns})


def look(frame: Any, name: str | None, _schema: Schema | None) -> list[TableOutline]:
    """Names and dtypes of the frame's columns."""
    if not hasattr(frame, "dtypes") or not hasattr(frame, "columns"):
        raise BadParameter("a pandas Series is one column, not a table", fix="series.to_frame()")
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtra.of("PyArrow, by which frames are read,", extra="frames")
    dtypes = [(label, str(kind)) for label, kind in zip(frame.columns, frame.dtypes, strict=True)]
    types = {label: _type(dtype) for label, dtype in dtypes}
    likely = {label: "bool" for label, dtype in dtypes if dtype == "bool"}
    return [outline(PandasFrame(held=frame), name, dtypes, types=types, likely=likely)]


def _type(dtype: str) -> str | None:
    """What a pandas dtype says that no missing value could have changed.

    One missing value turns whole numbers into floats and truth values into objects; so all NumPy
    numbers count as float, and a NumPy truth value needs the schema's word.
    """
    if re.fullmatch(r"u?int\d+|float\d+", dtype):
        return "float"
    return None if dtype == "bool" else type_of(dtype)


def _column(pa: Any, series: Any) -> Any:
    """What Arrow has a type for as that type, all other as text."""
    import pandas as pd

    from .arrow_values import settled_column, texts

    kind = series.dtype
    if isinstance(kind, pd.CategoricalDtype):
        if kind.categories.dtype.kind == "O":
            codes = series.cat.codes.to_numpy()
            written = texts(pa, kind.categories.to_numpy(object).tolist())
            return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), written)
        return settled_column(pa, pa.array(series))
    if isinstance(kind, pd.SparseDtype):
        return _column(pa, series.sparse.to_dense())
    stored = isinstance(kind, pd.StringDtype) and kind.storage == "pyarrow"
    if stored or isinstance(kind, pd.ArrowDtype) or (kind.kind in "iufbMm" and kind.itemsize <= 8):
        return settled_column(pa, pa.array(series))
    return texts(pa, series.to_numpy(object).tolist())
