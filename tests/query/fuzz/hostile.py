"""Tables made to break things, and neighbours of them."""

import datetime as dt
import math
from dataclasses import dataclass, field

import pyarrow as pa

import deniable as dp

FACTS = {
    "i": dp.bounds(-5, 20, type="int"),
    "huge": dp.bounds(0, 2**40, type="int"),
    "n": dp.column("int"),
    "x": dp.bounds(-10, 10),
    "y": dp.bounds(0, 1e-3, missing=0.0),
    "z": dp.column("float", missing="drop"),
    "w": dp.bounds(-1e300, 1e300),
    "k": dp.keys(["", "a", "it's", "é"]),
    "m": dp.keys([0, 1, 2], missing=0),
    "c": dp.column("text", missing="drop"),
    "b": dp.column("bool"),
    "d": dp.bounds(dt.date(2000, 1, 1), dt.date(2002, 12, 31), type="date"),
    "t": dp.bounds(
        dt.datetime.fromisoformat("2000-01-01"),
        dt.datetime.fromisoformat("2002-12-31"),
        type="timestamp",
    ),
    # Names that are words of SQL, or would end a quoted name.
    "select": dp.bounds(0, 3, type="int"),
    'q"uote': dp.bounds(-1, 1),
    "größe; --": dp.keys(["x", "y'"]),
}
VISIT_FACTS = {
    "cost": dp.bounds(0, 100),
    "stay": dp.bounds(0, 10, type="int"),
    "zip": dp.column("text"),
}
ZIP_FACTS = {
    "zip": dp.column("text"),
    "region": dp.keys(["N", "S"]),
    "size": dp.bounds(0, 1e6),
}
SCHEMA = {
    "data": dp.Schema(columns=FACTS),
    "visits": dp.Schema(columns=VISIT_FACTS),
    "zips": dp.Schema(columns=ZIP_FACTS, public=True),
}

_WHOLE = [None, 0, 1, 2, 3, 7, -5, 20, 2**40, 2**53 + 1, 2**63 - 1, -(2**63)]
_REAL = [None, math.nan, math.inf, -math.inf, -0.0, 0.0, 0.1, 9.99, -10.0, 1e308, -1e308, 5e-324]
_TEXT = [None, "", "a", "A", "it's", "é", "e\u0301", " a", "\U0001f600", "12", "nan", "2001-02-29"]
_TEXT += ["\n", '",a\r\n"', "1e400", "9" * 40, "%_", "\\", "Z" * 3000, "a"]
_DAYS = [None, dt.date(1, 1, 1), dt.date(2000, 2, 29), dt.date(2001, 6, 7), dt.date(9999, 12, 31)]
_MOMENTS = [
    None,
    *map(dt.datetime.fromisoformat, ("1970-01-01", "2000-02-29 23:59:59.999999", "2001-06-07")),
]
POOLS = dict.fromkeys(("i", "huge", "n", "m", "stay", "select"), _WHOLE)
POOLS |= dict.fromkeys(("x", "y", "z", "w", "cost", 'q"uote'), _REAL)
POOLS |= dict.fromkeys(("k", "c", "zip"), _TEXT) | {"größe; --": [None, "x", "y'", "X"]}
POOLS |= {"b": [None, True, False], "d": _DAYS, "t": _MOMENTS}
TYPES = {"int": pa.int64(), "float": pa.float64(), "text": pa.string(), "bool": pa.bool_()} | {
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
IDS = {
    "int": (pa.int64(), [1, 2, 3, 4, 5, 6, -(2**63), 2**63 - 1]),
    "float": (pa.float64(), [0.5, 1.0, 2.0, 3.0, math.inf, -math.inf, 5e-324, 1e308]),
    "text": (pa.string(), ["", " ", "a", "A", "é", "e\u0301", "it's", "\U0001f600"]),
}
VICTIMS = {"int": (99, 0), "float": (-0.0, 99.5), "text": ("somebody", "None")}
NOBODY = {"int": [None], "float": [None, math.nan], "text": [None]}

ZIPS = pa.table(
    {
        "zip": ["a", "a", "a", "", None, "é", "it's", "12"],
        "region": ["N", "S", "N", "S", "N", None, "N", "elsewhere"],
        "size": [1.0, 2.0, math.nan, math.inf, 5.0, None, -0.0, 9e9],
    }
)


@dataclass(frozen=True, kw_only=True)
class Data:
    """The private tables, as rows, and the type of the column that tells people apart."""

    ids: str
    data: tuple
    visits: tuple = ()
    tables: dict = field(init=False, repr=False)

    def __post_init__(self):
        made = {
            "data": arrow(self.data, FACTS, self.ids),
            "visits": arrow(self.visits, VISIT_FACTS, self.ids),
            "zips": ZIPS,
        }
        object.__setattr__(self, "tables", made)


def arrow(rows, facts, ids="int"):
    columns = {"id": IDS[ids][0]} | {name: TYPES[fact.type] for name, fact in facts.items()}
    return pa.table(
        {name: pa.array([row[name] for row in rows], kind) for name, kind in columns.items()}
    )


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Neighbours; `nobody`: the rows that differ have no person, so nothing at all may move."""

    what: str
    first: Data
    second: Data
    nobody: bool = False


def pairs(rng, unit, *, count):
    """Neighbours under a unit: each ground and each newcomer in turn, rows in another order."""
    made = []
    for number in range(count):
        ids = ("int", "float", "text")[number % 3]
        ground = ("crowd", "crowd", "top", "one", "copies", "empty", "crowd")[number % 7]
        shared = _ground(rng, ground, ids)
        own = _newcomer(rng, unit, ids, VICTIMS[ids][0])
        other = _newcomer(rng, unit, ids, rng.choice(VICTIMS[ids])), "replaced"
        if unit.relation != "replace":
            other = ([], []), "removed"
        nobody = unit.column is not None and number % 8 == 7
        if nobody:
            own = [[r | {"id": rng.choice(NOBODY[ids])} for r in rows] for rows in own]
            other = ([], []), "removed"
        first, second = (
            Data(ids=ids, data=_mixed(rng, shared[0], side[0]), visits=(*shared[1], *side[1]))
            for side in (own, other[0])
        )
        what = f"{len(own[0])} rows {other[1]} from {ground}"
        made.append(Pair(what=what, first=first, second=second, nobody=nobody))
    return made


def _ground(rng, ground, ids):
    people = [*IDS[ids][1], *NOBODY[ids]]
    if ground == "empty":
        return [], []
    if ground == "top":  # everybody at the upper end: a narrow sum would overflow
        row = _row(rng, FACTS) | {"huge": 2**62, "x": math.inf, "k": "a", "m": 1}
        return [row | {"id": who} for who in people], []
    if ground == "copies":
        row = _row(rng, FACTS)
        return [row | {"id": who} for who in people for _ in range(2)], []
    if ground == "one":
        people = people[:1]
    rows = [_row(rng, FACTS) | {"id": rng.choice(people)} for _ in range(25)]
    return rows, [_row(rng, VISIT_FACTS) | {"id": rng.choice(people)} for _ in range(10)]


def _newcomer(rng, unit, ids, who):
    """One row; or a person with one, a few, or thousands, alike or different."""
    if unit.column is None:
        return [_row(rng, FACTS) | {"id": rng.choice(IDS[ids][1])}], []
    count = rng.choice([1, min(unit.rows, 9), 23, 23] * 3 + [2500])
    rows = [_row(rng, FACTS) | {"id": who} for _ in range(min(count, 23))]
    if rng.random() < 0.5 or count > len(rows):
        plain = {"huge": 2**63 - 1, "x": -math.inf, "i": 20, "k": "a", "m": 2, "c": "a", "b": True}
        rows = [rows[0] | plain] * count
    visits = [_row(rng, VISIT_FACTS) | {"id": who} for _ in range(rng.choice([0, 1, 6]))]
    return rows, visits


def _row(rng, facts):
    """Half ordinary, half odd."""
    return {name: rng.choice(POOLS[name]) for name in facts}


def _mixed(rng, shared, own):
    rows = [*shared, *own]
    rng.shuffle(rows)
    return tuple(rows)


EMPTY = Data(ids="int", data=())
