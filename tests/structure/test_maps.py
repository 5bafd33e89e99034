"""Maps of the code list the files that exist: package docstrings, and ARCHITECTURE.md."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "deniable"
PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py"))

# A line of a map: names, a gap, and what they are. `sql, ibis`, `pure · zcdp` and `stores/` count.
LINE = re.compile(r"^ *(?P<names>\w+/?(?:(?:, | · )\w+/?)*) {2,}\S")


def modules(package: Path) -> set[str]:
    files = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    return files | {path.parent.name for path in package.glob("*/__init__.py")}


def listed(docstring: str) -> set[str]:
    lines = (LINE.match(line) for line in docstring.splitlines()[1:])
    names = (re.split(r", | · ", line["names"]) for line in lines if line)
    return {name.rstrip("/") for each in names for name in each}


def wrong(docstring: str, present: set[str]) -> tuple[set[str], set[str]]:
    """What a map lists and is not there, and what is there and not listed.

    A docstring that lists functions or theorems is not a map: a map names mostly modules.
    """
    names = listed(docstring)
    if not names or 2 * len(names & present) < len(names):
        return set(), set()
    return names - present, present - names


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_package_that_lists_its_modules_lists_those_that_exist(package: Path):
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    gone, unlisted = wrong(docstring, modules(package))
    assert not gone, f"{package} has no {sorted(gone)}"
    assert not unlisted, f"the map of {package} does not list {sorted(unlisted)}"


@pytest.mark.parametrize("large", [p for p in PACKAGES if len(modules(p)) > 8], ids=str)
def test_a_large_package_has_a_map(large: Path):
    docstring = ast.get_docstring(ast.parse((large / "__init__.py").read_text())) or ""
    assert "One file per" in docstring or listed(docstring) & modules(large)


def test_a_map_with_a_missing_or_an_extra_name_is_found():
    text = "A package.\n\n    one, two    both\n    three/      a folder\n"
    assert wrong(text, {"one", "two", "three"}) == (set(), set())
    assert wrong(text, {"one", "two"}) == ({"three"}, set())
    assert wrong(text, {"one", "two", "three", "four"}) == (set(), {"four"})
    assert wrong("A package.\n\n    square(x)    a function\n", {"one"}) == (set(), set())


def paths_in(text: str) -> set[str]:
    """`losses/filters`, `units.py`, `sampling/`: quoted names with a slash or a suffix."""
    return set(re.findall(r"`(?:src/deniable/)?([a-z_][\w/]*(?:/|\.py)|[a-z_]+/[\w/]+)`", text))


def test_architecture_names_files_that_exist():
    found = paths_in((ROOT / "ARCHITECTURE.md").read_text())
    assert len(found) > 10
    missing = {path for path in found if not (SOURCE / path).exists()}
    assert not missing


def test_architecture_names_every_package():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert not {name for name in packages if not re.search(rf"`{name}[`/]", text)}
