"""What can be made of an answer for free: rows of a synthetic table, predictions of a model."""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from deniable.sampling import below
from deniable.server.accounts import Person
from deniable.server.guard import limits
from deniable.server.jobs.door import raised
from deniable.server.jobs.kinds import synthesis
from deniable.server.state import app_of, house_of

from .models import Name, Problem
from .people import Someone
from .questions import KeyPath

if TYPE_CHECKING:
    from deniable.synthetic import Synthetic

_MOST: Final = 1_000_000
_PART: Final = 20_000  # rows
_DRAWING: Final = threading.Lock()
router = APIRouter(
    prefix="/api/answers",
    tags=["answers"],
    responses={status: {"model": Problem} for status in (400, 404, 409)},
)
Cell = FiniteFloat | int | bool | Annotated[str, Field(max_length=1000)] | None


class NewRows(BaseModel):
    """Rows to predict for, column by column: yours, not the table's."""

    model_config = ConfigDict(extra="forbid")

    columns: Annotated[
        dict[Name, Annotated[list[Cell], Field(max_length=2000)]], Field(max_length=200)
    ]


@router.get("/{key}/rows")
def rows(
    request: Request,
    key: KeyPath,
    who: Someone,
    n: Annotated[int | None, Query(ge=0, le=_MOST)] = None,
    seed: Annotated[int | None, Query(ge=0, lt=2**62)] = None,
) -> Response:
    """Rows of a synthetic table as CSV, in the original types. Free, as often as you like."""
    house = house_of(request)
    limits.count(house.database, who.name, "price", most=house.settings.prices)
    table = synthesis.read(_held(request, who, key, "synthetic"))
    start = int(below(2**61)[0]) if seed is None else seed
    count = max(0, round(table.total)) if n is None else n
    if count > _MOST:
        raise HTTPException(400, f"say how many rows to draw, at most {_MOST:,}: rows?n=1000")
    headers = {"content-disposition": "attachment; filename=synthetic.csv"}
    return StreamingResponse(
        _lines(table, count, start),
        media_type="text/csv; charset=utf-8",
        headers=headers,
    )


def _lines(table: Synthetic, n: int, seed: int) -> Iterator[str]:
    """The rows as text, drawn in parts, so that no number of them fills this process."""
    from deniable.server.pages.answers import inert

    for start in range(0, max(n, 1), _PART):
        with _DRAWING:
            drawn = table.to_arrow(min(_PART, n - start), seed=seed + 2 * start)
        out = io.StringIO()
        writer = csv.writer(out)
        if not start:
            writer.writerow([inert(name) for name in drawn.column_names])
        lines = zip(*(column.to_pylist() for column in drawn.columns), strict=True)
        writer.writerows([inert(cell) for cell in line] for line in lines)
        yield out.getvalue()


@router.post("/{key}/predict")
def predict(request: Request, key: KeyPath, who: Someone, new: NewRows) -> dict[str, Any]:
    """What a fitted model predicts for rows of your own. Free; no rows of the table are read."""
    house = house_of(request)
    limits.count(house.database, who.name, "price", most=house.settings.prices)
    from deniable.server.jobs.kinds import models

    model = models.read(_held(request, who, key, "model"))
    lengths = {len(values) for values in new.columns.values()}
    if len(lengths) != 1 or not hasattr(model, "predict"):
        raise HTTPException(400, "this model does not predict, or the columns differ in length")
    return {"predictions": model.predict(new.columns).tolist()}


def _held(request: Request, who: Person, key: str, what: str) -> Mapping[str, Any]:
    """What belongs to an answer of this person's; 404 if it is of another kind."""
    outcome = raised(app_of(request).job(who, key))
    if outcome.release is None:
        raise HTTPException(409, "this question is still being answered: look again in a moment")
    found: Mapping[str, Any] | None = outcome.release.get("attachment")
    if found is None or found.get("holds") != what:
        raise HTTPException(404, f"this answer holds no {what} table or model")
    return found
