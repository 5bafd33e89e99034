"""A pool of worker processes: each takes one task at a time, and a dead one is replaced.

Long tasks (by their kind, such as fits) have all workers but one at most, so that a short one waits
for other short ones alone. Workers come from a fork server that has loaded the library but no data,
so a new one is quick.
"""

from __future__ import annotations

import multiprocessing as mp
import queue
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from multiprocessing.connection import Connection
from typing import Any, Final

from deniable.errors import NotReady
from deniable.server.folder import Group

from .work import work

_CONTEXT: Final = mp.get_context("forkserver")
_LOADED: Final = ["deniable.server.jobs.work", "deniable.query.sql.select", "duckdb"]
_CONTEXT.set_forkserver_preload(_LOADED)


class Died(Exception):
    """The process ended while it had a task: by its deadline, its memory limit, or a crash."""

    def __init__(self, code: int | None) -> None:
        super().__init__(code)
        self.code = code

    @property
    def cause(self) -> str:
        """Why the worker ended, for the curator alone."""
        if self.code == -14:
            return "the question took longer than the deadline, and its process was ended"
        return f"the process that computed the answer ended with code {self.code}"


class Worker:
    """One process and the pipe to it."""

    def __init__(self, *arguments: Any) -> None:
        self._arguments = self._begun_with = arguments
        self._process: Any = None
        self._pipe: Connection | None = None

    @property
    def pid(self) -> int | None:
        """The process, once it was needed."""
        return None if self._process is None else self._process.pid

    def do(self, task: Mapping[str, object]) -> dict[str, Any]:
        """What the process says to a task; Died if it ended instead."""
        pipe = self._started()
        try:
            pipe.send(dict(task))
            answer: dict[str, Any] = pipe.recv()
        except (EOFError, OSError):
            process = self._process
            if process is None:  # the server stopped it
                raise Died(None) from None
            process.join(5)
            code = process.exitcode
            self.stop()
            raise Died(code) from None
        return answer

    def renew(self, *arguments: Any) -> None:
        """Take the next task in a new process, begun with these arguments."""
        self._arguments = arguments

    def _started(self) -> Connection:
        old = self._begun_with is not self._arguments
        if self._pipe is None or old or not self._process.is_alive():
            self.stop()
            self._begun_with = self._arguments
            ours, theirs = _CONTEXT.Pipe()
            self._process = _CONTEXT.Process(
                target=work, args=(theirs, *self._begun_with), daemon=True
            )
            self._process.start()
            theirs.close()
            self._pipe = ours
        return self._pipe

    def stop(self) -> None:
        """End the worker's process."""
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None and self._process.is_alive():
            self._process.join(0.2)
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None


class Workers:
    """Idle workers wait here for whoever comes next."""

    def __init__(
        self,
        count: int,
        *,
        groups: Mapping[str, Group],
        ledgers: Mapping[str, str],
        memory: int,
        deadline: float,
    ) -> None:
        self._limits = memory, deadline
        self.all = [Worker(groups, ledgers, *self._limits) for _ in range(count)]
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self.all:
            self._idle.put(worker)
        self._long = threading.BoundedSemaphore(max(1, count - 1))

    def renew(self, groups: Mapping[str, Group], ledgers: Mapping[str, str]) -> None:
        """Answer from these tables from the next task on; tasks under way are not disturbed."""
        for worker in self.all:
            worker.renew(groups, ledgers, *self._limits)

    @contextmanager
    def one(self, *, patience: float, long: bool = False) -> Iterator[Worker]:
        """A worker for the block; NotReady if none is free in time."""
        end = time.monotonic() + patience
        with self._among_long(patience) if long else nullcontext():
            try:
                worker = self._idle.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise _busy() from None
            try:
                yield worker
            finally:
                self._idle.put(worker)

    @contextmanager
    def _among_long(self, patience: float) -> Iterator[None]:
        if not self._long.acquire(timeout=patience):
            raise _busy()
        try:
            yield
        finally:
            self._long.release()

    def warm(self) -> None:
        """Start every process in the background, and let each open its tables."""
        threading.Thread(target=self._warmed, daemon=True).start()

    def _warmed(self) -> None:
        with ExitStack() as stack, suppress(Died, NotReady):
            every = [stack.enter_context(self.one(patience=60)) for _ in self.all]
            for worker in every:
                worker.do({"kind": "ready"})

    def stop(self) -> None:
        """End every process."""
        for worker in self.all:
            worker.stop()


def _busy() -> NotReady:
    return NotReady("the server is busy", fix="ask again in a minute")
