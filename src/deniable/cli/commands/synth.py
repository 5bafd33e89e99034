"""deniable synth: a private synthetic table, or what it would cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from deniable import parameters
from deniable.cli import amounts, options, places, rows, talk
from deniable.errors import BadParameter

if TYPE_CHECKING:
    from deniable.synthetic import Synthetic


def synth(
    context: typer.Context,
    out: Annotated[
        Path, Argument(help="people.csv, people.parquet, or people.synthetic (the model).")
    ],
    *,
    spend: options.Spend = None,
    columns: Annotated[
        str | None, Option("--columns", help="Columns: age,sex,income [all].")
    ] = None,
    method: Annotated[
        str, Option("--method", help="auto, independent, tree or adaptive.")
    ] = "auto",
    count: Annotated[
        int | None, Option("--rows", help="Rows to draw [the noisy number of rows].")
    ] = None,
    bins: Annotated[int | None, Option("--bins", help="Cells per numeric column.")] = None,
    table: Annotated[str | None, Option("--table", help="The table, if several.")] = None,
    schema: options.SchemaPath = None,
    data: options.DataPath = None,
    ledger: options.LedgerPath = None,
    budget: options.Budget = None,
    asker: options.Asker = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Write synthetic rows, and spend budget.

    Without --spend, suggest an amount and stop.
    """
    rows.fresh(out, suffixes=(".csv", ".parquet", ".synthetic"), force=force)
    if count is not None:
        parameters.whole("--rows", count, least=0)
    place = places.find(schema, data=data, ledger=ledger, table=table)
    _check_kept(out, place)
    paid = amounts.maybe("spend", spend)
    named = None if columns is None else rows.names(columns)
    with place.open(budget=amounts.maybe("budget", budget), asker=asker) as session:
        if paid is None:
            share = amounts.typed(session.left.share(0.25))
            said = f"--spend {share}    a quarter of what is left; add it to your command"
            raise BadParameter("say what to spend", fix=said)
        wanted = session.synthesis(named, method=method, bins=bins, table=table)
        if not json:
            talk.say(wanted.explain(spend=paid))
        try:
            made = wanted.release(spend=paid)
        except KeyboardInterrupt as stop:
            kept: Synthetic | None = getattr(stop, "synthetic", None)
            if kept is not None:
                path = out.with_suffix(".synthetic")
                kept.save(path)
                talk.say(f"interrupted; what was paid for is in {path}")
            raise
        context.meta["paid"] = True
        record = {"file": str(out), "cost": made.loss.to_dict(), "left": session.left.to_dict()}
    written = _written(made, out, count)
    said = f"{out}: {written:,} rows" if written else str(out)
    talk.answer(said, record | {"rows": written}, json=json)
    if not json:
        talk.say(made)


def _check_kept(out: Path, place: places.Place) -> None:
    """Refuse to write over the rows, the schema or the ledger, whatever --force says."""
    kept = [place.schema, *place.sources(place.facts()).values(), Path(place.ledger)]
    if out.resolve() in {path.resolve() for path in kept}:
        raise BadParameter(
            f"{out} belongs to the table itself, and synthetic rows would replace it",
            fix=f"another name: {out.stem}.synthetic{out.suffix}",
        )


def _written(made: Synthetic, out: Path, count: int | None) -> int:
    if out.suffix.lower() == ".synthetic":
        made.save(out)
        return 0
    table = made.to_arrow(count)
    rows.write(table, out)
    return int(table.num_rows)
