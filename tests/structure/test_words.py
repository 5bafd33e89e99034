"""The project speaks of the project alone."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|(?<!except )NotImplementedError)\b")
MINE = {"tests/structure/test_words.py"}


def texts() -> dict[str, str]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = listed.stdout.split("\n") if listed.returncode == 0 else []
    kept = (n for n in names if Path(n).suffix in {".py", ".md", ".toml", ".txt", ".bib", ""} and n)
    return {n: (ROOT / n).read_text() for n in kept if n not in MINE and (ROOT / n).is_file()}


def test_nothing_is_left_unfinished():
    found = [n for n, text in texts().items() if n.startswith("src/") and UNFINISHED.search(text)]
    assert not found


def test_no_utils_rooms():
    vague = {"utils", "util", "helpers", "helper", "common", "base", "misc", "core"}
    assert not [n for n in texts() if Path(n).stem.strip("_") in vague]
