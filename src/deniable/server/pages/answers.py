"""One answer: as a page, as JSON, as CSV."""

from __future__ import annotations

import csv
import io
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request
from fastapi.responses import Response

from deniable.release import Release
from deniable.release.numbers import amount
from deniable.server import wire
from deniable.server.accounts import Person
from deniable.server.api.people import Someone, curator, known
from deniable.server.api.questions import KEY
from deniable.server.jobs.door import raised
from deniable.server.jobs.kinds import KINDS
from deniable.server.state import Record, app_of
from deniable.server.views import code

from . import charts
from .render import page

router = APIRouter()
Key = Annotated[str, Path(pattern=KEY)]


@router.get("/answers/{key}.json")
@router.get("/answers/{asker}/{key}.json")
def record(request: Request, key: Key, who: Someone) -> Response:
    """The answer with its certificate."""
    release = _release(request, who, key)
    stored = wire.release_to_dict(release, ledger=release.provenance.ledger)
    return Record({"release": stored, "certificate": release.certificate().record})


@router.get("/answers/{key}.csv")
@router.get("/answers/{asker}/{key}.csv")
def table(request: Request, key: Key, who: Someone) -> Response:
    """The answer as a table; text that a spreadsheet would run as a formula is quoted."""
    release = _release(request, who, key)
    rows, out = release.rows(), io.StringIO()
    writer = csv.writer(out)
    if rows:
        writer.writerow([inert(name) for name in rows[0]])
        writer.writerows([[inert(cell) for cell in row.values()] for row in rows])
    headers = {"content-disposition": "attachment; filename=answer.csv"}
    return Response(out.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def inert(cell: object) -> object:
    r"""Text that no spreadsheet takes for a formula and no terminal for a command.

    >>> inert("=1+1"), inert(-3), inert("\x1b[2J")
    ("'=1+1", -3, '[2J')
    """
    if not isinstance(cell, str):
        return cell
    plain = "".join(c for c in cell if c.isprintable())
    return f"'{plain}" if plain[:1] in ("=", "+", "-", "@") else plain


@router.get("/answers/{key}")
@router.get("/answers/{asker}/{key}")
def show(request: Request, key: Key, who: Someone) -> Response:
    """The answer with its ±, chart, certificate and code."""
    release = _release(request, who, key)
    whose = request.path_params.get("asker", who.name)
    about = app_of(request).asking.about(whose, key)
    place = {"here": request.url.path, "charts": charts}
    return page(request, "answer.html", _shown(request, release, about) | place)


def _release(request: Request, who: Person, key: str) -> Release:
    """Their own answer; keys are their asker's, so the curator names whose they mean."""
    app, asker = app_of(request), request.path_params.get("asker")
    if asker is not None:
        curator(who)
        who = known(app.house, asker)
    outcome = app.job(who, key)
    raised(outcome)
    if outcome.release is None:
        raise HTTPException(409, "this question is still being answered: look again in a moment")
    return wire.release_from_dict(outcome.release)


def _shown(request: Request, release: Release, about: dict[str, Any]) -> dict[str, Any]:
    head, rows = release.shown(200)
    question, base = release.provenance.question, str(request.base_url).rstrip("/")
    return {
        "release": release,
        "question": question,
        "by_name": kind if (kind := about["question"].partition("(")[0]) in KINDS else "",
        "head": head,
        "keys": len(release.keys),
        "rows": rows,
        "single": rows[0][-1] if len(rows) == 1 and (len(head) == 1 or _named(release)) else None,
        "cost": release.cost,
        "loss": amount(release.loss, "up"),
        "notes": release.notes,
        "certificate": release.certificate().record,
        "code": code(about["question"], release, purpose=about["purpose"], base=base),
    }


def _named(release: Release) -> bool:
    """Whether the answer is one label, which says all that stands in its row."""
    cells = [cell for answer in release.answers.values() for cell in answer.cells]
    return len(cells) == 1 and isinstance(cells[0], str)
