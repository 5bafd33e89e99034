"""How a line is written, and the lines that stop an asker after a failure and let them go on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from deniable.errors import BadParameter, LedgerFailure

from . import chain
from .books import Books
from .entry import Entry, opened, sealed
from .halts import Failures, Halts, named_or_none, not_shown, not_stopped, refused, storable
from .stores.store import CommitUnsure, Row, Store, Writing, reached
from .trust import State, broken, refuse_unreadable

Compose = Callable[[Writing, Entry, State], dict[str, object]]


class Stops(Books):
    """Books in which lines are written; an asker whose question failed waits for the curator."""

    def __init__(self, store: Store) -> None:
        self._unwritten: set[str | None] = set()
        """Askers whose stop could not be written: stopped in this process all the same."""
        super().__init__(store)

    def check_asker(self, asker: str | None) -> None:
        """Raise AskerStopped if a failure of this asker's question waits for the curator."""
        self._refuse_stopped(self._now()[0], asker)

    def stop(self, charge: Entry, *, cause: str) -> Entry:
        """Stop the asker of a charge, durably, because reading rows for it failed.

        Charges that were admitted before this line may finish; none is admitted after it. The
        cause is kept beside the lines until the curator resumes. If it cannot be kept, the line is
        written without it; if no line can be written, the asker is stopped in this process.
        """
        try:
            self._check_stop(charge, cause)
            self.mark(charge)
            entry = self._stop_with(charge, cause)
        finally:
            del cause  # a traceback shows its frames' variables
        if isinstance(entry, LedgerFailure):
            entry = self._stop(charge, "")
        elif isinstance(entry, BaseException):
            raise entry
        self._unwritten.discard(charge.asker)
        return entry

    def _check_stop(self, charge: Entry, cause: object) -> None:
        """Raise BadParameter unless this is a charge of this ledger, as the curator sees it."""
        if not isinstance(cause, str):
            raise BadParameter("the cause of a failure must be text", fix='cause="it died"')
        with suppress(LedgerFailure):  # then the asker is stopped in this process at least
            rows = self._store.read(lambda lines: lines.since(charge.sequence, limit=1))
            if charge.kind != "charge" or not rows or rows[0].hash != charge.hash:
                raise BadParameter(
                    "this is not a charge of this ledger",
                    why="a line that stops an asker names the charge that failed",
                    fix="ledger.stop(s.ledger.entries[...], cause=...)    in the curator's session",
                )

    def mark(self, charge: Entry) -> None:
        """Stop the asker of a charge in this process, until `stop` has written its line."""
        self._unwritten.add(charge.asker)

    def settle(self, charge: Entry) -> None:
        """Write the stop line that an interrupt prevented, without the cause of the failure."""
        if charge.asker in self._unwritten:
            self.stop(charge, cause="")

    def _stop_with(self, charge: Entry, cause: str) -> Entry | BaseException:
        """The stop line; or what went wrong, without the frames and errors that hold the cause."""
        try:
            return self._stop(charge, cause)
        except BaseException as error:  # noqa: BLE001  (an interrupt has frames, too)
            error.__cause__ = error.__context__ = None
            return error.with_traceback(None)

    def _stop(self, charge: Entry, cause: str) -> Entry:
        asker = charge.asker
        record = {"kind": "stop", "asker": asker, "charge": charge.sequence}

        def compose(lines: Writing, last: Entry, now: State) -> dict[str, object]:
            if cause:
                lines.keep_cause(last.sequence + 1, storable(cause))
            state = chain.unchanged(last, now.standings.get(asker or ""))
            return record | state | Halts.of(last).stop(asker).to_record()

        return self._write(compose)

    def resume(self, asker: str | None = None, *, seen: Failures | None = None) -> Entry:
        """Let a stopped asker go on, and erase the causes: the curator's to call, after a look.

        It passes over the failures in `seen`, or else those that `failures()` has shown, and is
        refused if there are newer ones; all, if nobody has looked at `failures()` here. The line
        counts in the asker's later certificates, and in the curator's.
        """
        return self.passed_over(asker, seen=seen)[0]

    def passed_over(
        self, asker: str | None = None, *, seen: Failures | None = None
    ) -> tuple[Entry, Failures]:
        """Resume as `resume` does: the new line, and the failures whose causes are erased."""
        record = {"kind": "resume", "asker": named_or_none(asker)}
        unseen: set[int] | None = set() if self._looked else None
        shown = self._shown.get(asker, unseen) if seen is None else {each.stop for each in seen}
        failures = Failures()

        def compose(lines: Writing, last: Entry, now: State) -> dict[str, object]:
            halts = Halts.of(last)
            if asker not in halts.stopped and asker not in self._unwritten:
                raise not_stopped(asker, halts)
            stops = self._waiting(lines, last, {asker: halts.stopped.get(asker, 0)})
            if shown is not None and not shown.issuperset(stop.sequence for stop in stops):
                raise not_shown(asker)
            failures[:] = [self._failure(lines, last, stop) for stop in stops]
            for stop in stops:
                lines.forget_cause(stop.sequence)
            state = chain.unchanged(last, now.standings.get(asker or ""))
            return record | state | halts.resume(asker).to_record()

        entry = self._write(compose)
        self._unwritten.discard(asker)
        self._shown.pop(asker, None)
        return entry, failures

    def _refuse_stopped(self, last: Entry, asker: str | None) -> None:
        if asker in Halts.of(last).stopped or asker in self._unwritten:
            raise refused(asker)

    # ---- the one place where a line is written

    def _write(self, compose: Compose) -> Entry:
        row: Row | None = None

        def act(lines: Writing) -> Row:
            nonlocal row
            last, state = self._catch_up(lines)
            reached("begun")
            record = Halts.of(last).to_record() | compose(lines, last, state)
            state.refuse_to_hide(where=self.where)
            row = sealed(record | {"state": state.digest_after(record)}, after=last)
            refuse_unreadable(row)
            reached("checked")
            lines.append(row)
            if lines.last() != row:
                raise broken(row.sequence, "cannot be found where it was written", where=self.where)
            reached("appended")
            return row

        try:
            kept = self._store.write(act)
        except CommitUnsure as unsure:
            assert row is not None
            raise self._decided(unsure.failure, row) from unsure
        reached("committed")
        return opened(kept)

    def _decided(self, failure: LedgerFailure, row: Row) -> LedgerFailure:
        """Read whether a line whose commit failed was kept; if it was, it counts."""
        found: list[Row] | None = None

        def look(lines: Writing) -> None:  # our turn again: the failed transaction has ended
            nonlocal found
            found = lines.since(row.sequence, limit=1)

        with suppress(LedgerFailure, CommitUnsure):
            self._store.write(look)
        if found is None:
            failure.cost = "unknown until the ledger can be read again; no answer was released"
        elif found and found[0].hash == row.hash:
            failure.cost = "the line was kept and counts; no answer was released"
        return failure
