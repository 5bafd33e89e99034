"""How every attack tells what it learned: a sentence, a few facts, the same as HTML and JSON."""

from __future__ import annotations

import dataclasses
import html
from abc import ABC, abstractmethod

from deniable.records import plain

Facts = list[tuple[str, str]]


class Told(ABC):
    """A result of an attack: `explain()` in words, `to_dict()` in numbers, HTML in a notebook."""

    @abstractmethod
    def _headline(self) -> str: ...

    @abstractmethod
    def _facts(self) -> Facts: ...

    def explain(self) -> str:
        """What was learned, how surely, and what that is worth, in a few lines."""
        facts = self._facts()
        width = max([10, *(len(label) for label, _ in facts)]) + 2
        lines = [f"  {label:<{width}}{text}".rstrip() for label, text in facts]
        return "\n".join([self._headline(), *lines])

    def __str__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<dt>{html.escape(label)}</dt><dd>{html.escape(text)}</dd>"
            for label, text in self._facts()
        )
        return (
            "<div role='status' style='border-left:4px solid #3b6e8f;padding:.4em .8em'>"
            f"<b>{html.escape(self._headline())}</b><dl>{rows}</dl></div>"
        )

    def to_dict(self) -> dict[str, object]:
        """The numbers, as JSON can hold them; without what is too long to print."""
        assert dataclasses.is_dataclass(self)
        shown = [field.name for field in dataclasses.fields(self) if field.repr]
        fields = {name: getattr(self, name) for name in shown}
        return {name: plain(value) for name, value in fields.items()}


def percent(share: float) -> str:
    """A share in percent, never rounded to all or nothing.

    >>> percent(0.146), percent(1.0), percent(0.99999), percent(0.00001)
    ('14.6 %', '100 %', 'over 99.9 %', 'under 0.1 %')
    """
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    return f"{100 * share:.3g} %"


def people(count: int) -> str:
    """A number of people.

    >>> people(1), people(14237)
    ('1 person', '14,237 people')
    """
    return "1 person" if count == 1 else f"{count:,} people"
