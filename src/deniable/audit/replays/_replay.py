"""Record a computation on one data set, replay it on its neighbour, and compare step by step.

Two runs, no statistics: a wrong sensitivity, a NaN that slips through clipping, a number of
releases or a scale that depends on rows are found for certain, at the step where they happen
[CEDBF26].
"""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from deniable.audit.leaves import observed
from deniable.errors import BadParameter
from deniable.mechanisms import Mechanism, SmoothNoise
from deniable.mechanisms.numbers._additive import RealNoise
from deniable.sampling.lattice import Lattice

from .distances import Moved, Unlike, moved
from .neighbours import Pair
from .sameness import difference
from .watching import Answer, Charge, Event, Watch, replaying

D = TypeVar("D")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that is not as declared, and at which step."""

    step: int
    """Counted from 1 in the order of answers; 0 for what concerns the whole run."""
    kind: str
    """moved · path · charge · failure · lattice · result · repeat"""
    words: str
    mechanism: str = ""

    def __str__(self) -> str:
        if not self.step:
            return self.words
        where = f"step {self.step}, {self.mechanism}" if self.mechanism else f"step {self.step}"
        return f"{where}:\n    {self.words}"


@dataclass(frozen=True, kw_only=True)
class Replay:
    """What was found when a computation was run on two neighbouring data sets."""

    ok: bool
    moved: float
    """How far a value truly moved, at the step that used most of its declared limit."""
    declared: float
    """The limit at that step."""
    steps: int
    faults: tuple[Fault, ...] = ()
    measured: tuple[tuple[int, Moved], ...] = field(default=(), repr=False)
    """Each step's number, how far something moved there, and what was declared."""
    ended: str = ""
    """The error with which the program ended on the first data set, if it did."""
    failed: int = 0
    """How many steps failed, alike, on both data sets."""
    pair: Pair | None = field(default=None, repr=False)
    """The smallest failing pair, where one was searched for."""
    tried: int = 1
    """How many pairs of data sets were replayed."""

    def __str__(self) -> str:
        ran = f"{self.steps} step{'s' * (self.steps != 1)}"
        pairs = f" on {self.tried} pairs" if self.tried > 1 else ""
        if self.ok:
            nearest = f"; the closest used {self.moved:.6g} of {self.declared:.6g}"
            failed = f"; {self.failed} failed on both data sets" if self.failed else ""
            within = f"Within declared bounds: {ran}{pairs}"
            return f"{within}{nearest if self.measured else ''}{failed}."
        lines = [f"Not as declared ({ran}{pairs}):", *(f"  {fault}" for fault in self.faults)]
        return "\n".join([*lines, *([f"  {self.pair}"] if self.pair is not None else [])])

    def _repr_html_(self) -> str:
        colour = "#3b6e8f" if self.ok else "#b3261e"
        return (
            f"<div role='status' style='border-left:4px solid {colour};padding:.4em .8em'>"
            f"<pre>{html.escape(str(self))}</pre></div>"
        )


def replay(program: Callable[[D], object], first: D, second: D) -> Replay:
    """Run `program` on two neighbouring data sets and compare what it does, step by step.

    `program(data)` opens a session (with a ledger in memory) and works. Its noise is frozen, so
    what it returns is not private, and nothing of it is kept; the report tells how far values
    moved and is for whoever may see both data sets.

    >>> import deniable as dp, pandas as pd
    >>> def total(ages):
    ...     session = dp.open(ages, unit=dp.rows(), budget=dp.epsilon(1.0))
    ...     years = dp.Sensitive(lambda: ages["age"].clip(20, 80).sum(), l1=60, whole=True)
    ...     return session.release(dp.Laplace.calibrate(epsilon=1.0, sensitivity=60).on(years))
    >>> found = replay(total, pd.DataFrame({"age": [30]}), pd.DataFrame({"age": [30, 95]}))
    >>> print(found)  # doctest: +ELLIPSIS
    Not as declared (1 step):
      step 1, Laplace(...):
        the value in L1 moved by 80; at most 60 was declared
    """
    found = compared(program, first, second)
    if not found.steps and found.ok:
        raise released_nothing(found)
    return found


def compared(program: Callable[[D], object], first: D, second: D) -> Replay:
    """As `replay`, but a program that fails alike on both data sets before its first step is ok."""
    if not callable(program):
        raise BadParameter.of(
            "program", program, must="a function of the data that opens a session"
        )
    found = _compared(program, first, second)
    if found.ok or all(f.kind == "lattice" for f in _compared(program, first, first).faults):
        return found
    words = "the program does not repeat itself on the same data: it has a clock or randomness"
    fault = Fault(step=0, kind="repeat", words=words)
    return replace(found, faults=(fault,), measured=(), ended="", failed=0)


def _compared(program: Callable[[D], object], first: D, second: D) -> Replay:
    recorded = Watch()
    result = _run(program, first, recorded)
    comparison = _Comparison(recorded.events)
    replayed = Watch(feed=comparison.feed)
    again = _run(program, second, replayed)
    comparison.finish(replayed.events, result, again)
    report = comparison.report(recorded.steps)
    return replace(report, ended=type(result).__name__ if isinstance(result, Exception) else "")


def released_nothing(found: Replay) -> BadParameter:
    """The error for a program that cannot be judged."""
    ended = f" before it ended with {found.ended}" if found.ended else ""
    return BadParameter(
        f"the program released nothing through a session{ended}",
        why="only what a session charges and draws can be compared",
        fix="program(first) should run by itself, and call session.release or session.run",
    )


def _run(program: Callable[[D], object], data: D, watch: Watch) -> object:
    """What the program returned or raised."""
    with replaying(watch):
        return observed(program, data)


class _Comparison:
    """The recorded events, met one by one by those of the second run."""

    def __init__(self, recorded: list[Event]) -> None:
        self._steps = [event for event in recorded if isinstance(event, Answer)]
        self._charges = [event for event in recorded if isinstance(event, Charge)]
        self._faults: list[Fault] = []
        self._measured: list[tuple[int, Moved]] = []
        self._apart = False
        self._streams: dict[tuple[str, int], float] = {}

    def feed(self, step: Answer) -> Answer | None:
        """Compare a step with the recorded one; bring that back if the path is still the same."""
        if self._apart or step.number > len(self._steps):
            return None
        other = self._steps[step.number - 1]
        words = _other_step(other, step)
        if words:
            self._apart = True
            self._fault(other, "path", words)
            return None
        if other.failure:
            return None
        try:
            found = moved(step.mechanism, other.value, step.value, step.declared)
        except Unlike as unlike:
            self._fault(step, "moved", str(unlike))
            return other
        found += self._over_the_stream(step, found)
        self._measured += [(step.number, each) for each in found]
        too_far = next((each for each in found if not each.within), None)
        if too_far is not None:
            self._fault(step, "moved", str(too_far))
        return other

    def _over_the_stream(self, step: Answer, found: list[Moved]) -> list[Moved]:
        """How far all values of one declared stream moved together, up to this step."""
        bound = step.declared.bound("l1")
        if step.declared.stream is None or bound is None:
            return []
        key = (step.declared.stream, id(step.opened))
        here = sum(each.moved for each in found if each.what == "the value in L1")
        total = self._streams[key] = self._streams.get(key, 0.0) + here
        what = f"the stream {step.declared.stream!r} in L1"
        return [Moved(what=what, moved=total, declared=bound, within=total <= bound)]

    def finish(self, events: list[Event], result: object, again: object) -> None:
        """Compare what the runs are as a whole: failures, numbers of steps, charges, results."""
        steps = [event for event in events if isinstance(event, Answer)]
        for one, other in zip(self._steps, steps, strict=False):
            if one.failure != other.failure:
                side = "second" if other.failure else "first"
                what = one.failure or other.failure
                self._fault(one, "failure", f"{what} is raised on the {side} data set only")
            if not one.failure and not _on_lattice(one):
                self._fault(one, "lattice", "the answer is not on the lattice of its mechanism")
        if self._faults:
            return
        if len(steps) != len(self._steps):
            words = f"{len(self._steps)} answers on the first data set, {len(steps)} on the second"
            self._fault_at(min(len(steps), len(self._steps)) + 1, "path", words)
        charges = [event for event in events if isinstance(event, Charge)]
        self._compare_charges(charges)
        words = difference(result, again) or ""
        if words and not self._faults:
            why = "though all answers are: it depends on data past every mechanism"
            self._fault_at(0, "result", f"{words}, {why}")

    def _compare_charges(self, charges: list[Charge]) -> None:
        if len(charges) != len(self._charges):
            words = (
                f"{len(self._charges)} charges on the first data set, {len(charges)} on the second"
            )
            self._fault_at(0, "charge", words)
        for number, (one, other) in enumerate(zip(self._charges, charges, strict=False), 1):
            for part in ("mechanism", "price", "what"):
                if getattr(one, part) != getattr(other, part):
                    self._fault_at(
                        0, "charge", f"the {part} of charge {number} depends on the data"
                    )

    def report(self, steps: int) -> Replay:
        """All that was found; the step that used most of its limit stands for all."""
        worst = max(
            (found for _, found in self._measured),
            key=lambda m: (not m.within, m.moved / m.declared if m.declared else 0.0),
            default=Moved(what="", moved=0.0, declared=0.0, within=True),
        )
        return Replay(
            ok=not self._faults,
            moved=worst.moved,
            declared=worst.declared,
            steps=steps,
            faults=tuple(self._faults),
            measured=tuple(self._measured),
            failed=sum(1 for step in self._steps if step.failure),
        )

    def _fault(self, step: Answer, kind: str, words: str) -> None:
        self._fault_at(step.number, kind, words, mechanism=_called(step.mechanism))

    def _fault_at(self, step: int, kind: str, words: str, *, mechanism: str = "") -> None:
        self._faults.append(Fault(step=step, kind=kind, words=words, mechanism=mechanism))


def _other_step(one: Answer, other: Answer) -> str:
    """What tells two steps apart before any value is looked at."""
    if one.mechanism.to_dict() != other.mechanism.to_dict():
        return f"on the second data set the step is {_called(other.mechanism)}"
    if _promise(one) != _promise(other):
        return f"what is declared depends on the data: {one.declared!r}, then {other.declared!r}"
    return ""


def _promise(step: Answer) -> list[object]:
    declared = step.declared
    bounds = [declared.bound(norm) for norm in ("l1", "l2", "linf")]
    return [declared.unit, declared.form, declared.entries, declared.stream, *bounds]


def _called(mechanism: Mechanism) -> str:
    words = repr(mechanism)
    return words if len(words) <= 90 else words[:87] + "…"


def _on_lattice(step: Answer) -> bool:
    """Whether numbers have only the digits that their mechanism says."""
    mechanism, drawn = step.mechanism, step.drawn
    if not isinstance(mechanism, RealNoise | SmoothNoise) or drawn is None:
        return True
    array: np.ndarray[Any, np.dtype[Any]] = np.asarray(drawn)
    if np.asarray(step.value).dtype.kind in "iu" and not isinstance(mechanism, SmoothNoise):
        return array.dtype.kind in "iu"
    lattice: Lattice = mechanism.lattice
    at_an_end = isinstance(mechanism, SmoothNoise) and drawn in (mechanism.low, mechanism.high)
    steps = np.ldexp(array.astype(np.float64), -lattice.exponent)
    return at_an_end or bool((steps == np.rint(steps)).all())
