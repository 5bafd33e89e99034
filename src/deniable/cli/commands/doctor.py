"""deniable doctor: what is installed, and whether noise and engine can be trusted here."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib import metadata

import typer

from deniable.cli import options, talk

_CORE = ("numpy", "scipy", "duckdb", "sqlglot")
_EXTRAS = {
    "cli": ("typer", "rich"),
    "frames": ("pandas", "polars", "pyarrow"),
    "postgres": ("psycopg",),
    "plots": ("matplotlib",),
}
_WORDS = 1 << 16


def doctor(*, json: options.Json = False) -> None:
    """Show versions; test random source and engine."""
    from deniable import __version__

    versions = {"deniable": __version__, "python": platform.python_version()}
    versions |= {name: _version(name) or "missing" for name in _CORE}
    extras = {extra: {n: _version(n) for n in names} for extra, names in _EXTRAS.items()}
    tests = {name: _tested(test) for name, test in _TESTS.items()}
    lines = [f"{name:<10} {version}" for name, version in versions.items()]
    lines += [f"{extra:<10} {_extra(extra, found)}" for extra, found in extras.items()]
    lines += [f"{name:<10} {found or 'good'}" for name, found in tests.items()]
    good = not any(tests.values())
    record = {"good": good, "versions": versions, "extras": extras, "tests": tests}
    talk.answer("\n".join(lines), record, json=json)
    if not good:
        raise typer.Exit(1)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _extra(extra: str, found: dict[str, str | None]) -> str:
    if all(found.values()):
        return ", ".join(f"{name} {version}" for name, version in found.items())
    absent = ", ".join(name for name, version in found.items() if version is None)
    return f'without {absent}: pip install "deniable[{extra}]"'


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
        return "the random source repeats itself: do not release anything"
    ones = [int(((words >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(64)]
    # 7 standard deviations of a fair coin: 64 · 3·10⁻¹² ≈ 2·10⁻¹⁰ by chance.
    if max(abs(n - _WORDS / 2) for n in ones) > 7 * np.sqrt(_WORDS) / 2:
        return "the random source is biased: do not release anything"
    return ""


def _floats() -> str:
    from deniable.sampling.floats import check_floats

    check_floats()
    return ""


def _engine() -> str:
    """Connects, pins what our SQL relies on, and asserts that it took."""
    from deniable.query.backends.duckdb import DuckDB

    with DuckDB([]):
        return ""


_TESTS: dict[str, Callable[[], str]] = {
    "randomness": _random,
    "floats": _floats,
    "engine": _engine,
}
