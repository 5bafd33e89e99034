"""Ways to say a value less exactly, step by step: 53706 → 5370* → 537** → … → *.

A hierarchy maps a value to its labels from the first step up. It is one of:

    digits(), ranges(5, 10, 20), dates(), tree({...}), steps({...}), single()     built here
    a function value → labels                                                     your own
    a mapping that has the values as keys: value → labels                         the same, as data
    any other mapping: groups of groups, with lists of values inside              a tree

All values climb the same number of steps; a last step `*` that says nothing is added where missing.
Each step must be a function of the one below it, or coarser would not mean less exact: this is
checked. NULL stays NULL until the last step.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from deniable.errors import BadParameter
from deniable.fixes import Fix
from deniable.parameters import positive, real, whole

from .tables import Coded, Codes

ANYTHING = "*"
Labels: TypeAlias = Sequence[object]
Ladder: TypeAlias = Callable[[Any], Labels] | Mapping[Any, Any]
"""What may be given as a hierarchy."""


@dataclass(frozen=True, kw_only=True)
class Rungs:
    """A hierarchy laid on the values of one column: at each level, the label of each value.

    `maps[level][code]` is the label's number, `labels[level][number]` its text; level 0 is the
    value itself.
    """

    column: str
    maps: tuple[Codes, ...] = field(repr=False)
    labels: tuple[tuple[str | None, ...], ...] = field(repr=False)

    @property
    def height(self) -> int:
        """How many steps there are above the values."""
        return len(self.maps) - 1


def ladder(hierarchy: Ladder | Rungs, column: Coded) -> Rungs:
    """Lay a hierarchy on the values of a column, and check that each step follows from the last."""
    if isinstance(hierarchy, Rungs):
        return hierarchy
    values = column.values.to_pylist()
    climb = _function(hierarchy, column.name, values)
    climbed = [None if value is None else _labels(climb, value, column.name) for value in values]
    heights = {len(labels) for labels in climbed if labels is not None} or {0}
    if len(heights) > 1:
        raise BadParameter(
            f"the hierarchy of `{column.name}` takes some values up more steps than others",
            fix="give every value the same number of labels",
        )
    (height,) = heights
    maps, labels = [np.arange(column.size)], [tuple(map(text, values))]
    for step in range(height):
        names: dict[str | None, int] = {}
        here = [None if up is None else up[step] for up in climbed]
        if all(name in (None, ANYTHING) for name in here):
            here = [ANYTHING] * len(here)
        maps.append(np.array([names.setdefault(name, len(names)) for name in here], np.int64))
        labels.append(tuple(names))
        _check_step(maps[-2], maps[-1], column.name, step + 1)
    if labels[-1] != (ANYTHING,):
        maps.append(np.zeros(column.size, np.int64))
        labels.append((ANYTHING,))
    return Rungs(column=column.name, maps=tuple(maps), labels=tuple(labels))


def digits(length: int | None = None) -> Ladder:
    """Mask a code from the right, a character a step: 53706 → 5370* → … → *.

    Codes of fewer than `length` characters are filled with zeros on the left; without a length,
    all codes must be equally long.

    >>> digits()("53706")
    ['5370*', '537**', '53***', '5****', '*']
    """
    width = None if length is None else whole("length", length)

    def climb(value: object) -> list[str]:
        code = str(value) if width is None else str(value).zfill(width)
        masked = [code[:keep] + "*" * (len(code) - keep) for keep in range(len(code) - 1, 0, -1)]
        return [*masked, ANYTHING]

    return climb


def ranges(*widths: float, origin: float = 0) -> Ladder:
    """Round a number down into ranges, each width a multiple of the one before.

    >>> ranges(5, 10, 20)(37)
    ['[35, 40)', '[30, 40)', '[20, 40)']
    """
    steps = [positive("width", width) for width in widths]
    start = real("origin", origin)
    if not steps:
        raise BadParameter.of("widths", widths, must="at least one width")
    for narrow, wide in itertools.pairwise(steps):
        if round(wide / narrow) < 2 or abs(wide / narrow - round(wide / narrow)) > 1e-9:
            raise BadParameter.of(
                "widths", widths, must="growing, each a multiple of the one before",
                why="a value's wide range must follow from its narrow one",
            )  # fmt: skip

    def climb(value: float) -> list[str]:
        if not math.isfinite(value):
            return [str(value)] * len(steps)
        # Wide ranges are found from the narrowest, so that rounding cannot set them at odds.
        number = math.floor((float(value) - start) / steps[0])
        found = []
        for width in steps:
            low = start + number // round(width / steps[0]) * width
            found.append(f"[{low:.15g}, {low + width:.15g})")
        return found

    return climb


def doubling(width: float, *, steps: int, origin: float = 0) -> Ladder:
    """Ranges that double at each step.

    >>> doubling(5, steps=3)(37)
    ['[35, 40)', '[30, 40)', '[20, 40)']
    """
    first = positive("width", width)
    return ranges(*(first * 2**step for step in range(whole("steps", steps))), origin=origin)


def dates() -> Ladder:
    """A day as its month, year and decade.

    >>> import datetime
    >>> dates()(datetime.date(1955, 5, 12))
    ['1955-05', '1955', '1950s']
    """

    def climb(value: object) -> list[str]:
        day = str(value)
        if len(day) < 10 or day[4] != "-" or day[7] != "-":
            raise ValueError
        return [day[:7], day[:4], f"{day[:3]}0s"]

    return climb


def tree(groups: Mapping[Any, Any]) -> Ladder:
    """Categories within categories, as nested mappings with lists of values at the bottom.

    Values that stand higher than others keep their own name for the steps they lack.

    >>> climb = tree({"married": ["civil", "armed forces"], "alone": {"once": ["widowed"]}})
    >>> climb["civil"], climb["widowed"]
    (['civil', 'married'], ['once', 'alone'])
    """
    found = dict(_paths(groups))
    height = max(map(len, found.values()), default=0)
    return {
        value: [text(value)] * (height - len(path)) + [text(name) for name in path]
        for value, path in found.items()
    }


def steps(table: Mapping[Any, Labels] | object) -> Ladder:
    """A hierarchy written out: value → labels, or a frame whose first column holds the values."""
    if isinstance(table, Mapping):
        return {value: list(labels) for value, labels in table.items()}
    from .tables import arrow

    columns = [column.to_pylist() for column in arrow(table).columns]
    return {value: list(labels) for value, *labels in zip(*columns, strict=True)}


def single() -> Ladder:
    """The value, or nothing: the hierarchy of a column that has no natural groups."""
    return lambda _: [ANYTHING]


def _function(hierarchy: Ladder, name: str, values: list[object]) -> Callable[[Any], Labels]:
    if callable(hierarchy):
        return hierarchy
    if not isinstance(hierarchy, Mapping):
        raise BadParameter.of(
            f"hierarchies[{name!r}]", hierarchy, must="a function, a mapping, or built by "
            "digits, ranges, dates, tree or steps",
        )  # fmt: skip
    written = all(value in hierarchy for value in values if value is not None)
    found = hierarchy if written else tree(hierarchy)
    return found if callable(found) else found.__getitem__


def _labels(climb: Callable[[Any], Labels], value: object, name: str) -> list[str | None]:
    try:
        return [text(label) for label in climb(value)]
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, OverflowError):
        raise BadParameter(
            f"the hierarchy of `{name}` has no place for some of its values",
            why="each value needs a label at each step",
            fix=Fix(
                f"hierarchies={{{name!r}: ...}} that covers all values of the column",
                command=f"--hierarchies FILE with a `{name}` that covers all values of the column",
            ),
        ) from None


def _check_step(lower: Codes, upper: Codes, name: str, step: int) -> None:
    """Each label below leads to one label above."""
    parent = np.empty(int(lower.max(initial=0)) + 1, np.int64)
    parent[lower] = upper
    if (parent[lower] != upper).any():
        raise BadParameter(
            f"step {step} of the hierarchy of `{name}` splits what step {step - 1} has joined",
            why="each step must follow from the one below, or coarser would not be less exact",
        )


def _paths(
    groups: object, above: tuple[object, ...] = ()
) -> Iterator[tuple[Hashable, list[object]]]:
    if isinstance(groups, Mapping):
        for name, inside in groups.items():
            yield from _paths(inside, (name, *above))
    elif isinstance(groups, Sequence) and not isinstance(groups, str):
        for value in groups:
            yield value, list(above)
    else:
        raise BadParameter.of("groups", groups, must="a mapping, or a list of values")


def text(value: object) -> str | None:
    """A value as a label."""
    return None if value is None else str(value)
