"""The syntax of every source file, parsed once per process for all tests of structure."""

import ast
from functools import cache
from pathlib import Path


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file, as `ast.walk` finds them."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
