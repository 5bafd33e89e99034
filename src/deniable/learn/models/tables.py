"""Arrays, frames and lists as columns of numbers or of labels, each cell read by itself.

NumPy, pandas and scikit-learn choose one type for all rows, so that one odd cell would change how
the others are read, or stop the fit with an error that quotes it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from deniable.schema.arrays import NUMBERS, Floats, dimensions, floats


def table(X: Any) -> Floats:
    """A table as floats, NaN where a cell is not a number; what is not a table keeps its shape.

    >>> table([[1, 2.5], [None, "x"], [True, 10**400]]).tolist()
    [[1.0, 2.5], [nan, nan], [1.0, inf]]
    """
    if hasattr(X, "toarray"):
        raise TypeError("sparse data are not supported: pass a dense array, X.toarray()")
    columns = _columns(X)
    if isinstance(columns, np.ndarray):
        return columns
    if not columns:
        return np.empty((len(X), 0))
    return np.stack([_floats(each) for each in columns], axis=1)


def column(y: Any) -> Any:
    """One column; of a table with one column, that one, with scikit-learn's warning."""
    if not any(hasattr(y, name) for name in ("shape", "to_pylist", "__len__")):
        y = np.asarray(y)
    if dimensions(y) == 1:
        return y
    if dimensions(y) != 2 or y.shape[1] != 1:
        raise ValueError("y should be a 1d array, with one target per row")
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected.",
        DataConversionWarning,
        stacklevel=4,
    )
    return y.iloc[:, 0] if hasattr(y, "iloc") else np.asarray(y)[:, 0]


def values(labels: Any) -> list[Any]:
    """Labels one by one, as they are: no type is chosen for all of them."""
    for listed in ("to_pylist", "to_list", "tolist"):  # Arrow, pandas and Polars, NumPy
        if hasattr(labels, listed):
            return list(getattr(labels, listed)())
    return list(labels)


def _columns(X: Any) -> Any:
    """The columns of a table, or an array of numbers where there is nothing to read by cell."""
    if hasattr(X, "iloc"):
        return [X.iloc[:, place] for place in range(X.shape[1])]
    if hasattr(X, "get_columns"):  # Polars
        return X.get_columns()
    if hasattr(X, "column_names"):  # Arrow
        return [each.to_pylist() for each in X.columns]
    if hasattr(X, "__array__") or not isinstance(X, list | tuple):
        return _of_array(X if isinstance(X, np.ma.MaskedArray) else np.asarray(X))
    if not all(dimensions(row) == 1 for row in X):
        return np.zeros((0,) * (1 + max(map(dimensions, X), default=0)))
    if len(set(map(len, X))) > 1:
        raise ValueError("X must be a table: its rows have different lengths")
    return [list(cells) for cells in zip(*X, strict=True)]


def _of_array(array: Any) -> Any:
    if array.ndim != 2:
        return np.zeros((0,) * array.ndim)
    if array.dtype.kind in NUMBERS and not isinstance(array, np.ma.MaskedArray):
        with np.errstate(over="ignore"):  # a warning would tell that a row is large
            return array.astype(np.float64, copy=False)
    return list(array.T)


def _floats(cells: Any) -> NDArray[np.float64]:
    """One column; a complex number is a number where it has no imaginary part."""
    if getattr(getattr(cells, "dtype", None), "kind", "") == "c":
        return np.where(np.imag(cells) == 0, np.real(cells), np.nan).astype(np.float64)
    return floats(cells)
