"""The reference, from docstrings: one page per mechanism, per error code and per package.

The source is read, not imported, so that no optional package has to be installed.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "deniable"
PACKAGES = {
    "deniable": "The names at the top: `import deniable as dp`",
    "deniable.sensitivity": "Statistics of bounded sensitivity",
    "deniable.losses.textbook": "Composition theorems, to compare",
    "deniable.workload": "Workloads",
    "deniable.synthetic": "Synthetic data",
    "deniable.learn": "Learning",
    "deniable.learn.convex": "Convex optimisation",
    "deniable.local": "The local model",
    "deniable.secure": "Secure sums",
    "deniable.anonymity": "Anonymity",
    "deniable.attacks": "Attacks",
    "deniable.audit": "The auditor",
    "deniable.plots": "Charts",
}

Node = ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class Named:
    """A public name, and the code that defines it."""

    name: str
    node: Node

    @property
    def text(self) -> str:
        """Signature and docstring, as a section of a page."""
        kind = "class " if isinstance(self.node, ast.ClassDef) else ""
        text = f"```text\n{kind}{self.name}{signature(self.node)}\n```\n\n{prose(self.node)}\n"
        return text + "".join(methods(self.node)) if kind else text


def pages() -> dict[str, str]:
    """Every page of the reference by its path below docs/reference."""
    made = {f"mechanisms/{slug(n.name)}.md": mechanism(n) for n in mechanisms()}
    made["mechanisms/index.md"] = overview()
    for package, title in PACKAGES.items():
        made[f"api/{package}.md"] = api(package, title)
    return made | errors()


def slug(name: str) -> str:
    """`DiscreteLaplace` as `discrete-laplace`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


# ---- finding definitions


def parsed(module: Path) -> ast.Module:
    """The syntax tree of a module or package."""
    path = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def find(module: Path, name: str) -> Named | None:
    """Where a name is defined, following `from .x import name` as far as needed."""
    tree = parsed(module)
    for node in tree.body:
        if isinstance(node, Node) and node.name == name:
            return Named(name, node)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}:
            inner = imported(module, node)
            if inner != module and (inner.is_dir() or inner.with_suffix(".py").exists()):
                found = find(inner, name)
                if found:
                    return found
    return None


def imported(module: Path, node: ast.ImportFrom) -> Path:
    """The module that an import names, as a path without suffix."""
    parts = (node.module or "").split(".")
    if not node.level:
        return SOURCE.parent.joinpath(*parts)
    home = module if module.is_dir() else module.parent
    for _ in range(node.level - 1):
        home = home.parent
    return home.joinpath(*parts)


def exported(module: Path) -> list[str]:
    """The public names of a module: those it lists, else those it imports or defines."""
    tree = parsed(module)
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets
        ):
            try:
                return sorted(ast.literal_eval(node.value))
            except ValueError:
                break  # computed: what it imports for type checkers is the list
    named = [
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
        if alias.asname == alias.name and alias.asname is not None
    ]
    defined = [n.name for n in tree.body if isinstance(n, Node) and not n.name.startswith("_")]
    return sorted(named or defined)


def public(package: str) -> list[Named]:
    """The classes and functions of a package, by name."""
    home = SOURCE.joinpath(*package.split(".")[1:])
    found = (find(home, name) for name in exported(home))
    return [each for each in found if each is not None]


def mechanisms() -> list[Named]:
    """Every mechanism: what `deniable.mechanisms` lists, but for the interface itself."""
    return [n for n in public("deniable.mechanisms") if n.name not in ("Mechanism", "Step")]


# ---- writing


def signature(node: Node) -> str:
    """`(*, epsilon: float, sensitivity: float = 1.0)`: fields of a dataclass, or arguments."""
    if isinstance(node, ast.FunctionDef):
        back = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return f"({wrapped(ast.unparse(node.args))}){back}"
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            each.args.args = each.args.args[1:]
            return f"({wrapped(ast.unparse(each.args))})"
    fields = [
        ast.unparse(each)
        for each in node.body
        if isinstance(each, ast.AnnAssign) and "ClassVar" not in ast.unparse(each.annotation)
    ]
    return f"(*, {wrapped(', '.join(fields))})" if fields and dataclass_like(node) else ""


def dataclass_like(node: ast.ClassDef) -> bool:
    """Whether its fields are its parameters."""
    return any("dataclass" in ast.unparse(each) for each in node.decorator_list)


def wrapped(arguments: str) -> str:
    """Arguments on one line if they fit."""
    if len(arguments) < 80:
        return arguments
    return "\n    " + re.sub(r", (?=\*|\w+:|\w+=)", ",\n    ", arguments) + ",\n"


def prose(node: Node | ast.Module) -> str:
    """A docstring as text: paragraphs stay, tables and examples keep their columns."""
    text = ast.get_docstring(node) or ""
    blocks = re.split(r"\n\s*\n", text)
    return "\n\n".join(fenced(each) for each in blocks)


def fenced(block: str) -> str:
    """A paragraph, or a fence around what is laid out in columns or is code."""
    laid_out = re.search(r"^>>> |^ {4}|\S {2,}\S", block, re.MULTILINE)
    if not laid_out:
        return re.sub(r"(?<![\\`])([*_<|])", r"\\\1", block) if "`" not in block else block
    kind = "python" if ">>> " in block else "text"
    return f"```{kind}\n{block}\n```"


def methods(node: ast.ClassDef) -> Iterator[str]:
    """The public methods, each with its first line."""
    listed = [
        each
        for each in node.body
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")
    ]
    for number, each in enumerate(listed):
        if not number:
            yield "\n| method | |\n|---|---|\n"
        first = (ast.get_docstring(each) or "").split("\n")[0].replace("|", "\\|")
        yield f"| `{each.name}` | {first} |\n"


def mechanism(named: Named) -> str:
    """The page of one mechanism."""
    text = f"# {named.name}\n\n{named.text}\n"
    return text + "\nEvery mechanism also has what [all mechanisms share](index.md).\n"


def overview() -> str:
    """All mechanisms with the first line of each, and what they share."""
    text = "# Mechanisms\n\n| mechanism | |\n|---|---|\n"
    for named in mechanisms():
        first = (ast.get_docstring(named.node) or "").split("\n")[0].partition(": ")[2]
        text += f"| [{named.name}]({slug(named.name)}.md) | {first.replace('|', chr(92) + '|')} |\n"
    shared = find(SOURCE / "mechanisms", "Mechanism")
    assert shared is not None
    return f"{text}\n## What all mechanisms share\n\n{shared.text}\n"


def api(package: str, title: str) -> str:
    """A page with every public name of a package."""
    home = SOURCE.joinpath(*package.split(".")[1:])
    text = f"# {package}\n\n*{title}*\n\n" if package == "deniable" else f"# {title}\n\n"
    text += f"`{package}`\n\n" if package != "deniable" else ""
    text += prose(parsed(home)) + "\n"
    for named in public(package):
        text += f"\n## {named.name}\n\n{named.text}"
    return text


# ---- errors


def errors() -> dict[str, str]:
    """One page per error code, from its class and from the table of all errors."""
    docs = Path(__file__).parents[1]
    table = (docs / "errors" / "README.md").read_text(encoding="utf-8")
    classes = {n.name: n for n in parsed(SOURCE / "errors").body if isinstance(n, ast.ClassDef)}
    made = {}
    for code, name, when in re.findall(r"^\| (DP\d+) \| (.*?) \| (.*) \|$", table, re.MULTILINE):
        node = classes.get(name.strip("`"))
        text = f"# {code}: {name}\n\n{when}\n\n"
        if node is not None:
            bases = ", ".join(f"`{ast.unparse(base)}`" for base in node.bases)
            text += f"{prose(node)}\n\nCatch it as `dp.{node.name}`; it is also a {bases}.\n\n"
        made[f"../errors/{code}.md"] = text + example(docs, code) + mentions(docs, code)
    return made


def example(docs: Path, code: str) -> str:
    """How an error comes about and reads, from the page of all examples."""
    text = (docs / "errors" / "examples.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {code}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"{code} has no example"
    return f"## Example\n{found[1]}\nThe tables are those of [all examples](examples.md).\n\n"


def mentions(docs: Path, code: str) -> str:
    """The pages that speak about an error."""
    found = sorted(
        page.relative_to(docs)
        for page in docs.rglob("*.md")
        if code in page.read_text(encoding="utf-8") and page.parent.name != "errors"
    )
    lines = [f"* [{title(docs / page)}](../{page})" for page in found]
    return "## Read more\n\n" + "\n".join([*lines, "* [All errors](index.md)"]) + "\n"


def title(page: Path) -> str:
    """The first heading of a page."""
    return page.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ")
