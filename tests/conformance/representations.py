"""The same value as Python, NumPy, pandas, Polars and PyArrow may hold it."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

DTYPES = [
    "int8",
    "int32",
    "int64",
    "uint8",
    "uint64",
    "float16",
    "float32",
    "float64",
    "longdouble",
]


def scalars() -> dict[str, Callable[[float], object]]:
    """Ways to hold a small whole number."""
    ways: dict[str, Callable[[float], object]] = {
        "int": int,
        "float": float,
        "Decimal": lambda x: Decimal(int(x)),
        "Fraction": lambda x: Fraction(int(x)),
        "arrow": lambda x: pa.scalar(float(x)),
        "pandas sum": lambda x: pd.Series([x], dtype="int64").sum(),
        "pandas sum with a missing value": lambda x: pd.Series([x, None], dtype="float64").sum(),
        "object": lambda x: np.array(int(x), dtype=object),
    }
    for dtype in DTYPES:
        ways[dtype] = lambda x, d=dtype: np.dtype(d).type(x)
        ways[f"0-d {dtype}"] = lambda x, d=dtype: np.array(x, dtype=d)
    return ways


def arrays() -> dict[str, Callable[[list], object]]:
    """Ways to hold a list (of lists) of small whole numbers."""
    ways: dict[str, Callable[[list], object]] = {
        "list of ints": lambda x: np.array(x).astype(int).tolist(),
        "list of floats": lambda x: np.array(x).astype(float).tolist(),
        "tuple": lambda x: tuple(np.array(x).astype(int).tolist()),
        "list of NumPy scalars": lambda x: list(np.array(x, dtype=np.float32)),
        "object": lambda x: np.array(np.array(x).astype(int), dtype=object),
        "decimals": lambda x: np.vectorize(lambda n: Decimal(int(n)), otypes=[object])(x).tolist(),
        "fractions": np.vectorize(lambda n: Fraction(int(n)), otypes=[object]),
    }
    for dtype in DTYPES:
        ways[dtype] = lambda x, d=dtype: np.array(x, dtype=d)
    return ways


def series() -> dict[str, Callable[[list], object]]:
    """Ways of other libraries to hold a flat list."""
    return {
        "pandas": lambda x: pd.Series(x, index=range(7, 7 + len(x))),
        "pandas of floats": lambda x: pd.Series(x, dtype="float64"),
        "pandas nullable": lambda x: pd.Series(x, dtype="Int64"),
        "Polars": lambda x: pl.Series(x, dtype=pl.Float64),
        "PyArrow": lambda x: pa.array(np.array(x).astype(int).tolist()),
        "PyArrow chunks": lambda x: pa.chunked_array([np.array(x).astype(int).tolist()]),
    }


def representations(value: object) -> Iterator[tuple[str, object]]:
    """All of the same value: a number, a list, a table, keys with counts, a pair of numbers."""
    if isinstance(value, dict):
        for way, make in scalars().items():
            yield way, {key: make(count) for key, count in value.items()}
        yield "pandas", pd.Series(value)
        yield "pandas of floats", pd.Series(value, dtype="float64")
        yield "a pair of lists", (list(value), list(value.values()))
    elif isinstance(value, tuple) and np.ndim(value[0]) == 0:
        for way, make in scalars().items():
            yield way, tuple(make(part) for part in value)
    elif isinstance(value, tuple):
        for way, make in arrays().items():
            if not way.startswith("uint"):  # edges may be below 0
                yield way, tuple(make(part) for part in value)
    elif np.ndim(value) == 0:
        for way, make in scalars().items():
            yield way, make(value)
    else:
        ways = arrays() | (series() if np.ndim(value) == 1 else {})
        for way, make in ways.items():
            yield way, make(np.asarray(value).tolist())
