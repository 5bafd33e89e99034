"""The page a curator reads before a table is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deniable import anonymity, parameters, records
from deniable.attacks.linkage import Linkage, linkage
from deniable.attacks.matching import Rule
from deniable.attacks.members import AttributeInference
from deniable.attacks.tables import columns_of, frame_of, persons, row_count
from deniable.attacks.telling import Facts, Told, people, percent
from deniable.attacks.uniqueness import Selectivity, Uniqueness, selectivity, uniqueness
from deniable.errors import BadParameter
from deniable.fixes import Fix
from deniable.plots import Axes
from deniable.progress import Progress, say
from deniable.records import plain
from deniable.units import Unit

from . import page
from .checklist import (
    BESIDE,
    NOT_TESTED,
    OPTIONS,
    PRINCIPLES,
    PROPERTIES,
    REQUIREMENTS,
    ROWS,
    verdict_word,
)
from .ways import Option, halves_of, ways

CONFIDENTIAL = (
    "This report is confidential. It states exact facts about the people in the table: keep it "
    "where the table is kept, and do not publish it."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Report(Told):
    """What is at stake in a table: uniqueness, linkage, attributes, and each way of publishing."""

    people: int
    """People, or rows if no unit was given."""
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
    unit: str | None = None
    """The column that identifies people; None: every row was taken for a person."""

    @property
    def not_tested(self) -> tuple[str, ...]:
        """What this report cannot say."""
        return NOT_TESTED if self.unit is not None else (*NOT_TESTED, ROWS)

    def _headline(self) -> str:
        counted = people(self.people) if self.unit is not None else f"{self.people:,} rows"
        return (
            f"{self.alone:,} of {counted} ({percent(self.alone / self.people)}) are "
            f"alone on {', '.join(self.quasi)}: k = {self.k}."
        )

    def _facts(self) -> Facts:
        facts = [("confidential", CONFIDENTIAL)]
        if self.identifiers:
            facts.append(("drop first", ", ".join(self.identifiers)))
        best = self.uniqueness.best(self.uniqueness.largest)
        facts.append(("singled out", f"{best.unique:,} by {' + '.join(best.columns)}"))
        if self.linkage is not None:
            facts.append(("linked", str(self.linkage).split("\n")[0]))
        if self.attributes is not None:
            facts.append(("guessed", str(self.attributes).split("\n")[0]))
        if self.unit is None:
            facts.append(("unit", ROWS))
        facts += [(each.name, each.reidentified) for each in self.options]
        lists = {
            "seven properties": PROPERTIES,
            "beside them": BESIDE,
            "four requirements": REQUIREMENTS,
        }
        for title, items in lists.items():
            facts += [("", ""), (title.upper(), " · ".join(OPTIONS))]
            facts += [(item.name, " · ".join(map(verdict_word, item.verdicts))) for item in items]
        facts += [("", ""), ("EIGHT PRINCIPLES", "yours to answer, whatever you publish")]
        return facts + [(item.name, item.question) for item in PRINCIPLES]

    def to_dict(self) -> dict[str, object]:
        """Everything on the page, as JSON can hold it; nobody's row is in it."""
        keep = ("people", "identifiers", "quasi", "sensitive", "k", "l", "alone", "below", "wanted",
                "epsilon", "unit")  # fmt: skip
        record: dict[str, object] = {"confidential": CONFIDENTIAL}
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
        lists = {"properties": (*PROPERTIES, *BESIDE), "requirements": REQUIREMENTS}
        for name, items in lists.items():
            record[name] = {
                item.name: dict(zip(OPTIONS, item.verdicts, strict=True)) for item in items
            }
        record["principles"] = {item.name: item.question for item in PRINCIPLES}
        return record | {"not_tested": list(self.not_tested)}

    def to_json(self) -> str:
        """The same as `to_dict`, written as JSON text."""
        return records.text(self.to_dict())

    def to_html(self) -> str:
        """A page of its own: light and dark, prints well, no scripts."""
        return page.html_page(self)

    def write(self, path: str | Path) -> Path:
        """Write the page (.html) or the record (.json)."""
        target = parameters.target(path)
        if target.suffix not in {".html", ".json"}:
            raise BadParameter.of("path", str(path), must="a name that ends in .html or .json")
        text = self.to_html() if target.suffix == ".html" else self.to_json()
        target.write_text(text, encoding="utf-8")
        return target

    def plot(self, ax: Axes | None = None) -> Axes:
        """The combinations of columns that single out most people."""
        return self.uniqueness.plot(ax)


@parameters.called('attacks.report(table, quasi=["age", "zip"], sensitive="income")')
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
    unit: str | Unit | None = None,
    seed: int = 0,
) -> Report:
    """Attack a table as a stranger would, before it is published.

    `quasi` are the columns others may know of people (found by their names if not given),
    `sensitive` the one that must not be guessed, `auxiliary` what is known from elsewhere, joined
    `on` columns (by default those it shares with `quasi`). `k` and `epsilon` are what the two
    protected ways of publishing would use. `unit` is the column that identifies people, if they
    have several rows: the report then counts people.

    >>> import deniable as dp
    >>> found = report(dp.load_adult().slice(0, 500), quasi=["age", "sex"], sensitive="income")
    >>> found.people, found.k, found.alone
    (500, 1, 20)
    """
    wanted = parameters.whole("k", k, least=2)
    parameters.positive("epsilon", epsilon)
    whose = unit.column if isinstance(unit, Unit) else unit
    with Progress("reading the table"):
        table = frame_of(table)
        found = anonymity.deidentify(table)
        chosen = [name for name in quasi or found.quasi if name not in (sensitive, whose)]
        values = columns_of(table, [*chosen, *([sensitive] if sensitive else [])])
        if not chosen or row_count(values) < 4:
            raise _too_little()
        say("counting who looks alike")
        checked = anonymity.check(table, quasi=chosen, sensitive=sensitive, unit=whose)
        linked = None if auxiliary is None else _linked(auxiliary, table, on, chosen, whose)
        say("trying combinations of columns")
        singled = uniqueness(table, columns=chosen, largest=largest, unit=whose)
        telling = selectivity(table, columns=chosen, unit=whose)
        halves = halves_of(values, persons(table, whose, row_count(values)), seed)
        guessed, options = ways(
            table, checked, halves, secret=sensitive, quasi=chosen, k=wanted, epsilon=epsilon
        )
    return Report(
        people=checked.rows,
        identifiers=tuple(name for name in found.identifiers if name not in chosen),
        quasi=tuple(chosen),
        sensitive=sensitive,
        k=checked.k,
        l=checked.l,
        alone=checked.unique,
        below=checked.below(wanted),
        wanted=wanted,
        epsilon=epsilon,
        uniqueness=singled,
        selectivity=telling,
        linkage=linked,
        attributes=guessed,
        options=options,
        unit=whose,
    )


def _linked(
    auxiliary: object,
    table: object,
    on: Sequence[str | Rule] | None,
    quasi: list[str],
    unit: str | None,
) -> Linkage:
    say("linking the auxiliary records")
    shared = on or [name for name in columns_of(auxiliary) if name in quasi]
    return linkage(auxiliary, table, on=shared, unit=unit)


def _too_little() -> BadParameter:
    return BadParameter(
        "a report needs at least one quasi-identifier and at least four rows",
        fix=Fix('report(table, quasi=["age", "zip", "sex"])', command="--quasi age,zip,sex"),
    )
