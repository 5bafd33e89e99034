"""What may be known by now: answers whose step of time has come, and a ledger's lines up to those.

A question may be charged for in several lines with rows being read in between: groups are chosen,
then counted. So the lines of a question, and all that is added up from them, are shown together
with its answer. Until then an asker's account stands where it stood before the question, and the
public page where it stood before the oldest question under way.
"""

from __future__ import annotations

import json
from typing import Any

from deniable.server.accounts import Person
from deniable.server.database import now
from deniable.server.house import House


class Known:
    """Of the questions of one house."""

    def __init__(self, house: House) -> None:
        self._house, self._database = house, house.database

    def line(self, people: str, asker: str | None = None) -> int:
        """The last line of a ledger that this asker, or everyone, may know of.

        Without shares an account shows what all spend together: then it is that of everyone.
        """
        ledger = self._house.ledgers[people]
        newest = ledger.head().sequence  # read first: what begins meanwhile has later lines
        own = {"asker": asker} if asker is not None and ledger.shares() else {}
        which = "".join(f"AND {name} = ? " for name in own)
        ((begun,),) = self._database.rows(
            "SELECT MIN(head) FROM asks WHERE people = ? "  # noqa: S608  (names are ours)
            f"AND (visible > ? OR (state = 'reserved' AND lease > ?)) {which}",
            *(people, now(), now(), *own.values()),
        )
        return newest if begun is None else min(int(begun), newest)

    def answered(
        self,
        *,
        person: Person | None = None,
        people: str | None = None,
        entry: str | None = None,
        count: int = 50,
    ) -> list[dict[str, Any]]:
        """The newest answers: everybody's, or those of somebody, of a group, of a ledger line."""
        named = {"asker": person and person.name, "people": people, "entry": entry}
        given = {name: value for name, value in named.items() if value is not None}
        which = "".join(f"AND {name} = ? " for name in given)
        rows = self._database.rows(
            "SELECT asker, key, people, question, purpose, result, created FROM asks "  # noqa: S608  (names are ours)
            f"WHERE state = 'stored' AND visible <= ? {which}ORDER BY created DESC LIMIT ?",
            *(now(), *given.values(), count),
        )
        names = ("asker", "key", "people", "question", "purpose", "result", "created")
        found = [dict(zip(names, row, strict=True)) for row in rows]
        return [each | {"release": json.loads(each.pop("result"))["release"]} for each in found]
