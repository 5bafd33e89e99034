"""Random expressions over a few columns, and random rows that keep the schema's word."""

import datetime as dt
import math

from hypothesis import strategies as st

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import (
    OPERATORS,
    Column,
    Domain,
    Expression,
    Kind,
    call,
    literal,
)

COLUMNS = {
    "small": Domain(kind=Kind.INT, low=-5, high=12),
    "count": Domain(kind=Kind.INT, low=0, high=2**40, nullable=False),
    "any_int": Domain(kind=Kind.INT),
    "share": Domain(kind=Kind.FLOAT, low=0.0, high=1.0),
    "wide": Domain(kind=Kind.FLOAT, low=-1e10, high=1e10),
    "any_float": Domain(kind=Kind.FLOAT),
    "word": Domain(kind=Kind.TEXT, values=("a", "Bc", "", "10", "2020-02-30", "é")),
    "any_text": Domain(kind=Kind.TEXT),
    "yes": Domain(kind=Kind.BOOL),
    "day": Domain(kind=Kind.DATE, low=dt.date(1999, 12, 25), high=dt.date(2024, 3, 1)),
    "any_day": Domain(kind=Kind.DATE),
    "moment": Domain(kind=Kind.TIMESTAMP),
}

_TEXTS = st.sampled_from(["", "a", " Ab ", "10", "1.5e3", "2020-02-29", "2021-02-29", "true", "%_"])
_FLOATS = st.floats(allow_nan=False) | st.sampled_from([0.0, 0.5, -2.5, 1e308, 5e-324])
_INTS = st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 20)
_FREE = {
    Kind.INT: _INTS,
    Kind.FLOAT: _FLOATS.map(lambda x: x + 0.0),
    Kind.TEXT: _TEXTS | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
    Kind.BOOL: st.booleans(),
    Kind.DATE: st.dates(),
    Kind.TIMESTAMP: st.datetimes(),
}


def values_of(domain: Domain) -> st.SearchStrategy[object]:
    """Any value a domain allows."""
    if domain.values is not None:
        free = st.sampled_from(domain.values)
    elif domain.low is None and domain.high is None:
        free = _FREE[domain.kind]
    else:
        of_kind = {Kind.INT: st.integers, Kind.FLOAT: st.floats, Kind.DATE: st.dates}
        free = of_kind[domain.kind](domain.low, domain.high)
        free |= st.sampled_from([domain.low, domain.high])
    return free | st.none() if domain.nullable else free


rows = st.fixed_dictionaries({name: values_of(domain) for name, domain in COLUMNS.items()})

_LEAVES = st.sampled_from([Column(name=n, domain=d) for n, d in COLUMNS.items()])
_CONSTANTS = st.sampled_from(
    [literal(v) for v in (0, 1, 2, -3, 10, 0.5, -1.5, 1e300, "a", "%b_", "year", "week", True)]
    + [literal(dt.date(2020, 2, 29)), literal(dt.datetime.fromisoformat("2020-01-01T05:30"))]
)


@st.composite
def _calls(draw, inner):
    """A call that fits, found by trying arguments of the kinds an operator accepts."""
    operator = OPERATORS[draw(st.sampled_from(sorted(OPERATORS)))]
    count = len(operator.accepts) if operator.most is not None else draw(st.sampled_from([3, 2]))
    args = [
        draw(_CONSTANTS if i in operator.constants else inner)
        for i in range(max(count, operator.least))
    ]
    try:
        return call(operator.name, *args)
    except UnsupportedQuery:
        return draw(_fitting(operator))


@st.composite
def _fitting(draw, operator):
    """Leaves of the right kinds; a leaf itself where that fails, too."""
    count = max(operator.least, 3 if operator.name == "case" else operator.least)
    args = []
    for i in range(count):
        kinds = operator.kinds_of(i)
        if operator.name == "case":
            kinds = {Kind.BOOL} if i % 2 == 0 and i < count - 1 else kinds
        source = _constants_of(kinds) if i in operator.constants else _leaves_of(kinds)
        args.append(draw(source))
    try:
        return call(operator.name, *args)
    except UnsupportedQuery:
        return draw(_LEAVES)


def _leaves_of(kinds):
    return _LEAVES.filter(lambda leaf: leaf.kind in kinds)


def _constants_of(kinds):
    return _CONSTANTS.filter(lambda leaf: leaf.kind in kinds)


expressions: st.SearchStrategy[Expression] = st.recursive(
    _LEAVES | _CONSTANTS, _calls, max_leaves=8
)


def within(value: object, domain: Domain) -> bool:
    """Whether a value keeps what its domain promises."""
    if value is None:
        return domain.nullable
    if isinstance(value, float) and math.isnan(value):
        return False
    if domain.low is not None and not value >= domain.low:
        return False
    if domain.high is not None and not value <= domain.high:
        return False
    return domain.values is None or value in domain.values
