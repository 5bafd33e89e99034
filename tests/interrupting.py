"""Ctrl-C at a chosen line of the code, for every test of what an interruption leaves behind."""

import linecache
import sys
from concurrent.futures import ThreadPoolExecutor


class Interrupt:
    """Raises KeyboardInterrupt at the n-th different line that is run of some files' code.

    Two places are traced at which no signal can strike, because CPython looks for one after a call
    or a jump: a bare `try:`, and the `with` line that is traced once more when its block is left.
    """

    def __init__(self, files, *, at):
        self.files, self.at = files, at
        self.lines, self.where, self.inside = set(), None, set()

    def __call__(self, frame, event, _):
        if not frame.f_code.co_filename.startswith(self.files):
            return None
        here = (frame.f_code.co_filename, frame.f_lineno)
        if event == "line" and here not in self.lines and not self.passed_over(frame):
            self.lines.add(here)
            if len(self.lines) == self.at:
                self.where = here
                raise KeyboardInterrupt
        return self

    def passed_over(self, frame):
        text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        if not text.startswith("with "):
            return text == "try:"
        left = (frame, frame.f_lineno) in self.inside
        self.inside.add((frame, frame.f_lineno))
        return left

    def during(self, run):
        """Run it with this interrupt; only to be called in a thread of its own, by `alone`."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            return run()
        finally:
            sys.settrace(before)


def alone(run):
    """Run it in a thread of its own, and give what it gives.

    Where a tracer raises inside an `except` block, CPython 3.11 never forgets the exception that
    was being handled: whatever is raised later in that thread has it as its context.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(run).result()
