"""deniable ask: the answer with its ±, charged before it is computed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli import amounts, options, places, talk
from deniable.errors import DataFailure

from . import explain

if TYPE_CHECKING:
    from deniable.curator import Curator
    from deniable.losses import Loss
    from deniable.release import Release


def ask(
    sql: options.Sql,
    *,
    spend: options.Spend = None,
    within: options.Within = None,
    schema: options.SchemaPath = None,
    data: options.DataPath = None,
    ledger: options.LedgerPath = None,
    budget: options.Budget = None,
    failures: Annotated[
        Path | None,
        typer.Option(help="Where details of a failure go; they may hold people's values."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Answer a question with noise, and spend.

    Without --spend or --within it explains and stops.
    """
    place = places.find(schema, data=data, ledger=ledger)
    paid, wanted = amounts.maybe("spend", spend), amounts.within(within)
    limit = amounts.maybe("budget", budget)
    if paid is None and wanted is None:
        plan = explain.planned(place, sql, spend=None, within=None, budget=limit)
        explain.show(plan, sql, json=json)
        return
    with place.open(budget=limit) as session:
        release = _released(session, sql, paid, wanted, failures=failures)
        talk.answer(release, record_of(release, session), json=json)
        if not json:
            from deniable.release.numbers import amount

            talk.say(f"left: {amount(session.left, 'down')} of {amount(session.budget)}")


def _released(
    session: Curator,
    sql: str,
    spend: Loss | None,
    within: explain.Wanted,
    *,
    failures: Path | None,
) -> Release:
    """The answer; details of a failure go to the curator's file, if one was named."""
    question = session.sql(sql)
    try:
        return question.release(spend=spend, within=within)
    except DataFailure as error:
        if failures is None:
            error.fix = "ask again with --failures FILE: details, for the curator's eyes only"
        else:
            with failures.open("a", encoding="utf-8") as file:
                file.writelines(f"{failure}\n" for failure in session.failures)
            error.fix = f"the curator finds the details in {failures}"
        raise


def record_of(release: Release, session: Curator) -> dict[str, object]:
    """What was answered, for programs."""
    return {
        "rows": release.rows(),
        "cost": release.loss.to_dict(),
        "free": release.free,
        "unit": release.unit.to_dict(),
        "entry": release.provenance.entry,
        "spent": session.spent.to_dict(),
        "left": session.left.to_dict(),
        "estimands": {n: a.estimand for n, a in release.answers.items() if a.estimand},
        "note": release.provenance.note,
    }
