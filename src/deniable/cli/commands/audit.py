"""deniable audit: is a claim of privacy true? Looks for an event that refutes it."""

from __future__ import annotations

import importlib
import json as notation
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer import Argument, Option

from deniable.cli import options, talk
from deniable.errors import BadParameter


def audit(
    function: Annotated[
        str, Argument(help="module:function that takes data and returns an answer.")
    ],
    *,
    epsilon: Annotated[float, Option(help="The claimed ε.")],
    delta: Annotated[float, Option(help="The claimed δ.")] = 0.0,
    first: Annotated[str, Option(help="A data set, in JSON.")] = "0",
    second: Annotated[str, Option(help="A neighbouring data set, in JSON.")] = "1",
    samples: Annotated[int, Option(help="Answers per data set.")] = 200_000,
    confidence: Annotated[float, Option(help="1 − the false-alarm rate.")] = 0.999,
    json: options.Json = False,
) -> None:
    """Try to refute a claimed ε.

    Runs a function many times on two data sets; exit code 1 if the claim is refuted.
    """
    from deniable.audit import audit as audited

    called = _function(function)
    talk.say(f"running {function} {samples:,} times on each data set", style="dim")
    verdict = audited(
        called,
        _data("first", first),
        _data("second", second),
        epsilon=epsilon,
        delta=delta,
        samples=samples,
        confidence=confidence,
    )
    names = ("violated", "epsilon_lower", "epsilon_claimed", "delta", "witness", "evidence")
    record = {name: getattr(verdict, name) for name in (*names, "power", "samples", "confidence")}
    talk.answer(verdict, record, json=json)
    if verdict.violated:
        raise typer.Exit(1)


def _function(text: str) -> Callable[[Any], object]:
    module, _, name = text.partition(":")
    sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), name) if name else None
    except (ImportError, AttributeError, ValueError):
        found = None
    if not callable(found):
        raise BadParameter.of("function", text, must="module:function that can be imported here")
    made: Callable[[Any], object] = found
    return made


def _data(name: str, text: str) -> object:
    try:
        return notation.loads(text)
    except ValueError:
        raise BadParameter.of(name, text, must="data in JSON, such as '[1, 1, 0]'") from None
