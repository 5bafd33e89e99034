"""What to write instead, as a value: text is made of it where it is shown.

>>> offer = amount("spend", "epsilon", "0.2", note="what is left")
>>> written([offer]), written([offer], medium="shell")
('spend=dp.epsilon(0.2)    what is left', '--spend 0.2    what is left')
>>> offer.fields
{'spend': '0.2'}
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

Medium = Literal["python", "ibis", "shell"]
"""Where a fix is typed: in Python (questions in SQL), in an Ibis expression, in a shell."""

_WHOSE: Final = re.compile(
    r"(^|_)(person|people|user|patient|customer|client|member|employee|student|account)s?(_?(id|no|nr)?)$"
    r"|^(id|uid|ssn|email)$"
)
"""Names of columns that mostly tell people apart."""


@dataclass(frozen=True)
class Fix:
    """One thing to write instead; `note` stands beside it, `lead` before it.

    Where it is typed otherwise than in Python: `ibis`; `command`, "" where nothing can be typed in
    a shell; and `fields`, the parameters that it sets, by name, as typed in a form or as options.
    `own` if it is about a person's own rows: it calls the column that identifies people user_id.
    """

    python: str
    ibis: str | None = None
    command: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    lead: str = ""
    own: bool = False

    def said(self, medium: Medium) -> str:
        """As it is typed there; nothing if it cannot be."""
        if medium == "ibis" and self.ibis is not None:
            said = self.ibis
        elif medium == "shell" and self.command is not None:
            said = self.command
        elif medium == "shell" and self.fields:
            said = " ".join(f"--{name} {shlex.quote(v)}" for name, v in self.fields.items())
        else:
            said = self.python
        return said and self.lead + said


Fixes = str | Fix | Iterable[str | Fix]
"""One fix or several; plain text reads the same everywhere."""


def listed(fixes: Fixes) -> tuple[Fix, ...]:
    """Every fix as a value."""
    several = [fixes] if isinstance(fixes, str | Fix) else fixes
    return tuple(each if isinstance(each, Fix) else Fix(each) for each in several if each)


def written(fixes: Sequence[Fix], medium: Medium = "python") -> str:
    """A line for each that can be typed there, notes in one column; in a shell, commands first."""
    lines = [(said, each.note) for each in fixes if (said := each.said(medium))]
    if medium == "shell":
        lines.sort(key=lambda line: not line[0].startswith("deniable "))
    width = max((len(said) for said, note in lines if note), default=0)
    return "\n".join(f"{said:<{width}}    {note}" if note else said for said, note in lines)


def amount(name: str, kind: str, figure: object, *, delta: object = None, note: str = "") -> Fix:
    """An amount of a loss, for `spend` or `budget`.

    >>> amount("budget", "rho", 0.1).said("shell"), amount("spend", "epsilon", 1, delta=1e-8).python
    ('--budget rho=0.1', 'spend=dp.epsilon(1, delta=1e-08)')
    """
    more = "" if delta is None else f", delta={delta}"
    typed = f"{figure}" if kind == "epsilon" else f"{kind}={figure}"
    typed += "" if delta is None else f",{delta}"
    return Fix(f"{name}=dp.{kind}({figure}{more})", fields={name: typed}, note=note)


def number(name: str, value: float, note: str = "") -> Fix:
    """A number for an option."""
    return Fix(f"{name}={value}", fields={name: f"{value}"}, note=note)


def nearest(word: str, known: Iterable[str], *, alike: float = 0.6) -> str:
    """The known word that was probably meant; empty if none is much like it.

    >>> nearest("incom", ["age", "income"]), nearest("x", ["age", "income"])
    ('income', '')
    """
    import difflib

    return next(iter(difflib.get_close_matches(word, [*known], n=1, cutoff=alike)), "")


def whose(columns: Iterable[str]) -> str:
    """The column that by its name may tell people apart; a made-up one if there is none.

    >>> whose(["age", "Patient_ID"]), whose(["age", "city"])
    ('Patient_ID', 'user_id')
    """
    return next((name for name in columns if _WHOSE.search(name.lower())), "user_id")


def person(column: str, rows: object = "...", groups: int | None = None, note: str = "") -> Fix:
    """A person as the unit.

    >>> person("Customer ID").said("shell")
    "--unit 'Customer ID' --rows 10"
    """
    more = "" if groups is None else f", groups={groups}"
    fields = {"unit": column, "rows": "10" if rows == "..." else f"{rows}"}
    fields |= {} if groups is None else {"groups": f"{groups}"}
    return Fix(f'unit=dp.person("{column}", rows={rows}{more})', fields=fields, note=note)


def rows(note: str = "") -> Fix:
    """Single rows as the unit."""
    return Fix("unit=dp.rows()", command="--unit row", fields={"unit": "row"}, note=note)


def schema(facts: Mapping[str, str], *, among: str = "") -> str:
    """The option that states facts about columns: of the table `among` several, if it is named.

    >>> print(schema({"age": "dp.bounds(0, 125)"}, among="people"))
    schema={"people": dp.Schema(columns={"age": dp.bounds(0, 125)})}
    """
    columns = ", ".join(f"{quoted(column)}: {fact}" for column, fact in facts.items())
    one = f"dp.Schema(columns={{{columns}}})"
    return f"schema={{{quoted(among)}: {one}}}" if among else f"schema={one}"


def keys(
    *columns: str, numbers: bool = False, note: str = "", table: str = "TABLE", among: str = ""
) -> Fix:
    """The public list of the values of columns, to be replaced by those there can be."""
    values, typed = ("1, 2, 3", "1,2,3") if numbers else ('"A", "B", "C"', "A,B,C")
    shell = " and ".join(
        f"deniable set {shlex.quote(f'{table}.{column}')} --keys {typed}" for column in columns
    )
    return Fix(
        schema(dict.fromkeys(columns, f"dp.keys([{values}])"), among=among),
        command=shell,
        note=note,
    )


def bounds(column: str, *, table: str, type: str, among: str = "") -> list[Fix]:
    """Plausible bounds of a column, stated or estimated privately."""
    target, name = shlex.quote(f"{table}.{column}"), quoted(column)
    stated, said = PLAUSIBLE.get(type, PLAUSIBLE["float"])
    known = [
        Fix(
            schema({column: f"dp.bounds({stated})"}, among=among),
            command=f"deniable set {target} --bounds {said}",
        ),
        Fix(
            f"s.bounds({name}, spend=dp.epsilon(0.1))    # estimates them privately",
            command=f"deniable bounds {target} --spend 0.1",
        ),
    ]
    return known if type in ("int", "float") else known[:1]


def people(column: str, *, table: str) -> Fix:
    """The number of people, in place of a statistic of the column that identifies them.

    >>> people("id", table="visits").said("shell")
    'deniable ask "SELECT COUNT(DISTINCT id) AS people FROM visits" --within 10'
    """
    who, where = sql_name(column), sql_name(table)
    counted = select([f"COUNT(DISTINCT {who}) AS people"], where)
    typed = f'"{counted}"' if '"' not in counted else shlex.quote(counted)
    return Fix(
        f"s.sql({counted!r}).release(within=10)" if '"' in counted else f's.sql("{counted}")',
        ibis=f"table.{column}.nunique()"
        if column.isidentifier()
        else f"table[{column!r}].nunique()",
        command=f"deniable ask {typed} --within 10",
        note="# counts the people",
    )


PLAUSIBLE: Final = {
    "float": ("0, 100", "0 100"),
    "int": ('0, 100, type="int"', "0 100"),
    "date": (
        '"2000-01-01", "2030-01-01", type="date"',
        "2000-01-01 2030-01-01",
    ),
    "timestamp": (
        '"2000-01-01", "2030-01-01", type="timestamp"',
        "2000-01-01 2030-01-01",
    ),
}
"""Bounds to be replaced by what is plausible, by type: in Python and in a shell."""


def python(text: str, note: str = "") -> Fix:
    """What is said in Python alone: in a shell another fix is given beside it."""
    return Fix(text, command="", note=note)


def sql(text: str, ibis: str, note: str = "") -> Fix:
    """What is spelled one way in SQL, and another in Ibis."""
    return Fix(text, ibis=ibis, note=note)


EXAMPLE: Final = "SELECT COUNT(*) FROM data"
"""A question about a table that may have another name: see `for_tables`."""


def for_tables(fixes: Iterable[Fix], tables: Iterable[str]) -> tuple[Fix, ...]:
    """The fixes with an example about a table that there is.

    >>> for_tables([Fix(EXAMPLE)], ["visits-2"])[0].python
    'SELECT COUNT(*) FROM "visits-2"'
    """
    name = next(iter(tables), "data")
    example = EXAMPLE.replace("data", sql_name(name))
    return tuple(replace(each, python=each.python.replace(EXAMPLE, example)) for each in fixes)


def for_asker(fixes: Iterable[Fix], what: str) -> tuple[Fix, ...]:
    """The fixes, where the first are the curator's to follow: an asker changes no schema or unit.

    >>> for_asker([Fix("schema=...")], "state bounds: ")[0].said("python")
    'the curator can state bounds: schema=...'
    """
    first, *others = fixes
    return replace(first, lead=f"the curator can {what}{first.lead}"), *others


def own_rows(text: str, ibis: str | None = None) -> Fix:
    """What can be asked of each person's own rows, where a column identifies people."""
    return Fix(text, ibis=ibis, own=True)


def for_unit(fixes: Iterable[Fix], column: str | None) -> tuple[Fix, ...]:
    """The fixes that apply if this column identifies people, or none does.

    >>> [f.said("python") for f in for_unit([own_rows("GROUP BY user_id"), Fix("or")], "a b")]
    ['GROUP BY "a b"', 'or']
    >>> for_unit([own_rows("GROUP BY user_id")], None)
    ()
    """
    if column is None:
        return tuple(each for each in fixes if not each.own)
    name = sql_name(column)
    return tuple(
        replace(
            each,
            python=each.python.replace("user_id", name),
            ibis=each.ibis and each.ibis.replace('"user_id"', quoted(column)),
        )
        if each.own
        else each
        for each in fixes
    )


def select(columns: Sequence[str], rows: str) -> str:
    """A query as one types it: shown, never run here."""
    return f"SELECT {', '.join(columns)} FROM {rows}"  # noqa: S608  (see above)


def sql_name(name: str) -> str:
    """A name as one types it in SQL.

    >>> print(sql_name("visits"), sql_name("visits-2"))
    visits "visits-2"
    """
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'


def quoted(name: str) -> str:
    """A name as one types it in Python."""
    return repr(name) if '"' in name or "\\" in name else f'"{name}"'
