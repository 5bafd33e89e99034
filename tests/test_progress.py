"""The line that shows progress: late, on terminals, and gone afterwards."""

import io
import threading

from deniable.progress import Progress


class Terminal(io.StringIO):
    """Notes when something was shown, so that a test waits for it and not for a time."""

    def __init__(self):
        super().__init__()
        self.shown = threading.Event()

    def isatty(self):
        return True

    def flush(self):
        super().flush()
        self.shown.set()


def test_quick_work_shows_nothing():
    terminal = Terminal()
    with Progress("counting", stream=terminal, after=3600):
        pass
    assert terminal.getvalue() == ""


def test_slow_work_shows_itself_and_cleans_up():
    terminal = Terminal()
    with Progress("counting", stream=terminal, after=0.2) as progress:
        progress.text = "counting, step 2"
        assert terminal.shown.wait(240)
    assert "counting, step 2" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[2K")


def test_a_file_or_pipe_gets_nothing():
    stream = io.StringIO()
    with Progress("counting", stream=stream, after=0.0) as progress:
        assert progress._thread is None
    assert stream.getvalue() == ""


def test_a_long_text_is_one_line_that_fits():
    terminal = Terminal()
    with Progress("for rows()\n  from data\n" + "x" * 500, stream=terminal, after=0.0):
        assert terminal.shown.wait(240)
    assert "for rows() from data xxx" in terminal.getvalue()
    assert "\n" not in terminal.getvalue()
    assert max(map(len, terminal.getvalue().split("\r"))) < 80
