"""Mechanisms of which only labels, types or order show who is there: values are noise.

Each takes a noisy number and whether somebody is there.
"""

import collections
import dataclasses
import datetime as dt
import decimal
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import deniable as dp


@dataclasses.dataclass
class Answer:
    value: object
    inside: object = None


@dataclasses.dataclass
class OtherAnswer:
    value: object
    inside: object = None


class Plain:
    def __init__(self, value, label):
        self.value, self.label = value, label


class Slotted:
    __slots__ = ("label", "value")

    def __init__(self, value, label):
        self.value, self.label = value, label


Pair = collections.namedtuple("Pair", "a b")  # noqa: PYI024
OtherPair = collections.namedtuple("OtherPair", "a b")  # noqa: PYI024
RELEASE = dp.open(pa.table({"a": [1]}), unit=dp.rows(), budget=dp.epsilon(1.0)).release(
    dp.Laplace(scale=8.0).on(dp.Sensitive(lambda: 1, l1=1))
)


def raised(error, cause=None):
    raise error from cause


def frame(x, **options):
    return pd.DataFrame({"n": [x, x + 1]}, **options)


def category(x, there, **options):
    known = ["flu", "rare"] if there else ["flu"]
    return pd.DataFrame({"n": [x], "d": pd.Categorical(["flu"], categories=known, **options)})


def levels(x, there):
    index = pd.MultiIndex.from_tuples([("flu", 1), ("rare" if there else "flu", 2)])
    return pd.Series([x], index=index[:1])


def arrow_category(x, there):
    known = pa.array(["flu", "rare"] if there else ["flu", "cold"])
    return pa.table({"n": [x], "d": pa.DictionaryArray.from_arrays(pa.array([0]), known)})


def record(x, name="n", kind="i8"):
    return np.array([(x, 1)], [(name, "f8"), ("k", kind)])


PANDAS = {
    "an index label": lambda x, there: frame(x, index=["flu", "rare" if there else "cold"]),
    "the order of the index": lambda x, there: frame(x, index=["b", "a"] if there else ["a", "b"]),
    "the name of the index": lambda x, there: frame(x).rename_axis("rare" if there else "flu"),
    "the type of the index": lambda x, there: frame(x, index=[0.0, 1.0] if there else [0, 1]),
    "the kind of the index": lambda x, there: frame(x, index=[0, 1] if there else None),
    "a column label": lambda x, there: frame(x).rename(columns={"n": "rare" if there else "flu"}),
    "the order of columns": lambda x, there: pd.DataFrame({"a": [0], "b": [0], "n": [x]})[
        ["b", "a", "n"] if there else ["a", "b", "n"]
    ],
    "the name of columns": lambda x, there: frame(x).rename_axis(columns="r" if there else "f"),
    "a data type": lambda x, there: frame(x).assign(k=np.array([1, 1], "i4" if there else "i8")),
    "whole or real": lambda x, there: frame(x).assign(k=[1.0, 1.0] if there else [1, 1]),
    "a nullable type": lambda x, there: frame(x).assign(
        k=pd.array([1, 1], dtype="Int64" if there else "int64")
    ),
    "objects in a column": lambda x, there: frame(x).assign(
        k=pd.Series([1, True if there else 1], dtype=object)
    ),
    "None or nan": lambda x, there: frame(x).assign(
        k=pd.Series([None if there else np.nan, 1], dtype=object)
    ),
    "a category nobody has": category,
    "the order of categories": lambda x, there: category(x, True, ordered=there),
    "a level nobody has": levels,
    "a label of two": lambda x, there: pd.Series(
        [x, x], index=pd.MultiIndex.from_tuples([("a", 1), ("rare" if there else "a", 2)])
    ),
    "the names of levels": lambda x, there: pd.Series(
        [x], index=pd.MultiIndex.from_tuples([("a", 1)], names=["r" if there else "f", "k"])
    ),
    "attributes": lambda x, there: (f := frame(x), f.attrs.update(who=there))[0],
    "the name of a series": lambda x, there: pd.Series([x], name="rare" if there else "flu"),
    "the index of a series": lambda x, there: pd.Series([x], index=["rare" if there else "flu"]),
    "the type of a series": lambda x, there: pd.Series([x], dtype=None if there else object),
    "the zone of a moment": lambda x, there: frame(x).assign(
        at=pd.Timestamp(0, tz="UTC") if there else pd.Timestamp(0)
    ),
    "an index": lambda x, there: pd.Index([1, 2], name="rare" if there else "flu"),
    "the categories of an array": lambda x, there: category(x, there)["d"].array,
    "many noisy cells beside a label": lambda x, there: pd.DataFrame(
        {"n": x + np.arange(60.0)}, index=[*range(59), "rare" if there else "cold"]
    ),
    "more cells than are looked at": lambda x, there: pd.DataFrame(
        {"n": x + np.arange(1500.0)}, index=[*range(1499), "rare" if there else "cold"]
    ),
}

OTHER_FRAMES = {
    "the columns of polars": lambda x, there: pl.DataFrame({"rare" if there else "flu": [x]}),
    "the order of polars": lambda x, there: pl.DataFrame({"a": [0], "b": [0], "n": [x]})[
        ["b", "a", "n"] if there else ["a", "b", "n"]
    ],
    "a type of polars": lambda x, there: pl.DataFrame(
        {"n": [x], "k": pl.Series([1], dtype=pl.Int32 if there else pl.Int64)}
    ),
    "an Enum of polars": lambda x, there: pl.DataFrame(
        {"n": [x], "d": pl.Series(["flu"], dtype=pl.Enum(["flu", "rare" if there else "cold"]))}
    ),
    "the name of a polars series": lambda x, there: pl.Series("rare" if there else "flu", [x]),
    "null or nan in polars": lambda x, there: pl.Series([x, None if there else float("nan")]),
    "a label in polars rows": lambda x, there: pl.DataFrame(
        {"d": ["flu", "rare" if there else "cold"], "n": [x, x]}
    ),
    "the columns of arrow": lambda x, there: pa.table({"rare" if there else "flu": [x]}),
    "the order of arrow": lambda x, there: pa.table({"a": [0], "b": [0], "n": [x]}).select(
        ["b", "a", "n"] if there else ["a", "b", "n"]
    ),
    "a type of arrow": lambda x, there: pa.table(
        {"n": [x], "k": pa.array([1], pa.int32() if there else pa.int64())}
    ),
    "nullable in arrow": lambda x, there: pa.table(
        [[x]], schema=pa.schema([pa.field("n", pa.float64(), nullable=there)])
    ),
    "metadata of arrow": lambda x, there: pa.table({"n": [x]}).replace_schema_metadata(
        {"who": "rare" if there else "flu"}
    ),
    "a category of arrow nobody has": arrow_category,
    "chunks of arrow": lambda x, there: pa.chunked_array([[x], [x]] if there else [[x, x]]),
    "a batch of arrow": lambda x, there: pa.record_batch({"rare" if there else "flu": [x]}),
    "an array of arrow": lambda x, there: pa.array([1], pa.int8() if there else pa.int16()),
    "a scalar of arrow": lambda x, there: pa.scalar(1, pa.int8() if there else pa.int16()),
}

PYTHON = {
    "the order of keys": lambda x, there: {"b": x, "a": 0} if there else {"a": 0, "b": x},
    "the type of a key": lambda x, there: {1.0 if there else 1: x},
    "truth as a key": lambda x, there: {True if there else 1: x},
    "a key": lambda x, there: {"rare" if there else "flu": x},
    "a key deep inside": lambda x, there: {"a": [{"k": ({"rare" if there else "flu": x},)}]},
    "the order deep inside": lambda x, there: [({"b": x, "a": 0} if there else {"a": 0, "b": x},)],
    "a frame in a dictionary": lambda x, there: {"f": PANDAS["an index label"](x, there)},
    "a frame in a list": lambda x, there: [PANDAS["a category nobody has"](x, there)],
    "a frame in a tuple": lambda x, there: (0, PANDAS["a data type"](x, there)),
    "the kind of dictionary": lambda x, there: collections.OrderedDict(a=x) if there else {"a": x},
    "list or tuple": lambda x, there: [x] if there else (x,),
    "the length": lambda x, there: [x] * (3 if there else 2),
    "set or frozenset": lambda x, there: {1, 2} if there else frozenset({1, 2}),
    "a member": lambda x, there: {"flu", "rare" if there else "cold"},
    "int or float": lambda x, there: 3.0 if there else 3,
    "int or truth": lambda x, there: True if there else 1,
    "int or numpy": lambda x, there: np.int64(3) if there else 3,
    "single or double": lambda x, there: np.float32(3) if there else np.float64(3),
    "float or Decimal": lambda x, there: decimal.Decimal(3) if there else 3.0,
    "int or float in a list": lambda x, there: [x, 3.0 if there else 3],
    "int or truth in a dictionary": lambda x, there: {"n": x, "k": True if there else 1},
    "None or nan in a tuple": lambda x, there: (x, None if there else float("nan")),
    "text or numpy text": lambda x, there: np.str_("a") if there else "a",
    "text or bytes": lambda x, there: [x, b"a" if there else "a"],
    "a field": lambda x, there: Answer(x, "rare" if there else "flu"),
    "the type of a field": lambda x, there: Answer(x, 1.0 if there else 1),
    "the type of a dataclass": lambda x, there: (Answer if there else OtherAnswer)(x),
    "the type of a named tuple": lambda x, there: (Pair if there else OtherPair)(x, 1),
    "an attribute": lambda x, there: Plain(x, "rare" if there else "flu"),
    "a slot": lambda x, there: Slotted(x, "rare" if there else "flu"),
    "the date": lambda x, there: [x, dt.date(2020, 1, 2 if there else 1)],
    "a key of a release": lambda x, there: dataclasses.replace(
        RELEASE, keys={"d": ("rare" if there else "flu",)}
    ),
    "the type of an exception": lambda x, there: raised(KeyError(1) if there else ValueError(1)),
    "the text of an exception": lambda x, there: raised(ValueError(f"{there} {x}")),
    "the cause of an exception": lambda x, there: raised(
        ValueError("no"), KeyError("rare" if there else "flu")
    ),
    "a key in a text": lambda x, there: json.dumps({"rare" if there else "flu": x}),
    "a key in bytes": lambda x, there: f"d,n\n{'rare' if there else 'flu'},{x}\n".encode(),
}

NUMPY = {
    "the type of an array": lambda x, there: np.array([1, 2], "i4" if there else "i8"),
    "the byte order": lambda x, there: np.array([1.0, x], ">f8" if there else "<f8"),
    "the shape": lambda x, there: np.full((2, 3) if there else (3, 2), x),
    "0 or 1 dimension": lambda x, there: np.array(1.0) if there else np.array([1.0]),
    "an array or a number": lambda x, there: np.array(1.0) if there else 1.0,
    "the name of a field": lambda x, there: record(x, name="rare" if there else "flu"),
    "the type of a record's field": lambda x, there: record(x, kind="i4" if there else "i8"),
    "a record": lambda x, there: record(x, name="rare" if there else "flu")[0],
    "a mask": lambda x, there: np.ma.array([1.0, 2.0], mask=[there, False]),
    "objects in an array": lambda x, there: np.array([x, 1.0 if there else 1], dtype=object),
    "the last of very many": lambda x, there: np.append(np.zeros(1500), float(there)),
    "the last of a long list": lambda x, there: [0] * 1500 + ["rare" if there else "flu"],
}

CASES = {**PANDAS, **OTHER_FRAMES, **PYTHON, **NUMPY}
