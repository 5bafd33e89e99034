"""deniable try: answer a query on made-up rows, for free."""

from __future__ import annotations

import math
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

from typer import Option

from deniable.cli import amounts, options, places, talk

from .ask import record_of

_USUAL: Final = 1000


def rehearse(
    sql: options.Sql,
    *,
    spend: options.Spend = None,
    within: options.Within = None,
    size: options.Size = None,
    rows: Annotated[
        int | None, Option(help="How many rows to make up [1000, or --size if larger].")
    ] = None,
    seed: Annotated[int, Option(help="The seed of the made-up rows.")] = 1,
    schema: options.SchemaPath = None,
    ledger: options.LedgerPath = None,
    budget: options.Budget = None,
    json: options.Json = False,
) -> None:
    """Answer a query on made-up rows, for free.

    Generates rows from the schema and a seed; does not read your data.
    """
    import deniable as dp
    from deniable.ledger import open_ledger
    from deniable.schema.made_up import write

    place = places.find(schema, ledger=ledger)
    facts, paid, wanted = place.facts(), amounts.maybe("spend", spend), amounts.within(within)
    limit = amounts.maybe("budget", budget)
    rows = max(_USUAL, math.ceil(size or 0)) if rows is None else rows
    if limit is None and place.started:
        with open_ledger(place.ledger_name()) as kept:
            limit = kept.budget
    with tempfile.TemporaryDirectory() as folder:
        files = write(facts, place.names(facts), folder=Path(folder), rows=rows, seed=seed)
        with dp.open(files, schema=facts, budget=limit or paid or dp.epsilon(1.0)) as session:
            if paid is None and wanted is None:
                paid = session.budget.share(0.1)
            release = session.sql(sql).release(spend=paid, within=wanted, size=size)
            release = replace(release, free="these rows are made up")
            record = record_of(release, session)
    talk.say(f"made-up rows ({rows:,} per table): these numbers describe no real people")
    talk.answer(release, {"made_up": True} | record, json=json)
