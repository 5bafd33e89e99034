"""A copy of the project in which one mutant at a time is tested."""

import contextlib
import importlib
import json
import os
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path

import pytest

from .covering import ROOT
from .weakening import Mutant

PARTS = ("src", "tests", "docs", "pyproject.toml", "README.md")
# Imported once here and inherited by each run: most of a short run would be these imports.
HEAVY = (
    "numpy", "scipy.stats", "scipy.optimize", "duckdb", "sqlglot", "pyarrow", "mpmath", "pandas",
    "hypothesis.strategies", "schemathesis.pytest.plugin", "pyarrow.parquet", "pyarrow.compute",
)  # fmt: skip
CRASHED = (3, 4)  # pytest's codes where not even the collection worked
# Weakened code may be run by root, and must not be given what all programs share.
SHARED = "tests/ledger/test_files.py::test_a_path_that_cannot_be_a_ledger_is_refused_in_our_words"
LEFT_OUT = (f"{SHARED}[device-new]", f"{SHARED}[device-old]")
COLLECTING = "collecting the tests"
HANGS = 60  # seconds of one test; it is a hang if the clean copy needs less than a quarter


class CleanCopyFails(Exception):
    """Nothing can be judged: pytest crashes without any mutant."""


class Scratch:
    """Runs tests on a weakened copy, and believes a failure only where the clean copy passes."""

    def __init__(self, folder: Path) -> None:
        skipped = shutil.ignore_patterns("__pycache__", ".hypothesis")
        for part in PARTS:
            place = ROOT / part
            if place.is_dir():
                shutil.copytree(place, folder / part, ignore=skipped)
            else:
                shutil.copy(place, folder / part)
        self.folder = folder
        self.broken: set[str] = set()  # tests that fail on the clean copy, and judge nobody
        self.writes = 0
        for name in HEAVY:
            importlib.import_module(name)

    def tried(
        self, mutant: Mutant, tests: list[str], seconds: float, *, slow: bool
    ) -> tuple[str, str]:
        """The outcome with these tests, and the test that noticed."""
        if not tests:
            return "survived", ""
        with self._weakened(mutant):
            code, failed, hung = self._run(["-x", *tests], seconds, slow=slow)
            alone: set[str] = set()  # tests that fail only after others: they judge nobody here
            while failed and not self._run(["-x", *sorted(failed)], HANGS, slow=True)[1]:
                alone |= failed
                left = [part for test in sorted(alone) for part in ("--deselect", test)]
                code, failed, hung = self._run(["-x", *left, *tests], seconds, slow=slow)
            if hung not in {"", COLLECTING}:  # once more: perhaps it was the machine that stood
                code, failed, hung = self._run(["-x", hung], HANGS, slow=True)
        again = ["--collect-only", *tests] if hung == COLLECTING else [hung]
        if hung and self._run(again, HANGS, slow=True, hangs=HANGS / 4)[0] == 0:
            return "killed", hung
        if code in CRASHED and not failed - {""}:  # nothing could be imported
            self._clean(["--collect-only", *tests], HANGS, hangs=HANGS)
            return "killed", COLLECTING
        if failed:
            return "killed", min(failed)
        return ("survived" if code in {0, 5} else "timed out"), ""

    def doubt(self, tests: set[str]) -> set[str]:
        """Those of the tests that fail on the clean copy too; they are left out from now on."""
        if not tests:
            return set()
        failed = self._clean(sorted(tests), 1200, hangs=600)
        self.broken |= failed
        return failed

    def _clean(self, tests: list[str], seconds: float, *, hangs: float) -> set[str]:
        """The tests that fail on the clean copy; if pytest itself does, no kill can be believed."""
        code, failed, _ = self._run(tests, seconds, slow=True, hangs=hangs)
        if code in CRASHED:
            raise CleanCopyFails(*tests)
        return failed

    @contextlib.contextmanager
    def _weakened(self, mutant: Mutant):
        file = self.folder / mutant.path
        clean = file.read_text(encoding="utf-8")
        self._write(file, mutant.applied(clean))
        try:
            yield
        finally:
            self._write(file, clean)

    def _write(self, file: Path, text: str) -> None:
        """With a time of its own: compiled code is recognised by the second and the length."""
        file.write_text(text, encoding="utf-8")
        self.writes += 1
        os.utime(file, (self.writes, self.writes))

    def _run(self, tests, seconds, *, slow, hangs=HANGS) -> tuple[int, set[str], str]:
        """pytest's code, the tests that failed, and the one that hung."""
        cache, shown = self.folder / "cache", self.folder / "shown"
        shutil.rmtree(cache, ignore_errors=True)
        shown.write_bytes(b"")
        given = ["-v", "--no-header", "--tb=no", "-o", f"cache_dir={cache}", "--timeout=0"]
        given += ["--assert=plain"]  # nobody reads why a test failed
        given += ["-k", "not spark", "--hypothesis-profile=deniable-ci"]
        given += [] if slow else ["-m", "not slow"]
        out = sorted({*self.broken, *LEFT_OUT})
        given += [part for test in out for part in ("--deselect", test)]
        child = os.fork()
        if child == 0:
            self._become(shown, [*given, *tests])
        code, hung = _awaited(child, shown, seconds * busy(), hangs * busy())
        kept = cache / "v/cache/lastfailed"
        failed = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
        return code, set(failed), hung

    def _become(self, shown: Path, given: list[str]) -> None:
        """In the child: forget this copy, be pytest in the other, and end."""
        code = 3
        # Shells start what runs in the background with interrupts ignored; some tests send one.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            for name in [n for n in sys.modules if n.partition(".")[0] in {"tests", "deniable"}]:
                del sys.modules[name]
            out = os.open(shown, os.O_WRONLY | os.O_APPEND)
            os.dup2(out, 1)
            os.dup2(out, 2)
            os.chdir(self.folder)
            sys.path[:0] = [str(self.folder), f"{self.folder}/src"]
            os.environ |= {"PYTHONPATH": f"{self.folder}/src", "DENIABLE_TESTING": "1"}
            code = int(pytest.main(given))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)


def busy() -> float:
    """How many times as long everything takes here as on a quiet machine, about."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def _awaited(child: int, shown: Path, seconds: float, hangs: float) -> tuple[int, str]:
    """The child's code, or −1 when time is up, and the test that ran when nothing moved."""
    begun = moved = time.monotonic()
    seen, hung = 0, ""
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), hung
        time.sleep(0.1)
        now, size = time.monotonic(), shown.stat().st_size
        if size != seen:
            seen, moved = size, now
        if now - moved > hangs:
            hung = _running(shown)
        if hung or now - begun > seconds + hangs:
            _stopped(child)
            return -1, hung


def _running(shown: Path) -> str:
    last = shown.read_text(encoding="utf-8", errors="replace").rpartition("\n")[2].strip()
    return last if "::" in last else COLLECTING


def _stopped(child: int) -> None:
    """Interrupted, so that servers are stopped; after half a minute, killed."""
    for sign in (signal.SIGINT, signal.SIGKILL):
        os.kill(child, sign)
        for _ in range(300):
            if os.waitpid(child, os.WNOHANG)[0]:
                return
            time.sleep(0.1)
