"""Each idea has one home: symbols and shares of losses, sides of a unit, kinds of sources."""

import ast
from pathlib import Path

import pytest
from tests.parsed import nodes

SOURCE = Path(__file__).parents[2] / "src" / "deniable"
KINDS = {"Pure", "Approx", "Zcdp", "Gdp", "epsilon", "rho", "mu"}
FIGURES = {"epsilon", "rho", "mu"}
SYMBOLS = {"ε", "δ", "ρ", "μ"}
RELATIONS = {"Relation", "Neighbours"}
SOURCES = {
    node.name: statement.value.value
    for path in (SOURCE / "session" / "sources").glob("*.py")
    for node in nodes(path)
    if isinstance(node, ast.ClassDef)
    for statement in node.body
    if isinstance(statement, ast.AnnAssign) and getattr(statement.target, "id", "") == "kind"
    if isinstance(statement.value, ast.Constant)
}


def compares_relations(node: ast.AST) -> bool:
    """`unit.relation is Relation.REPLACE`, or a comparison of `relation` with a text."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    members = any(
        isinstance(part, ast.Attribute)
        and isinstance(part.value, ast.Name)
        and part.value.id in RELATIONS
        for side in sides
        for part in ast.walk(side)
    )
    texts = {side.value for side in sides if isinstance(side, ast.Constant)}
    named = any(
        getattr(s, "id", getattr(s, "attr", "")) in ("relation", "neighbours") for s in sides
    )
    return members or (named and bool(texts & {"add_remove", "replace"}))


def lists_symbols(node: ast.AST) -> bool:
    """A table from kinds or names to symbols, or back."""
    if not isinstance(node, ast.Dict):
        return False
    texts = {part.value for part in [*node.keys, *node.values] if isinstance(part, ast.Constant)}
    return len(texts & SYMBOLS) > 1


def makes_a_share(node: ast.AST) -> bool:
    """`Zcdp(budget.rho / 10)`: a loss from a figure of another, multiplied or divided."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    return name in KINDS and any(
        isinstance(part, ast.BinOp)
        and isinstance(part.op, ast.Mult | ast.Div)
        and any(isinstance(p, ast.Attribute) and p.attr in FIGURES for p in ast.walk(part))
        for part in ast.walk(node.args[0])
    )


def tells_sources_apart(node: ast.AST) -> bool:
    """`table.source.kind == "csv"`, a match of it, or its class asked for."""
    if not isinstance(node, ast.Compare | ast.Match | ast.Call):
        return False
    asked = node.subject if isinstance(node, ast.Match) else node
    parts = list(ast.walk(node))
    if isinstance(node, ast.Call):
        named = {getattr(part, "id", getattr(part, "attr", "")) for part in parts}
        return getattr(node.func, "id", "") == "isinstance" and bool(named & set(SOURCES))
    kinds = any(isinstance(p, ast.Attribute) and p.attr == "kind" for p in ast.walk(asked))
    texts = {part.value for part in parts if isinstance(part, ast.Constant)}
    return kinds and bool(texts & set(SOURCES.values()))


@pytest.mark.parametrize(
    ("found", "home", "wrong"),
    [
        (compares_relations, "units.py", "2 if unit.relation is Relation.REPLACE else 1"),
        (compares_relations, "units.py", "relation == 'add_remove'"),
        (lists_symbols, "losses/", "{Pure: 'ε', Zcdp: 'ρ'}"),
        (lists_symbols, "losses/", "{'ε': 'epsilon', 'ρ': 'rho'}"),
        (makes_a_share, "losses/", "losses.mu(budget.mu / 10)"),
        (tells_sources_apart, "session/sources/", "table.source.kind in ('csv', 'parquet')"),
        (tells_sources_apart, "session/sources/", "match t.kind:\n    case 'spark':\n        pass"),
        (tells_sources_apart, "session/sources/", "isinstance(table.source, CsvFiles)"),
    ],
)
def test_what_is_decided_in_one_place_is_decided_nowhere_else(found, home, wrong):
    assert any(map(found, ast.walk(ast.parse(wrong)))), "the check would not see the fault"
    elsewhere = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        if not str(path.relative_to(SOURCE)).startswith(home)
        for node in nodes(path)
        if found(node)
    ]
    assert not elsewhere


def test_every_kind_of_source_is_known_by_name():
    assert len(SOURCES) == len(set(SOURCES.values())) == 10
