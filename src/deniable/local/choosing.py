"""Which protocol for so many categories, at this ε, from so many people?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deniable import parameters
from deniable.errors import BadParameter
from deniable.release.numbers import shown_error

from .protocols import Direct, Hadamard, Hashing, Projective, Protocol, Sketch, Subset, Unary

_CANDIDATES: tuple[type[Protocol], ...] = (
    Direct, Hadamard, Projective, Subset, Unary, Hashing, Sketch,
)  # fmt: skip
_NEAR = 1.03  # a ± that nobody notices
_WORK = 2e10  # steps of the server: half a minute or so


@dataclass(frozen=True, kw_only=True, repr=False)
class Option:
    """One protocol that could be used, and what it would cost."""

    protocol: Protocol
    error: float
    """The ± of a rare category's count (95 % confidence)."""
    bytes: int
    work: float
    """Steps of the server: reports read, and categories looked at for them."""

    def __str__(self) -> str:
        name = type(self.protocol).__name__
        return f"{name:<11}± {shown_error(self.error):>12}   {self.bytes:>7,} bytes per report"

    def __repr__(self) -> str:
        name = type(self.protocol).__name__
        return f"{name}: ± {shown_error(self.error)}, {self.bytes:,} bytes per report"


@parameters.called("local.options(categories=1024, epsilon=1.0, reports=1_000_000)")
def options(*, categories: int | Sequence[str], epsilon: float, reports: int) -> list[Option]:
    """All protocols with their ± and the size of a report, the most precise first.

    >>> for each in options(categories=1024, epsilon=1.0, reports=10**6)[:2]:
    ...     print(each)
    Subset     ±        3,760       133 bytes per report
    Unary      ±        3,765       133 bytes per report
    """
    people = parameters.whole("reports", reports)
    found = []
    for kind in _CANDIDATES:
        p = kind(categories=categories, epsilon=epsilon)
        error = p.error(reports=people)
        work = float(people) * p.steps + 64 * p.size
        found.append(Option(protocol=p, error=error, bytes=p.length, work=work))
    return sorted(found, key=lambda each: each.error)


@parameters.called("local.choose(categories=1024, epsilon=1.0, reports=1_000_000)")
def choose(
    *,
    categories: int | Sequence[str],
    epsilon: float,
    reports: int,
    bytes: int | None = None,
) -> Protocol:
    """The smallest reports whose ± is within 3 % of the best one; `.why` says what was chosen.

    `bytes` limits the size of a report. Protocols whose server would take minutes are left out.

    >>> p = choose(categories=65536, epsilon=1.0, reports=1_000_000)
    >>> print(p.why)
    Projective: ± 3,770 for a rare category, 8 bytes per report.
    The most precise of all, Subset, has ± 3,765 and needs 8,197 bytes.
    """
    listed = options(categories=categories, epsilon=epsilon, reports=reports)
    most = None if bytes is None else parameters.whole("bytes", bytes)
    fitting = [each for each in listed if most is None or each.bytes <= most]
    if not fitting:
        least = min(each.bytes for each in listed)
        raise BadParameter.of("bytes", bytes, must=f"at least {least}", fix=f"bytes={least}")
    quick = [each for each in fitting if each.work <= _WORK] or fitting
    best = min(each.error for each in quick)
    near = [each for each in quick if each.error <= _NEAR * best]
    chosen = min(near, key=lambda each: (each.bytes, each.error))
    object.__setattr__(chosen.protocol, "_why", _why(chosen, listed, fitting))
    return chosen.protocol


def _why(chosen: Option, listed: list[Option], fitting: list[Option]) -> str:
    name = type(chosen.protocol).__name__
    error = shown_error(chosen.error)
    first = f"{name}: ± {error} for a rare category, {chosen.bytes:,} bytes per report."
    best = listed[0]
    other = type(best.protocol).__name__
    if best is chosen:
        return f"{first}\nIt is the most precise of all."
    if best not in fitting:
        return (
            f"{first}\n{other} would have ± {shown_error(best.error)}, with {best.bytes:,} bytes."
        )
    if best.work > _WORK and best.error * _NEAR < chosen.error:
        error = shown_error(best.error)
        return f"{first}\n{other} would have ± {error}, but its server would take minutes."
    return (
        f"{first}\nThe most precise of all, {other}, has ± {shown_error(best.error)} "
        f"and needs {best.bytes:,} bytes."
    )
