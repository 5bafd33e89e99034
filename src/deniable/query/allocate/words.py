"""The plan as people read it: what is done to the data, with which noise, for which ±."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from deniable.errors import MissingBounds
from deniable.losses import Approx, Loss, Zcdp
from deniable.mechanisms import Laplace, QuantileSearch
from deniable.query.aggregates import Measure, Tally
from deniable.query.algebra import (
    Aggregate,
    Call,
    Function,
    Join,
    Key,
    Kind,
    Question,
    Scan,
    columns_of,
    show,
    walk,
)
from deniable.query.integers import IntegerPlan, limited
from deniable.release import Plan
from deniable.release.numbers import amount, digits, probability, shown_error
from deniable.release.plan import Balance
from deniable.workload.split import spread_of
from deniable.workload.trees import Tree

from .allocation import Allocation
from .foresight import errors, people_needed
from .part import Part
from .remarks import clipped_first, listed, unmet

_MANY_GROUPS: Final = 1_000
_JOINS: Final = re.compile(r"\w+ join with .* on the same person(?!.*, once a row$)")


def explained(allocation: Allocation, *, cost: Loss, balance: Balance, size: float | None) -> Plan:
    """Cost, ± of every column, and the steps; what depends on group sizes is shown at a few."""
    plan = allocation.plan
    return Plan(
        question=title(plan.question),
        cost=cost,
        errors=errors(allocation, size=size),
        steps=[
            *_relation(plan),
            _unit(plan),
            *_public_size(plan),
            *_groups(allocation),
            *noise_of(allocation),
            *_assembled(allocation),
            *_after(plan),
        ],
        **balance,
        notes=tuple(_notes(allocation, cost, size)),
    )


def title(question: Question) -> str:
    """The question as it was written, or as a program if it was not text."""
    return textwrap.dedent(question.text).strip() or repr(question)


def _relation(plan: IntegerPlan) -> Iterator[str]:
    steps: list[str] = []
    for line in show.relation_lines(plan.question.relation, show.plain):
        if not line.startswith(" "):
            steps.append(line)
        elif line.startswith("  from "):  # what a join or a union brings in
            other = line.strip().removeprefix("from ")
            join, on, condition = steps[-1].partition(" on ")
            steps[-1] = f"{join} with {other}{on}{condition}" if on else f"{join} {other}"
    (read, *steps), limits = steps, [*_joined(plan)]
    yield read
    for name, ends in clipped_first(plan.question, plan.question.aggregates):
        yield f"clip {name} to {ends}"
    for step in steps:
        if _JOINS.match(step):  # once, before the first that they are for
            yield from limits
            limits = []
        yield step
    yield from limits
    texts = {_computed(each.aggregate): each.clips for each in plan.parts.values()}
    for text, clips in texts.items():
        yield f"compute {text}{'; values outside are clipped' if clips else ''}"


def _computed(aggregate: Aggregate) -> str:
    people = aggregate.function is Function.PERSONS
    return "the number of people" if people else show.aggregate_text(aggregate, show.plain)


def _joined(plan: IntegerPlan) -> Iterator[str]:
    if any(isinstance(r, Join) and r.multiplies for r in walk(plan.question.relation)):
        one, both = plan.joined
        yield (
            f"before the join, each table keeps at most {one:,} rows per person and join key; "
            f"where a person has more than {both:,} in both tables, each keeps {both:,}, evenly "
            "spaced"
        )


def _unit(plan: IntegerPlan) -> str:
    if plan.single:
        return f"protect {plan.unit}" + "; each person has one row after this step" * (
            plan.weight > 1
        )
    if not _weighed(plan):
        each = " per group" if plan.question.keys else ""
        return f"protect {plan.unit}: each person counts once{each}"
    return f"protect {plan.unit}: {limited(plan.rows)}, with less weight per row"


def _weighed(plan: IntegerPlan) -> bool:
    """Whether a person's rows weigh less if there are many: all but counts of people do that."""
    return any(p.aggregate.function is not Function.PERSONS for p in plan.parts.values())


def _public_size(plan: IntegerPlan) -> Iterator[str]:
    for rows in {parts.rows for parts in plan.parts.values()} - {None}:
        yield f"the number of rows, {rows:,}, is public (the schema states it), so it gets no noise"


def _groups(allocation: Allocation) -> Iterator[str]:
    plan = allocation.plan
    for key in plan.question.keys:
        yield _group(plan.question, key)
    if allocation.selection is not None:
        epsilon, delta = allocation.selection.approx()
        half, sure = (people_needed(allocation.selection, p) for p in (0.5, 0.99))
        yield (
            f"suppress small groups: a group of {half:,} people appears half of the time, a group "
            f"of {sure:,} almost always ({amount(Approx(epsilon, delta=delta), 'up')})"
        )
    limits = {name: plan.groups_of(part) for name, part in plan.parts.items()}
    if few := max((limit for limit in limits.values() if limit), default=0):
        which = "" if all(limits.values()) else f" for {', '.join(n for n in limits if limits[n])}"
        groups = f"{few} group{'s' * (few > 1)}"
        yield (
            f"count each person in at most {groups}{which} (groups={few}): people in more than "
            f"{groups} are left out of the others, so counts are too low"
        )


def _group(question: Question, key: Key) -> str:
    if key.values is None:
        return f"group by {key.name}: the list of groups is private"
    others = "; rows without a value are dropped" if key.expression.domain.nullable else ""
    if listed(question, key):
        others = "; rows with other values are dropped"
    return (
        f"group by {key.name}: {len(key.values):,} public keys; every group is returned, even if "
        f"empty{others}"
    )


def noise_of(allocation: Allocation) -> Iterator[str]:
    """Which noise is added to what, in rows and in units of the columns."""
    for part, noise in zip(allocation.parts, allocation.noise, strict=True):
        if isinstance(noise, QuantileSearch):
            yield _searched(allocation, part, noise)
            continue
        law, letter = ("Laplace", "b") if isinstance(noise, Laplace) else ("Gaussian", "σ")
        tree = _tree(part.tree) if isinstance(part.tree, Tree) else ""
        scale = spread_of(noise) * part.worth
        if part.basis.turned and law == "Gaussian":
            yield f"add {law} noise to {_with_all_rows(part, spread_of(noise))}"
        elif part.basis.turned:
            yield f"add {law} noise to {_folded(allocation.plan, part, scale)}"
        elif part.basis.folded:
            yield f"add {law} noise to {_beside(part, spread_of(noise), letter)}"
        else:
            what = _ranked(allocation, part.tallies[0]) or part.tallies[0].text
            yield f"add {law} noise to {what}: {letter} = {digits(scale)}{tree}"


def _tree(tree: Tree) -> str:
    return f", on {'a tree of ' * (tree.levels > 1)}{tree.nodes:,} counts"


def _beside(part: Part, spread: float, letter: str) -> str:
    """Tallies in one vector, each with its own noise."""
    listed = " and to ".join(
        f"{tally.text} ({letter} = {digits(spread * sum(part.mixture(tally)))})"
        for tally in part.tallies
    )
    return f"{listed}: a replaced row never changes both by the most it can"


def _folded(plan: IntegerPlan, part: Part, scale: float) -> str:
    """The sums from which several tallies follow, each with its noise."""
    first, last, noise = part.tallies[0], part.tallies[-1], f"b = {digits(scale)} each"
    if last.measure is Measure.COUNT:
        return f"{last.text} and to the number of other rows: {noise}"
    low, high = _ends(part)
    assert last.value is not None
    value = show.plain(last.value)
    above = f"{value} − {low:g}" if low else value
    where = "" if last.where is None else f" where {show.plain(last.where)}"
    sums = f"the sums of {above} and of {high:g} − {value}{where}"
    rows = 1 if plan.single else plan.rows
    who = "one row changes" if rows == 1 else f"a person's {rows} rows change"
    together = f"{noise}: {who} the two by a total of {digits(rows * (high - low), 'up')}"
    if len(part.tallies) == 2:
        return f"{sums} ({together})"
    all_rows = first.value is None and first.where is None and last.where is None
    others = f"rows where {last.value!r} is missing" if all_rows else "other rows"
    each = digits(scale / (high - low))
    return f"{sums} ({together}), and to the number of {others} (b = {each})"


def _with_all_rows(part: Part, spread: float) -> str:
    """Counts that share the noise of the number of all rows."""
    *some, _ = part.tallies
    error = digits(spread * math.hypot(*part.mixture(some[0])))
    counts = " and ".join(tally.text for tally in some) if len(some) < 3 else f"{len(some)} counts"
    return (
        f"the number of rows, and to twice {counts} minus that number: σ = {error} for each count"
    )


def _ends(part: Part) -> tuple[float, float]:
    """The lowest and the highest value in the two sums of a basis."""
    last, (above, below) = part.tallies[-1], part.basis.forth[-2:]
    width = last.lattice.width
    return last.centre - above[-2] * width, last.centre + below[-2] * width


def _ranked(allocation: Allocation, tally: Tally) -> str:
    """A histogram is of what was asked: dates, where their days are counted."""
    asked = (e.aggregate for e in allocation.plan.parts.values() if tally in e.tallies)
    return next(
        (f"the histogram of {show.plain(each.moment)}" for each in asked if each.moment), ""
    )


def _searched(allocation: Allocation, part: Part, noise: QuantileSearch) -> str:
    assert part.tree is not None
    scale, tally = noise.block_noise.scale * part.worth, part.tallies[0]
    of = _ranked(allocation, tally) or tally.text
    return (
        f"choose one of {part.tree.cells:,} cells of {of} with the exponential mechanism; "
        f"then estimate the counts around it with Laplace noise: b = {digits(scale)}"
    )


def _assembled(allocation: Allocation) -> Iterator[str]:
    """How answers are put together that are made of several noisy numbers."""
    parts = allocation.plan.parts.items()
    made = ((_shown(allocation, name), each.derivation(allocation)) for name, each in parts)
    yield from dict.fromkeys(f"compute {name} {how}" for name, how in made if how)


def _after(plan: IntegerPlan) -> Iterator[str]:
    question = plan.question
    free = [
        name
        for name, there in {
            "HAVING": question.having is not None,
            "ORDER BY": bool(question.order_by),
            "LIMIT": question.limit is not None,
        }.items()
        if there
    ]
    if free:
        yield f"apply {', '.join(free)} to the noisy answers: free"


def _notes(allocation: Allocation, cost: Loss, size: float | None) -> Iterator[str]:
    yield from unmet(allocation.plan.question)
    for name, each in allocation.plan.parts.items():
        note = each.note(allocation, size)
        if note:
            yield f"{_shown(allocation, name)}{note}"
    if any(t.measure is Measure.COUNT and not t.moves.l1 for t in allocation.plan.tallies):
        yield (
            "where rows are replaced, the number of rows is public: state it exactly with "
            "dp.Schema(size=...), and it needs no noise"
        )
    yield from _many_groups(allocation.plan.question)
    yield from _moments(allocation.plan.question)
    scans = (each for each in walk(allocation.plan.question.relation) if isinstance(each, Scan))
    for read in (read for scan in scans for read in scan.reads if read.zoned):
        yield f"{read.source} is stored with a time zone, and read in UTC"
    plan = allocation.plan
    if not plan.single and (_weighed(plan) or any(map(plan.groups_of, plan.parts.values()))):
        yield "s.contributions(spend=...) estimates how many people exceed these limits"
    if allocation.plan.picked:
        yield _picked(allocation, size)
    dated = [p.aggregate.name for p in allocation.plan.parts.values() if p.aggregate.moment]
    made = [
        o.name
        for o in allocation.plan.question.outputs
        if isinstance(o.expression, Call) and not columns_of(o.expression).keys() & set(dated)
    ]
    told = errors(allocation, size=size)
    for name in (n for n in made if n in told):
        yield f"{name} is computed from noisy numbers, so its ± is known only with the answer"
    if allocation.free:
        yield "nothing is spent: no data are read"
        return
    half = f"every ± is half as wide if you {_twice(cost)}"
    yield f"{half}; explain(within=...) shows what a given ± costs"


def _many_groups(question: Question) -> Iterator[str]:
    """Which groups are so many only because nobody stated the bounds of a column."""
    for key in question.keys:
        used = columns_of(key.expression)
        loose = [n for n, c in used.items() if c.domain.values is None and not c.domain.bounded]
        if key.values is not None and len(key.values) > _MANY_GROUPS and loose:
            first = used[loose[0]]
            lacking = MissingBounds.of(key.name, first.name, table="", type=first.kind.value)
            yield (
                f"{key.name} makes {len(key.values):,} groups, because `{first.name}` has no "
                f"bounds; state plausible ones: {lacking.fixes[0].python}"
            )


def _moments(question: Question) -> Iterator[str]:
    """Which private groups are moments, whose days would be public."""
    for key in question.keys:
        made, known = key.expression, key.expression.domain
        if key.values is None and known.kind is Kind.TIMESTAMP and known.bounded:
            yield (
                f"{key.name} makes one group per moment, most of them too small to be shown; "
                f"CAST({made!r} AS DATE), date_trunc('month', {made!r}) and year({made!r}) have "
                "public lists of groups"
            )


def _picked(allocation: Allocation, size: float | None) -> str:
    """What it means that the answer shows groups because of their noisy values."""
    if allocation.selection is None:
        many = f"{allocation.among:,}"
        return f"groups are selected by noisy values, so every ± holds for all {many} at once"
    told = [
        f"{_shown(allocation, name)} ± {shown_error(error)} if {many:,} groups are found"
        for name, each in allocation.plan.parts.items()
        for many in (10, 1_000)
        if (error := each.error(replace(allocation, among=many), size=size))
    ]
    return "; ".join(
        ["groups are selected by noisy values, so every ± holds for all at once", *told]
    )


def _shown(allocation: Allocation, name: str) -> str:
    """What the answer calls an aggregate."""
    outputs = allocation.plan.question.outputs
    plain = (shown for shown, made in allocation.plan.question.plain.items() if made == name)
    made = (o.name for o in outputs if name in columns_of(o.expression))
    return next(plain, None) or next(made, name)


def _twice(cost: Loss) -> str:
    """What half the ± would cost: about twice ε, twice μ, four times ρ."""
    times, about = 4 if isinstance(cost, Zcdp) else 2, "about " * (cost.figure == "epsilon")
    figure = digits(times * cost.figures()[cost.figure], "up")
    delta = getattr(cost, "delta", 0.0)
    same = f" with δ {probability(delta)}" if delta else ""
    return f"spend {about}{cost.symbol} {figure}{same}"
