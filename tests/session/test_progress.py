"""The line that shows progress: late, on terminals, and gone afterwards."""

import io
import time

from deniable.session.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_quick_work_shows_nothing():
    terminal = Terminal()
    with Progress("counting", stream=terminal):
        pass
    assert terminal.getvalue() == ""


def test_slow_work_shows_itself_and_cleans_up():
    terminal = Terminal()
    with Progress("counting", stream=terminal, after=0.01) as progress:
        progress.text = "counting, step 2"
        time.sleep(0.5)
    assert "counting, step 2" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[2K")


def test_a_file_or_pipe_gets_nothing():
    stream = io.StringIO()
    with Progress("counting", stream=stream, after=0.0):
        time.sleep(0.3)
    assert stream.getvalue() == ""


def test_a_long_text_is_one_line_that_fits():
    terminal = Terminal()
    with Progress("for rows()\n  from data\n" + "x" * 500, stream=terminal, after=0.01):
        time.sleep(0.5)
    assert "for rows() from data xxx" in terminal.getvalue()
    assert "\n" not in terminal.getvalue()
    assert max(map(len, terminal.getvalue().split("\r"))) < 80
