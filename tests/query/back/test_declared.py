"""What an engine computes lies in the range and type that the algebra declares, and never fails.

The operators are those of the table, their arguments of any size: whole numbers up to ±2⁶³, floats
from subnormal to the largest, all dates there are.
"""

import datetime as dt
import math
import random

import pytest

import deniable as dp
from deniable.query.aggregates import FAMILIES, Measure
from deniable.query.algebra import (
    OPERATORS,
    Aggregate,
    Call,
    Column,
    Domain,
    Function,
    Key,
    Kind,
    Question,
    evaluate,
    walk,
)

from ..reference import read  # noqa: TID252  (the folder above has no name of its own)
from .growing import FACTS, Grower, bounded, rows
from .holding import cells_of, scan_of

SEEDS = range(3)
# How deep expressions are grown, for each operator; on Spark a column is dear.
DEPTHS = {"duckdb": (1, 1, 2, 3), "postgres": (1, 1, 2, 3), "spark": (2,)}
ROWS = 80
TYPES = {
    Kind.INT: int,
    Kind.FLOAT: float,
    Kind.TEXT: str,
    Kind.BOOL: bool,
    Kind.DATE: dt.date,
    Kind.TIMESTAMP: dt.datetime,
}


def within(value, domain):
    """Whether a value is of the kind and in the range that are declared."""
    if value is None:
        return domain.nullable
    if type(value) is not TYPES[domain.kind] or (domain.numeric and math.isnan(value)):
        return False
    if domain.low is not None and not value >= domain.low:
        return False
    if domain.high is not None and not value <= domain.high:
        return False
    return domain.values is None or value in domain.values


def grown(seed, scan, depths=(1, 1, 2, 3)):
    """Every operator, alone and with others inside."""
    grower = Grower(random.Random(seed), scan.columns)
    return [grower.call(op, depth) for op in sorted(OPERATORS) for depth in depths]


def failing(holding, table, calls):
    """The calls over which the engine fails, found by halves."""
    try:
        holding.values(table, [(f"made{j}", made) for j, made in enumerate(calls)])
    except Exception as error:
        if len(calls) == 1:
            return [(calls[0], str(error))]
        half = len(calls) // 2
        parts = calls[:half], calls[half:]
        return [found for part in parts for found in failing(holding, table, part)]
    return []


@pytest.mark.parametrize("seed", SEEDS)
def test_every_operator_keeps_its_declaration_on_every_engine(holding, seed):
    table = holding.table("data", rows(random.Random(seed), ROWS), FACTS)
    calls = grown(seed, scan_of(table), DEPTHS[holding.kind])
    asked = [(f"made{j}", made) for j, made in enumerate(calls)]
    try:
        found = holding.values(table, asked)
    except Exception:
        assert failing(holding, table, calls) == []
        raise
    outside = [
        (made, made.domain, row[j])
        for j, made in enumerate(calls)
        for row in found
        if not within(row[j], made.domain)
    ]
    assert outside == []


@pytest.mark.parametrize("seed", SEEDS)
def test_python_finds_what_duckdb_finds_and_never_fails(duckdb_holding, seed):
    """The reference itself: other engines may call what is tiny 0 and what is huge infinite."""
    data = rows(random.Random(seed), ROWS)
    table = duckdb_holding.table("data", data, FACTS)
    calls = grown(seed, scan_of(table), depths=(1, 2))
    found = duckdb_holding.values(table, [(f"made{j}", made) for j, made in enumerate(calls)])
    for row, values in zip(data, found, strict=True):
        known = {name: read(row[name], fact) for name, fact in FACTS.items()}
        for made, value in zip(calls, values, strict=True):
            wanted = evaluate(made, known)
            assert within(wanted, made.domain), (made, wanted)
            inner = [node for node in walk(made) if isinstance(node, Call)]
            if all(node.operator.exact for node in inner):
                assert value == wanted, (made, known)


# The largest bounds of what is added up, squared and ranked; bounds beyond are refused.
MOST = {
    Function.SUM: 1e265,
    Function.AVG: 1e265,
    Function.VAR_POP: 1e130,
    Function.COVAR_POP: 1e130,
}
MOST |= dict.fromkeys((Function.QUANTILE, Function.MIN, Function.MAX), 8e307)


def aggregates(grower, number):
    """One of each: of hostile numbers, where a hostile condition holds."""
    for function in (*MOST, Function.COUNT, Function.DISTINCT):
        kind = grower.rng.choice([Kind.INT, Kind.FLOAT])
        value = grower.value(kind, 2)
        yield Aggregate(
            name=f"a{number}_{function}",
            function=function,
            argument=bounded(value, MOST[function]) if function in MOST else value,
            other=bounded(grower.value(Kind.FLOAT, 2), MOST[function])
            if FAMILIES[function].pair
            else None,
            where=grower.rng.choice([None, grower.value(Kind.BOOL, 2)]),
            q=0.3 if function is Function.QUANTILE else None,
        )


def question(rng, table, unit):
    """Grouped by row where rows are the units, else by a hostile value that is itself private."""
    scan = scan_of(table, unit.column)
    grower = Grower(rng, scan.columns)
    if unit.column is None:
        row = next(column for column in scan.columns if column.name == "i")
        key = Key(name="k", expression=row, values=tuple(range(ROWS)))
    else:
        made = grower.value(rng.choice(sorted(Kind)), 2)
        key = Key(name="k", expression=made, values=None)
    asked = [each for number in range(2) for each in aggregates(grower, number)]
    return Question(
        unit=unit, relation=scan, keys=(key,), grouping_sets=((0,),), aggregates=tuple(asked)
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("unit", [dp.rows(), dp.person("i", rows=1, groups=1)], ids=str)
def test_every_contribution_keeps_its_declaration_on_every_engine(holding, seed, unit):
    rng = random.Random(f"{seed} of questions")
    table = holding.table("data", rows(rng, ROWS), FACTS)
    plan, found = cells_of(question(rng, table, unit), [table], bins=64)
    for tally in plan.tallies:
        if tally.measure is Measure.HISTOGRAM:
            assert found.histograms[tally.name].sum(axis=1).max(initial=0) <= ROWS * plan.weight
            continue
        # Each group is one row, or some: their number is at most that of all rows.
        count = 1 if unit.column is None else ROWS
        low, high = (end * count * tally.denominator for end in (tally.low, tally.high))
        assert all(min(low, 0) <= cell <= max(high, 0) for cell in found.numbers[tally.name])


def test_every_operator_is_grown():
    columns = [Column(name=n, domain=Domain(kind=Kind(f.type))) for n, f in FACTS.items()]
    grower = Grower(random.Random(0), columns)
    assert {grower.call(op, 2).op for op in OPERATORS} == set(OPERATORS)


def test_a_value_outside_its_declaration_is_noticed():
    share = Domain(kind=Kind.FLOAT, low=0.0, high=1.0, nullable=False)
    assert within(0.5, share)
    assert not any(within(value, share) for value in (None, 1, -5e-324, math.nan, math.inf))
