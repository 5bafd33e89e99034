"""Packages whose names are imported when first used, so that importing the package is quick."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module


def on_first_use(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """A package's `__getattr__` and `__dir__`.

    `homes` maps modules of the package to the names taken from there. A name must differ from those
    of the modules: a module that was imported is an attribute of its package, too.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}
    held = sys.modules[package]

    def load(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with _uncollected():
            value: object = getattr(import_module(f".{home[name]}", package), name)
        setattr(held, name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(held), *home})

    return load, names


@contextmanager
def _uncollected() -> Iterator[None]:
    """Import without looking for garbage: modules make much, and nearly all of it stays."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
