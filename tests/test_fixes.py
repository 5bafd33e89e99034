"""A fix is a value: its text is made where it is shown, and never parsed back."""

import ast
from pathlib import Path

import pytest
from tests.parsed import nodes

from deniable import errors, fixes
from deniable.fixes import Fix

SOURCE = Path(errors.__file__).parent
MADE = {
    "bounds": errors.MissingBounds.of("AVG(x)", "x", table="t", type="int"),
    "dates": errors.MissingBounds.of("AVG(x)", "x", table="t", type="date"),
    "rule": errors.MissingRule.of("x", table="t"),
    "unit": errors.MissingUnit.of("t"),
    "keys": errors.UnknownKeys.of("city"),
    "amount": errors.BadParameter.of(
        "spend", 1, must="a loss", fix=fixes.amount("spend", "rho", 2)
    ),
}


@pytest.mark.parametrize("error", MADE.values(), ids=MADE)
def test_in_a_shell_no_fix_speaks_python(error):
    error.medium = "shell"
    assert error.fix
    assert "dp." not in str(error)
    assert "dp." not in str(error.to_json())


def test_ibis_has_its_own_words_and_shares_the_rest():
    error = errors.UnsupportedQuery("x", fix=(fixes.sql("ROUND(x, 2)", ".round(2)"), "ask less"))
    assert error.fix == "ROUND(x, 2)\nask less"
    error.medium = "ibis"
    assert error.fix == ".round(2)\nask less"


def test_notes_stand_in_one_column():
    assert fixes.written([Fix("a", note="one"), Fix("bcd", note="two"), Fix("e")]) == (
        "a      one\nbcd    two\ne"
    )


def test_options_are_quoted_for_a_shell():
    assert fixes.person("it's; rm -rf ~", 3, 2).said("shell") == (
        """--unit 'it'"'"'s; rm -rf ~' --rows 3 --groups 2"""
    )


def test_fixes_are_not_parsed():
    """Nobody cuts, searches or replaces in the text of a fix."""
    for path in SOURCE.rglob("*.py"):
        for node in nodes(path):
            inner = node.value if isinstance(node, ast.Attribute) else None
            if isinstance(inner, ast.Attribute) and inner.attr == "fix":
                assert path.name == "check.py", f"{path}:{node.lineno}"  # indents its lines
