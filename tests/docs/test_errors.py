"""The examples of errors are true: each is raised, and its message is the one that is printed.

After a message was changed: python -m tests.docs.test_errors writes the page anew.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

from deniable import errors

PAGE = Path(__file__).parents[2] / "docs" / "errors" / "examples.md"
CODES = re.findall(r"^\| (DP\d+) \|", (PAGE.parent / "README.md").read_text(), re.MULTILINE)
EXAMPLE = re.compile(
    r"^## (DP\d+)\n\n```py\n(.*?)^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL
)
SETUP = re.search(r"^```py\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]
EXAMPLES = {code: (snippet, told) for code, snippet, told in EXAMPLE.findall(PAGE.read_text())}


def said(snippet: str) -> str:
    """What a snippet prints, or the error that it ends with; the folder is somebody's home."""
    space: dict[str, object] = {}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(SETUP, space)
        try:
            exec(snippet, space)
        except errors.DeniableError as error:
            out.write(f"{error}\n")
    return out.getvalue().replace(str(Path.cwd()), "/home/ann").rstrip() + "\n"


def test_every_code_has_an_example():
    assert list(EXAMPLES) == CODES


@pytest.mark.parametrize("code", CODES)
def test_the_message_is_what_the_example_raises(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DENIABLE_TESTING", raising=False)
    monkeypatch.setitem(sys.modules, "altair", sys.modules.get("altair"))
    snippet, told = EXAMPLES[code]
    assert f"[{code}]: " in told
    assert said(snippet) == told


def main() -> None:
    text = PAGE.read_text()
    os.environ.pop("DENIABLE_TESTING", None)
    for code, snippet, told in EXAMPLE.findall(text):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            block = f"## {code}\n\n```py\n{snippet}```\n\n```text\n"
            text = text.replace(block + told, block + said(snippet))
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
