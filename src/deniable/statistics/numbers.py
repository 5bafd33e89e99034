"""Counts, sums, means, variances and quantiles of one column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from deniable import parameters
from deniable.errors import BadParameter
from deniable.query.algebra import Aggregate, Function
from deniable.query.query import Query

from .building import COUNT, About, By, ask, keys_by, titled

FUNCTIONS: Final = {
    "sum": Function.SUM,
    "mean": Function.AVG,
    "variance": Function.VAR_SAMP,
    "std": Function.STDDEV_SAMP,
}


def count(about: About, *, by: By | None = None) -> Query:
    """How many rows there are."""
    return ask(about, COUNT, keys=keys_by(about, by), text=titled("count", by))


def statistic(about: About, name: str, column: str, *, by: By | None = None) -> Query:
    """The sum, mean, variance or std of a column."""
    argument = about.number(column, what=name)
    asked = Aggregate(name=name, function=FUNCTIONS[name], argument=argument)
    return ask(about, asked, keys=keys_by(about, by), text=titled(f"{name} of {column}", by))


def quantile(
    about: About, column: str, q: float | Sequence[float], *, by: By | None = None
) -> Query:
    """One quantile of a column, or several from the same noisy counts."""
    several = list(q) if isinstance(q, Sequence) and not isinstance(q, str) else [q]
    listed = [parameters.confidence("q", each) for each in several]
    if not listed or len(set(listed)) < len(listed):
        raise BadParameter("q must name at least one quantile, each once", fix="[0.25, 0.5, 0.75]")
    argument = about.number(column, what="quantile")
    asked = [
        Aggregate(name=quantile_name(each), function=Function.QUANTILE, argument=argument, q=each)
        for each in listed
    ]
    words = "median" if listed == [0.5] else f"quantiles {', '.join(f'{x:g}' for x in listed)}"
    return ask(about, *asked, keys=keys_by(about, by), text=titled(f"{words} of {column}", by))


def quantile_name(q: float) -> str:
    """The name of a column of quantiles.

    >>> quantile_name(0.25), quantile_name(0.5)
    ('q25', 'median')
    """
    return "median" if q == 0.5 else f"q{100 * q:g}"
