"""deniable bounds: estimate the bounds of a column privately."""

from __future__ import annotations

import shlex
from typing import Annotated

from typer import Option

from deniable.cli import amounts, options, places, talk
from deniable.errors import BadParameter

from .ask import say_left


def bounds(
    target: options.Target,
    *,
    spend: Annotated[str, Option("--spend", help="What to spend: 0.1 (ε).")],
    schema: options.SchemaPath = None,
    data: options.DataPath = None,
    ledger: options.LedgerPath = None,
    budget: options.Budget = None,
    asker: options.Asker = None,
    json: options.Json = False,
) -> None:
    """Estimate the bounds of a column privately, and spend budget."""
    table, column = places.split(target)
    place = places.find(schema, data=data, ledger=ledger, table=table)
    if column is None:
        facts = place.facts()
        fix = places.whose(target, facts, place.names(facts))
        raise BadParameter.of("the target", target, must="a column, such as people.income", fix=fix)
    paid = amounts.loss("spend", spend)
    with place.open(budget=amounts.maybe("budget", budget), asker=asker) as session:
        found = session.bounds(column, spend=paid, table=table)
        low, high = (None, None) if found.note else found
        record = {"target": target, "low": low, "high": high, "left": session.left.to_dict()}
        record |= {"note": found.note} if found.note else {}
        ends = " ".join(str(int(end)) if end.is_integer() else repr(end) for end in found)
        talk.answer(f"{target}: {found.note or ends}", record, json=json)
        if not json:
            say_left(session)
    why = "stores them in the schema; use better bounds if you know them"
    if found.note:
        ends, why = "0 100", "replace these bounds with plausible ones, without looking at the data"
    command = f"deniable set {shlex.quote(target)} --bounds {ends}{place.options(table=table)}"
    talk.next_step(command, why)
