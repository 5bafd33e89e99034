"""Design decisions are numbered without gaps, and their index names each of them."""

import re
from pathlib import Path

DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"
FILES = sorted(path.name for path in DECISIONS.glob("[0-9]*.md"))


def test_numbers_are_consecutive_and_stand_in_each_title():
    assert [int(name[:2]) for name in FILES] == list(range(1, len(FILES) + 1))
    for number, name in enumerate(FILES, 1):
        assert (DECISIONS / name).read_text().startswith(f"# {number}. "), name


def test_the_index_lists_every_decision_in_order():
    listed = re.findall(
        r"^\| \[(\d+)\]\((\S+)\)", (DECISIONS / "README.md").read_text(), re.MULTILINE
    )
    assert listed == [(str(number), name) for number, name in enumerate(FILES, 1)]
