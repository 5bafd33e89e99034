"""Each idea has one home: symbols and shares of losses, and how many sides a unit's change has."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "deniable"
KINDS = {"Pure", "Approx", "Zcdp", "Gdp", "epsilon", "rho", "mu"}
FIGURES = {"epsilon", "rho", "mu"}
SYMBOLS = {"ε", "δ", "ρ", "μ"}
RELATIONS = {"Relation", "Neighbours"}


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


@pytest.mark.parametrize(
    ("found", "home", "wrong"),
    [
        (compares_relations, "units.py", "2 if unit.relation is Relation.REPLACE else 1"),
        (compares_relations, "units.py", "relation == 'add_remove'"),
        (lists_symbols, "losses/", "{Pure: 'ε', Zcdp: 'ρ'}"),
        (lists_symbols, "losses/", "{'ε': 'epsilon', 'ρ': 'rho'}"),
        (makes_a_share, "losses/", "losses.mu(budget.mu / 10)"),
    ],
)
def test_what_is_decided_in_one_place_is_decided_nowhere_else(found, home, wrong):
    assert any(map(found, ast.walk(ast.parse(wrong)))), "the check would not see the fault"
    elsewhere = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        if not str(path.relative_to(SOURCE)).startswith(home)
        for node in ast.walk(ast.parse(path.read_text()))
        if found(node)
    ]
    assert not elsewhere
