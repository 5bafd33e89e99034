"""Who is stopped: a failure while rows are read is an answer, so the curator looks before the next.

An error that occurs only if one person's rows are there tells exactly that, whatever its text and
whatever was charged. So each failure writes a `stop` line, and from that line on every charge by
the same asker is refused until a `resume` line. Every line in between repeats who is stopped, as it
repeats the totals: the newest line alone decides, and it is checked like any other.

A process that dies while it reads rows writes no such line, and the next one goes on: a crash is
not seen here. Who runs questions of untrusted askers has to watch the process, count its death as a
failure, and stop the asker of the charge that was lost with `Ledger.stop`.

The asker is the name that a session was opened for. Every session without one is the unnamed
asker's, the curator.

One person has one name. A name is refused unless it is what it looks like: in Unicode's composed
form (NFC), without leading, trailing or doubled spaces, and without invisible characters.
Case tells names apart, but no two shares have names that differ in case or width alone.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from deniable.errors import AskerStopped, BadParameter, DataFailure

from .entry import Entry

_LONGEST: Final = 200
_LONGEST_CAUSE: Final = 100_000  # characters; the end of a traceback says most
# Python prints these, and nobody sees them: Default_Ignorable_Code_Point in Unicode, and three more
# that fonts draw as nothing (an empty braille cell, a Khitan filler, a note without a head).
_UNSEEN: Final = re.compile(
    "[\u2800\U00016fe4\U0001d159"
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, kw_only=True)
class Halts:
    """Which askers are stopped, and how often stopped askers were resumed, up to some line."""

    stopped: Mapping[str | None, int] = field(default_factory=dict)
    """The number of failures that each stopped asker is waiting for the curator to see."""
    resumptions: int = 0
    failures: int = 0
    """The failures that those resumptions passed over: more than one each if several questions
    were under way at once."""

    @staticmethod
    def of(entry: Entry) -> Halts:
        """As a line states it; a line that states nothing says that nobody ever was stopped."""
        found = entry.record.get("halts")
        if not isinstance(found, Mapping):
            return Halts()
        return Halts(
            stopped={asker: int(count) for asker, count in found["stopped"]},
            resumptions=int(found["resumptions"]),
            failures=int(found["failures"]),
        )

    def stop(self, asker: str | None) -> Halts:
        """After one more failure of this asker's questions."""
        count = self.stopped.get(asker, 0) + 1
        return replace(self, stopped={**self.stopped, asker: count})

    def resume(self, asker: str | None) -> Halts:
        """After the curator let this asker go on."""
        rest = {name: count for name, count in self.stopped.items() if name != asker}
        return Halts(
            stopped=rest,
            resumptions=self.resumptions + 1,
            failures=self.failures + self.stopped.get(asker, 0),
        )

    def after(self, entry: Entry) -> Halts:
        """What the next line has to state."""
        match entry.kind:
            case "stop":
                return self.stop(entry.asker)
            case "resume":
                return self.resume(entry.asker)
        return self

    def to_record(self) -> dict[str, object]:
        """The part of a line that states it: nothing, if nobody ever was stopped."""
        if not (self.stopped or self.resumptions or self.failures):
            return {}
        named = sorted(self.stopped.items(), key=lambda item: item[0] or "")  # no name is empty
        return {
            "halts": {
                "stopped": [list(item) for item in named],
                "resumptions": self.resumptions,
                "failures": self.failures,
            }
        }

    def __str__(self) -> str:
        parts = []
        if self.stopped:
            parts.append("stopped: " + ", ".join(called(asker) for asker in self.stopped))
        if self.resumptions:
            times = "once" if self.resumptions == 1 else f"{self.resumptions} times"
            parts.append(f"resumed {times} after {_failures(self.failures)}")
        return "; ".join(parts)


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What the curator may know of a failure; `detail` may hold people's values: not in a repr."""

    time: str
    entry: int
    """The line of the charge."""
    stop: int
    """The line that stops its asker."""
    question: str
    detail: str = field(repr=False)
    asker: str | None = None

    def __str__(self) -> str:
        cause = self.detail.rstrip() or "the cause could not be kept"
        head = f"{self.time}, paid in line {self.entry}, asked by {called(self.asker)}"
        indented = [f"    {line}" for line in cause.splitlines()]
        return "\n".join([head, f"  question  {self.question}", "  cause", *indented])


class Failures(list[Failure]):
    """The failures that wait for the curator: `print` shows their causes, a repr does not."""

    def __str__(self) -> str:
        if not self:
            return "no failures"
        note = f"{_failures(len(self))}, for the curator only: causes may contain people's values"
        return "\n\n".join([note, *map(str, self)])


def failed(*, spent: str, asker: str | None = None) -> DataFailure:
    """The error for who asked, when the stop line is written."""
    return DataFailure(
        "something failed while the data were read",
        why="the cause may depend on people's values, so only the curator sees it; "
        "queries are refused until the curator has looked",
        fix=_resuming(asker),
        cost=f"{spent} was spent",
    )


def refused(asker: str | None) -> AskerStopped:
    """The error for a stopped asker."""
    return AskerStopped(
        f"{asker or 'this session'} is stopped, because a query failed while the data were read",
        why="a failure can depend on one person, so the curator looks at it first",
        fix=_resuming(asker),
    )


def not_stopped(asker: str | None, halts: Halts) -> BadParameter:
    """The error for resuming somebody who may ask."""
    names = ("" if name is None else f"asker={name!r}" for name in halts.stopped)
    return BadParameter(
        f"{called(asker)} is not stopped",
        fix=[f"s.resume({name})" for name in names],
        hint="" if halts.stopped else "nobody is stopped",
    )


def not_shown(asker: str | None) -> BadParameter:
    """The error for resuming before every cause was shown."""
    return BadParameter(
        f"another query by {called(asker)} failed after the causes were shown",
        why="resuming erases the causes, so it covers only failures that the curator has seen",
        fix=_resuming(asker),
    )


def storable(cause: str) -> str:
    """The end of a text that every store can hold."""
    plain = cause[-_LONGEST_CAUSE:].encode("utf-8", "backslashreplace").decode()
    return plain.replace("\0", "\\x00")


def _resuming(asker: str | None) -> tuple[str, str]:
    name = "" if asker is None else f'asker="{asker}"' if '"' not in asker else f"asker={asker!r}"
    return (
        f"the curator reads the cause in print(s.failures), then calls s.resume({name})",
        f"or, in a terminal: {command(asker)}",
    )


def command(asker: str | None) -> str:
    """What the curator types in a terminal to let an asker go on."""
    return "deniable ledger resume" + ("" if asker is None else f" --asker {shlex.quote(asker)}")


def called(asker: str | None) -> str:
    """An asker in a sentence: a session without one is the curator's."""
    return "the curator" if asker is None else asker


def _failures(count: int) -> str:
    return f"{count} failure{'s' * (count != 1)}"


# ---- names


def named(asker: object) -> str:
    """The name, if it is one."""
    if (
        not isinstance(asker, str)
        or not asker.isprintable()
        or not 0 < len(asker) <= _LONGEST
        or asker != " ".join(asker.split())
        or asker != unicodedata.normalize("NFC", asker)
        or _UNSEEN.search(asker)
    ):
        raise BadParameter.of(
            "asker",
            asker,
            must=f"a name of 1 to {_LONGEST} visible characters, in composed form (NFC), "
            "without leading or trailing spaces",
            fix='asker="ann"',
        )
    return asker


def named_or_none(asker: object) -> str | None:
    """The checked name of an asker, or None for the curator."""
    return None if asker is None else named(asker)


def refuse_alike(asker: str, others: list[str]) -> None:
    """An error if another name differs from this one only in case or width."""
    if any(other != asker and _folded(other) == _folded(asker) for other in others):
        raise BadParameter(
            f"another share has a name that differs from {asker!r} only in case or width",
            why="people could confuse the two names",
            fix="a clearly different name",
        )


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
