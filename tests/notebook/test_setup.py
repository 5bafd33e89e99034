"""Environments are made once, however many ask for them at the same time."""

import shutil
import subprocess
from pathlib import Path

SETUP = Path(__file__).parents[2] / "script" / "setup"


def test_an_environment_asked_for_three_times_at_once_is_made_once(tmp_path):
    for folder in ("script", "requirements", "src"):
        (tmp_path / folder).mkdir()
    shutil.copy(SETUP, tmp_path / "script")
    (tmp_path / "requirements" / "empty.txt").touch()
    asked = [
        subprocess.Popen(
            [tmp_path / "script" / "setup", "empty"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    said = [each.communicate(timeout=300) for each in asked]
    assert [each.returncode for each in asked] == [0, 0, 0], said
    assert {path.strip() for path, _ in said} == {".venv/empty/bin/python"}
    assert sum("setting up" in news for _, news in said) == 1
