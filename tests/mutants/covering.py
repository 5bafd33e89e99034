"""Which tests may notice a weakened module, those most likely to notice first."""

import ast
import functools
import importlib.util
import math
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOME = "src/deniable"
WHOLE = ("tests/query/whole", "tests/query/adversary")
BACK = ("tests/query/back", "tests/query/aggregates", "tests/query/allocate", *WHOLE)
# What is weakened, and which tests cover it besides those of the same name and folder.
COVER = {
    "sampling": ("tests/conformance", "tests/mechanisms"),
    "losses": ("tests/conformance", "tests/mechanisms", "tests/test_calibration.py"),
    "mechanisms": ("tests/conformance", "tests/session", "tests/query/whole"),
    "sensitivity": ("tests/conformance", "tests/mechanisms/frameworks"),
    "session": ("tests/ledger", "tests/statistics", "tests/query/ibis", "tests/query/fuzz", *WHOLE),
    "ledger": ("tests/session", "tests/statistics", "tests/faults"),
    "local": ("tests/conformance",),
    "workload": BACK,
    "query/integers": ("tests/query/test_integers.py", "tests/query/test_groups.py", *BACK),
    "query/compile": (*BACK, "tests/query/fuzz"),
    "query/aggregates": ("tests/workload", *BACK),
    "query/allocate": WHOLE,
    "query/answer": ("tests/query/test_answer.py", *WHOLE),
    "query/bind": ("tests/query/front", *BACK),
    "release": ("tests/query/allocate", "tests/query/aggregates", "tests/session", *WHOLE),
    "schema": ("tests/query/front", *BACK),
    "units": ("tests/session", "tests/mechanisms", *BACK),
    "sensitive": ("tests/test_sensitive_algebra.py", "tests/session", "tests/conformance"),
    "forms": ("tests/test_forms_of_numbers.py", "tests/session", "tests/conformance"),
    "synthetic": ("tests/conformance", "tests/test_sensitive_algebra.py"),
    "learn": ("tests/conformance", "tests/test_sensitive_algebra.py"),
    "secure": ("tests/conformance",),
    "server/jobs": ("tests/faults/test_server_crash.py",),
}


def covering(path: str, line: int = 1) -> list[str]:
    """The module's examples, the test of its name, then files that use its rarest names most."""
    inner = Path(path).relative_to(HOME)
    name = _test_of(path)
    folders = [f"tests/{each}" for each in inner.parents if each not in {Path(), Path("query")}]
    places = (f"tests/{name}", *folders, *COVER[package(path)])
    found = dict.fromkeys(file for place in places for file in _files(place))
    weights = _weights(path, line)
    value = {f: sum(weights[word] for word in _words(f) & weights.keys()) for f in found}
    return [path, *sorted(found, key=lambda f: (Path(f).name != name, -value[f]))]


def naming(path: str, line: int) -> list[str]:
    """The file of the module's name, then the dozen tests that say most of the names around.

    The rarest names count most.
    """
    around = {name: weight for name, weight in _weights(path, line).items() if weight > 5}
    files = covering(path, line)[1:]
    own = [file for file in files[:1] if Path(file).name == _test_of(path)]
    value = {
        test: sum(around[word] for word in words & around.keys())
        for file in files
        if file not in own
        for test, words in _tests(file).items()
    }
    return own + sorted((test for test in value if value[test]), key=lambda t: -value[t])[:12]


def _test_of(path: str) -> str:
    return f"test_{Path(path).stem.strip('_')}.py"


def package(path: str) -> str:
    inner = Path(path).relative_to(HOME).with_suffix("")
    return max((p for p in COVER if inner.is_relative_to(p)), key=len)


def _weights(path: str, line: int) -> dict[str, float]:
    """The names a module defines, by how few test files say them; those around the line count."""
    weights = {Path(path).stem.strip("_"): 10.0}
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            weights[node.name] = 10.0 if node.lineno <= line <= node.end_lineno else 1.0
    files = _files("tests")
    said = {name: 1 + sum(name in _words(file) for file in files) for name in weights}
    return {name: weight * math.log(len(files) / said[name]) for name, weight in weights.items()}


@functools.cache
def _tests(file: str) -> dict[str, frozenset[str]]:
    """The words of each test function of a file."""
    text = (ROOT / file).read_text(encoding="utf-8")
    needed = re.findall(r'^(?:\w+ = )?pytest\.importorskip\("(\w+)', text, flags=re.MULTILINE)
    if not all(map(importlib.util.find_spec, needed)):
        return {}  # skipped as a whole: pytest refuses to be asked for one of its tests
    found = [node for node in ast.parse(text).body if getattr(node, "name", "").startswith("test")]
    lines = text.splitlines()
    parts = {
        n.name: lines[min(d.lineno for d in (*n.decorator_list, n)) - 1 : n.end_lineno]
        for n in found
    }
    return {
        f"{file}::{name}": frozenset(re.findall(r"\w+", "\n".join(part)))
        for name, part in parts.items()
    }


@functools.cache
def _words(file: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", (ROOT / file).read_text(encoding="utf-8")))


@functools.cache
def _files(place: str) -> tuple[str, ...]:
    there = ROOT / place
    files = sorted(there.rglob("test_*.py")) if there.is_dir() else [there]
    return tuple(file.relative_to(ROOT).as_posix() for file in files if file.exists())
