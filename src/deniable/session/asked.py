"""What a session is asked to release, and what it hands out.

Steps are checked by public facts, also for which neighbours their price is proved, and priced
together. An answer says where it came from, as far as whoever asked may know it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from deniable import parameters
from deniable.errors import (
    NOTHING_SPENT,
    BadParameter,
    DeniableError,
    SensitivityMismatch,
    UnitMismatch,
)
from deniable.ledger import Entry, Ledger
from deniable.ledger.answers import Recalled
from deniable.ledger.chain import given
from deniable.losses import Loss
from deniable.losses.filters import Price
from deniable.mechanisms import Mechanism, Step
from deniable.mechanisms.combine import Composed
from deniable.release import Noisy, Provenance, Release, answer_of, spread_of
from deniable.release.numbers import amount
from deniable.release.provenance import version
from deniable.sampling.source import current
from deniable.schema import Column
from deniable.sensitive import Sensitive
from deniable.units import Relation, Unit

from .tables import Table

if TYPE_CHECKING:
    from ._session import Session

Columns = tuple[Mapping[str, tuple[object, ...]], Mapping[str, Noisy]]
"""The keys and the noisy columns of a release."""
_MOST_KEYS: Final = 100


def checked(wanted: object, *, unit: Unit) -> list[Step[Any]]:
    """The steps that were asked for, if a session may release them; public facts decide."""
    parts = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
    if not parts:
        raise BadParameter("cannot release an empty list of steps")
    steps: list[Step[Any]] = []
    for step in parts:
        if not isinstance(step, Step):
            raise BadParameter.of(
                "what is released", step, must="a step", fix="mechanism.on(dp.Sensitive(...))"
            )
        if step.handle is not None and len(parts) > 1:
            raise BadParameter("an opened mechanism answers one step at a time")
        if step.handle is None or not isinstance(step.value, Sensitive):
            step.mechanism.on(step.value)  # a step made by hand is checked like any other
        check_entries(step, unit)
        if step.value.unit is not None and step.value.unit != unit:
            raise UnitMismatch(
                f"the value's bounds are for {step.value.unit}, but the session protects {unit}",
                why="a bound holds only for the privacy unit and relation it was stated for",
                fix=f"dp.Sensitive(..., unit=dp.{unit!r}) with bounds for that unit",
            )
        steps.append(step)
    return steps


@contextmanager
def made_ready(steps: Sequence[Step[Any]]) -> Iterator[None]:
    """What the values need, entered before the charge: what is refused there is free.

    Always in one order, so that two threads which wait for the same things do so in turn.
    """
    needed = {id(each): each for step in steps for each in step.value.ready}
    with ExitStack() as held:
        for _, each in sorted(needed.items()):
            held.enter_context(each)
        yield


def check_proved(mechanism: Mechanism, unit: Unit) -> None:
    """UnitMismatch if the price of the mechanism, or of a part, is not proved for the unit.

    Most proofs need only that neighbours move a value so far, whatever neighbours are. A few lean
    on the relation itself: a Poisson sample has one price for a unit that is there or not and
    another for one that is replaced; a sample of fixed size and a shuffle need one that is
    replaced. Scores are monotonic when a unit is added; when one is replaced, some go up and others
    down, and the saving is not proved.
    """
    for part in mechanism.within():
        stated = getattr(part, "unit", None)
        needed = Relation.ADD_REMOVE if getattr(part, "monotonic", False) else part.priced_for()
        if isinstance(stated, Unit) and stated != unit:
            whom = str(stated)
        elif needed is not None and needed is not unit.relation:
            whom = "units that are " + needed.words
        else:
            continue
        raise UnitMismatch(
            f"{type(part).__name__} is proved private for {whom}, but the session protects {unit}",
            why="its proof covers only those neighbours",
            fix=_fix(part, unit),
        )


def _fix(part: Mechanism, unit: Unit) -> str:
    from deniable.mechanisms import Sampled

    if getattr(part, "monotonic", False):
        return "monotonic=False"
    if isinstance(part, Sampled):
        return f'.sampled(rate={part.rate:g}, relation="{unit.relation.value}")'
    return "another mechanism"


def check_entries(step: Step[Any], unit: Unit) -> None:
    """Refuse a sample drawn row by row where a unit may have several rows, or one not drawn.

    A person may own several rows however few of them count; a row is one unless more is declared.
    """
    sampled = [part for part in step.mechanism.within() if part.draws_units]
    if step.value.form.statistic is not None and not sampled:
        raise BadParameter(
            f"statistic= needs a sampled mechanism, and {type(step.mechanism).__name__} does "
            "not sample",
            fix="dp.Sensitive(lambda: statistic(rows), ...) without statistic=",
        )
    entries = step.value.entries
    if sampled and entries != 1 and (entries or unit.column):
        raise SensitivityMismatch(
            f"{type(sampled[0]).__name__} draws units, and {unit}, may have "
            f"{entries or 'several'} of the rows",
            why="if each row is sampled separately, a unit with several rows is more likely to "
            "be in the sample",
            fix="dp.Sensitive(..., entries=1), with one row for each unit: the sum of its rows",
        )


def together(steps: Sequence[Step[Any]]) -> Mechanism:
    """What is charged for the steps: one mechanism."""
    if len(steps) == 1:
        return steps[0].mechanism
    return Composed.of(*((step.mechanism, 1) for step in steps))


def like(wanted: object, drawn: list[object]) -> object:
    """The answers in the kind of sequence that the steps came in."""
    return tuple(drawn) if isinstance(wanted, tuple) else drawn


def columns_of(steps: Sequence[Step[Any]]) -> Callable[[list[Any]], Columns]:
    """The rows of one step's answer; for several steps one row, with a column for each."""

    def present(drawn: list[Any]) -> Columns:
        if len(steps) == 1:
            keys, answer = answer_of(steps[0].mechanism, steps[0].value.form, drawn[0])
            return keys, {"value": answer}
        spreads = [spread_of(step.mechanism, step.value.form) for step in steps]
        pairs = enumerate(zip(drawn, spreads, strict=True), 1)
        return {}, {f"value_{n}": Noisy(cells=(one,), spread=spread) for n, (one, spread) in pairs}

    return present


# ---- what it hands out


def released(
    session: Session,
    steps: Sequence[Step[Any]],
    columns: Columns,
    loss: Loss,
    *,
    entry: Entry,
    question: str,
    table: str = "",
) -> Release:
    """A new answer, and the charge that paid for it."""
    provenance = Provenance(
        question=question,
        table=table or ", ".join(sorted(session.tables)),
        price=given(entry.price).to_dict(),
        data_version=session.version,
        **facts_of(session, entry),
    )
    return Release(
        keys=columns[0],
        answers=columns[1],
        loss=loss,
        mechanisms=tuple(step.mechanism.to_dict() for step in steps),
        unit=session.unit,
        provenance=provenance,
        randomness=randomness(),
    )


def randomness() -> str:
    """What noise is drawn from, in words."""
    return (type(current()).__doc__ or "").split("\n")[0]


def given_again(session: Session, stored: Recalled) -> Release:
    """A stored answer; an asker sees it as if it had been drawn when they paid for it.

    Otherwise its time, its line or the order of its facts would reveal what others asked. The
    curator sees the charge that first paid for it, and the failures up to now.
    """
    release = Release.from_dict(stored.value)
    if session.asker is None:
        _answer, charge, *_ = stored  # not by its name: of `.charge` there is one in the sessions
        facts = facts_of(session, charge)
        return replace(release, provenance=replace(release.provenance, **facts))
    with after_charge(release.loss if stored.new else None):
        own = facts_of(session, stored.paid) | {"version": version()}
    provenance = replace(release.provenance, **own)
    return replace(
        release,
        mechanisms=tuple(Mechanism.from_dict(each).to_dict() for each in release.mechanisms),
        provenance=provenance,
        free="" if stored.new else provenance.before,
    )


def check_texts(**given: object) -> None:
    """Raise unless what names a question is text, by which its answer is found again."""
    for name, text in given.items():
        if not isinstance(text, str):
            raise BadParameter(f"{name} must be text; you gave {parameters.a_kind(text)}")


def facts_of(session: Session, paid: Entry | None) -> dict[str, Any]:
    """What is public about an answer whoever first asked, and where it was paid for.

    The number of a line shows how many were written before it: that is the curator's to know.
    """
    halts = session.ledger.halts()
    alias = session._ledger.alias  # noqa: SLF001  (an asker's ledger must not hash guessed lines)
    facts = {
        "ledger": session.ledger.where,
        "budget": session.budget.to_dict(),
        "bounds": _stated(session.tables),
        "resumptions": halts.resumptions,
        "failures": halts.failures,
    }
    if paid is None:
        return facts | {"entry": None, "entry_hash": ""}
    return facts | {
        "time": paid.time.isoformat(timespec="seconds"),
        "entry": paid.sequence if session.asker is None else None,
        "entry_hash": paid.hash if session.asker is None else alias(paid),
    }


def _stated(tables: Mapping[str, Table]) -> dict[str, str]:
    """The stated bounds and keys per column, for the certificate; long lists by their hash."""
    return {
        f"{table.name}.{name}": _written(column)
        for table in tables.values()
        for name, column in table.columns.items()
        if column.low is not None or column.keys is not None
    }


def _written(column: Column) -> str:
    whole = column.shown(most=_MOST_KEYS)
    if column.keys is None or len(column.keys) <= _MOST_KEYS:
        return whole
    digest = hashlib.sha256(column.shown(most=len(column.keys)).encode()).hexdigest()
    return f"{column!r} (sha256 of all of it: {digest})"


@contextmanager
def after_charge(loss: Loss | None) -> Iterator[None]:
    """Let whatever fails once a charge stands say what it was; None if it came before."""
    try:
        yield
    except DeniableError as error:
        error.cost = f"{cost(loss)} was spent"
        raise


def cost(loss: Loss | None) -> str:
    """What a question was charged."""
    return "nothing more" if loss is None else amount(loss, "up")


def tell_earlier(error: DeniableError, paid: Sequence[Entry], *, ledger: Ledger) -> None:
    """Let an error that ends an algorithm say also what its earlier steps were charged."""
    free = error.cost.startswith("nothing")  # refused, or paid when a mechanism was opened
    earlier = paid if free else paid[:-1]
    if not earlier:
        return
    price = sum((each.price or Price.zero for each in earlier), start=Price.zero)
    steps = "the step before it" if len(earlier) == 1 else f"the {len(earlier)} steps before it"
    this = f"this step: {error.cost}"
    if error.cost.startswith(NOTHING_SPENT):
        this = error.cost.replace(NOTHING_SPENT, "this step was not charged", 1)
    error.cost = f"{this}; {steps} cost {amount(ledger.filter.spent(price), 'up')}"
