"""Send Ctrl-C at every place where CPython may deliver it while a session charges and draws.

    python interrupting_signals.py release        a value that is computed
    python interrupting_signals.py failure        a value that raises an error with a secret

Each place is a call, or the return of a function in C, in our code and in what of the standard
library keeps the process as it was. A process of its own, because signals reach its main thread
alone, and because a tracer may leave CPython 3.11 with an exception that it never forgets. Prints
what was wrong, and how many places there were, as one JSON object.
"""

import json
import signal
import sys
import traceback
import warnings
from pathlib import Path

import pyarrow as pa

import deniable as dp
from deniable.ledger import open_ledger
from deniable.session import drawing

SOURCE = (str(Path(dp.__file__).parent), warnings.__file__, signal.__file__, "<frozen")
SECRET = "987654321"
TABLE = pa.table({"x": [1]})
ROWS = dp.rows()
NOISE = dp.Laplace(scale=8.0)


class Press:
    """Sends SIGINT at the n-th place."""

    def __init__(self, at):
        self.left, self.sent = at, False

    def __call__(self, frame, event, _):
        if event in ("call", "c_return") and frame.f_code.co_filename.startswith(SOURCE):
            self.left -= 1
            if self.left == 0:
                self.sent = True
                sys.setprofile(None)
                signal.raise_signal(signal.SIGINT)


class Value:
    """What is computed: notes, without a call, that it raises an error of its own."""

    def __init__(self, *, fails):
        self.raised, self.error = False, ValueError(f"the salary of Bob is {SECRET}")
        self.fails = fails

    def __call__(self):
        if self.fails:
            self.raised = True
            raise self.error
        return 5


def step(value):
    return NOISE.on(dp.Sensitive(value, l1=1, whole=True))


def shown(error):
    """All that a traceback of it prints, also with the variables of frames of ours."""
    text, frame = "".join(traceback.format_exception(error)), error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename != __file__:
            text += "".join(map(told, frame.tb_frame.f_locals.values()))
        frame = frame.tb_next
    return text


def told(value):
    try:
        return f"{value} {vars(value) if isinstance(value, drawing.Broken) else ''}"
    except AttributeError:  # of what was interrupted while it was made
        return ""


def attempt(at, *, fails):
    """What is wrong after a Ctrl-C at this place; None where there is no such place any more."""
    before = signal.getsignal(signal.SIGINT), warnings.filters, warnings.showwarning
    ledger = open_ledger(budget=dp.epsilon(1.0), unit=ROWS)
    for name in ("ann", "bob"):
        ledger.share(name, amount=dp.epsilon(0.5))
    askers = ("ann", "ann", "bob")
    ann, again, bob = (dp.open(TABLE, unit=ROWS, ledger=ledger, asker=name) for name in askers)
    value, press, wrong = Value(fails=fails), Press(at), []
    asked = step(value)
    try:
        sys.setprofile(press)
        ann.release(asked, question="how many?")
    except KeyboardInterrupt as error:
        sys.setprofile(None)
        wrong += ["a value is shown"] * (SECRET in shown(error))
    except dp.DataFailure:
        pass
    finally:
        sys.setprofile(None)
    if not press.sent:
        return None
    after = signal.getsignal(signal.SIGINT), warnings.filters, warnings.showwarning
    wrong += ["the process is not as it was"] * any(
        a is not b for a, b in zip(before, after, strict=True)
    )
    wrong += ["not charged once"] * (len(ann.ledger.entries) > 4 or ann.spent.epsilon > 1 / 8)
    wrong += after_it(again, bob, stopped=value.raised)
    ledger.verify()
    return wrong


def after_it(again, bob, *, stopped):
    """The asker's other session goes on unless the value failed; somebody else always does."""
    wrong = []
    try:
        bob.release(step(Value(fails=False)))
    except Exception as error:
        wrong.append(f"somebody else cannot ask: {type(error).__name__}")
    written = "ann" in bob._ledger.halts().stopped
    wrong += ["a failure is not written"] * (stopped and not written)
    wrong += ["a stop without a failure"] * (written and not stopped)
    try:
        again.release(step(Value(fails=False)))
        wrong += ["goes on after a failure"] * stopped
    except dp.AskerStopped:
        wrong += ["stopped without a failure"] * (not stopped)
    return wrong


def main(scenario):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    fails, found, at = scenario == "failure", {}, 0
    attempt(10**9, fails=fails)  # everything is loaded
    while (wrong := attempt(at := at + 1, fails=fails)) is not None:
        for each in wrong:
            found.setdefault(each, []).append(at)
    json.dump({"places": at, "wrong": found}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
