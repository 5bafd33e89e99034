"""Ibis expressions → questions: a second front end beside SQL.

    functions     operations that have a name among ours
    spellings     operations that depend on their constants, or take lists
    buckets       bins
    values        what is computed of single rows
    reductions    which aggregate, of what, of which rows; values of groups
    rows          tables, selections, filters and joins
    people        one row for each person
    answers       groups and aggregates
    after         what is made of them
    refusals      why an operation is refused, and the nearest that is not

An expression is a tree of operations; each is matched with those listed here and nothing else
of it gets through. Types of Ibis are not trusted: kinds and bounds come from the session's schema.
Ibis is loaded only when an expression is asked about.
"""

from __future__ import annotations

from typing import Unpack

from deniable.errors import BadParameter, DeniableError, UnsupportedQuery
from deniable.fixes import for_unit
from deniable.query.algebra import Question
from deniable.query.bind.scope import Known


def question_from_ibis(expression: object, **known: Unpack[Known]) -> Question:
    """What an Ibis expression asks of a session's tables, or an error that says what to write.

    Errors depend on the expression and on public facts only.
    """
    if not _is_ibis(expression):
        raise BadParameter.of(
            "a question",
            expression,
            must="an Ibis expression",
            fix='s.query(ibis.table({"age": "int64"}, name="data").count())',
        )
    from .answers import ask
    from .rows import Asking

    try:
        return ask(expression, Asking(**known))
    except RecursionError:
        raise UnsupportedQuery("this query is nested too deeply") from None
    except DeniableError as error:
        error.medium, error.fixes = "ibis", for_unit(error.fixes, known["unit"].column)
        raise


def _is_ibis(expression: object) -> bool:
    if type(expression).__module__.partition(".")[0] != "ibis":
        return False
    from ibis.expr.types import Expr

    return isinstance(expression, Expr)


__all__ = ["question_from_ibis"]
