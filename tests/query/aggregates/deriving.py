"""One aggregate with its noise, and what it makes of given noisy numbers."""

import numpy as np

import deniable as dp
from deniable.losses import Approx
from deniable.losses.filters import filter_for
from deniable.query.algebra import Aggregate, Question, Read, Scan
from deniable.query.allocate import allocate
from deniable.query.integers import in_integers

FILTER = filter_for(Approx(100.0, delta=1e-5))


def asked(
    function, *, ends=(-3.0, 9.0), kind="float", unit=None, size=None, second=None, bins=None,
    spend=None, budget=None, asking=None, **given,
):  # fmt: skip
    """The allocation and the estimator of one aggregate; of all rows unless `asking` says else."""
    asking = asking or {}
    reads = [Read(name="x", source="x", facts=dp.bounds(*ends, type=kind, missing=ends[0]))]
    if second is not None:
        facts = dp.bounds(*second, type=kind, missing=second[0])
        reads.append(Read(name="y", source="y", facts=facts))
        given["other"] = reads[1].column
    unit = unit or dp.rows()
    whose = None if unit.column is None else Read(name="u", source="u")
    relation = Scan(table="t", reads=tuple(reads), size=size, id=whose)
    aggregate = Aggregate(name="a", function=function, argument=reads[0].column, **given)
    question = Question(unit=unit, relation=relation, aggregates=(aggregate,), **asking)
    plan = in_integers(question, bins=bins)
    ledger = FILTER if budget is None else filter_for(budget)
    allocation = allocate(plan, spend=spend or Approx(1.0, delta=1e-6), filter=ledger)
    return allocation, plan.parts["a"]


def noisy(**numbers):
    return {name: np.array(each, dtype=float) for name, each in numbers.items()}
