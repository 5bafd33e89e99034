"""Make a table k-anonymous, and say what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.parameters import one_of, probability, whole
from deniable.sampling.source import current

from .demands import Demands
from .hierarchies import Ladder
from .methods.lattice import BestNode, Problem, count, losses, search
from .methods.loss import ADDITIVE, LOSSES, class_loss
from .methods.mondrian import Axis, Points, axis, boxes
from .methods.prepared import Prepared, prepared
from .methods.recoding import Recoded, recoded
from .reports import Report, measured
from .tables import Codes, Frame, grouped, joined, rebuilt

METHODS = ("optimal", "mondrian")


@dataclass(frozen=True, kw_only=True)
class Anonymized:
    """The table to publish, and a report on it.

    The rows of `frame` come in random order, since a place in a list can identify as well as a
    name. `rows` tells, for the curator alone, where each row stood before.
    """

    frame: Frame = field(repr=False)
    report: Report
    rows: Codes = field(repr=False)

    def __str__(self) -> str:
        return str(self.report)


@parameters.called('anonymity.anonymize(table, quasi=["age", "zip"], k=5)')
def anonymize(
    table: object,
    *,
    quasi: Sequence[str],
    k: int,
    hierarchies: Mapping[str, Ladder] | None = None,
    suppression: float = 0.05,
    method: str = "optimal",
    l: float | None = None,
    t: float | None = None,
    sensitive: str | None = None,
    diversity: str = "distinct",
    c: float = 1.0,
    loss: str = "ncp",
    strict: bool = True,
    unit: str | None = None,
) -> Anonymized:
    """Say the quasi-identifiers less exactly until every row has at least k − 1 others like it.

    optimal   One level a column for all rows, by hierarchies (suggested where not given); rows in
              classes that fail are left out, at most a share `suppression` of them. Of all such
              tables the one of least `loss` (ncp, precision, entropy, discernibility or
              average_class) is found: see `lattice`.
    mondrian  Each class its own ranges; nothing is left out; good, not optimal: see `mondrian`.

    `unit` is the column that identifies people, if they have several rows. Then every class has at
    least k *people*; someone whose rows are in several classes counts in each of them. ℓ, t, losses
    and `suppression` are still about rows. The column itself is not touched: drop it. Of every row
    it must say whose it is: one without an id may be anybody's.

    With `sensitive`, `l` asks for ℓ-diversity (distinct, entropy, or recursive with c) and `t` for
    t-closeness, both of what is published. Other columns, names included, are not touched: see
    `deidentify`.

    >>> import deniable as dp
    >>> done = anonymize(dp.load_adult(), quasi=["age", "sex", "race"], k=10)
    >>> done.report.k, done.report.levels
    (10, {'age': 1, 'sex': 0, 'race': 0})
    """
    demands = Demands(k=k, l=l, t=t, diversity=diversity, c=c)
    demands.needs(sensitive)
    one_of("method", method, METHODS)
    one_of("loss", loss, LOSSES)
    share = probability("suppression", suppression)
    ready = prepared(table, quasi, sensitive, hierarchies or {}, unit)
    if method == "mondrian":
        return _local(table, ready, demands, strict=strict)
    problem = ready.problem(demands, loss=loss, suppression=share)
    return _full_domain(table, ready, problem, search(problem))


@parameters.called('anonymity.generalize(table, levels={"age": 1})')
def generalize(
    table: object,
    *,
    levels: Mapping[str, int],
    k: int = 1,
    hierarchies: Mapping[str, Ladder] | None = None,
) -> Anonymized:
    """Take columns up to the levels you choose, and leave out rows in classes of fewer than k.

    >>> import deniable as dp
    >>> people = dp.load_adult(identifiers=True)
    >>> done = generalize(people, levels={"zip": 4, "age": 3}, k=5)
    >>> done.report.k >= 5, done.report.suppressed
    (True, 23)
    """
    demands = Demands(k=k)
    ready = prepared(table, list(levels), None, hierarchies or {})
    for rungs in ready.rungs:
        step = whole(f"levels[{rungs.column!r}]", levels[rungs.column], least=0)
        if step > rungs.height:
            raise BadParameter.of(
                f"levels[{rungs.column!r}]", step, must=f"at most {rungs.height}, its last step"
            )
    problem = ready.problem(demands, loss="ncp", suppression=1.0)
    node = count(problem, [levels[rungs.column] for rungs in ready.rungs])
    found = BestNode(best=node, counted=1, nodes=1)
    return _full_domain(table, ready, problem, found, method="chosen")


def _full_domain(
    table: object, ready: Prepared, problem: Problem, found: BestNode, *, method: str = "optimal"
) -> Anonymized:
    import pyarrow as pa

    node = found.best
    classes = ready.classes_at(node.levels)
    rows = _shuffled(np.flatnonzero(~node.failing[classes][ready.cell]))
    changes = {}
    for column, rungs, level in zip(ready.columns, ready.rungs, node.levels, strict=True):
        if level:
            labels = pa.array(rungs.labels[level], pa.string())
            changes[column.name] = labels.take(rungs.maps[level][column.codes[rows]])
    # What each measure says of the same node, with the same rows left out.
    measures = [replace(problem, loss=loss, costs=ready.costs(loss)) for loss in LOSSES]
    lost = (losses(each, node.classes, (node.failing,) * 2, node.levels)[2] for each in measures)
    report = Report(
        method=method,
        demands=problem.demands,
        measured=measured(ready, classes[ready.cell[rows]], rows),
        suppressed=node.suppressed,
        levels=dict(zip(ready.names, node.levels, strict=True)),
        losses=MappingProxyType(dict(zip(LOSSES, lost, strict=True))),
        counted=found.counted,
        nodes=found.nodes,
    )
    return Anonymized(frame=rebuilt(table, ready.read, changes, rows), report=report, rows=rows)


def _local(table: object, ready: Prepared, demands: Demands, *, strict: bool) -> Anonymized:
    import pyarrow as pa

    axes = [
        axis(column, rungs if column.name in ready.given else None)
        for column, rungs in zip(ready.columns, ready.rungs, strict=True)
    ]
    box = _boxes(ready, axes, demands, strict=strict)
    names = [
        recoded(line, column.codes, box, ready.weights(i))
        for i, (line, column) in enumerate(zip(axes, ready.columns, strict=True))
    ]
    rows = _shuffled(np.arange(ready.cell.size))
    changes = {
        column.name: pa.array(name.labels, pa.string()).take(box[rows])
        for column, name in zip(ready.columns, names, strict=True)
        if not name.plain
    }
    classes = _same_label(names, box)
    report = Report(
        method="mondrian",
        demands=demands,
        measured=measured(ready, classes[rows], rows),
        suppressed=0,
        levels={},
        losses=MappingProxyType(_local_losses(ready, names, box, classes)),
    )
    return Anonymized(frame=rebuilt(table, ready.read, changes, rows), report=report, rows=rows)


def _boxes(ready: Prepared, axes: Sequence[Axis], demands: Demands, *, strict: bool) -> Codes:
    """The box of each row; equal rows are cut as one where they must stay together."""
    problem = ready.problem(demands, loss="discernibility", suppression=0.0)
    if count(problem, [rungs.height for rungs in ready.rungs]).suppressed:
        raise BadParameter(
            "the table as a whole does not meet the demands, so no part of it can",
            fix="a smaller k or l",
        )
    bottom = problem.bottom
    together = strict and ready.person is None
    values, size = ready.values
    cells, counts = ready.cell, np.ones(ready.cell.size, np.int64)
    if together:
        cells, counts, values = bottom.cells, bottom.counts, bottom.values
    ranks = np.stack([line.ranks[ready.codes(i)[cells]] for i, line in enumerate(axes)])
    points = Points(
        ranks=ranks,
        counts=counts,
        values=values,
        size=size,
        ordered=ready.ordered,
        tree=ready.tree,
        people=None if ready.person is None else ready.person.codes,
    )
    box = boxes(points, axes, demands, strict=strict)
    if not together:
        return box
    of_cell = np.empty(ready.firsts.size, np.int64)
    of_cell[cells] = box
    return of_cell[ready.cell]


def _same_label(names: Sequence[Recoded], box: Codes) -> Codes:
    """Boxes that are called the same are one class."""
    parts = []
    for name in names:
        seen: dict[str | None, int] = {}
        codes = np.array([seen.setdefault(label, len(seen)) for label in name.labels], np.int64)
        parts.append((codes, len(seen)))
    return grouped(*joined(parts))[1][box]


def _local_losses(
    ready: Prepared, names: Sequence[Recoded], box: Codes, classes: Codes
) -> dict[str, float]:
    sizes, rows = np.bincount(box), max(1, box.size)
    ncp = entropy = 0.0
    for i, (column, name) in enumerate(zip(ready.columns, names, strict=True)):
        weights = np.maximum(ready.weights(i), 1)
        ncp += float(sizes @ name.spans) / rows / len(names)
        bits = float(np.log2(rows / weights)[column.codes].sum()) or 1.0
        lost = float(sizes @ np.log2(name.covered) - np.log2(weights)[column.codes].sum())
        entropy += lost / bits / len(names)
    kept = np.bincount(classes)
    others = {loss: class_loss(loss, kept, 0) for loss in LOSSES if loss not in ADDITIVE}
    return {"ncp": ncp, "entropy": entropy} | others


def _shuffled(rows: Codes) -> Codes:
    """The same rows in an order that nobody can predict."""
    return rows[np.argsort(current().words(rows.size), kind="stable")]
