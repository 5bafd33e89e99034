"""Sample and aggregate: any function at all, run on disjoint parts of the data.

Each unit is put into one of k public parts by a keyed hash of who it is, so that one unit touches
one part and moves nobody else; the answers of the parts are clipped to a range and averaged. One
unit changes one answer: the average moves by at most (high − low)/k, whatever the function does.
[NRS07]

The function may fail, return NaN or find no rows: that part answers with the middle of the range.
It is run on rows of other people, so it must be the curator's own, and must remember nothing from
part to part.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import math
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence, Sized
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters, units
from deniable.errors import BadParameter, MissingUnit
from deniable.forms import attempted, is_missing
from deniable.mechanisms import IntervalExponential, Laplace, Step
from deniable.sampling import below, current
from deniable.sampling.lattice import Lattice
from deniable.sensitive import Sensitive
from deniable.units import Unit

from .columns import check_bounds, middle

Floats = NDArray[np.float64]
Row = TypeVar("Row")
Sample = TypeVar("Sample", bound=Sized)
_BITS = 40


def sample_and_aggregate(
    rows: Sequence[Row],
    function: Callable[[list[Row]], float],
    *,
    parts: int,
    low: float,
    high: float,
    epsilon: float,
    people: Iterable[Hashable] | None = None,
    unit: Unit | None = None,
) -> Generator[Step[int], int, float]:
    """The average answer of `function` over disjoint samples: for a session to run.

    `people` names whom each row belongs to, `unit` is theirs; without them every row is its own
    unit.
    """
    parts, unit = parameters.whole("parts", parts), _unit(people, unit)
    _check_rows(rows, people)
    low, high = check_bounds(low, high)
    lattice = Lattice.for_bounds(low, high, bits=_BITS)
    # Answers become whole numbers of lattice steps from `low`, so their sum is exact.
    steps = _touched(unit) * (lattice.point(high) - lattice.point(low))
    mechanism = Laplace.calibrate(epsilon=epsilon, sensitivity=steps)

    def total() -> int:
        answers = _answers(rows, function, parts=parts, low=low, high=high, people=people)
        grid = lattice.to_grid(answers, low=low, high=high, missing=low)
        return int((grid - lattice.point(low)).sum())

    noisy = yield mechanism.on(Sensitive(total, l1=steps, whole=True, unit=unit))
    mean = low + noisy * lattice.width / parts
    return min(max(mean, low), high)


def sample_and_aggregate_median(
    rows: Sequence[Row],
    function: Callable[[list[Row]], float],
    *,
    parts: int,
    low: float,
    high: float,
    epsilon: float,
    people: Iterable[Hashable] | None = None,
    unit: Unit | None = None,
) -> Generator[Step[tuple[Floats, Floats]], float, float]:
    """The median answer of `function` over disjoint samples; a far too wide range costs little.

    The exponential mechanism finds a number with half of the answers on either side; one unit
    moves one answer across it, which changes that score by at most 1.
    [Smi11]
    """
    parts, unit = parameters.whole("parts", parts), _unit(people, unit)
    _check_rows(rows, people)
    low, high = check_bounds(low, high)
    moves = _touched(unit)
    mechanism = IntervalExponential(epsilon=epsilon, low=low, high=high, sensitivity=moves)

    def pieces() -> tuple[Floats, Floats]:
        answers = np.sort(_answers(rows, function, parts=parts, low=low, high=high, people=people))
        return np.concatenate([[low], answers, [high]]), -np.abs(np.arange(parts + 1) - parts / 2)

    answer = yield mechanism.on(Sensitive(pieces, linf=moves, unit=unit))
    return answer


def _answers(
    rows: Sequence[Row],
    function: Callable[[list[Row]], float],
    *,
    parts: int,
    low: float,
    high: float,
    people: Iterable[Hashable] | None,
) -> Floats:
    """One answer a part, clipped; the middle of the range where the function gives none."""
    found = _found(rows, function, parts=parts, people=people)
    return np.clip(np.where(np.isnan(found), middle(low, high), found), low, high)


def _found(
    rows: Sequence[Row],
    function: Callable[[list[Row]], float],
    *,
    parts: int,
    people: Iterable[Hashable] | None,
) -> Floats:
    """One answer a part; NaN where the function gives none."""
    samples: list[list[Row]] = [[] for _ in range(parts)]
    for row, part in zip(rows, _parts(len(rows), people, parts), strict=True):
        if part is not None:
            samples[part].append(row)
    return np.array([one_answer(function, sample) for sample in samples], dtype=np.float64)


def one_answer(function: Callable[[Sample], float], sample: Sample) -> float:
    """The answer of a part; NaN if it has no rows, or the function fails: that depends on rows."""
    if not len(sample):
        return math.nan
    return attempted(lambda rows: float(function(rows)), sample, otherwise=math.nan)


def _parts(count: int, people: Iterable[Hashable] | None, parts: int) -> list[int | None]:
    """The part of each row, decided by a secret and by whom the row belongs to; None if nobody."""
    if people is None:  # every row is placed by a coin of its own: adding one moves no other
        return [int(part) for part in below(parts, count)]
    key = current().words(4).tobytes()
    names = [_named(person) for person in people]
    return [None if name is None else _hashed(name, key) % parts for name in names]


def _named(person: Hashable) -> bytes | None:
    """The same bytes for values that are equal, however they are written; None for a missing one.

    Python gives equal values equal hashes: 7, 7.0, `Decimal("7.00")` and NumPy's 7. It does not
    matter that other values may share a hash: two people are then in one part, and each of them
    still touches one part and moves nobody else. What cannot be compared or hashed names nobody.
    """
    return attempted(_hash, person, otherwise=None)


def _hash(person: Hashable) -> bytes | None:
    plain = _plain(person)
    return None if plain is None else str(hash(plain)).encode()


def _plain(person: Any) -> Hashable:
    """A moment as its second in UTC, whichever library wrote it; None for all that is missing."""
    if is_missing(person):
        return None
    if isinstance(person, np.datetime64 | np.timedelta64):
        kind = "datetime64[s]" if isinstance(person, np.datetime64) else "timedelta64[s]"
        person = person.astype(kind).item()
    match person:
        case tuple():
            return tuple(map(_plain, person))
        case frozenset():
            return frozenset(map(_plain, person))
        case dt.datetime():
            return _second(person)
        case dt.date():
            return tuple(person.timetuple()[:6])
        case dt.timedelta():
            return person // dt.timedelta(seconds=1)
    name: Hashable = person
    return name


def _second(moment: dt.datetime) -> Hashable:
    try:
        return tuple(moment.utctimetuple()[:6])
    except OverflowError:  # at an end of the calendar, in a zone that leaves it
        return "beyond the calendar"


def _hashed(name: bytes, key: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(name, key=key, digest_size=16).digest(), "big")


def _unit(people: Iterable[Hashable] | None, unit: Unit | None) -> Unit:
    """The unit that is protected: a person's rows go to one part, so it must be known whose."""
    if people is None and (unit is None or unit.column is None):
        return unit or units.rows()
    if people is None:
        raise BadParameter(
            f"the unit is {unit}, but people= is missing, so it is unknown which person each "
            "row belongs to",
            why="rows of one person that are placed by coins of their own touch several parts",
            fix=f"people=table[{unit.column!r}]" if unit is not None else "",
        )
    if unit is None or unit.column is None:
        raise MissingUnit.of("people")
    return unit


def _touched(unit: Unit) -> int:
    """How many parts one unit can change: its own; under replacement also its successor's."""
    return unit.sides


def _check_rows(rows: object, people: object) -> None:
    """Refuse what is not a sequence of rows, or not one person for each: by public facts."""
    countable = hasattr(rows, "__len__") and hasattr(rows, "__iter__")
    if not countable or hasattr(rows, "columns") or getattr(rows, "ndim", 1) == 0:
        raise BadParameter(
            f"rows must be a list or an array of rows, not {parameters.a_kind(rows)}",
            fix="rows=table.to_numpy(), or list(table.itertuples())",
        )
    if hasattr(people, "columns") or getattr(people, "ndim", 1) != 1:
        raise BadParameter(
            f"people must be one column, not {parameters.a_kind(people)}",
            fix='people=table["id"]',
        )
