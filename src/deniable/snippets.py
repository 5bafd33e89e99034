"""A line of what the user wrote, with a caret under the part that an error is about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Snippet:
    """A line of what the user wrote, and the part of it that is at fault."""

    text: str
    start: int
    end: int
    note: str = ""

    def __str__(self) -> str:
        before = self.text.rfind("\n", 0, self.start) + 1
        after = self.text.find("\n", self.start)
        line = self.text[before : after if after >= 0 else len(self.text)]
        width = max(1, min(self.end, before + len(line)) - self.start)
        caret = " " * (self.start - before) + "^" * width
        return f"    {line}\n    {caret} {self.note}".rstrip()
