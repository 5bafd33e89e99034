"""From the text of a question to the question: parsed, checked and bound; no data, no cost."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.errors import UnsupportedQuery
from deniable.session.tables import Table
from deniable.units import Unit

from .algebra import Question


def question_from_sql(
    text: str, *, tables: Mapping[str, Table], unit: Unit, private_keys: bool = False
) -> Question:
    """What a text asks of a session's tables, or an error that says what to write instead.

    `private_keys`: groups whose list is not public may be chosen privately; that takes a budget
    with a δ. Errors depend on the text and on public facts only.
    """
    # The parser is half of a cold start; a session that asks nothing in SQL need not load it.
    from .sql.asking import Asking
    from .sql.check import check
    from .sql.select import ask
    from .sql.text import parse

    try:
        source, tree = parse(text)
        check(source, tree)
        asking = Asking(text=source, tables=tables, unit=unit, private_keys=private_keys)
        return ask(tree, asking)
    except RecursionError:
        raise UnsupportedQuery("this query is nested too deeply") from None
