"""The ± of every answer before anything is spent: from the noise, and public facts alone.

An average errs by noise over the group's size, which is private. Where a size is known (the schema
states it, or the analyst offers a guess) the ± is that of a group so large; else it is not told.
"""

from __future__ import annotations

import bisect
import math

from deniable.mechanisms import Laplace, QuantileSearch
from deniable.mechanisms.keys import PartitionSelection
from deniable.query.algebra import Column, Filter, Function, Question, Relation, columns_of
from deniable.query.bound import Parts, Tally
from deniable.schema import Schema

from .allocation import Allocation, spread_of
from .search import usual_reach
from .split import Noise
from .tails import reach
from .trees import Tree

_COUNTS = (Function.COUNT, Function.PERSONS, Function.DISTINCT)
_RANKED = (Function.QUANTILE, Function.MIN, Function.MAX)


def errors(
    allocation: Allocation, *, size: float | None, confidence: float = 0.95
) -> dict[str, float | None]:
    """The ± of every column of the answer; None where it depends on what nobody knows."""
    question = allocation.plan.question
    by_name = {
        name: aggregate_error(allocation, parts, size=size, confidence=confidence)
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
    allocation: Allocation, parts: Parts, *, size: float | None, confidence: float = 0.95
) -> float | None:
    """The ± of one aggregate for a group of that many rows."""
    function, law = parts.aggregate.function, allocation.law
    if function in _COUNTS:
        assert parts.count is not None
        return whole_error(allocation, parts.count, confidence)
    if function in _RANKED:
        return None
    if function is Function.SUM:
        assert parts.sum is not None
        centre = abs(parts.sum.centre)
        scales = (allocation.scale(parts.sum), centre * allocation.scale(parts.count))
        alone = parts.count is None and allocation.unit(parts.sum) == 1
        rounding = 0.5 if is_whole(parts) and not alone else 0.0
        return reach(law, scales, confidence=confidence) + rounding
    if size is None:
        return None
    width = half_width(parts)
    count, total = allocation.scale(parts.count), allocation.scale(parts.sum)
    if function is Function.AVG:
        return min(2 * width, reach(law, (total, width * count), confidence=confidence) / size)
    all_three = (allocation.scale(parts.squares), 2 * width * total, width**2 * count)
    variance = min(width**2, reach(law, all_three, confidence=confidence) / size)
    if function in (Function.VAR_SAMP, Function.VAR_POP):
        return variance
    return math.sqrt(variance)


def rank_error(allocation: Allocation, parts: Parts, *, confidence: float = 0.95) -> float:
    """By how many rows the rank of a quantile may be off."""
    assert parts.histogram is not None
    tree, noise = allocation.released(parts.histogram).tree, allocation.of(parts.histogram)
    unit = allocation.unit(parts.histogram)
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


def deviation(noise: Noise) -> float:
    """The standard deviation of one number's noise."""
    return spread_of(noise) * (math.sqrt(2) if isinstance(noise, Laplace) else 1.0)


def whole_error(allocation: Allocation, tally: Tally, confidence: float) -> float:
    """The ± of a count in whole numbers."""
    noise, unit = allocation.of(tally), allocation.unit(tally)
    assert not isinstance(noise, QuantileSearch)
    if unit == 1:
        return noise.error(confidence, whole=True)
    return noise.error(confidence) * unit + 0.5


def is_whole(parts: Parts) -> bool:
    """Whether an answer is given in whole numbers."""
    argument = parts.aggregate.argument
    if parts.aggregate.function in _COUNTS:
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
