"""deniable ask: the answer with its ±, charged before it is computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from deniable import parameters
from deniable.cli import amounts, options, places, remote, talk
from deniable.errors import BadParameter, DataFailure

from . import explain

if TYPE_CHECKING:
    from deniable.curator import Curator
    from deniable.release import Release


def ask(
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
    server: options.Server = None,
    purpose: options.Purpose = None,
    failures: Annotated[
        Path | None, Option(help="Write failure details here; they may contain people's values.")
    ] = None,
    csv: options.Csv = False,
    json: options.Json = False,
) -> None:
    """Answer a query with noise, and spend budget.

    Without --spend or --within, only explain the query.
    """
    paid, wanted = amounts.maybe("spend", spend), amounts.within(within)
    if csv and json:
        raise BadParameter("an answer is printed as CSV or as JSON, not both", fix="--csv")
    if server is not None:
        form = {"csv": csv, "json": json}
        remote.ask(server, sql, spend=paid, within=wanted, size=size, purpose=purpose, **form)
        return
    if failures is not None:
        parameters.target(failures)
    place = places.find(schema, data=data, ledger=ledger)
    limit = amounts.maybe("budget", budget)
    if paid is None and wanted is None:
        plan, said = explain.planned(place, sql, size=size, budget=limit, asker=asker)
        explain.show(plan, sql, said, json=json)
        return
    with place.open(budget=limit, asker=asker) as session:
        question = session.sql(sql)
        with _details(session, failures):
            release = question.release(spend=paid, within=wanted, size=size)
        talk.released(release, record_of(release, session), json=json, csv=csv)
        if not json:
            say_left(session)


def say_left(session: Curator) -> None:
    """What is left of the budget, on stderr."""
    from deniable.release.numbers import amount
    from deniable.session.show import ceiling, left

    found = left(session)
    share, rest = session.share, found.pop("left")
    if share is None:
        talk.say(f"left: {rest} of {ceiling(session)}")
    else:
        talk.say(f"left in {session.asker}'s share of {amount(share, 'down')}: {rest}")
    for name, words in found.items():
        talk.say(f"{name}: {words}")


@contextmanager
def _details(session: Curator, file: Path | None) -> Iterator[None]:
    """Write details of a failure to the curator's file, if one was given, and nowhere else."""
    from deniable.ledger.halts import command

    try:
        yield
    except DataFailure as error:
        fix = [f"the curator can see the cause and resume: {command(session.asker)}"]
        if file is not None:
            file.touch(mode=0o600)
            with file.open("a", encoding="utf-8") as details:
                details.writelines(f"{each.time} {each.detail}\n" for each in session.failures)
            fix.append(f"the cause is also in {file}")
        error.fix = fix
        raise


def record_of(release: Release, session: Curator) -> dict[str, object]:
    """The answer as a record, for programs."""
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
