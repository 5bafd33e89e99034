"""deniable explain: what an answer would cost and how good it would be. Free."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from deniable.cli import amounts, options, places, talk

if TYPE_CHECKING:
    from deniable.losses import Loss
    from deniable.release import Plan

Wanted = float | dict[str, float] | None


def explain(
    sql: options.Sql,
    *,
    spend: options.Spend = None,
    within: options.Within = None,
    size: options.Size = None,
    schema: options.SchemaPath = None,
    data: options.DataPath = None,
    ledger: options.LedgerPath = None,
    budget: options.Budget = None,
    asker: options.Asker = None,
    json: options.Json = False,
) -> None:
    """Show the price and the ± of an answer, for free.

    Reads no data.
    """
    place = places.find(schema, data=data, ledger=ledger)
    plan, said = planned(
        place,
        sql,
        spend=amounts.maybe("spend", spend),
        within=amounts.within(within),
        size=size,
        budget=amounts.maybe("budget", budget),
        asker=asker,
    )
    show(plan, sql, said, json=json)


def planned(
    place: places.Place,
    sql: str,
    *,
    spend: Loss | None = None,
    within: Wanted = None,
    size: float | None,
    budget: Loss | None,
    asker: str | None = None,
) -> tuple[Plan, str]:
    """The plan and the options that ask for it; by default, at a tenth of the budget."""
    import deniable as dp

    session = (
        place.open(budget=budget, asker=asker)
        if place.started
        else place.look(budget=budget or spend or dp.epsilon(1.0))
    )
    with session:
        if spend is None and within is None:
            spend = session.budget.share(0.1)
        plan = session.sql(sql).explain(spend=spend, within=within, size=size)
    said = _wanted(within) if spend is None else f"--spend {amounts.typed(spend)}"
    said += "" if size is None else f" --size {size:g}"
    said += place.options(data=True, ledger=True)
    said += "" if asker is None else f" --asker {shlex.quote(asker)}"
    if place.started:
        return plan, said
    said += f" --budget {'1' if budget is None else amounts.typed(budget)}"
    # Without a budget, what would be left of it is unknown.
    return (plan if budget is not None else replace(plan, left=None, exceeded=None)), said


def _wanted(within: Wanted) -> str:
    if isinstance(within, dict):
        return " ".join(f"--within {column}={error:g}" for column, error in within.items())
    return f"--within {within:g}"


def show(plan: Plan, sql: str, said: str, *, json: bool) -> None:
    """Show the plan and the command that would spend."""
    from deniable.release.numbers import amount

    plan = replace(plan, notes=tuple(map(_in_a_shell, plan.notes)))
    record = {
        "question": plan.question,
        "cost": plan.cost.to_dict(),
        "errors": dict(plan.errors),
        "steps": plan.steps,
        "left": None if plan.left is None else plan.left.to_dict(),
        "exceeded": None if plan.exceeded is None else plan.exceeded.to_dict(),
        "notes": list(plan.notes),
    }
    talk.answer(plan, record, json=json)
    quoted = shlex.quote(sql) if set(sql) & set('"\\$`!') else f'"{sql}"'
    if plan.exceeded is None:
        talk.next_step(f"deniable ask {quoted} {said}", f"spends {amount(plan.cost, 'up')}")


def _in_a_shell(note: str) -> str:
    """A note of a plan where Python is not at hand."""
    said = note.replace("explain(within=...)", "--within")
    return f"in Python, {said}" if said.startswith("s.") else said
