"""The notebooks of the tour run in a real kernel, and show their pictures.

Two pages each time: the first, and another that follows from the text of all of them, so that it
is the same in every process and on every day. `script/docs --run` runs all of them.
"""

import json
import os
import subprocess
import sys
import sysconfig
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))

import notebooks  # noqa: E402  the builder is not installed

PAGES = sorted((ROOT / "docs" / "tour").glob("[0-9]*.md"))
OTHER = zlib.crc32(b"".join(page.read_bytes() for page in PAGES)) % (len(PAGES) - 1) + 1
RUN = PAGES if os.environ.get("DENIABLE_TOUR") == "all" else [PAGES[0], PAGES[OTHER]]

pytestmark = pytest.mark.xdist_group("notebook")


def outputs(page: Path, folder: Path) -> list[list[dict[str, str]]]:
    """What each code cell of a page's notebook shows, in a kernel of its own.

    The kernel is that of the notebook environment; the packages that pages use (matplotlib, pandas)
    are those of the tests.
    """
    python = subprocess.run(
        [ROOT / "script" / "setup", "notebook"], check=True, capture_output=True, text=True
    ).stdout.strip()
    book = json.loads(notebooks.notebook(page))
    cells = ["".join(c["source"]) for c in book["cells"] if c["cell_type"] == "code"]
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "DENIABLE"))}
    beside = {"PYTHONPATH": sysconfig.get_path("purelib"), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [ROOT / python, ROOT / "tests" / "notebook" / "kernel.py"],
        input=json.dumps(cells),
        cwd=folder,
        env=plain | beside,
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_a_notebook_of_the_tour_runs_and_shows_its_pictures(page, tmp_path):
    shown = [output for cell in outputs(page, tmp_path) for output in cell]
    assert [each["error"] for each in shown if "error" in each] == []
    assert any("image/png" in each for each in shown)
