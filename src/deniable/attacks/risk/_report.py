"""The page a curator reads before a table is published."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deniable import anonymity, parameters
from deniable.attacks import defended
from deniable.attacks.linkage import Linkage, linkage
from deniable.attacks.matching import Rule
from deniable.attacks.members import AttributeInference, attributes
from deniable.attacks.tables import Array, codes, columns_of, frame_of, one_code, row_count
from deniable.attacks.telling import Facts, Told, people, percent, plain
from deniable.attacks.uniqueness import Selectivity, Uniqueness, selectivity, uniqueness
from deniable.errors import BadParameter
from deniable.sampling.public import PublicRandom

from . import page
from .checklist import NOT_TESTED, OPTIONS, PROPERTIES, REQUIREMENTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PRIVATE = (
    "This report is itself private. It states exact facts about the people in the table: keep it "
    "where the table is kept, and do not publish it."
)
_JUDGED = 1_500


@dataclass(frozen=True, kw_only=True)
class Option:
    """What would happen under one way of publishing."""

    name: str
    reidentified: str
    secret: str
    detail: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Report(Told):
    """What is at stake in a table: uniqueness, linkage, attributes, and each way of publishing."""

    people: int
    identifiers: tuple[str, ...]
    """Columns that look as if they named people: to be dropped before anything else."""
    quasi: tuple[str, ...]
    sensitive: str | None
    k: int
    l: int | None
    alone: int
    """People who are alone on all the quasi-identifiers."""
    below: int
    """People in groups of fewer than `wanted`."""
    wanted: int
    epsilon: float
    uniqueness: Uniqueness
    selectivity: Selectivity
    linkage: Linkage | None
    attributes: AttributeInference | None
    options: tuple[Option, ...]

    def _headline(self) -> str:
        return (
            f"{self.alone:,} of {people(self.people)} ({percent(self.alone / self.people)}) are "
            f"alone on {', '.join(self.quasi)}: k = {self.k}."
        )

    def _facts(self) -> Facts:
        facts = [("private", PRIVATE)]
        if self.identifiers:
            facts.append(("drop first", ", ".join(self.identifiers)))
        best = self.uniqueness.best(self.uniqueness.largest)
        facts.append(("singled out", f"{best.unique:,} by {' + '.join(best.columns)}"))
        if self.linkage is not None:
            facts.append(("linked", str(self.linkage).split("\n")[0]))
        if self.attributes is not None:
            facts.append(("guessed", str(self.attributes).split("\n")[0]))
        return facts + [(each.name, each.reidentified) for each in self.options]

    def to_dict(self) -> dict[str, object]:
        """Everything on the page, as JSON can hold it; nobody's row is in it."""
        keep = ("people", "identifiers", "quasi", "sensitive", "k", "l", "alone", "below", "wanted",
                "epsilon")  # fmt: skip
        record: dict[str, object] = {"private": PRIVATE}
        record |= {name: plain(getattr(self, name)) for name in keep}
        best = self.uniqueness.combinations[:20]
        record["combinations"] = [plain(vars(each)) for each in best]
        record["columns"] = [plain(vars(each)) for each in self.selectivity.columns]
        if self.linkage is not None:
            narrowed = {str(k): self.linkage.narrowed_to(k) for k in (1, 2, 5, 10)}
            record["linkage"] = {"on": plain(self.linkage.on), "narrowed_to": narrowed}
        if self.attributes is not None:
            record["attributes"] = self.attributes.to_dict()
        record["options"] = [plain(vars(each)) for each in self.options]
        for name, items in (("properties", PROPERTIES), ("requirements", REQUIREMENTS)):
            record[name] = {
                item.name: dict(zip(OPTIONS, item.verdicts, strict=True)) for item in items
            }
        return record | {"not_tested": list(NOT_TESTED)}

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def to_html(self) -> str:
        """A page of its own: light and dark, prints well, no scripts."""
        return page.html_page(self)

    def write(self, path: str | Path) -> Path:
        """Write the page (.html) or the record (.json)."""
        target = Path(path)
        if target.suffix not in {".html", ".json"}:
            raise BadParameter.of("path", str(path), must="a name that ends in .html or .json")
        text = self.to_html() if target.suffix == ".html" else self.to_json()
        target.write_text(text, encoding="utf-8")
        return target

    def plot(self, ax: Axes | None = None) -> Axes:
        """The combinations of columns that single out most people."""
        return self.uniqueness.plot(ax)


def report(
    table: object,
    *,
    quasi: Sequence[str] | None = None,
    sensitive: str | None = None,
    auxiliary: object | None = None,
    on: Sequence[str | Rule] | None = None,
    k: int = 5,
    epsilon: float = 1.0,
    largest: int = 3,
    seed: int = 0,
) -> Report:
    """Attack a table as a stranger would, before it is published.

    `quasi` are the columns others may know of people (found by their names if not given),
    `sensitive` the one that must not be guessed, `auxiliary` what is known from elsewhere, joined
    `on` columns (by default those it shares with `quasi`). `k` and `epsilon` are what the two
    protected ways of publishing would use.
    """
    wanted = parameters.whole("k", k, least=2)
    parameters.positive("epsilon", epsilon)
    table = frame_of(table)
    found = anonymity.deidentify(table)
    chosen = [name for name in quasi or found.quasi if name != sensitive]
    values = columns_of(table, [*chosen, *([sensitive] if sensitive else [])])
    if not chosen or row_count(values) < 4:
        raise BadParameter(
            "a report needs columns that others may know, and at least four people",
            fix='report(table, quasi=["age", "zip", "sex"], sensitive="income")',
        )
    checked = anonymity.check(table, quasi=chosen, sensitive=sensitive)
    linked = None if auxiliary is None else linkage(
        auxiliary, table, on=on or [c for c in columns_of(auxiliary) if c in chosen]
    )  # fmt: skip
    halves = _halves(values, seed)
    guessed = None if sensitive is None else _guessed(halves, chosen, sensitive)
    return Report(
        people=row_count(values),
        identifiers=tuple(name for name in found.identifiers if name not in chosen),
        quasi=tuple(chosen),
        sensitive=sensitive,
        k=checked.k,
        l=checked.l,
        alone=checked.unique,
        below=checked.below(wanted),
        wanted=wanted,
        epsilon=epsilon,
        uniqueness=uniqueness(table, columns=chosen, largest=largest),
        selectivity=selectivity(table, columns=chosen),
        linkage=linked,
        attributes=guessed,
        options=(
            _raw(checked.unique, row_count(values), guessed),
            _k_anonymous(table, chosen, sensitive, wanted, halves),
            _private(chosen, sensitive, epsilon, halves),
            _synthetic(),
        ),
    )


Half = dict[str, Array]


def _halves(values: Mapping[str, Array], seed: int) -> tuple[Half, Half, Array]:
    """Half of the people as the published table, the other half as a control; and who is in."""
    size = row_count(values)
    inside = np.zeros(size, dtype=bool)
    inside[PublicRandom(seed).generator.permutation(size)[: size // 2]] = True
    first = {name: column[inside] for name, column in values.items()}
    return first, {name: column[~inside] for name, column in values.items()}, inside


def _some(half: Half) -> Half:
    return {name: column[:_JUDGED] for name, column in half.items()}


def _guessed(halves: tuple[Half, Half, Array], quasi: list[str], secret: str) -> AttributeInference:
    inside, outside, _ = halves
    return attributes(
        inside, secret=secret, known=quasi, members=_some(inside), controls=_some(outside)
    )


def _told(secret: str | None, guess: AttributeInference | None) -> str:
    if secret is None or guess is None:
        return "no sensitive column was named"
    return (
        f"{secret} guessed for {percent(guess.accuracy)} of people in the table, "
        f"{percent(guess.control_accuracy)} of people who are not in it"
    )


def _raw(alone: int, size: int, guess: AttributeInference | None) -> Option:
    return Option(
        name=OPTIONS[0],
        reidentified=f"{people(alone)} ({percent(alone / size)}) by the listed columns",
        secret=_told(guess.secret if guess else None, guess),
        detail="Names are off; everything else is as it was.",
    )


def _k_anonymous(
    table: object, quasi: list[str], secret: str | None, k: int, halves: tuple[Half, Half, Array]
) -> Option:
    method = "optimal" if len(quasi) <= 8 else "mondrian"
    done = anonymity.anonymize(table, quasi=quasi, k=k, method=method, sensitive=secret)
    guess, plainly = None, ""
    if secret is not None:
        shown = columns_of(done.frame, [*quasi, secret])
        classes = one_code([shown[name] for name in quasi])
        (coded,), levels = codes(shown[secret])
        inside = halves[2][done.rows]
        votes = np.zeros((int(classes.max()) + 1, len(levels)))
        np.add.at(votes, (classes[inside], coded[inside]), 1)
        right = np.argmax(votes, axis=1)[classes] == coded
        totals = np.bincount(classes * len(levels) + coded, minlength=votes.size)
        alike = (totals.reshape(votes.shape) > 0).sum(axis=1) == 1
        plainly = f" {people(int(alike[classes].sum()))} are in classes that share one {secret}."
        guess = AttributeInference(
            secret=secret,
            known=tuple(quasi),
            members=(int(right[inside].sum()), int(inside.sum())),
            controls=(int(right[~inside].sum()), int((~inside).sum())),
            baseline=float(np.bincount(coded).max() / coded.size),
        )
    return Option(
        name=OPTIONS[1],
        reidentified=f"nobody by the listed columns alone; everyone hides among {done.report.k}",
        secret=_told(secret, guess),
        detail=(
            f"{people(done.report.suppressed)} left out; {percent(done.report.loss)} of exactness "
            f"lost.{plainly}"
        ),
    )


def _private(
    quasi: list[str], secret: str | None, epsilon: float, halves: tuple[Half, Half, Array]
) -> Option:
    guess = None
    if secret is not None:
        guess = defended.linkage(
            halves[0], known=quasi, secret=secret, controls=halves[1], epsilon=epsilon
        )
    return Option(
        name=OPTIONS[2],
        reidentified=f"nobody: there are no rows; odds change at most {np.exp(epsilon):.3g} times",
        secret=_told(secret, guess),
        detail=(
            f"Measured on noisy counts of every cell at ε = {epsilon:g} in all: the share that is "
            "guessed in the table is at most e^ε times the share outside, whoever attacks. Totals "
            "over many people stay accurate."
        ),
    )


def _synthetic() -> Option:
    offered = find_spec("deniable.synthetic") is not None
    return Option(
        name=OPTIONS[3],
        reidentified="nobody: no row belongs to a person" if offered else "not measured",
        secret="not measured here" if offered else "not measured",
        detail="See deniable.synthetic." if offered else "Not offered yet.",
    )
