"""The demo tells the whole story with nothing but the four packages of the core."""

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_the_story_is_told_without_typer_rich_and_frames():
    absent = ["typer", "rich", "pyarrow", "pandas", "polars", "matplotlib"]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({absent}))\n"
        "from deniable.cli import main; sys.exit(main(['demo']))"
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    told = done.stdout
    assert "1  is the difference: they earn more than 50,000." in told
    assert "again, if you repeat the first: free" in told
    assert "error[DP201]" in told
    assert "fix:  spend=dp.epsilon(0.2)" in told
    assert "left      ε 0" in told
    assert "right: No violation found" in told
    assert "wrong: Violated" in told
