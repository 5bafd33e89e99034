"""What a public parameter may be: one check and one message for every mechanism.

Each function returns the value in its canonical Python type or raises BadParameter naming it.
Booleans and text are refused: True is not the number 1 when a privacy parameter is meant.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable
from fractions import Fraction
from numbers import Integral, Rational, Real
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from . import fixes
from .errors import BadCall, BadParameter, DeniableError
from .fixes import Fix, quoted, select, sql_name

P = ParamSpec("P")
R = TypeVar("R")

# A float beyond these cannot be scaled by powers of two without leaving the doubles.
SMALLEST, LARGEST = 2.0**-900, 2.0**900
_SQL = {
    "count": "COUNT(*)",
    "sum": "SUM({})",
    "mean": "AVG({})",
    "variance": "VAR_SAMP({})",
    "std": "STDDEV({})",
    "median": "MEDIAN({})",
}


def real(name: str, value: object, *, must: str = "a finite number") -> float:
    """A finite float, or an error that names the parameter."""
    if type(value) is float and math.isfinite(value):  # the commonest, and much the quickest
        return value
    if not isinstance(value, Real) or isinstance(value, bool):
        raise BadParameter.of(name, value, must=must, fix=_unquoted(name, value))
    try:
        number = float(value)
    except OverflowError:
        raise BadParameter.of(name, value, must=must) from None
    if not math.isfinite(number):
        raise BadParameter.of(name, value, must=must)
    return number


def positive(name: str, value: object) -> float:
    """A number above 0 that is neither absurdly small nor absurdly large."""
    number = real(name, value, must="a number above 0")
    if not number > 0:
        raise BadParameter.of(name, value, must="a number above 0")
    if not SMALLEST <= number <= LARGEST:
        raise BadParameter.of(name, value, must="between 2⁻⁹⁰⁰ and 2⁹⁰⁰")
    return number


def non_negative(name: str, value: object) -> float:
    """A number of at least 0."""
    number = real(name, value, must="a number of at least 0")
    if not number >= 0:
        raise BadParameter.of(name, value, must="a number of at least 0")
    return number


def rational(name: str, value: object) -> Fraction:
    """A positive number, kept exactly."""
    positive(name, value)
    return value_as_fraction(value)


def value_as_fraction(value: object) -> Fraction:
    """The exact value of a finite number that was checked before."""
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    assert isinstance(value, Real)
    return Fraction(float(value))


def bounds(low: object, high: object) -> tuple[float, float]:
    """Two numbers, the second above the first, with which one can compute without overflow."""
    lower, upper = real("low", low), real("high", high)
    for name, number in (("low", lower), ("high", upper)):
        if abs(number) > LARGEST:
            raise BadParameter.of(name, number, must="between −2⁹⁰⁰ and 2⁹⁰⁰")
    if not upper - lower >= SMALLEST:
        raise BadParameter.of("high", high, must="above low")
    return lower, upper


def probability(name: str, value: object) -> float:
    """A number from 0 to 1."""
    number = real(name, value, must="a number from 0 to 1")
    if not 0 <= number <= 1:
        raise BadParameter.of(name, value, must="a number from 0 to 1")
    return number


def fraction_below_one(name: str, value: object) -> float:
    """A number from 0 up to, but not including, 1: a δ."""
    number = real(name, value, must="a number of at least 0 and below 1")
    if not 0 <= number < 1:
        raise BadParameter.of(name, value, must="a number of at least 0 and below 1")
    return number


_PERCENT: Final = {"confidence": 50, "q": 2, "share": 2}
"""What is read as so many percent from this number on: nobody wants less of it."""


def confidence(name: str, value: object) -> float:
    """A number strictly between 0 and 1."""
    number = real(name, value, must="a number between 0 and 1")
    if not 0 < number < 1:
        meant = f"{number / 100:g}" if _PERCENT.get(name, 100) <= number < 100 else ""
        meant = meant or ("0.95" if name == "confidence" else "")
        fix = f"{name}={meant}" if meant else ""
        raise BadParameter.of(name, value, must="a number between 0 and 1", fix=fix)
    return number


def whole(name: str, value: object, *, least: int = 1) -> int:
    """A whole number of at least `least`."""
    must = f"a whole number of at least {least}"
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise BadParameter.of(name, value, must=must)
    return int(value)


def target(path: str | os.PathLike[str]) -> Path:
    """The path of a file to write, whose folder is there."""
    found = Path(path)
    if found.is_dir():
        raise BadParameter(f"{found} is a folder; give the name of a file in it")
    if not found.parent.is_dir():
        folder = str(found.parent)
        make = Fix(f"os.makedirs({folder!r})", command=f"mkdir -p {shlex.quote(folder)}")
        raise BadParameter(f"cannot write {found}: there is no folder {folder}", fix=make)
    return found


def one_of(name: str, value: object, choices: Collection[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        near = fixes.nearest(str(value), choices, alike=0.5)
        fix = f"{name}=" + " or ".join(f'"{each}"' for each in ([near] if near else choices))
        must = "one of " + ", ".join(map(repr, choices))
        raise BadParameter.of(name, value, must=must, fix=fix)
    return value


def spend_or_within(spend: object, within: object) -> None:
    """Refuse both a price and a wanted error, and neither."""
    if spend is not None and within is not None:
        raise BadParameter(
            "an amount to spend and a largest ± were both given",
            fix=Fix(
                "give spend= or within=, not both", command="give --spend or --within, not both"
            ),
        )
    if spend is None and within is None:
        raise BadParameter(
            "say how much to spend, or how large the ± may be",
            fix=(
                fixes.amount("spend", "epsilon", 0.1),
                fixes.number("within", 100, "the largest ±, at 95 % confidence"),
            ),
        )


def a_kind(value: object) -> str:
    """The type of a value with its article: an int, a float."""
    name = type(value).__name__
    return f"an {name}" if name[0].lower() in "aeio" else f"a {name}"


# ---- calls


def called(
    example: str, *, why: str = "", options: type | None = None, **usual: object
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Answer a call that does not fit with one that does, in place of Python's TypeError.

    `options` is the TypedDict of a function's `**options`: what they may be, and which are needed;
    `usual` has the defaults of those that are not None.
    The errors of a session (`s.`), its queries (`q.`) and a client (`c.`) say what they cost, as do
    those of a function that is given a session.

    >>> @called('measure("age", spend=1)')
    ... def measure(column, *, spend): ...
    >>> measure("height", 1)
    Traceback (most recent call last):
    deniable.errors.BadCall: error[DP113]: measure() takes only `column` by position; give ...
      fix:  measure("height", spend=1)
    """

    def of(function: Callable[P, R]) -> Callable[P, R]:
        signature = None if options is None else _expanded(function, options, usual)
        charges = example.startswith(("s.", "q.", "c."))

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            if signature is None or _fits(signature, args, kwargs):
                try:
                    return function(*args, **kwargs)
                except DeniableError as error:
                    error.says_cost |= charges or kwargs.get("session") is not None
                    raise
                except TypeError as error:
                    inside = error.__traceback__
                    if inside is None or inside.tb_next is not None:  # raised within, not by a call
                        raise
            misfit = _misfit(checked, args, kwargs, example=example, why=why)
            misfit.says_cost = charges
            raise misfit

        if signature is not None:
            checked.__signature__ = signature  # type: ignore[attr-defined]
        return checked

    return of


def _expanded(
    function: Callable[..., object], options: type, usual: dict[str, object]
) -> inspect.Signature:
    """The signature with every option by its name, where the function has `**options`."""
    known = inspect.signature(function)
    needed = options.__required_keys__  # type: ignore[attr-defined]
    made = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if name in needed else usual.get(name),
            annotation=getattr(kind, "__forward_arg__", kind),  # help() shows it as it is written
        )
        for name, kind in options.__annotations__.items()
    ]
    return known.replace(parameters=[*list(known.parameters.values())[:-1], *made])


def _fits(
    signature: inspect.Signature, args: tuple[object, ...], kwargs: dict[str, object]
) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def made(example: str) -> Callable[[type[R]], type[R]]:
    """`called` for a class: answer a constructor call that does not fit with one that does."""

    def of(kind: type[R]) -> type[R]:
        kind.__init__ = called(example)(kind.__init__)  # type: ignore[method-assign]
        return kind

    return of


def _misfit(
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    *,
    example: str,
    why: str,
) -> BadCall:
    name = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
    listed = list(inspect.signature(function).parameters.values())
    given: tuple[object, ...] = args
    if listed and listed[0].name in ("self", "cls"):
        listed, given = listed[1:], given[1:]
    if given and isinstance(given[0], str):  # the column that was meant, in the call that fits
        shown = f'("{given[0]}"' if given[0].isprintable() and '"' not in given[0] else "(..."
        example = re.sub(r'\("\w+"', lambda _: shown, example, count=1)
    unknown = next((k for k in kwargs if k not in {p.name for p in listed}), None)
    if unknown is not None:
        near = fixes.nearest(unknown, [p.name for p in listed])
        guess = f"; did you mean `{near}`?" if near else ""
        known = f"known: {', '.join(p.name for p in listed)}"
        if unknown == "asker":
            example = f's.for_("{kwargs[unknown]}")    (a session for an asker; ask there)'
        elif unknown in ("where", "filter") and (tables := getattr(args[0], "tables", None)):
            table = kwargs.get("table") or next(iter(tables))
            example = _in_sql(name, given, kwargs, table=table, where=kwargs[unknown])
        return BadCall(f"{name} has no parameter `{unknown}`{guess}", fix=example, hint=known)
    by_place = [p.name for p in listed if p.kind is p.POSITIONAL_OR_KEYWORD]
    if len(given) > len(by_place):
        named = "` and `".join(by_place)
        some = f"only `{named}` by position; give the rest by name"
        text = f"{name}() takes {some if by_place else 'keyword arguments only'}"
        return BadCall(text, why=why, fix=example)
    told = {*by_place[: len(given)], *kwargs}
    lacking = [p.name for p in listed if p.default is p.empty and p.name not in told]
    missing = " and ".join(f"{each}=" for each in lacking)
    what = f"{name}() is missing {missing}" if lacking else f"{name}() cannot be called like this"
    return BadCall(what, why=why, fix=example)


def _in_sql(
    name: str, given: tuple[object, ...], kwargs: dict[str, object], *, table: object, where: object
) -> str:
    """A statistic of some rows as a query, since only queries have filters."""
    by = kwargs.get("by") or ()
    several = by if isinstance(by, Iterable) and not isinstance(by, str) else [by]
    keys = [sql_name(str(each)) for each in several]
    column = next(iter(given), kwargs.get("column"))
    shown = "..." if column is None else sql_name(str(column))
    made = f"{_SQL[name]} AS {name}".format(shown) if name in _SQL else "..."
    grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
    rows = f"{sql_name(str(table))} WHERE {where}{grouped}"
    asked = f"s.sql({quoted(select([*keys, made], rows))})"
    return f"{asked}.release(spend=dp.epsilon(0.1))" if name in _SQL else asked


def _unquoted(name: str, value: object) -> str:
    """The number that a text or a loss holds, where it holds one: `epsilon=dp.epsilon(1)`."""
    if isinstance(held := getattr(value, name, None), float):
        return f"{name}={held:g}"
    try:
        return f"{name}={value}" if isinstance(value, str) and float(value) == float(value) else ""
    except ValueError:
        return ""
