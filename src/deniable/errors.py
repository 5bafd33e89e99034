"""Every error deniable raises, and the one way they all look.

    DeniableError
    ├── BadParameter         DP111   a parameter that cannot be right  (also a ValueError)
    │   ├── DeltaTooLarge    DP110   a δ under which people may be published outright
    │   └── BadCall          DP113   a call that lacks or misnames something  (also a TypeError)
    ├── MissingBounds        DP102   how much one person can change is not stated
    ├── MissingRule          DP120   what to do with NULL and NaN is not stated
    ├── MissingUnit          DP130   whom to protect is not stated
    ├── UnitMismatch         DP131   two parties protect different units
    ├── SensitivityMismatch  DP140   a value may move further than the mechanism covers
    ├── HiddenValue          DP150   a private value was about to be shown  (also a TypeError)
    ├── BudgetExceeded       DP201   the ceiling would be passed
    ├── MixedLosses          DP210   two definitions of privacy in one sum  (also a TypeError)
    ├── NoBound              DP220   nothing is proved for this in that definition
    ├── NotAdaptive          DP221   a loss that may not enforce a ceiling
    ├── UnknownKeys          DP301   the list of groups is itself private
    ├── UnsupportedQuery     DP310   a question that cannot be bounded
    ├── UnknownName          DP320   no such column or table  (also a KeyError)
    ├── SeedOutsideTests     DP401   predictable noise where people could be harmed
    ├── NotReady             DP410   an engine, a file or a setting; found before the charge
    ├── MessageRejected      DP420   a protocol message that is malformed, repeated or contradictory
    ├── LedgerFailure        DP501   the ledger cannot be read, written or trusted
    ├── DataFailure          DP601   a failure while data were read; details are the curator's
    ├── AskerStopped         DP602   a failure waits for the curator; nothing is charged till then
    └── MissingExtra         DP701   an optional package is not installed  (also an ImportError)

Texts are functions of public facts only: never of a value, a row count or a
minimum that comes from data.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import ClassVar

from deniable import fixes
from deniable.cards import escape
from deniable.fixes import Fix, Fixes, Medium
from deniable.snippets import Snippet

NOTHING_SPENT = "nothing was spent"


class DeniableError(Exception):
    """What went wrong, where, why, a fix to paste, and what it cost."""

    code: ClassVar[str] = "DP000"
    says_cost: bool = False
    """Raised where something could be charged: then the text says even that nothing was."""

    def __init_subclass__(cls, *, code: str = "", says_cost: bool = False) -> None:
        super().__init_subclass__()
        if code:  # else it has its parent's: `server.wire` makes the class that owns a code
            cls.code = code
        cls.says_cost = says_cost or cls.says_cost

    def __init__(
        self,
        what: str,
        *,
        why: str = "",
        fix: Fixes = "",
        cost: str = NOTHING_SPENT,
        snippet: Snippet | None = None,
        hint: str = "",
    ) -> None:
        self.what = what
        self.why = why
        self.fix = fix
        self.medium: Medium = "python"
        self.cost = cost
        self.snippet = snippet
        self.hint = hint
        self.within: tuple[str, ...] = ()  # which part of a file it is about
        super().__init__(what)

    @property
    def fix(self) -> str:
        """What to write instead, as it is typed where the error is shown."""
        return fixes.written(self.fixes, self.medium)

    @fix.setter
    def fix(self, fix: Fixes) -> None:
        self.fixes = fixes.listed(fix)

    def __str__(self) -> str:
        lines = [f"error[{self.code}]: {self.what}"]
        if self.snippet is not None:
            lines.append(str(self.snippet))
        for label, text in self._said():
            first, *rest = text.split("\n")
            lines.append(f"  {label + ':':<6}{first}")
            lines += [f"{'':8}{line}" for line in rest]
        return "\n".join(lines)

    def _said(self) -> Iterator[tuple[str, str]]:
        """The labelled lines; that nothing was spent is left out where nothing could be."""
        for label in ("why", "fix", "cost", "hint"):
            text: str = getattr(self, label)
            if text and (label != "cost" or self.says_cost or text != NOTHING_SPENT):
                yield label, text

    def to_json(self) -> dict[str, str]:
        """The same facts as a flat record, in the spirit of problem+json (RFC 9457)."""
        parts = {"where": self.snippet, "why": self.why, "fix": self.fix, "cost": self.cost}
        said = {name: str(part) for name, part in (parts | {"hint": self.hint}).items() if part}
        return {"type": "error", "code": self.code, "title": self.what} | said

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<dt>{label}</dt><dd style='white-space:pre-wrap'>{escape(text)}</dd>"
            for label, text in self._said()
        )
        where = f"<pre>{escape(str(self.snippet))}</pre>" if self.snippet else ""
        return (
            "<div role='alert' style='border-left:4px solid #b3261e;padding:.4em .8em'>"
            f"<b>error[{self.code}]</b>: {escape(self.what)}{where}<dl>{rows}</dl></div>"
        )

    def _render_traceback_(self) -> list[str]:
        """Notebooks show the message instead of a page of frames."""
        return str(self).split("\n")

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.__dict__))


def _replacing(these: str, others: str) -> str:
    """What to put in place of the example that a fix gives, and where."""
    return (
        f"replace these {these} with {others}, without looking at the data, and add them to "
        "the schema you have"
    )


def _rebuild(kind: type[DeniableError], state: dict[str, object]) -> DeniableError:
    error = kind.__new__(kind)
    Exception.__init__(error, state["what"])
    error.__dict__.update(state)
    return error


class BadParameter(DeniableError, ValueError, code="DP111"):
    """A parameter that cannot be right; nothing was drawn or read."""

    @classmethod
    def of(
        cls, name: str, value: object, *, must: str, fix: Fixes = "", why: str = ""
    ) -> BadParameter:
        """`epsilon` must be a number above 0; you gave '1' (text)."""
        return cls(f"{name} must be {must}; you gave {describe(value)}", why=why, fix=fix)


def describe(value: object) -> str:
    """A public parameter in a few words: its value, and its type where that is the surprise."""
    shown = repr(value)
    shown = shown if len(shown) <= 40 else shown[:37] + "…"
    match value:
        case bool():
            return f"{shown} (a boolean)"
        case str():
            return f"{shown} (text)"
        case int() | float() | None:
            return shown
        case FunctionType() | type():
            return f"{value.__name__} (a {'class' if isinstance(value, type) else 'function'})"
        case _:
            return f"{shown} ({type(value).__name__})"


class DeltaTooLarge(BadParameter, code="DP110"):
    """A δ under which publishing some people's rows outright would count as private."""

    @classmethod
    def at(cls, delta: float, *, fix: str = "delta=1e-7") -> DeltaTooLarge:
        """With δ = 0.01, publishing 1 in 100 people's rows would count as private."""
        return cls(
            f"with δ = {delta:g}, publishing 1 in {max(1, round(1 / delta)):,} people's rows "
            'outright would still count as "private"',
            why="δ is the chance that the promise fails: keep it far below 1 / (number of people)",
            fix=fix,
        )


class BadCall(BadParameter, TypeError, code="DP113"):
    """A call that lacks something, names what is not there, or says by place what has a name."""


class MissingBounds(DeniableError, code="DP102"):
    """How much one person can change the answer is not stated."""

    @classmethod
    def of(
        cls,
        what: str,
        column: str,
        *,
        table: str,
        type: str = "float",
        several: bool = False,
        snippet: Snippet | None = None,
    ) -> MissingBounds:
        """AVG(income) needs bounds, because one person's income could be anything."""
        return cls(
            f"{what} needs bounds, because one person's {column} could be anything",
            why="noise is sized to the most one person can change the answer",
            fix=fixes.bounds(column, table=table, type=type, among=table if several else ""),
            hint=_replacing("bounds", "plausible ones"),
            snippet=snippet,
        )


class MissingRule(DeniableError, code="DP120"):
    """What to do with NULL and NaN is not stated."""

    @classmethod
    def of(
        cls, column: str, *, table: str, type: str = "float", several: bool = False
    ) -> MissingRule:
        """`income` may contain NULL or NaN, and the schema does not say what to do."""
        facts = {column: f'dp.column("{type}", missing="drop")'}
        return cls(
            f"`{column}` may contain NULL or NaN, and the schema of `{table}` does not say "
            "what to do with them",
            why="an answer that becomes NaN reveals that someone's value is missing",
            fix=Fix(
                fixes.schema(facts, among=table if several else ""),
                command=f"deniable set {shlex.quote(f'{table}.{column}')} --missing drop",
            ),
            hint="decided from the schema; the data were not read",
        )


class MissingUnit(DeniableError, code="DP130"):
    """Whom to protect is not stated."""

    @classmethod
    def of(cls, table: str, *, columns: Iterable[str] = ()) -> MissingUnit:
        """No privacy unit was given for `visits`; one of its columns may tell people apart."""
        names = list(columns)
        column = fixes.whose(names)
        return cls(
            f"no privacy unit was given for `{table}`",
            why="the data do not show which rows belong to the same person",
            fix=(
                fixes.person(column, 10, note="each person counts as at most 10 rows"),
                fixes.rows("only if every person has exactly one row"),
            ),
            hint=f"columns: {', '.join(names)}" if names else "",
        )


class UnitMismatch(DeniableError, code="DP131"):
    """Two parties to one sum protect different units."""


class SensitivityMismatch(DeniableError, code="DP140"):
    """A value may move further than the mechanism covers."""


class HiddenValue(DeniableError, TypeError, code="DP150"):
    """A private value was about to be shown, stored or compared."""


class BudgetExceeded(DeniableError, code="DP201", says_cost=True):
    """The ceiling would be passed; the answer was not computed."""

    _offered: Fix | None = None

    def offer(self, fix: Fix) -> None:
        """Propose what still fits, before all else; in place of what was proposed for a part."""
        others = tuple(each for each in self.fixes if each is not self._offered)
        self._offered, self.fixes = fix, (fix, *others)


class MixedLosses(DeniableError, TypeError, code="DP210"):
    """Two definitions of privacy met in one sum or comparison."""


class NoBound(DeniableError, code="DP220"):
    """Nothing is proved for this mechanism in that definition of privacy."""


class NotAdaptive(DeniableError, code="DP221"):
    """A loss that prices a list fixed in advance was offered as a running ceiling."""


class UnknownKeys(DeniableError, code="DP301"):
    """The list of groups is itself private."""

    @classmethod
    def of(cls, *columns: str, snippet: Snippet | None = None) -> UnknownKeys:
        """The list of values of `city` is itself private."""
        named = ", ".join(columns)
        return cls(
            f"the list of values of `{named}` is itself private: a rare one could reveal a person",
            why="a group that appears only because of one person reveals that person",
            fix=fixes.keys(*columns),
            hint=_replacing("values", "all that can occur"),
            snippet=snippet,
        )


class UnsupportedQuery(DeniableError, code="DP310"):
    """A question whose answer one person could change without bound."""


class UnknownName(DeniableError, KeyError, code="DP320"):
    """No such column or table."""

    @classmethod
    def of(
        cls,
        kind: str,
        name: str,
        *,
        known: Iterable[str],
        table: str | None = None,
        snippet: Snippet | None = None,
        typed: Callable[[str], str] = str,
    ) -> UnknownName:
        """There is no column `incom`; did you mean `income`?"""
        names = sorted(known)
        near = fixes.nearest(name, names)
        thing, _, owner = (kind if table is None else f"{kind} of `{table}`").partition(" of ")
        what = f"{owner} has no {thing} `{name}`" if owner else f"there is no {kind} `{name}`"
        return cls(
            what + (f"; did you mean `{near}`?" if near else ""),
            fix=Fix(typed(near), note=f"in place of `{name}`") if near else "",
            hint=f"known: {', '.join(names)}" if names else "",
            snippet=snippet,
        )


class SeedOutsideTests(DeniableError, code="DP401"):
    """Predictable noise was asked for where people could be harmed by it."""


class NotReady(DeniableError, code="DP410"):
    """An engine, a file or a setting is not as it must be: found before the charge."""


class MessageRejected(DeniableError, code="DP420"):
    """A message between parties that cannot be part of this round, or cannot be part of it now."""


class LedgerFailure(DeniableError, code="DP501", says_cost=True):
    """The ledger cannot be read, written or trusted."""


class DataFailure(DeniableError, code="DP601"):
    """Something failed while data were read: opaque, and charged; details are the curator's."""


class AskerStopped(DeniableError, code="DP602", says_cost=True):
    """An earlier question failed while data were read, and the curator has not resumed yet."""


class MissingExtra(DeniableError, ImportError, code="DP701"):
    """An optional package is not installed."""

    @classmethod
    def of(cls, what: str, *, extra: str) -> MissingExtra:
        """Plots need matplotlib."""
        return cls(f"{what} is not installed", fix=f'pip install "deniable[{extra}]"')
