"""What would happen under each way of publishing: the same attacks on raw rows and on others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deniable import anonymity
from deniable.attacks import defended
from deniable.attacks.members import AttributeInference, attributes, from_synthetic
from deniable.attacks.tables import Array, codes, columns_of, commonest, one_code
from deniable.attacks.telling import people, percent
from deniable.errors import DataFailure
from deniable.progress import say
from deniable.sampling.public import PublicRandom

from .checklist import OPTIONS

_JUDGED = 1_500


@dataclass(frozen=True, kw_only=True)
class Option:
    """What would happen under one way of publishing."""

    name: str
    reidentified: str
    secret: str
    detail: str


Half = dict[str, Array]


class Halves(NamedTuple):
    """Half of the people as the published table, the other half as a control."""

    inside: Half
    outside: Half
    published: Array
    """Which rows are of the first half."""
    each: tuple[Half, Half]
    """Both halves with one row per person: what ε is promised for."""


def ways(
    table: object,
    checked: anonymity.Check,
    halves: Halves,
    *,
    secret: str | None,
    quasi: list[str],
    k: int,
    epsilon: float,
) -> tuple[AttributeInference | None, tuple[Option, ...]]:
    """What is guessed from the raw rows, and what would happen under each way of publishing."""
    try:
        say("guessing the sensitive column")
        guessed = None if secret is None else _guessed(halves, quasi, secret)
        raw = _raw(checked, guessed)
        say(f"trying a {k}-anonymous table")
        anonymous = _k_anonymous(table, halves, secret=secret, quasi=quasi, k=k, unit=checked.unit)
        say("trying private statistics")
        private = _private(quasi, secret, epsilon, halves)
        say("trying private synthetic rows")
        return guessed, (raw, anonymous, private, _synthetic(quasi, secret, epsilon, halves))
    except (DataFailure, MemoryError):  # of a session that nobody else has: no ledger was charged
        raise DataFailure(
            "the ways of publishing could not be compared",
            why="most likely there is not enough memory; a report spends nothing",
            fix="a report on a sample of the people, or with fewer quasi-identifiers",
        ) from None


def halves_of(values: Mapping[str, Array], whose: Array, seed: int) -> Halves:
    """People, with all their rows, are in one half or the other at random."""
    size = int(whose.max()) + 1
    chosen = np.zeros(size, dtype=bool)
    chosen[PublicRandom(seed).generator.permutation(size)[: size // 2]] = True
    inside = chosen[whose]
    first = np.zeros(whose.size, dtype=bool)
    first[np.unique(whose, return_index=True)[1]] = True

    def part(rows: Array) -> Half:
        return {name: column[rows] for name, column in values.items()}

    return Halves(
        part(inside), part(~inside), inside, (part(inside & first), part(~inside & first))
    )


def _some(half: Half) -> Half:
    return {name: column[:_JUDGED] for name, column in half.items()}


def _guessed(halves: Halves, quasi: list[str], secret: str) -> AttributeInference:
    members, controls = _some(halves.inside), _some(halves.outside)
    return attributes(halves.inside, secret=secret, known=quasi, members=members, controls=controls)


def _told(secret: str | None, guess: AttributeInference | None) -> str:
    if secret is None or guess is None:
        return "no sensitive column was named"
    return (
        f"{secret} guessed for {percent(guess.accuracy)} of people in the table, "
        f"{percent(guess.control_accuracy)} of people who are not in it"
    )


def _raw(checked: anonymity.Check, guess: AttributeInference | None) -> Option:
    alone = f"{checked.unique:,} {checked.counted} ({percent(checked.unique / checked.rows)})"
    return Option(
        name=OPTIONS[0],
        reidentified=f"{alone} by the listed columns",
        secret=_told(guess.secret if guess else None, guess),
        detail="Names are off; everything else is as it was.",
    )


def _k_anonymous(
    table: object, halves: Halves, *, secret: str | None, quasi: list[str], k: int, unit: str | None
) -> Option:
    method = "optimal" if len(quasi) <= 8 else "mondrian"
    done = anonymity.anonymize(table, quasi=quasi, k=k, method=method, sensitive=secret)
    guess, plainly = None, ""
    if secret is not None:
        shown = columns_of(done.frame, [*quasi, secret])
        classes = one_code([shown[name] for name in quasi])
        (coded,), levels = codes(shown[secret])
        inside, size = halves.published[done.rows], int(classes.max()) + 1
        right = commonest(classes[inside], coded[inside], size=size)[classes] == coded
        cells = np.unique(classes * len(levels) + coded)
        alike = np.bincount(cells // len(levels)) == 1
        plainly = f" {int(alike[classes].sum()):,} rows are in classes that share one {secret}."
        guess = AttributeInference(
            secret=secret,
            known=tuple(quasi),
            members=(int(right[inside].sum()), int(inside.sum())),
            controls=(int(right[~inside].sum()), int((~inside).sum())),
            baseline=float(np.bincount(coded).max() / coded.size),
        )
    return Option(
        name=OPTIONS[1],
        reidentified=_hiding(done, quasi, unit),
        secret=_told(secret, guess),
        detail=(
            f"{done.report.suppressed:,} rows left out; {percent(done.report.loss)} of exactness "
            f"lost.{plainly}"
        ),
    )


def _hiding(done: anonymity.Anonymized, quasi: list[str], unit: str | None) -> str:
    """Classes of k rows may be rows of few people: k-anonymity counts rows."""
    if unit is None:
        return f"nobody by the listed columns alone; everyone hides among {done.report.k}"
    found = anonymity.check(done.frame, quasi=quasi, unit=unit)
    if found.unique:
        exposed = f"{people(found.unique)} ({percent(found.unique / found.rows)})"
        return f"{exposed}: classes of {done.report.k} rows may all be rows of one person"
    return f"nobody by the listed columns alone; everyone hides among {found.k} people"


def _private(quasi: list[str], secret: str | None, epsilon: float, halves: Halves) -> Option:
    guess, counted = None, "every cell"
    if secret is not None:
        inside, outside = halves.each
        if len(codes(inside[secret], outside[secret])[1]) > defended.COMMONEST:
            counted = f"the {defended.COMMONEST} commonest values of {secret}"
        guess = defended.linkage(
            inside, known=quasi, secret=secret, controls=outside, epsilon=epsilon
        )
    return Option(
        name=OPTIONS[2],
        reidentified=f"nobody: there are no rows; odds change at most {np.exp(epsilon):.3g} times",
        secret=_told(secret, guess),
        detail=(
            f"Measured on noisy counts of {counted} at ε = {epsilon:g} in all, with one row per "
            "person: the share that is guessed in the table is at most e^ε times the share "
            "outside, whoever attacks. Totals over many people stay accurate."
        ),
    )


def _synthetic(quasi: list[str], secret: str | None, epsilon: float, halves: Halves) -> Option:
    guess = None
    names = [*quasi, *([secret] if secret else [])]
    made = defended.synthetic_rows(halves.each[0], columns=names, epsilon=epsilon)
    members, controls = map(_some, halves.each)
    found = from_synthetic(made, members=members, controls=controls, columns=names, epsilon=epsilon)
    near = (
        " The distance to the closest row separates members from others with AUC "
        f"{found.auc:.2f} (0.5 is guessing)."
    )
    if secret is not None:
        guess = attributes(made, secret=secret, known=quasi, members=members, controls=controls)
    return Option(
        name=OPTIONS[3],
        reidentified=f"nobody: rows are made up; odds change at most {np.exp(epsilon):.3g} times",
        secret=_told(secret, guess),
        detail=f"Measured on rows drawn at ε = {epsilon:g} in all, one per person.{near}",
    )
