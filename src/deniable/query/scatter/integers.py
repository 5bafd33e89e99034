"""The question on Spark: one row for each group, with the whole numbers that noise is added to.

With public keys the rows are the product of the lists, made on Spark from the question alone, and
what was counted is joined to it: groups that nobody is in come back with 0, and no other group can.
With private keys they are the groups found; which are shown is chosen when noise is drawn.

How rows are laid out must tell nothing of those that are hidden, nor of how large the table is. So
they are dealt over a public number of partitions by their keys, and sorted there by their keys.
"""

# ruff: noqa: S608  (names are ours; constants and statements are written by the dialect)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from deniable.query.aggregates import Tally
from deniable.query.algebra import Kind, Scalar
from deniable.query.allocate import Allocation
from deniable.query.compile import Dialect, Statement
from deniable.query.compile.reading import in_a_row
from deniable.query.execute import compiled_for
from deniable.query.integers import IntegerPlan

KEY: Final = "k"
"""Keys are called k0, k1, …"""


def coordinate(part: int, place: int) -> str:
    """The column of one number of a vector."""
    return f"c{part}_{place}"


def integers(allocation: Allocation, engine: Any, *, secret: str) -> Any:
    """A Spark DataFrame that nothing has computed yet."""
    plan = allocation.plan
    asked = compiled_for(plan, engine, secret=secret)
    tallies = joined(plan, asked, dialect=engine.dialect)
    frame = engine.frame(f"SELECT {', '.join(_wanted(allocation))} FROM ({tallies})")
    parts = int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    keys = [f"{KEY}{i}" for i in range(len(plan.question.keys))]
    return frame.repartition(parts, *keys).sortWithinPartitions(*keys)


def _wanted(allocation: Allocation) -> list[str]:
    """Keys, the count by which they are chosen, and every coordinate."""
    plan = allocation.plan
    columns = [f"{KEY}{i}" for i in range(len(plan.question.keys))]
    if plan.selection is not None:
        columns.append(plan.selection.name)
    for i, part in enumerate(allocation.parts):
        for j, factors in enumerate(part.basis.forth):
            columns.append(f"{_sum(factors, part.tallies)} AS {coordinate(i, j)}")
    return columns


def _sum(factors: Sequence[int], tallies: Sequence[Tally]) -> str:
    """Σ factor·tally. A tally is below 2⁶⁴ in rows, a factor below 2⁴²: 38 digits are plenty."""
    if len(tallies) == 1:
        return tallies[0].name
    wide = "CAST({} AS DECIMAL(38, 0))"
    terms = (
        f"{wide.format(tally.name)} * {wide.format(factor)}"
        for factor, tally in zip(factors, tallies, strict=True)
        if factor
    )
    return wide.format(" + ".join(terms))


def joined(plan: IntegerPlan, asked: Sequence[Statement], *, dialect: Dialect) -> str:
    """All statements as one: keys k0, k1, …, missing where a grouping set leaves them out."""
    used = asked[0].keys
    matched = [f"{KEY}{i}" for i in used] + [f"g{i}" for i in used] * asked[0].flagged
    chosen = [
        f"start.{KEY}{i} AS {KEY}{i}" if i in used else f"{_null(plan, i, dialect)} AS {KEY}{i}"
        for i in range(len(plan.question.keys))
    ]
    equals = "<=>" if asked[0].flagged else "="  # a key that a set leaves out is missing
    sources, rest = [f"({_start(plan, asked, dialect)}) AS start"], asked
    if plan.private_keys:
        rest = asked[1:]
        chosen += _numbers(asked[0], "start")
    for place, statement in enumerate(rest):
        same = " AND ".join(f"start.{name} {equals} s{place}.{name}" for name in matched)
        sources.append(f"LEFT JOIN ({statement.text}) AS s{place} ON {same}")
        chosen += _numbers(statement, f"s{place}")
    return f"SELECT {', '.join(chosen)} FROM {' '.join(sources)}"


def _null(plan: IntegerPlan, position: int, dialect: Dialect) -> str:
    kind = plan.question.keys[position].expression.kind
    return dialect.write(dialect.constant(None, kind))


def _numbers(statement: Statement, source: str) -> list[str]:
    return [
        f"COALESCE({source}.n{j}, 0) AS {tally.name}" for j, tally in enumerate(statement.tallies)
    ]


def _start(plan: IntegerPlan, asked: Sequence[Statement], dialect: Dialect) -> str:
    """Which groups there are."""
    first = asked[0]
    if not plan.private_keys:
        return " UNION ALL ".join(_product(plan, chosen, first, dialect) for chosen in plan.sets)
    # A missing key is not a group; one that a grouping set leaves out is flagged.
    there = [
        f"({KEY}{i} IS NOT NULL OR g{i} = 1)" if first.flagged else f"{KEY}{i} IS NOT NULL"
        for i in first.keys
    ]
    return f"SELECT * FROM ({first.text}) WHERE {' AND '.join(there)}"


def _product(plan: IntegerPlan, chosen: tuple[int, ...], first: Statement, dialect: Dialect) -> str:
    """Every group of one grouping set: the product of its lists."""
    columns, lists = [], []
    for i in first.keys:
        key = plan.question.keys[i]
        if i in chosen:
            columns.append(f"l{i}.{KEY}{i} AS {KEY}{i}")
            lists.append(f"({_listed(i, key.listed, key.expression.kind, dialect)}) AS l{i}")
        else:
            columns.append(f"{_null(plan, i, dialect)} AS {KEY}{i}")
    if first.flagged:
        columns += [f"{int(i not in chosen)} AS g{i}" for i in first.keys]
    return f"SELECT {', '.join(columns)} FROM {' CROSS JOIN '.join(lists) or '(SELECT 1)'}"


def _listed(position: int, values: Sequence[Scalar], kind: Kind, dialect: Dialect) -> str:
    """A list as rows; whole numbers in a row are a range, which costs no text."""
    run = in_a_row(values, kind)
    if run is not None:
        return f"SELECT id AS {KEY}{position} FROM RANGE({run.start}, {run.stop})"
    rows = ", ".join(f"({dialect.write(dialect.constant(value, kind))})" for value in values)
    return f"SELECT {KEY}{position} FROM VALUES {rows} AS v({KEY}{position})"
