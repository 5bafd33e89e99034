"""A plan: what an answer will cost and how good it will be, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol, TypedDict

from deniable import cards
from deniable.losses import Loss
from deniable.losses.filters import Price

from .numbers import amount, meaning, remaining, shown_error


class Purse(Protocol):
    """A ledger, or what one asker sees of it."""

    @property
    def left(self) -> Loss:
        """What may still be charged."""

    def left_after(self, price: Price) -> Loss | None:
        """What could be charged after this price; None if it does not fit."""


class Balance(TypedDict):
    """What a price leaves, or what it exceeds."""

    left: Loss | None
    exceeded: Loss | None


def balance(purse: Purse, price: Price) -> Balance:
    """The part of a plan that says whether it can be paid for."""
    left = purse.left_after(price)
    return {"left": left, "exceeded": purse.left if left is None else None}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The cost, the ± per column (95 % confidence; None if unknown in advance), and the steps."""

    question: str
    cost: Loss
    errors: Mapping[str, float | None]
    steps: list[str] = field(default_factory=list)
    left: Loss | None = None
    exceeded: Loss | None = None
    """What is left of the budget, where the cost exceeds it."""
    notes: tuple[str, ...] = ()
    data_version: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "errors", MappingProxyType(dict(self.errors)))
        object.__setattr__(self, "notes", tuple(filter(None, self.notes)))

    def _expected(self) -> str:
        known = [f"{name} ± {shown_error(e)}" for name, e in self.errors.items() if e is not None]
        unknown = [f"{name} ± unknown in advance" for name, e in self.errors.items() if e is None]
        return ", ".join(known + unknown)

    def _facts(self) -> dict[str, str]:
        groups = getattr(self.cost, "delta", 0.0) > 0
        left = ""
        if self.left is not None:
            left = f" (leaves {remaining(self.left, groups=groups)})"
        elif self.exceeded is not None:
            left = f" (more than is left: {remaining(self.exceeded, groups=groups)})"
        expected = self._expected()
        return {
            "cost": amount(self.cost, "up") + left,
            "means": meaning(self.cost),
            "expect": f"{expected} (95 % confidence)" if expected else "",
            "data": f"version {self.data_version}" if self.data_version else "",
        }

    def __str__(self) -> str:
        lines = [self.question] if self.question else []
        lines += [f"  {number}  {step}" for number, step in enumerate(self.steps, 1)]
        lines += [f"  {name:<7} {text}" for name, text in self._facts().items() if text]
        return "\n".join([*lines, *(f"  note    {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        steps = "".join(f"<li>{cards.escape(step)}</li>" for step in self.steps)
        notes = {f"note {n}": note for n, note in enumerate(self.notes, 1)}
        return cards.card(
            self.question or "plan",
            f"<ol style='margin:.4em 0;padding-left:1.6em'>{steps}</ol>",
            cards.facts(self._facts() | notes),
        )
