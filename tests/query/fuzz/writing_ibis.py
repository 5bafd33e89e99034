"""Writes Ibis expressions at random, from templates in Python; kinds as in `writing`."""

import datetime as dt
import re

import ibis

from .hostile import FACTS, VISIT_FACTS, ZIP_FACTS

TYPES = {"int": "int64", "float": "float64", "text": "string", "bool": "boolean"}
TYPES |= {"date": "date", "timestamp": "timestamp"}


def _table(name, facts, **more):
    return ibis.table(more | {c: TYPES[f.type] for c, f in facts.items()}, name=name)


TABLES = {
    "t": _table("data", FACTS, id="int64"),
    "v": _table("visits", VISIT_FACTS, id="int64"),
    "z": _table("zips", ZIP_FACTS),
}
COLUMNS = {
    "I": ["_.i", "_.m", "_.n", "_.huge", "_['select']", "ibis.literal(3)"],
    "F": ["_.x", "_.y", "_.z", "_['q\"uote']", "ibis.literal(0.5)", "ibis.null('float64')"],
    "T": ["_.k", "_.c", "_['größe; --']", "ibis.literal('a')"],
    "B": ["_.b", "(_.i > 3)", "(_.c == 'a')"],
    "D": ["_.d", "ibis.date('2001-03-04')"],
    "S": ["_.t", "ibis.timestamp('2001-03-04 05:06:07')"],
}
# Of a value that is never missing, all rows are counted, and it is left out.
NULLABLE = {"I": "_.i", "F": "_.x", "T": "_.c", "B": "_.b", "D": "_.d", "S": "_.t"}
TEMPLATES = {
    "I": [
        *("({I} + {I})", "({I} - {I})", "({I} * {I})", "({I} % 7)", "(-{I})", "{I}.abs()"),
        *("{F}.sign()", "{F}.floor()", "{F}.ceil()", "{F}.round()", "({I} // 4)", "{T}.length()"),
        *("{P}.year()", "{P}.quarter()", "{P}.month()", "{P}.day()", "{P}.day_of_year()"),
        *("{P}.day_of_week.index()", "{S}.hour()", "{S}.minute()", "{I}.clip(-3, 7)"),
        *("{D}.delta({D}, unit='day')", "{F}.cast('int64')", "{T}.cast('int64')", "{I}.nullif(3)"),
        *("{B}.cast('int64')", "{B}.ifelse({I}, {I})", "ibis.coalesce({I}, {I})"),
        *("ibis.least({I}, {I})", "ibis.greatest({I}, {I})", "{N}.bucket([-3, 0, 5])"),
    ],
    "F": [
        *("({F} + {N})", "({N} - {F})", "({F} * {F})", "({N} / {N})", "(-{F})", "{F}.abs()"),
        *("{F}.sqrt()", "{N}.ln()", "{F}.exp()", "({F} ** 2)", "{F}.round(2)", "{F}.clip(-1, 1)"),
        *("{I}.cast('float64')", "{T}.cast('float64')", "{B}.ifelse({F}, None)"),
        *("{F}.fill_null(0.0)", "ibis.least({F}, {F})"),
    ],
    "T": [
        *("{T}.lower()", "{T}.upper()", "{T}.strip()", "{T}.substr(1, 3)", "{T}.left(2)"),
        *("({T} + {T})", "{I}.cast('string')", "{D}.cast('string')", "{T}.nullif('a')"),
        *("{B}.ifelse({T}, {T})", "ibis.coalesce({T}, {T})"),
    ],
    "B": [
        *(
            "({N} == {N})",
            "({N} > {N})",
            "({T} != {T})",
            "({D} < {D})",
            "({S} >= {S})",
            "{N}.between({N}, {N})",
        ),
        *("{I}.isin([1, 2, 7])", "{T}.notin(['a', ''])", "{A}.isnull()", "{A}.notnull()"),
        *("(~{B})", "({B} & {B})", "({B} | {B})", "({B} ^ {B})", "{T}.like('a%')"),
        *("{T}.ilike('_A%')", "{T}.startswith({T})", "{T}.endswith({T})", "{T}.contains({T})"),
        *("{I}.cast('boolean')", "{N}.identical_to({N})"),
    ],
    "D": ["{S}.date()", "{T}.cast('date')", "({D} + ibis.interval(days=30))", "{D}.truncate('M')"],
    "S": ["{S}.truncate('h')", "{D}.cast('timestamp')", "({S} + ibis.interval(minutes=90))"],
}
EITHER = {"N": "IF", "P": "DS", "A": "IFTBDS"}
BOUNDED = [
    "_.i",
    "_.x",
    "_.y",
    "_.m",
    "_['select']",
    "{N}.clip(-2, 9).fill_null(0)",
    "{N}.clip(0, 3)",
]
COUNTS = [
    "_.count()",
    "{A}.count()",
    "{A}.nunique()",
    "_.count(where={B})",
    "{B}.fill_null(False).sum()",
]
FUNCTIONS = ["sum()", "mean()", "var()", "std()", "var(how='pop')", "std(how='pop')", "median()"]
FUNCTIONS += ["quantile(0.9)", "min()", "max()", "sum(where={B})", "mean(where={B})"]
FUNCTIONS += ["cov(_.y)", "cov(_.i, how='pop')", "corr(_.i, where={B})"]
KEYS = ["_.k", "_.m", "_.b", "_['größe; --']", "_.d.month()", "_.i % 3", "_.c"]
ROWS = [
    *["t"] * 5,
    "t.filter({B})",
    "t.mutate(x=_.x * 2, i=_.i + 1)",
    "t.filter({B}).mutate(y={F}).filter({B})",
    "t.fill_null({{'n': 0}}).drop_null('c')",
    "t.join(z, t.c == z.zip)",
    "t.left_join(z, t.c == z.zip)",
    "t.join(v, 'id')",
    "t.drop('w')",
]
OWN = "t.group_by('id').agg(n=_.count(), s=_.x.sum(), a=_.x.mean(), top=_.i.max(), f={N}.min())"
OF_OWN = [
    "_.n.clip(0, 4).mean()",
    "_.a.sum()",
    "_.s.clip(-5, 50).sum()",
    "_.top.max()",
    "_.count()",
]


class Writer:
    """Writes one expression after another; `rng` is a seeded random.Random."""

    def __init__(self, rng):
        self.rng = rng

    def question(self):
        """The text in Python, and the expression; None if Ibis itself refuses it."""
        rng = self.rng
        if rng.random() < 0.1:
            text = f"{self.fill(OWN)}.agg(a0={rng.choice(OF_OWN)}, a1={rng.choice(OF_OWN)})"
        else:
            keys = rng.sample(KEYS, rng.choice([0, 0, 1, 1, 2]))
            grouped = ", ".join(f"key{j}={key}" for j, key in enumerate(keys))
            made = ", ".join(f"a{j}={self._aggregate()}" for j in range(rng.randint(1, 3)))
            text = self.fill(rng.choice(ROWS))
            text += f".group_by({grouped})" * bool(keys) + f".agg({made})"
        return text, evaluated(text)

    def catalogue(self, *, each=12):
        """Expressions in which every template stands at least once."""
        every = ", ".join(f"a{j}=_.x.{self.fill(f, depth=9)}" for j, f in enumerate(FUNCTIONS))
        yield f"t.agg({every})", evaluated(f"t.agg({every})")
        listed = [self.fill(t, depth=9) for templates in TEMPLATES.values() for t in templates]
        for start in range(0, len(listed), each):
            parts = listed[start : start + each]
            made = ", ".join(f"a{j}=({part}).count()" for j, part in enumerate(parts))
            yield f"t.agg({made})", evaluated(f"t.agg({made})")

    def _aggregate(self):
        if self.rng.random() < 0.35:
            return self.fill(self.rng.choice(COUNTS))
        inside = self.fill(self.rng.choice(BOUNDED))
        return f"({inside}).{self.fill(self.rng.choice(FUNCTIONS))}"

    def fill(self, template, depth=1):
        grown = re.sub(r"(?<!\{)\{(\w)\}", lambda found: self.grow(found[1], depth), template)
        return grown.replace("{{", "{").replace("}}", "}")

    def grow(self, kind, depth):
        kind = self.rng.choice(EITHER.get(kind, kind))
        if depth > 3:
            return NULLABLE[kind]
        if depth == 3 or self.rng.random() < 0.25 + 0.2 * depth:
            return self.rng.choice(COLUMNS[kind])
        return f"({self.fill(self.rng.choice(TEMPLATES[kind]), depth + 1)})"


def evaluated(text):
    """The expression that a text is; None where Ibis says no."""
    try:
        return eval(text, {"ibis": ibis, "_": ibis._, "dt": dt, **TABLES})
    except Exception:
        return None
