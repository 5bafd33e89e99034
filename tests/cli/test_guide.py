"""Every command in the guide runs, and ends as the guide says."""

import re
import shlex
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "command-line.md"
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """Each command with the error it must end in, if any."""
    lines = [line for block in BLOCK.findall(GUIDE.read_text()) for line in block.splitlines()]
    pairs = zip(lines, [*lines[1:], ""], strict=True)
    return [(a, b if b.startswith("error") else "") for a, b in pairs if a.startswith("$ ")]


def test_the_guide_runs_from_top_to_bottom(people, say):
    listed = commands()
    assert len(listed) > 15
    for line, error in listed:
        _, program, *words = shlex.split(line)
        assert program == "deniable"
        said = say(*words, code=1 if error else 0)
        assert said.stderr.startswith(error), line


def test_every_command_is_in_the_guide():
    from deniable.cli.app import app

    names = {command.name for command in app.registered_commands}
    assert not [name for name in names if f"deniable {name}" not in GUIDE.read_text()]
