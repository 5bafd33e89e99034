"""deniable doctor: show what is installed, and test the randomness and the engine."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import typer

from deniable.cli import options, talk

_CORE = ("numpy", "scipy", "duckdb", "sqlglot")
_EXTRAS = {
    "cli": ("typer", "rich"),
    "frames": ("pandas", "polars", "pyarrow"),
    "ibis": ("ibis-framework",),
    "postgres": ("psycopg",),
    "spark": ("pyspark",),
    "plots": ("matplotlib",),
    "charts": ("altair",),
    "learn": ("scikit-learn",),
    "deep": ("opacus",),
    "secure": ("cryptography",),
    "homomorphic": ("gmpy2", "tenseal"),
    "client": ("httpx2",),
    "server": ("fastapi", "jinja2", "python-multipart", "uvicorn"),
    "mcp": ("fastmcp",),
}
_JAVA = "install Java 17 or newer; a Spark Connect server has its own"
_WORDS = 1 << 16


def doctor(*, json: options.Json = False) -> None:
    """Show versions; test the randomness and the engine."""
    from deniable import __version__

    versions = {"deniable": __version__, "python": platform.python_version()}
    versions |= {name: _version(name) or "missing" for name in _CORE}
    extras = {extra: {n: _version(n) for n in names} for extra, names in _EXTRAS.items()}
    tests = {name: _tested(test) for name, test in _TESTS.items()}
    lines = [f"{name:<11} {version}" for name, version in versions.items()]
    java = _java()
    lines += [f"{extra:<11} {_extra(extra, found)}" for extra, found in extras.items()]
    lines += [f"{'java':<11} {java or f'missing, for Spark: {_JAVA}'}"]
    lines += [f"{name:<11} {found or 'good'}" for name, found in tests.items()]
    good = not any(tests.values())
    record = {"good": good, "versions": versions, "extras": extras, "java": java, "tests": tests}
    talk.answer("\n".join(lines), record, json=json)
    if not good:
        raise typer.Exit(1)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _extra(extra: str, found: dict[str, str | None]) -> str:
    """What is installed, and how to install the rest."""
    there = [f"{name} {version}" for name, version in found.items() if version is not None]
    absent = ", ".join(name for name, version in found.items() if version is None)
    if absent:
        there.append(f'{absent} missing: pip install "deniable[{extra}]"')
    return ", ".join(there)


def _java() -> str | None:
    """The version that the Java which Spark would start reports."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=Path(home) / "bin") if home else shutil.which("java")
    if java is None:
        return None
    try:
        told = subprocess.run(  # noqa: S603  (found on the path that Spark searches)
            [java, "-version"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "([^"]+)"', told.stderr + told.stdout)
    return found[1] if found else "of an unknown version"


def _tested(test: Callable[[], str]) -> str:
    """What is wrong, or nothing."""
    try:
        return test()
    except Exception as error:  # noqa: BLE001  (whatever it is, the doctor tells)
        return f"failed: {error}"


def _random() -> str:
    """Words are all different and each bit is balanced; a good source fails once in 10⁹ runs."""
    import numpy as np

    from deniable.sampling import current

    words = current().words(_WORDS)
    if np.unique(words).size < _WORDS:  # chance: 2³¹/2⁶⁴ = 10⁻¹⁰
        return "the source of randomness repeats itself: do not release anything"
    ones = [int(((words >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(64)]
    # 7 standard deviations of a fair coin: 64 · 3·10⁻¹² ≈ 2·10⁻¹⁰ by chance.
    if max(abs(n - _WORDS / 2) for n in ones) > 7 * np.sqrt(_WORDS) / 2:
        return "the source of randomness is biased: do not release anything"
    return ""


def _floats() -> str:
    from deniable.sampling.floats import check_floats

    check_floats()
    return ""


def _engine() -> str:
    """Connect to DuckDB, which fixes the settings our SQL relies on and checks them."""
    from deniable.query.backends.duckdb import DuckDB

    with DuckDB([]):
        return ""


_TESTS: dict[str, Callable[[], str]] = {"randomness": _random, "floats": _floats, "engine": _engine}
