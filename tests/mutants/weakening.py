"""Places in a module where one small edit may weaken privacy, accounting or a stated ±.

An edit replaces the text of one syntax node, so that the rest of the file stays as it was.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

FLIPS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
SWAPS = {
    "max": "min", "min": "max", "np.maximum": "np.minimum", "np.minimum": "np.maximum",
    "math.ceil": "math.floor", "math.floor": "math.ceil", "np.ceil": "np.floor",
    "np.floor": "np.ceil", "any": "all", "all": "any",
}  # fmt: skip
OUTWARD = ("up", "down", "nextafter", "clip", "ceil")
TOLD = {"__repr__", "__str__", "_repr_html_", "describe", "explain", "show"}
SILENT = (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.JoinedStr, ast.arguments)


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One edit: what was there, what is there now, and the kind of weakening."""

    path: str
    kind: str
    start: int
    end: int
    was: str
    now: str
    line: int

    def applied(self, text: str) -> str:
        assert text[self.start : self.end] == self.was
        return text[: self.start] + self.now + text[self.end :]


def mutants(path: str, text: str) -> Iterator[Mutant]:
    """Every edit of a module, in order."""
    starts = [0]
    for row in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    rows = text.splitlines()

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(rows[line - 1].encode()[:column].decode())

    def span(node: ast.AST) -> tuple[int, int]:
        return place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)

    def source(node: ast.AST) -> str:
        start, end = span(node)
        return text[start:end]

    for node in _judged(ast.parse(text)):
        for kind, first, last, now in _edits(node, source):
            start, end = span(first)[0], span(last)[1]
            was = text[start:end]
            if was != now:
                yield Mutant(
                    path=path, kind=kind, start=start, end=end, was=was, now=now, line=first.lineno
                )


def _judged(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes whose meaning is computed: no annotations, messages, texts or declarations."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        held = [getattr(node, name, None) for name in ("annotation", "returns", "decorator_list")]
        skipped = {id(each) for part in held for each in (part if type(part) is list else [part])}
        children = [
            child
            for child in ast.iter_child_nodes(node)
            if id(child) not in skipped
            and not isinstance(child, SILENT)
            and getattr(child, "name", None) not in TOLD
        ]
        todo.extend(reversed(children))


def _edits(node, source):
    """(kind, first node, last node, new text) for one node."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in FLIPS:
            now = f"{source(left)} {FLIPS[type(op)]} {source(right)}"
            yield "flip a comparison", node, node, now
        case ast.BoolOp(op=op, values=[first, *_]):
            yield f"drop what follows {type(op).__name__.lower()}", node, node, f"({source(first)})"
        case ast.UnaryOp(op=ast.Not(), operand=held):
            yield "drop a not", node, node, f"({source(held)})"
        case ast.BinOp():
            yield from _arithmetic(node, source)
        case ast.Call():
            yield from _calls(node, source)
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            pass  # False wherever code runs
        case ast.If(test=test):
            yield "skip a branch", test, test, "False"
        case ast.IfExp(body=body, orelse=orelse) if not _worded(body, orelse):
            yield "take one branch", node, node, f"({source(body)})"
            yield "take the other branch", node, node, f"({source(orelse)})"
        case ast.Subscript(slice=ast.Slice(lower=ast.Constant(value=int() as at)) as cut):
            yield "off by one", cut.lower, cut.lower, str(at + 1)
    for name in ("body", "orelse", "finalbody"):
        held = getattr(node, name, None)
        if isinstance(held, list):
            yield from _statements(held, source)


def _worded(*nodes):
    """Do they only decide about words?"""
    texts = (isinstance(n, ast.Constant) and isinstance(n.value, str) for n in nodes)
    return any(texts) or any(isinstance(n, ast.JoinedStr) for n in nodes)


def _listed(*nodes):
    """Are they lists or texts, which cannot be subtracted?"""
    kinds = (ast.List, ast.ListComp, ast.Tuple, ast.Constant, ast.JoinedStr)
    parts = [n for node in nodes for n in (node, getattr(node, "left", node))]
    return any(isinstance(n, kinds) and not _number(n) for n in parts)


def _number(node):
    return isinstance(node, ast.Constant) and not isinstance(node.value, str)


def _arithmetic(node, source):
    left, right, op = source(node.left), source(node.right), type(node.op)
    number = next((n.value for n in (node.right, node.left) if isinstance(n, ast.Constant)), None)
    if isinstance(number, str):
        return
    if op in (ast.Mult, ast.Div):
        kept = node.right if isinstance(node.left, ast.Constant) else node.left
        if number == 2 or op is ast.Div or number is None:
            yield "drop a factor", node, node, f"({source(kept)})"
    elif op in (ast.Add, ast.Sub):
        yield "remove a term", node, node, f"({left})"
        if number is None and not _listed(node.left, node.right):
            yield "change a sign", node, node, f"({left} {'-' if op is ast.Add else '+'} {right})"
    elif op is ast.FloorDiv:
        yield "round the other way", node, node, f"-(-({left}) // ({right}))"
    elif op is ast.Pow and number == 2:
        yield "drop a square", node, node, f"({left})"


def _calls(node, source):
    name = source(node.func)
    if name in SWAPS:
        yield "swap a function", node.func, node.func, SWAPS[name]
    if name in {"max", "min"} and len(node.args) == 2:
        for kept in node.args:
            yield "remove a clamp", node, node, f"({source(kept)})"
    short = name.rpartition(".")[2]
    if node.args and (short in OUTWARD or short.endswith("_up")):
        terms = [source(arg) for arg in node.args]
        plain = terms[0]
        if any(isinstance(arg, ast.Starred) for arg in node.args):
            plain = f"sum([{', '.join(terms)}])"
        elif short in {"up", "down", "add_up"}:
            plain = " + ".join(terms)
        yield "round to nearest", node, node, f"({plain})"
    if short in {"sum", "fsum", "prod"} and len(node.args) == 1 and name != "sum":
        yield "forget all but one", node, node, f"max({source(node.args[0])})"


def _statements(body, source):
    for i, each in enumerate(body):
        call = isinstance(each, ast.Expr) and isinstance(each.value, ast.Call | ast.YieldFrom)
        if call:
            yield "forget a statement", each, each, "pass"
        if isinstance(each, ast.AugAssign):
            yield "forget an addition", each, each, "pass"
        follows = body[i + 1] if i + 1 < len(body) else None
        simple = (ast.Assign, ast.Expr, ast.AnnAssign)
        told = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)  # a docstring
        charges = isinstance(each, simple) and not told and "charge(" in source(each)
        if charges and isinstance(follows, simple):
            indent = " " * each.col_offset
            now = f"{source(follows)}\n{indent}{source(each)}"
            yield "charge too late", each, follows, now
