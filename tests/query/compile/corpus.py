"""Expressions, columns and questions whose SQL is written down for every engine."""

import dataclasses
import datetime as dt
import itertools

import deniable as dp
from deniable.query.algebra import (
    OPERATORS,
    Aggregate,
    Column,
    Domain,
    Filter,
    Function,
    Join,
    JoinKind,
    Key,
    Kind,
    PerPerson,
    Project,
    Question,
    Read,
    Scan,
    Summary,
    Summed,
    Union,
    call,
    literal,
)

INT, FLOAT, TEXT, BOOL, DATE, MOMENT = (
    Kind.INT, Kind.FLOAT, Kind.TEXT, Kind.BOOL, Kind.DATE, Kind.TIMESTAMP,
)  # fmt: skip


def column(name, kind, low=None, high=None, *, nullable=True):
    return Column(name=name, domain=Domain(kind=kind, low=low, high=high, nullable=nullable))


I, T, B = column("i", INT), column("t", TEXT), column("b", BOOL)
D, M, F = column("d", DATE), column("m", MOMENT), column("f", FLOAT)
FEW, SURE = column("few", INT, -5, 9), column("sure", INT, 0, 9, nullable=False)
MANY, MORE = column("many", INT, -(2**53), 2**53), column("more", INT, -(2**53) - 1, 2**53)
SHARE, WIDE = column("share", FLOAT, 0.0, 1.0, nullable=False), column("wide", FLOAT, -1e300, 1e300)
TINY, FAR = column("tiny", FLOAT, 2.0**-900, 2.0**-400), column("far", FLOAT, 0.5, 2.0**1000)
TALL, MILD = column("tall", INT, 0, 2**53 + 1), column("mild", FLOAT, 1.0, 1.15)
EDGE = column("edge", FLOAT, -(2.0**900), 2.0**900)
DEEP, HIGH = column("deep", FLOAT, -800.0, 0.0), column("high", FLOAT, 0.0, 710.0)
COLUMNS = (
    I,
    T,
    B,
    D,
    M,
    F,
    FEW,
    SURE,
    MANY,
    MORE,
    SHARE,
    WIDE,
    TINY,
    FAR,
    DEEP,
    HIGH,
    EDGE,
    TALL,
    MILD,
)

ARGUMENTS = {
    **dict.fromkeys(("add", "subtract"), ((FEW, SURE), (F, SHARE), (WIDE, WIDE), (F, F))),
    "multiply": [
        (FEW, SURE),
        (F, F),
        (WIDE, 2.0),
        (TINY, TINY),
        (3.0, WIDE),
        (SHARE, FAR),
        (F, 3.0),
    ],
    "divide": [(FEW, SURE), (F, 3.0), (SHARE, F), (FAR, TINY), (TINY, FAR), (I, FEW), (F, 0.5)],
    **dict.fromkeys(("negate", "abs", "sign"), ((I,), (FEW,), (F,))),
    **dict.fromkeys(("floor", "ceil"), ((F,), (FEW,), (SHARE,))),
    "modulo": [(FEW, SURE)],
    "round": [(F,), (F, 2), (F, -1), (FEW,), (FEW, -1), (SHARE, 1), (WIDE, 15), (EDGE,)],
    **dict.fromkeys(("sqrt", "ln"), ((F,), (FEW,))),
    "exp": [(F,), (SHARE,), (DEEP,), (HIGH,)],
    "power": [(F, F), (SHARE, 2), (FAR, SHARE), (TINY, SURE), (FAR, HIGH), (TINY, MILD)],
    "least": [(I, FEW, SURE), (F, SHARE), (T, T), (D, D)],
    "greatest": [(SURE, SURE), (T, "x"), (M, M)],
    "clip": [(FEW, 0, 5), (F, 0, 5), (FEW, 0.5, 2.5), (SURE, 0, 5)],
    "bin": [(FEW, 10), (SURE, 10), (MANY, 10), (MORE, 10), (F, 0.25), (FEW, 0.25), (TALL, 10)],
    "width_bucket": [(F, 0, 10, 4), (FEW, -1.0, 2.5, 7)],
    **dict.fromkeys(("eq", "ne"), ((I, F), (T, T), (D, D))),
    **dict.fromkeys(("lt", "le", "gt", "ge"), ((I, F), (T, T), (D, D))),
    "in": [(FEW, 1, 2), (FEW, 1, 2.5), (T, "a", T), (SURE, SURE, FEW)],
    "case": [(B, I, F), (B, FEW, B, SURE, I)],
    "coalesce": [(I, F), (T, "x"), (I, FEW, SURE)],
    "nullif": [(I, F), (T, "x")],
    "like": [(T, "a%"), (T, "_"), (T, "a")],
    "ilike": [(T, "A%")],
    "substr": [(T, 2), (T, 1, 2)],
    "date_trunc": [("quarter", D), ("hour", M)],
    "days_between": [(D, M), (M, D)],
    "add_days": [(D, FEW), (M, I)],
    "add_minutes": [(D, FEW), (M, I)],
}
NAMES = [each.name for each in COLUMNS]
ONE_EACH = {INT: I, FLOAT: F, TEXT: T, BOOL: B, DATE: D, MOMENT: M}


def expressions():
    """Every operator: on chosen arguments, or on all kinds that it takes."""
    for op, operator in sorted(OPERATORS.items()):
        given = ARGUMENTS.get(op)
        if given is None:
            kinds = [sorted(operator.kinds_of(i)) for i in range(max(operator.least, 1))]
            given = [tuple(ONE_EACH[k] for k in row) for row in itertools.product(*kinds)]
        for row in given:
            yield call(op, *(a if hasattr(a, "domain") else literal(a) for a in row))


# ---- columns as they are stored

NOON = dt.datetime(2024, 1, 1, 12)  # noqa: DTZ001  columns have no zones
FACTS = {
    "int": dp.bounds(0, 9, type="int"),
    "int or 3": dp.bounds(0, 9, type="int", missing=3),
    "float": dp.bounds(0.0, 9.5),
    "day": dp.bounds(dt.date(2024, 1, 1), dt.date(2024, 12, 31), type="date"),
    "moment": dp.bounds(NOON, NOON.replace(year=2025), type="timestamp"),
    "word": dp.keys(["a", "b"], missing="b"),
    "run": dp.keys([3, 4, 5]),
    "gap": dp.keys([3, 5, 6]),
    "truth": dp.column("bool", missing=False),
    "text": dp.column("text"),
    "real": dp.column("float"),
}
STORED = {
    "duckdb": [
        "INTEGER", "UBIGINT", "DOUBLE", "DECIMAL(19,3)", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP",
        "TIMESTAMPTZ_NS", "TIME", "BLOB",
    ],
    "postgres": [
        "bigint", "double precision", "numeric(9,2)", "character varying", "boolean", "date",
        "timestamp without time zone", "jsonb", "text collate en",
    ],
    "spark": [
        "int", "double", "decimal(10,2)", "string", "boolean", "date", "timestamp", "binary",
        "string collate UTF8_LCASE",
    ],
}  # fmt: skip
FOREIGN = ("int", "day", "moment", "truth", "text")


def stored(engine):
    """A column of every stated type and every stored type; of bounds and lists, a few."""
    for spelling in STORED[engine.name]:
        for name, facts in FACTS.items():
            kind = engine.stored(spelling.partition(" collate")[0])
            own = kind is not None and kind.value == facts.type
            if own or (name in FOREIGN and spelling[0] in "dDVcsBTt"):
                yield name, Read(name="x", source="x", facts=facts), spelling


# ---- questions

TABLE = {
    "u": dp.column("text"),
    "k": dp.keys(["a", "b"]),
    "j": dp.bounds(0, 9, type="int"),
    "x": dp.bounds(-5.0, 9.0),
    "n": dp.bounds(-40_000, 40_000, type="int"),
    "c": dp.keys([3, 5, 6]),
    "s": dp.bounds(0.0, 1.0, missing=0.5),
}
TYPES = {
    "duckdb": {
        "u": "VARCHAR",
        "k": "VARCHAR",
        "j": "INTEGER",
        "x": "DOUBLE",
        "n": "BIGINT",
        "c": "INTEGER",
        "s": "DOUBLE",
    },
    "postgres": {
        "u": "text",
        "k": "text",
        "j": "integer",
        "x": "double precision",
        "n": "bigint",
        "c": "integer",
        "s": "double precision",
    },
    "spark": {
        "u": "string",
        "k": "string",
        "j": "int",
        "x": "double",
        "n": "bigint",
        "c": "int",
        "s": "double",
    },
}
IDS = {
    "duckdb": {"other": "UUID", "whole": "BIGINT", "real": "DOUBLE", "decimal": "DECIMAL(9,2)"},
    "postgres": {"other": "uuid", "whole": "bigint", "real": "real", "decimal": "numeric(9,2)"},
    "spark": {
        "other": "char(3)", "whole": "bigint", "real": "float", "decimal": "decimal(9,2)",
    },
}  # fmt: skip
ROWS, PERSON = dp.rows(), dp.person("u", rows=4, groups=2)


def scan(table="t", *, person=True, public=False, only=None):
    reads = tuple(
        Read(name=f"{table}.{n}", source=n, facts=facts)
        for n, facts in TABLE.items()
        if n in (only or TABLE)
    )
    whose = Read(name=f"{table} id", source="u") if person and not public else None
    return Scan(table=table, reads=reads, id=whose, public=public)


def of(relation):
    return {c.name.rpartition(".")[2]: c for c in relation.columns}


def asked(unit, relation, *functions, sets=((),), private=False, keys="kj"):
    columns = of(relation)
    more = call("gt", columns["n"], literal(2)) if "n" in columns else None
    aggregates = tuple(
        Aggregate(
            name=f"a{i}",
            function=function,
            argument=columns.get(argument),
            where=more if where else None,
            q=0.5 if function is Function.QUANTILE else None,
        )
        for i, (function, argument, where) in enumerate(functions)
    )
    values = {"k": ("a", "b"), "j": (0, 1)}
    made = tuple(
        Key(name=n, expression=columns[n], values=None if private else values[n])
        for n in keys
        if n in columns
    )
    given = {"keys": made, "grouping_sets": sets, "aggregates": aggregates}
    return Question(unit=unit, relation=relation, **given)


MOST = [
    (Function.COUNT, None, False), (Function.COUNT, "x", True), (Function.SUM, "n", False),
    (Function.SUM, "x", True), (Function.VAR_POP, "j", False), (Function.SUM, "c", False),
]  # fmt: skip
APART = [(Function.DISTINCT, "n", False), (Function.QUANTILE, "x", False)]
WHO = [(Function.PERSONS, None, False), (Function.PERSONS, None, True)]


def questions():
    """Every way to add up, over every kind of relation."""
    rows, mine = scan(person=False), scan()
    one = [(Function.COUNT, None, False)]
    yield "rows, in sets", asked(ROWS, rows, *MOST, sets=((0, 1), (1,)))
    yield "rows, apart", asked(ROWS, rows, *APART, sets=((0,),))
    yield "people, in all", asked(PERSON, mine, *MOST, *APART, *WHO)
    yield "people, by keys", asked(PERSON, mine, *MOST, *WHO, sets=((0, 1),))
    yield "people, in sets", asked(PERSON, mine, *MOST[:3], *APART, *WHO, sets=((0, 1), ()))
    yield "people, privately", asked(PERSON, mine, *MOST, *APART, *WHO, sets=((0,),), private=True)
    columns = of(mine)
    some = asked(PERSON, mine, *one, sets=((0,),))
    key = Key(name="k", expression=columns["k"], values=("b",))
    yield "some groups", dataclasses.replace(some, keys=(key,))
    real = Key(name="k", expression=call("bin", columns["x"], literal(0.5)), values=(0.0, 0.5))
    of_reals = [(Function.DISTINCT, "x", False), (Function.QUANTILE, "s", False)]
    some = asked(PERSON, mine, *of_reals, sets=((0,),))
    yield "by floats", dataclasses.replace(some, keys=(real,))
    large = Filter(source=mine, where=call("gt", columns["x"], literal(0.5)))
    yield "filtered", asked(PERSON, large, *one, sets=((0,),))
    yield from joined(one)
    sums = tuple(
        Summed(name=f"s{i}", summary=summary, argument=columns.get(argument), where=where)
        for i, (summary, argument, where) in enumerate(
            [(Summary.COUNT, None, None), (Summary.COUNT, "x", None), (Summary.SUM, "j", None),
             (Summary.COUNT, None, call("gt", columns["j"], literal(1))), (Summary.MIN, "k", None),
             (Summary.COUNT_DISTINCT, "k", call("gt", columns["j"], literal(1)))]
        )
    )  # fmt: skip
    each = PerPerson(source=mine, keys=(("k", columns["k"]),), summaries=sums)
    held = [Aggregate(name="a", function=Function.COUNT, argument=s.column) for s in sums]
    question = asked(PERSON, each, *one)
    yield "summaries", dataclasses.replace(question, aggregates=tuple(held))


def joined(one):
    rows, mine, other = scan(person=False, only="kjn"), scan(only="kjn"), scan("other", only="kn")
    public = scan("public", public=True, only="kx")
    on = ((of(mine)["k"], of(public)["k"]), (of(mine)["j"], of(public)["x"]))
    for kind in JoinKind:
        for unit, left in ((ROWS, rows), (PERSON, mine)):
            join = Join(left=left, right=public, on=on, kind=kind, unique=unit is ROWS)
            project = Project(source=join, named=(("t.n", of(left)["n"]), ("k", of(left)["k"])))
            yield f"{kind.value} join of {unit.rows}", asked(unit, project, *one)
        pair = ((of(mine)["k"], of(other)["k"]),)
        join = Join(left=mine, right=other, on=pair, kind=kind, same_person=True)
        yield f"{kind.value} join of a person's rows", asked(PERSON, join, *one, keys="")
    twice = Project(source=public, named=(("k", of(public)["k"]),))
    join = Join(
        left=mine,
        right=Union(left=twice, right=twice),
        on=((of(mine)["k"], twice.columns[0]),),
        unique=True,
    )
    yield "join of a union", asked(PERSON, join, *one, keys="")
    for first, second in (
        ("t", "other"), ("whole", "real"), ("whole", "decimal"), ("real", "decimal"),
        ("decimal", "decimal"),
    ):  # fmt: skip
        scans = [scan(each, only="n") for each in (first, second)]
        sides = [Project(source=each, named=(("n", of(each)["n"]),)) for each in scans]
        both = Union(left=sides[0], right=sides[1])
        yield f"union of {first} and {second}", asked(PERSON, both, *one)
