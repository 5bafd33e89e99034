"""One aggregate with its noise, and what it makes of given noisy numbers."""

import numpy as np

import deniable as dp
from deniable.losses import Approx
from deniable.losses.filters import filter_for
from deniable.query.algebra import Aggregate, Question, Read, Scan
from deniable.query.allocate import allocate
from deniable.query.integers import in_integers

FILTER = filter_for(Approx(100.0, delta=1e-5))


def asked(function, *, ends=(-3.0, 9.0), kind="float", unit=None, size=None, second=None, **given):
    """The allocation and the estimator of one aggregate over all rows."""
    reads = [Read(name="x", source="x", facts=dp.bounds(*ends, type=kind, missing=ends[0]))]
    if second is not None:
        facts = dp.bounds(*second, type=kind, missing=second[0])
        reads.append(Read(name="y", source="y", facts=facts))
        given["other"] = reads[1].column
    relation = Scan(table="t", reads=tuple(reads), size=size)
    aggregate = Aggregate(name="a", function=function, argument=reads[0].column, **given)
    question = Question(unit=unit or dp.rows(), relation=relation, aggregates=(aggregate,))
    plan = in_integers(question)
    allocation = allocate(plan, spend=Approx(1.0, delta=1e-6), filter=FILTER)
    return allocation, plan.parts["a"]


def noisy(**numbers):
    return {name: np.array(each, dtype=float) for name, each in numbers.items()}
