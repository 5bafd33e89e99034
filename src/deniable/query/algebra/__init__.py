"""Our own small relational algebra: typed, null-aware, range-aware, of total operators.

    domain         what a value may be, as far as the public can know
    meaning        what every operator means, in plain Python
    moments        the same for dates, timestamps and casts
    ranges         where results lie
    constants      which constants are refused
    operators      the table of operators
    expressions    columns, constants, calls
    relations      which rows
    questions      groups, aggregates, and what is made of them
    possible       all values an expression can have, where that is public
    show           questions as text

Front ends (SQL, Ibis) build these trees; engines' SQL is compiled from them. Nothing else of what a
user wrote gets through.
"""

from __future__ import annotations

from .domain import EXACT, NUMBERS, TIMES, Domain, Kind, Scalar
from .expressions import (
    Call,
    Column,
    Expression,
    Literal,
    Span,
    both,
    call,
    columns_of,
    conjuncts,
    evaluate,
    literal,
    substitute,
    walk,
)
from .operators import OPERATORS
from .possible import possible_values
from .questions import Aggregate, Function, Key, Order, Output, Question
from .relations import (
    Filter,
    Join,
    JoinKind,
    PerPerson,
    Project,
    Read,
    Relation,
    Scan,
    Summary,
    Summed,
    Union,
    one_each,
)

__all__ = [
    "EXACT",
    "NUMBERS",
    "OPERATORS",
    "TIMES",
    "Aggregate",
    "Call",
    "Column",
    "Domain",
    "Expression",
    "Filter",
    "Function",
    "Join",
    "JoinKind",
    "Key",
    "Kind",
    "Literal",
    "Order",
    "Output",
    "PerPerson",
    "Project",
    "Question",
    "Read",
    "Relation",
    "Scalar",
    "Scan",
    "Span",
    "Summary",
    "Summed",
    "Union",
    "both",
    "call",
    "columns_of",
    "conjuncts",
    "evaluate",
    "literal",
    "one_each",
    "possible_values",
    "substitute",
    "walk",
]
