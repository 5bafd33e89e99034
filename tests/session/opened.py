"""A session over two rows, and values to release from it."""

import pyarrow as pa

import deniable as dp
from deniable.session import open as open_session

DATA = pa.table({"age": [40, 50], "id": [1, 2]})
EIGHTH = dp.Laplace(scale=8.0)  # ε = 0.125: sums of it are exact in binary


def session(budget=None, **options):
    options = {"unit": dp.rows()} | options
    return open_session(DATA, budget=budget or dp.epsilon(10.0), **options)


def secret(value, **options):
    return dp.Sensitive(lambda: value, **({"l1": 1, "linf": 1} | options))


def explode():
    row = "Secret Person, 42"
    raise ValueError(f"cannot parse {row}")
