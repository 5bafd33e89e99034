"""The ± of every answer before anything is spent: from the noise, and public facts alone.

An average errs by noise over the group's size, which is private unless rows are replaced. Where a
size is known (the schema states it, or the analyst offers a guess) the ± is that of a group so
large; else it is not told.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import replace
from itertools import product

from deniable.mechanisms import QuantileSearch
from deniable.mechanisms.keys import PartitionSelection
from deniable.query.algebra import (
    COUNTED,
    RANKED,
    Column,
    Filter,
    Function,
    Question,
    Relation,
    columns_of,
)
from deniable.query.bound import Parts, Tally
from deniable.release import Summed
from deniable.schema import Schema
from deniable.workload.search import usual_reach
from deniable.workload.split import deviation
from deniable.workload.tails import reach
from deniable.workload.trees import Tree

from .allocation import Allocation


def errors(
    allocation: Allocation, *, size: float | None, confidence: float = 0.95, rounded: bool = True
) -> dict[str, float | None]:
    """The ± of every column of the answer; None where it depends on what nobody knows.

    Whole answers are rounded, and so is their ±, unless `rounded` is false.
    """
    question = allocation.plan.question
    by_name = {
        name: None
        if allocation.of_many
        else aggregate_error(allocation, parts, size=size, confidence=confidence, rounded=rounded)
        for name, parts in allocation.plan.parts.items()
    }
    told: dict[str, float | None] = {}
    for output in question.outputs:
        made = output.expression
        if isinstance(made, Column) and made.name in by_name:
            told[output.name] = by_name[made.name]
        elif by_name.keys() & columns_of(made).keys():
            told[output.name] = None
    return told


def aggregate_error(
    allocation: Allocation,
    parts: Parts,
    *,
    size: float | None,
    confidence: float = 0.95,
    rounded: bool = True,
) -> float | None:
    """The ± of one aggregate for a group of that many rows."""
    function = parts.aggregate.function
    if function in RANKED:
        return None
    if function in COUNTED or function is Function.SUM:
        found = summed(allocation, parts)
        return (found if rounded else replace(found, rounded=False)).half(confidence)
    confidence = allocation.of_each(confidence)
    size = size if parts.rows is None else parts.rows
    if size is None:
        return None
    width = half_width(parts)
    if function is Function.AVG:
        most = _worst(allocation, [(parts.sum, (1.0,)), (parts.count, (width, -width))], confidence)
        return min(largest_error(parts), most / size)
    terms = [
        (parts.squares, (1.0,)),
        (parts.sum, (2 * width, -2 * width)),
        (parts.count, (width**2, -(width**2))),
    ]
    variance = min(width**2, _worst(allocation, terms, confidence) / size)
    if function in (Function.VAR_SAMP, Function.VAR_POP):
        return variance
    return math.sqrt(variance)


def largest_error(parts: Parts) -> float:
    """The largest ± there can be: averages and variances lie between public ends."""
    if exact(parts):
        return 0.0
    match parts.aggregate.function:
        case Function.AVG:
            return 2 * half_width(parts)
        case Function.VAR_POP | Function.VAR_SAMP:
            return half_width(parts) ** 2
        case Function.STDDEV_POP | Function.STDDEV_SAMP:
            return half_width(parts)
    return math.inf


def summed(allocation: Allocation, parts: Parts) -> Summed:
    """How a count or sum errs, in every group alike."""
    terms = linear_terms(parts)
    return Summed(
        law=allocation.law,
        scales=_sizes(allocation.errors(*terms)),
        rounded=is_whole(parts),
        whole=all(tally is None or tally.unit == 1 for tally, _ in terms),
        among=allocation.among,
    )


def exact(parts: Parts) -> bool:
    """Whether the answer is a public fact: the number of rows, where the schema states it."""
    return parts.rows is not None and parts.sum is None


def linear_terms(parts: Parts) -> list[tuple[Tally | None, float]]:
    """A count or a sum as tallies times factors."""
    if parts.sum is None:
        return [(parts.count, 1.0)]
    return [(parts.sum, 1.0), (parts.count, parts.sum.centre)]


def known_part(parts: Parts) -> float:
    """What a count or a sum has without noise, where the number of rows is public."""
    if parts.rows is None:
        return 0.0
    return parts.rows * (1.0 if parts.sum is None else parts.sum.centre)


def _worst(
    allocation: Allocation, terms: list[tuple[Tally | None, tuple[float, ...]]], confidence: float
) -> float:
    """How far Σ factor·tally is off at the worst of some factors.

    Between them it is off no more: how far noise reaches is a convex function of the factors.
    """
    tallies = [tally for tally, _ in terms]
    chosen = product(*(factors for _, factors in terms))
    return max(
        reach(
            allocation.law,
            _sizes(allocation.errors(*zip(tallies, factors, strict=True))),
            confidence=confidence,
        )
        for factors in chosen
    )


def _sizes(errors: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(abs(each) for each in errors if each)


def rank_error(allocation: Allocation, parts: Parts, *, confidence: float = 0.95) -> float:
    """By how many rows the rank of a quantile may be off."""
    confidence = allocation.of_each(confidence)
    assert parts.histogram is not None
    tree, noise = allocation.released(parts.histogram).tree, allocation.of(parts.histogram)
    unit = float(parts.histogram.unit)
    if isinstance(noise, QuantileSearch):
        return unit * usual_reach(noise, confidence=confidence)
    assert isinstance(tree, Tree)
    reach = tree.reach(q_of(parts), law=allocation.law, confidence=confidence)
    return unit * deviation(noise) * reach


def people_needed(selection: PartitionSelection, probability: float) -> int:
    """How many people a private group needs to be shown with this probability."""
    return bisect.bisect_left(range(2**21), probability, lo=1, key=selection.probability)


def q_of(parts: Parts) -> float:
    """The quantile that was asked for: MIN is 0, MAX is 1."""
    match parts.aggregate.function:
        case Function.MIN:
            return 0.0
        case Function.MAX:
            return 1.0
    assert parts.aggregate.q is not None
    return parts.aggregate.q


def is_whole(parts: Parts) -> bool:
    """Whether an answer is given in whole numbers."""
    argument = parts.aggregate.argument
    if parts.aggregate.function in COUNTED:
        return True
    return argument is not None and argument.kind.value == "int"


def half_width(parts: Parts) -> float:
    """How far values may lie from the centre."""
    assert parts.sum is not None
    low, high = float(parts.aggregate.low), float(parts.aggregate.high)
    return max(high - parts.sum.centre, parts.sum.centre - low)


def public_size(question: Question, schema: Schema | None) -> float | None:
    """The number of rows of an answer's one group, where the schema makes it public."""
    if schema is None or question.keys or _filtered(question.relation):
        return None
    table = getattr(question.relation, "table", None)
    known = schema.tables.get(str(table), schema) if schema.tables else schema
    return None if known.size is None else float(known.size)


def _filtered(relation: Relation) -> bool:
    return isinstance(relation, Filter) or not hasattr(relation, "table")
