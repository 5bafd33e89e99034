"""Plans, answers, losses and errors as JSON, and back: the same objects on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from deniable.errors import BadParameter, DeniableError
from deniable.fixes import Fix
from deniable.losses import Loss
from deniable.release import Plan, Release
from deniable.release.noisy import marked, unmarked
from deniable.snippets import Snippet

SPENDABLE = {"pure", "approx", "zcdp", "gdp"}


def loss(record: object, *, name: str = "spend") -> Loss:
    """A loss that can be spent: {"epsilon": 0.2}, {"rho": 0.1}, or a record of `Loss.to_dict`."""
    from .folder import amount

    figures = dict(record) if isinstance(record, Mapping) else record
    if isinstance(figures, dict):
        kind = figures.pop("kind", None)
        if kind is not None and kind not in SPENDABLE:
            raise BadParameter.of(name, record, must='a loss, as {"epsilon": 0.2}')
        if kind == "approx" and figures.get("delta") == 0:
            figures.pop("delta")
    return amount(figures, what=name)


def plan_to_dict(plan: Plan) -> dict[str, object]:
    """A plan as a record; what is not known in advance is null."""
    return {
        "question": plan.question,
        "cost": plan.cost.to_dict(),
        "errors": marked(dict(plan.errors)),
        "steps": list(plan.steps),
        "left": None if plan.left is None else plan.left.to_dict(),
        "exceeded": None if plan.exceeded is None else plan.exceeded.to_dict(),
        "notes": list(plan.notes),
        "data_version": plan.data_version,
    }


def plan_from_dict(record: Mapping[str, Any]) -> Plan:
    """The plan that `plan_to_dict` wrote."""
    left, exceeded = record.get("left"), record.get("exceeded")
    return Plan(
        question=record["question"],
        cost=Loss.from_dict(record["cost"]),
        errors=unmarked(record["errors"]),
        steps=list(record["steps"]),
        left=None if left is None else Loss.from_dict(left),
        exceeded=None if exceeded is None else Loss.from_dict(exceeded),
        notes=tuple(record["notes"]),
        data_version=record["data_version"],
    )


def release_to_dict(release: Release, *, ledger: str) -> dict[str, object]:
    """An answer as a record that names the ledger, and not the file or address of it."""
    named = replace(release, provenance=replace(release.provenance, ledger=ledger))
    charged = None if release.charged is None else release.charged.to_dict()
    return named.to_dict() | {"free": release.free, "charged": charged}


def release_from_dict(record: Mapping[str, Any]) -> Release:
    """The answer that `release_to_dict` wrote, with what it cost this time."""
    charged = record.get("charged")
    return replace(
        Release.from_dict(record),
        free=record.get("free", ""),
        charged=None if charged is None else Loss.from_dict(charged),
    )


def answer_from_dict(record: Mapping[str, Any]) -> Any:
    """An answer as a local session gives it: a release, ranges, a synthetic table or a model."""
    release, held = release_from_dict(record), record.get("attachment") or {}
    match held.get("holds"):
        case "ranges":
            from .jobs.kinds.cells import read as read_ranges

            return read_ranges(held, release)
        case "synthetic":
            from .jobs.kinds.synthesis import read as read_synthetic

            return read_synthetic(held)
        case "model":
            from .jobs.kinds.models import read as read_model

            return read_model(held)
    return release


def error_from_dict(record: Mapping[str, str]) -> DeniableError:
    """The error that `DeniableError.to_json` wrote: of the same class, with the same text."""
    kinds = {kind.code: kind for kind in _kinds(DeniableError) if "code" in vars(kind)}
    kind = kinds.get(record.get("code", ""), DeniableError)
    error = kind.__new__(kind)
    DeniableError.__init__(
        error,
        record.get("title", "the server refused"),
        why=record.get("why", ""),
        cost=record.get("cost", "unknown: the server did not say"),
        hint=record.get("hint", ""),
    )
    error.fixes = tuple(Fix(line) for line in record.get("fix", "").split("\n") if line)
    if "where" in record:
        error.snippet = _Shown(text=record["where"], start=0, end=0)
    return error


class _Shown(Snippet):
    """A line with its caret, as the server drew it."""

    def __str__(self) -> str:
        return self.text


def _kinds(kind: type[DeniableError]) -> Iterator[type[DeniableError]]:
    for each in kind.__subclasses__():
        yield each
        yield from _kinds(each)
