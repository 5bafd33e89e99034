"""A docstring says something: what is new has one, what only overrides needs none."""

import ast
import importlib
from pathlib import Path

import pytest
from tests.parsed import nodes

SOURCE = Path(__file__).parents[2] / "src" / "deniable"
FILES = sorted(SOURCE.rglob("*.py"))
SHORTEST = 18  # "Its kind." and "As the other." say nothing


def documented(path: Path) -> list[ast.AST]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in nodes(path) if isinstance(node, kinds)]


def undocumented_methods(path: Path) -> list[str]:
    """Public methods of public classes without a docstring, which override nothing."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
    return [
        f"{held.name}.{each.name}"
        for held in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(held, ast.ClassDef) and not held.name.startswith("_")
        for each in held.body
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")
        if ast.get_docstring(each) is None and not _is_overload(each)
        if not any(each.name in vars(above) for above in vars(module)[held.name].__mro__[1:])
    ]


def _is_overload(method: ast.FunctionDef) -> bool:
    marks = {getattr(mark, "id", getattr(mark, "attr", "")) for mark in method.decorator_list}
    return bool(marks & {"overload", "setter"})


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_what_overrides_nothing_has_a_docstring_and_none_is_a_mere_label(path: Path):
    short = {
        getattr(node, "name", path.stem): text
        for node in documented(path)
        if (text := ast.get_docstring(node)) is not None and len(text) < SHORTEST
    }
    assert not short
    assert not undocumented_methods(path)


def test_a_missing_docstring_and_a_label_would_be_found(tmp_path, monkeypatch):
    """The check itself: of three methods two are new, and one of these says what it is."""
    text = (
        'class Above:\n    def a(self):\n        """Say what this is, once."""\n\n'
        "class Below(Above):\n    def a(self): ...\n    def b(self): ...\n"
    )
    home = tmp_path / "deniable_docs_example"
    home.mkdir()
    (home / "__init__.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(globals(), "SOURCE", home)
    try:
        assert undocumented_methods(home / "__init__.py") == ["Below.b"]
    finally:
        importlib.sys.modules.pop("deniable_docs_example", None)
