"""Mechanisms that answer many questions for one price: what a session needs to know of them.

An interactive mechanism (sparse vector, a plan fixed in advance) is opened once: the session
charges it in full, calls `Mechanism.begin` for its private state, keeps that state, and hands out a
`Handle`. Steps made by the handle cost nothing more. A session accepts only handles that it made
itself, so a free step cannot be written by hand.

    opened = yield SparseVector(epsilon=1.0, answers=3)       # charged in full, here
    above = yield opened.on(Sensitive(..., linf=1))           # free
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, final

from deniable.errors import BadParameter, UnitMismatch
from deniable.forms import Form
from deniable.parameters import a_kind
from deniable.sensitive import Sensitive
from deniable.units import Unit

from ._mechanism import Mechanism, Step

T = TypeVar("T")


class Interaction(ABC):
    """What an opened mechanism remembers between questions; the session that opened it holds it."""

    @abstractmethod
    def answering(self) -> Mechanism | None:
        """The mechanism that the next value will meet; None when no answers are left.

        Depends on the answers given so far, never on values: it is public.
        """

    @abstractmethod
    def ask(self, value: Any) -> object:
        """Answer one more question, with noise. Called by sessions, never by other code."""

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """How the next value is coerced to the form that was declared of it: see `Mechanism`."""
        answering = self.answering()
        assert answering is not None
        return answering.reading(form)

    def admit(self, value: Sensitive[Any]) -> None:
        """Raise if the price does not cover one more answer about this value: public facts."""
        answering = self.answering()
        assert answering is not None
        answering.check(value)
        self.reading(value.form)


@final
class Handle:
    """A mechanism that a session has opened and charged; `on` makes free steps for that session."""

    __slots__ = ("__weakref__", "mechanism")

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism

    def on(self, value: Sensitive[T]) -> Step[T]:
        """One question to the opened mechanism, as a free step."""
        if not isinstance(value, Sensitive):
            raise BadParameter(
                f"an opened mechanism takes a dp.Sensitive; you gave {a_kind(value)}",
                fix="handle.on(dp.Sensitive(lambda: ..., linf=1))",
            )
        return Step(self.mechanism, value, handle=self)

    def __repr__(self) -> str:
        return f"Handle({self.mechanism!r})"


@dataclass(frozen=True, kw_only=True)
class Block:
    """A plan for a session to open, paid for as one block: its tightest ε at this δ, and the δ.

    With a `unit`, a session that protects another refuses it, free: no value would be admitted.
    """

    mechanism: Mechanism
    delta: float | None = None
    unit: Unit | None = None


def opening(wanted: object, *, unit: Unit) -> Block | None:
    """What is to be opened: a block, or a mechanism that is paid for as it is."""
    if isinstance(wanted, Mechanism):
        return Block(mechanism=wanted)
    if not isinstance(wanted, Block):
        return None
    if wanted.unit is not None and wanted.unit != unit:
        raise UnitMismatch(
            f"the plan is for {wanted.unit}, but the session protects {unit}",
            why="a bound holds only for the privacy unit and relation it was stated for",
            fix="unit=session.unit",
        )
    return wanted


class Series(Interaction):
    """A list of mechanisms fixed in advance, each used once, in order."""

    def __init__(self, parts: Iterable[tuple[Mechanism, int]]) -> None:
        self._left = [(part, times) for part, times in reversed(list(parts)) if times > 0]

    def answering(self) -> Mechanism | None:
        """The first mechanism that was not used yet."""
        return self._left[-1][0] if self._left else None

    def ask(self, value: Any) -> object:
        """Use it up, then draw: an answer that fails is not given a second chance."""
        part, times = self._left.pop()
        if times > 1:
            self._left.append((part, times - 1))
        return part.draw(value)
