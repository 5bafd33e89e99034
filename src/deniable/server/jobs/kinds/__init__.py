"""Questions by name: each kind is a record of parameters that can explain and release itself.

    _kind       what a kind is, and what it answers with
    choices     choose, above: selection and sparse vector over the groups of a query
    robust      the median of a query's values, where the noise can follow the data
    workloads   ranges, prefixes, marginals, hierarchy, running
    synthesis   synthesize: a model of a table, from which rows are drawn
    learning    fit: a named estimator
    models      fitted estimators as JSON, and back
    cells       ranges as JSON, and back
    forms       the form of any kind, from its parameters, and reading it

A further kind is one class in one file, and its name in `KINDS`: the HTTP interface, its
description in OpenAPI, the tools for agents, prices, charges, idempotency keys and stored answers
follow from that. What is named is looked up in `KINDS`; nothing that is sent is ever run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter

from ._kind import Answer, Named
from .choices import Above, Choose
from .learning import Fit
from .robust import Median
from .synthesis import Synthesize
from .workloads import Hierarchy, Marginals, Prefixes, Ranges, Running

Asked = Annotated[
    Choose
    | Above
    | Median
    | Ranges
    | Prefixes
    | Marginals
    | Hierarchy
    | Running
    | Synthesize
    | Fit,
    Field(discriminator="kind"),
]
"""Any question by name."""

KINDS: Final[dict[str, type[Named]]] = {
    each.model_fields["kind"].default: each
    for each in (
        Choose, Above, Median, Ranges, Prefixes, Marginals, Hierarchy, Running, Synthesize, Fit,
    )
}  # fmt: skip

_ASKED: Final[TypeAdapter[Any]] = TypeAdapter(Asked)

__all__ = ["KINDS", "Answer", "Asked", "Named", "named", "patience", "patience_of", "question_of"]


def named(task: Mapping[str, Any]) -> Named | None:
    """The question by name that a task holds; None if it is plain SQL."""
    if task.get("ask") is not None:
        found: Named = _ASKED.validate_python(task["ask"])
        return found
    if task.get("choose") is not None:
        return Choose(sql=task["sql"], mechanism=task["choose"])
    if task.get("above") is not None:
        return Above(sql=task["sql"], **task["above"])
    return None


def question_of(task: Mapping[str, Any]) -> str:
    """A question in words, for ledgers and pages."""
    found = None if task.get("ask") is None else named(task)
    return str(task["sql"]) if found is None else found.title


def patience(task: Mapping[str, Any]) -> int:
    """By how much the deadline of a question is longer than usual: a public fact of its kind."""
    found = task.get("ask") or {}
    kind = KINDS.get(found.get("kind", ""))
    return 1 if kind is None else kind.patience


def patience_of(question: str) -> int:
    """How much longer the deadline is for a question in the words of `question_of`."""
    kind = KINDS.get(question.partition("(")[0])
    return 1 if kind is None else kind.patience
