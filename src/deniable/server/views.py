"""What people may see, as records: pages and their .json twins are made of these, and of no more.

Everything here is public, the viewer's own, or the curator's. Nothing is computed from rows.
"""

from __future__ import annotations

import datetime as dt
from copy import copy
from typing import Any

from deniable.errors import BudgetExceeded
from deniable.ledger import Account, Entry, Ledger
from deniable.losses import Loss
from deniable.release import Release
from deniable.release.numbers import amount, remaining
from deniable.schema import Column
from deniable.schema.lint import lint

from . import wire
from .accounts import Person
from .curating.principles import checklist
from .folder import Group
from .house import House
from .jobs.asking import Asking
from .jobs.kinds import KINDS

COLLUSION = (
    "Shares limit what each analyst spends. If analysts pool their answers, what protects people "
    "is the ceiling of the whole group."
)


class Views:
    """Records for one house."""

    def __init__(self, house: House, asking: Asking) -> None:
        self._house, self._asking = house, asking

    # ---- tables

    def tables(self, person: Person) -> dict[str, Any]:
        """Every table with what this person may still spend on it."""
        standing = {
            name: self.standing(group, person) for name, group in self._house.groups.items()
        }
        tables = [
            self._summary(name, group) | standing[group.name]
            for name, group in self._house.tables().items()
        ]
        return {"tables": tables, "collusion": COLLUSION}

    def table(self, name: str, person: Person) -> dict[str, Any]:
        """The public facts about one table, and questions to begin with."""
        group = self._house.group_of(name)
        facts = group.schema.tables[name]
        columns = [_column(each, column) for each, column in facts.columns.items()]
        return (
            self._summary(name, group)
            | self.standing(group, person)
            | {"columns": columns, "examples": examples(name, group)}
        )

    def _summary(self, name: str, group: Group) -> dict[str, Any]:
        ledger = self._house.ledgers[group.name]
        facts = group.schema.tables[name]
        return {
            "name": name,
            "people": group.name,
            "protects": str(group.unit),
            "unit": group.unit.to_dict(),
            "size": facts.size,
            "public": facts.public,
            "columns": list(facts.columns),
            "purposes": list(group.purposes),
            "ceiling": amount(ledger.budget),
            "budget": ledger.budget.to_dict(),
            "figure": ledger.budget.figure,
            "most": None if group.most is None else amount(group.most),
            "version": group.schema.version or "",
            "closed": self._house.closed.get(group.name, ""),
        }

    def standing(self, group: Group, person: Person) -> dict[str, Any]:
        """What this person spent and may spend; nothing about others, unless a curator looks."""
        return self._seen(group, person)[1]

    def _seen(self, group: Group, person: Person) -> tuple[Ledger | Account | None, dict[str, Any]]:
        """The books, and where they stand: one view of them, so that all is of one moment."""
        try:
            books = self._books(group.name, person)
            spent, left = books.spent, books.left
        except BudgetExceeded:
            nothing = dict.fromkeys(("share", "spent", "left", "more"))
            return None, nothing | {"part": 1.0, "may_ask": False}
        share = getattr(books, "share", None) if person.asker is not None else None
        whole = books.budget if not isinstance(share, Loss) else share
        figure = whole.figure
        return books, {
            "share": amount(share, "down") if isinstance(share, Loss) else None,
            "spent": amount(spent, "up"),
            "left": remaining(left, groups=False),
            "part": _part(spent, whole),
            "more": None if person.asker is None else _more(books, left),
            "figure_left": float(getattr(left, figure)),
            "figure_whole": float(getattr(whole, figure)),
            "loss_left": left.to_dict(),
            "loss_spent": spent.to_dict(),
            "may_ask": not person.frozen and group.name not in self._house.closed,
        }

    def _books(self, group: str, person: Person) -> Ledger | Account:
        """What this person may know of a group's ledger by now."""
        books = self._house.books(group, person)
        if isinstance(books, Account):
            return copy(books).hold(self._asking.known.line(group, person.asker))
        return books

    # ---- ledger and answers

    def ledger(self, person: Person) -> dict[str, Any]:
        """The lines of each group's ledger that this person may see, newest first."""
        groups = []
        for name, group in self._house.groups.items():
            books, standing = self._seen(group, person)
            if books is None:
                continue
            lines = [_line(each, books.filter) for each in books.entries if each.kind != "answer"]
            groups.append(
                {"people": name, "lines": lines[::-1][:500], "count": len(lines)} | standing
            )
        answers = self._asking.known.answered(person=None if person.role == "curator" else person)
        return {"groups": groups, "answers": [_summary_of(each) for each in answers]}

    # ---- curator

    def curator(self, *, fresh: bool = True) -> dict[str, Any]:
        """What only the curator sees: who is stopped and why, everyone's shares, the log.

        A cause may hold people's values, and is shown to who has just signed in.
        """
        self._asking.settle_all()
        house, failures, shares = self._house, [], []
        for name, ledger in house.ledgers.items():
            failures += [
                {
                    "people": name,
                    "asker": each.asker,
                    "time": each.time,
                    "question": each.question,
                    "cause": each.detail if fresh else None,
                }
                for each in ledger.failures()
            ]
            for asker, standing in ledger.shares().items():
                reserved = ledger.filter.spent(standing.reserved)
                used = ledger.filter.spent(standing.used)
                shares.append(
                    {
                        "people": name,
                        "asker": asker,
                        "share": amount(reserved, "up"),
                        "spent": amount(used, "up"),
                        "part": _part(used, reserved),
                    }
                )
        return {
            "failures": failures,
            "shares": shares,
            "analysts": [vars(each) for each in house.accounts.people()],
            "groups": {
                name: {"ceiling": amount(ledger.budget), "unreserved": amount(ledger.left, "down")}
                for name, ledger in house.ledgers.items()
            },
            "deltas": any(
                ledger.budget.figures().get("delta") for ledger in house.ledgers.values()
            ),
            "tables": [self._kept(name, group) for name, group in house.tables().items()],
            "closed": house.closed,
            "log": [each | {"time": when(float(str(each["time"])))} for each in house.logged(50)],
        }

    def _kept(self, name: str, group: Group) -> dict[str, Any]:
        facts = group.schema.tables[name]
        found = lint(facts, unit=group.unit)
        return {
            "name": name,
            "people": group.name,
            "version": group.schema.version or "",
            "public": facts.public,
            "missing": sum(not each.danger for each in found),
            "dangerous": sum(each.danger for each in found),
        }

    # ---- everyone

    def public(self) -> dict[str, Any]:
        """For the people in the data, and whoever asks: tables, purposes, unit, ceiling."""
        groups = []
        for name, group in self._house.groups.items():
            ledger, shown = self._house.ledgers[name], group.publish
            total, _ = ledger.totals_at(self._asking.known.line(name) if shown else 0)
            spent = ledger.filter.spent(total)
            released = self._asking.known.answered(people=name, count=200) if shown else []
            groups.append(
                {
                    "people": name,
                    "tables": list(group.schema.tables),
                    "protects": str(group.unit),
                    "purposes": list(group.purposes),
                    "ceiling": amount(ledger.budget),
                    "publish": group.publish,
                    "spent": amount(spent, "up") if shown else None,
                    "part": _part(spent, ledger.budget) if shown else None,
                    "releases": [_summary_of(each, named=False) for each in released],
                    "principles": checklist(group, ledger.halts().resumptions),
                }
            )
        return {"groups": groups}

    def certificate(self, entry: str) -> dict[str, Any] | None:
        """The certificate of a published answer, by the hash of its ledger line."""
        published = {name for name, group in self._house.groups.items() if group.publish}
        found = self._asking.known.answered(entry=entry) if entry else []
        for each in found:
            if each["people"] in published:
                release = wire.release_from_dict(each["release"])
                record = release.certificate().record
                return {"question": each["question"], "certificate": record}
        return None


def examples(name: str, group: Group) -> list[dict[str, str]]:
    """Three questions to begin with, from the schema alone."""
    columns = group.schema.tables[name].columns

    def asking(wanted: str, rest: str = "") -> str:
        return f"SELECT {wanted} FROM {_sql_name(name)}{rest}"  # noqa: S608  (shown, not run)

    found = [("total", "How many are there?", asking("COUNT(*) AS n"))]
    key = next((c for c, facts in columns.items() if facts.keys is not None), None)
    number = next(
        (c for c, f in columns.items() if f.low is not None and f.type in ("int", "float")), None
    )
    if key is not None:
        column = _sql_name(key)
        sql = asking(f"{column}, COUNT(*) AS n", f" GROUP BY {column}")
        found.append(("groups", f"How many per {key.replace('_', ' ')}?", sql))
    if number is not None:
        sql = asking(f"AVG({_sql_name(number)}) AS average")
        found.append(("average", f"What is the average {number.replace('_', ' ')}?", sql))
    return [{"asks": asks, "title": title, "sql": sql} for asks, title, sql in found]


def _sql_name(name: str) -> str:
    """A name as one types it in SQL: in quotes where it would be read as something else."""
    from sqlglot.tokens import Tokenizer

    plain = name.isidentifier() and name.upper() not in Tokenizer.KEYWORDS
    return name if plain else '"' + name.replace('"', '""') + '"'


def code(question: str, release: Release, *, purpose: str = "", base: str = "...") -> str:
    """Python that asks the same question: with the same key, the same answer."""
    figures = release.loss.figures()
    spend = [f"{figures[release.loss.figure]:g}"]
    spend += [f"delta={figures['delta']:g}"] if figures.get("delta") else []
    said = f", purpose={purpose!r}" if purpose else ""
    kind, _, given = question.partition("(")
    if kind in KINDS:
        asked = f'c.named("{kind}", {given.removesuffix(")")}{said})'
    else:
        asked = f"c.sql({question!r}{said})"
    return (
        f'import deniable as dp\n\nc = dp.connect("{base}", token=...)\n'
        f"{asked}.release(spend=dp.{release.loss.figure}({', '.join(spend)}))"
    )


def when(seconds: float) -> str:
    """A time for people, in UTC."""
    return f"{dt.datetime.fromtimestamp(seconds, dt.UTC):%Y-%m-%d %H:%M:%S}"


def _more(books: Ledger | Account, left: Loss) -> int | None:
    """How many more questions like the last one what is left would pay for."""
    prices = [e.price for e in books.entries if e.kind == "charge" and e.price is not None]
    last = _figure(books.filter.spent(prices[-1])) if prices else 0.0
    return int(_figure(left) / last + 1e-9) if last else None


def _part(spent: Loss, whole: Loss) -> float:
    total = getattr(whole, whole.figure)
    return min(1.0, getattr(spent, spent.figure) / total) if total else 1.0


def _column(name: str, column: Column) -> dict[str, Any]:
    values = column.keys
    return {
        "name": name,
        "type": column.type,
        "bounds": None if column.low is None else [str(column.low), str(column.high)],
        "keys": None if values is None else [str(value) for value in values],
        "missing": None if column.missing is None else str(column.missing),
    }


def _line(entry: Entry, filter_: Any) -> dict[str, Any]:
    price = entry.price
    return {
        "line": entry.sequence,
        "time": f"{entry.time:%Y-%m-%d %H:%M:%S}",
        "kind": entry.kind,
        "asker": entry.asker,
        "what": entry.what or "",
        "cost": "" if price is None else amount(filter_.spent(price), "up"),
        "figure": 0.0 if price is None else _figure(filter_.spent(price)),
    }


def _figure(loss: Loss) -> float:
    return float(getattr(loss, loss.figure))


def _summary_of(answer: dict[str, Any], *, named: bool = True) -> dict[str, Any]:
    release = wire.release_from_dict(answer["release"])
    about = {"asker": answer["asker"], "key": answer["key"]} if named else {}
    return about | {
        "people": answer["people"],
        "code": code(answer["question"], release, purpose=answer["purpose"]),
        "question": answer["question"],
        "purpose": answer["purpose"],
        "time": release.provenance.time[:16].replace("T", " "),
        "cost": amount(release.loss, "up"),
        "entry": release.provenance.entry_hash,
    }
