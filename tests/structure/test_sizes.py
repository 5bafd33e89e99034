"""Medians are fine everywhere; bugs live in the tails. So the maximum is policed."""

import ast
from pathlib import Path

import pytest
from tests.parsed import nodes

ROOT = Path(__file__).parents[2]
FILES = sorted(p for top in ("src", "tests", "bench") for p in (ROOT / top).rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION, FULLEST_FOLDER = 400, 40, 16


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FILES, ids=name)
def test_no_file_is_longer_than_400_lines(path: Path):
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


def body_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    return function.end_lineno - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("path", [p for p in FILES if "src" in p.parts], ids=name)
def test_no_function_is_longer_than_40_lines(path: Path):
    functions = [
        node for node in nodes(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    too_long = {f.name: body_length(f) for f in functions if body_length(f) > LONGEST_FUNCTION}
    assert not too_long


def test_the_size_check_can_fail():
    source = "def f():\n    'doc'\n" + "    x = 1\n" * (LONGEST_FUNCTION + 1)
    (function,) = ast.parse(source).body
    assert body_length(function) == LONGEST_FUNCTION + 1


@pytest.mark.parametrize("folder", sorted({p.parent for p in FILES if "src" in p.parts}), ids=name)
def test_no_folder_holds_more_than_a_reader_can_survey(folder: Path):
    assert len(list(folder.glob("*.py"))) <= FULLEST_FOLDER
