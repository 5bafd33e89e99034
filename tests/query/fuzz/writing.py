"""Writes questions in SQL at random: every operator, aggregate, join, grouping and subquery.

Expressions are grown from templates by kind: I whole, F fraction, N either, T text, B truth,
D date, S timestamp, P either of these two, A anything.
"""

import re
from dataclasses import dataclass, field

DEEPEST = 3

LITERALS = {
    "I": ["0", "1", "-3", "7", "1000000", "9007199254740993", "-9223372036854775808"],
    "F": ["0.0", "0.5", "-2.25", "1e300", "1e-300", "3.0", "1.7976931348623157e308", "5e-324"],
    "T": ["''", "'a'", "'A%'", "'it''s'", "'é'", "'2001-02-29'", "'12'", "'1e400'", "'nan'"],
    "B": ["TRUE", "FALSE"],
    "D": ["DATE '2001-03-04'", "DATE '0001-01-01'", "DATE '9999-12-31'"],
    "S": ["TIMESTAMP '2001-03-04 05:06:07'", "TIMESTAMP '2000-02-29 23:59:59'"],
}
# Constants that are missing, or that no column can hold; some are refused.
ODD = {
    "I": ["CAST(NULL AS BIGINT)", "NULL", "99999999999999999999999999999999999999999"],
    "F": ["CAST(NULL AS DOUBLE)", "NULL", "-1e309", "0.1234567890123456789012345678901234567890"],
    "T": ["CAST(NULL AS TEXT)", "NULL", f"'{'x' * 5000}'", "'\\'", "'\n''\"'", "'%_\U0001f600'"],
    "B": ["NULL", "CAST(NULL AS BOOLEAN)", "NULL = NULL"],
    "D": ["NULL", "CAST(NULL AS DATE)", "DATE '2001-02-29'"],
    "S": ["NULL", "CAST('2001-02-29 25:61:61' AS TIMESTAMP)"],
}
_BRANCHES = [
    "CASE WHEN {B} THEN {_} ELSE {_} END",
    "CASE WHEN {B} THEN {_} WHEN {B} THEN {_} END",
    "IF({B}, {_}, {_})",
    "COALESCE({_}, {_})",
    "NULLIF({_}, {_})",
]
_COMPARED = ["{_} = {_}", "{_} <> {_}", "{_} IS DISTINCT FROM {_}"]
_ORDERED = ["{_} < {_}", "{_} <= {_}", "{_} > {_}", "{_} >= {_}", "{_} BETWEEN {_} AND {_}"]
_LEAST = ["LEAST({_}, {_})", "GREATEST({_}, {_}, {_})"]


def _of(templates, kinds):
    return [t.replace("{_}", f"{{{kind}}}") for kind in kinds for t in templates]


TEMPLATES = {
    "I": [
        *("({I} + {I})", "({I} - {I})", "({I} * {I})", "({I} % {I})", "(-({I}))", "ABS({I})"),
        *("SIGN({N})", "FLOOR({F})", "CEIL({F})", "ROUND({F})", "CLAMP({I}, -3, 7)", "{I} // 4"),
        *("LENGTH({T})", "YEAR({P})", "QUARTER({P})", "MONTH({P})", "DAY({P})", "dow({P})"),
        *("EXTRACT(doy FROM {P})", "HOUR({S})", "MINUTE({S})", "DATE_DIFF('day', {P}, {P})"),
        *("CAST({F} AS BIGINT)", "CAST({T} AS BIGINT)", "CAST({B} AS BIGINT)", "bin({I}, 3)"),
        *("WIDTH_BUCKET({N}, -3, 5, 4)", "ROUND({I}, -1)"),
        *_of(_BRANCHES + _LEAST, "I"),
    ],
    "F": [
        *("({F} + {N})", "({N} - {F})", "({F} * {F})", "({N} / {N})", "(-({F}))", "ABS({F})"),
        *("SQRT({N})", "LN({N})", "EXP({N})", "POWER({N}, {N})", "ROUND({F}, 2)", "bin({F}, 0.5)"),
        *("CLAMP({F}, -1, 1)", "CAST({I} AS DOUBLE)", "CAST({T} AS DOUBLE)"),
        *_of(_BRANCHES + _LEAST, "F"),
    ],
    "T": [
        *("LOWER({T})", "UPPER({T})", "TRIM({T})", "SUBSTR({T}, 2, 3)", "SUBSTR({T}, 2)"),
        *("({T} || {T})", "LEFT({T}, 2)", "CAST({I} AS TEXT)", "CAST({D} AS TEXT)"),
        *("CAST({B} AS TEXT)", *_of(_BRANCHES + _LEAST, "T")),
    ],
    "B": [
        *_of(_COMPARED, "NTBDS"),
        *_of(_ORDERED, "NTDS"),
        *("{I} IN (1, 2, 7)", "{T} IN ('a', '')", "{A} IS NULL", "{T} IS NOT NULL", "NOT {B}"),
        *("({B} AND {B})", "({B} OR {B})", "{B} IS TRUE", "{T} LIKE 'a%'", "{T} ILIKE '_A%'"),
        *("starts_with({T}, {T})", "ends_with({T}, {T})", "contains({T}, {T})"),
        *("CAST({I} AS BOOLEAN)", "CAST({T} AS BOOLEAN)", "CASE WHEN {B} THEN {B} ELSE {B} END"),
    ],
    "D": [
        *("CAST({S} AS DATE)", "CAST({T} AS DATE)", "({D} + {I})", "({D} + INTERVAL 30 DAY)"),
        *("DATE_TRUNC('month', {D})", "DATE_TRUNC('week', {D})", *_of(_BRANCHES + _LEAST, "D")),
    ],
    "S": [
        *("CAST({D} AS TIMESTAMP)", "CAST({T} AS TIMESTAMP)", "DATE_TRUNC('hour', {S})"),
        *("({S} + INTERVAL 90 MINUTE)", "({S} - INTERVAL 3 HOUR)"),
        *_of(_BRANCHES + _LEAST, "S"),
    ],
}
EITHER = {"N": "IF", "P": "DS", "A": "IFTBDS"}

# What FROM can be: the text, the columns it has by kind, those with bounds, keys with public lists.
DATA = {"I": ["i", "huge", "n", "m", '"select"'], "F": ["x", "y", "z", "w", '"q""uote"']} | {
    "T": ["k", "c", '"größe; --"'],
    "B": ["b"],
    "D": ["d"],
    "S": ["t"],
}
NULLABLE = {"I": ["i", "n"], "F": ["x", "z"], "T": ["k", "c"], "B": ["b"], "D": ["d"], "S": ["t"]}
BOUNDED = ["i", "huge", "x", "y", "w", "m", '"select"', '"q""uote"']
LISTED = ["k", "m", "b", "bin(x, 5)", "month(d)", "DATE_TRUNC('quarter', d)", "i % 3"]
LISTED += ['"größe; --"', '"select"']


@dataclass(frozen=True, kw_only=True)
class From:
    """Rows to ask about; `text` may hold templates, `head` comes before SELECT."""

    text: str
    columns: dict = field(default_factory=lambda: DATA)
    bounded: list = field(default_factory=lambda: BOUNDED)
    listed: list = field(default_factory=lambda: LISTED)
    head: str = ""


_VISITS = DATA | {"I": ["i", "n", "stay"], "F": ["x", "y", "cost"], "T": ["k", "c", "zip"]}
_ZIPS = DATA | {"I": ["i", "m", "n"], "F": ["x", "size"], "T": ["k", "c", "region"]}
_OWN = {"I": ["visits", "top", "kinds"], "F": ["total", "mean", "low"], "T": ["k"]} | {
    "B": ["visits > 2"],
    "D": ["DATE '2001-01-01'"],
    "S": ["TIMESTAMP '2001-01-01 00:00:00'"],
}
_OWN_SELECT = (
    "SELECT id, k, COUNT(*) AS visits, MAX(i) AS top, COUNT(DISTINCT c) AS kinds, SUM(x) AS total,"
    " AVG(x) AS mean, MIN({F}) FILTER (WHERE {B}) AS low FROM data WHERE {B} GROUP BY id, k"
)
_OWN_BOUNDED = ["top", "mean", "CLAMP(total, -5, 50)", "CLAMP(visits, 0, 4)", "LEAST(visits, 3)"]

FROMS = [
    *[From(text="data")] * 6,
    From(text="(SELECT * FROM data WHERE {B}) AS inside"),
    From(
        text='(SELECT id, k, m, b, d, t, c, n, huge, y, z, w, i + 1 AS i, x * 2 AS x, "select",'
        ' "größe; --", "q""uote" FROM data) q',
        listed=["k", "m", "b", "month(d)", "bin(x, 10)"],
    ),
    From(
        text="data JOIN zips ON data.c = zips.zip",
        columns=_ZIPS,
        bounded=["i", "x", "size", "m"],
        listed=["k", "m", "region"],
    ),
    From(
        text="data LEFT JOIN zips ON LOWER(data.c) = zips.zip",
        columns=_ZIPS,
        bounded=["i", "x", "size", "m"],
        listed=["k", "region"],
    ),
    From(
        text="data JOIN visits USING (id)",
        columns=_VISITS,
        bounded=["i", "x", "cost", "stay"],
        listed=["k", "m", "stay"],
    ),
    From(
        text="data LEFT JOIN visits ON data.id = visits.id AND data.i = visits.stay",
        columns=_VISITS,
        bounded=["i", "x", "cost", "stay"],
        listed=["k", "stay"],
    ),
    From(
        head=f"WITH own AS ({_OWN_SELECT})",
        text="own",
        columns=_OWN,
        bounded=_OWN_BOUNDED,
        listed=["k", "top", "LEAST(visits, 5)"],
    ),
    From(
        text="(SELECT id, COUNT(*) AS visits, MAX(i) AS top, COUNT(DISTINCT {A}) AS kinds,"
        " SUM(huge) AS total, AVG(i) AS mean, MIN(x) AS low, 'a' AS k FROM data GROUP BY id"
        " HAVING COUNT(*) > 1) AS own",
        columns=_OWN | {"T": ["'b'"]},
        bounded=_OWN_BOUNDED,
        listed=["top", "CASE WHEN {B} THEN 'often' ELSE 'seldom' END"],
    ),
    From(
        text="(SELECT DISTINCT id, k, m, i FROM data) AS few",
        columns={"I": ["i", "m"], "F": ["i / 2"], "T": ["k"]}
        | {"B": ["i > 2"], "D": ["DATE '2001-01-01'"], "S": ["TIMESTAMP '2001-01-01 01:00:00'"]},
        bounded=["i", "m"],
        listed=["k", "m"],
    ),
    From(
        head="WITH one AS (SELECT * FROM data WHERE {B}), two AS (SELECT * FROM one WHERE {B})",
        text="two",
    ),
    From(
        text="zips JOIN data ON zips.zip = data.c JOIN visits USING (id)",
        columns=_ZIPS | {"F": ["x", "size", "cost"], "I": ["i", "stay"]},
        bounded=["i", "x", "cost", "size"],
        listed=["m", "stay", "region"],
    ),
    From(
        text="data JOIN (SELECT id, COUNT(*) AS visits, MAX(cost) AS top FROM visits WHERE"
        " stay > 1 GROUP BY id HAVING COUNT(*) < 5) AS v USING (id)",
        columns=DATA | {"I": ["i", "m", "visits"], "F": ["x", "top"]},
        bounded=["i", "x", "top", "LEAST(visits, 4)"],
        listed=["k", "LEAST(visits, 2)"],
    ),
    From(
        text="(SELECT id, MAX(visits) AS visits, MIN(top) AS top, COUNT(*) AS kinds, MAX(total) AS"
        f" total, AVG(CLAMP(total, -5, 50)) AS mean, MIN(low) AS low, 'a' AS k FROM ({_OWN_SELECT})"
        " AS deep GROUP BY id) AS own",
        columns=_OWN | {"T": ["'b'"]},
        bounded=_OWN_BOUNDED,
        listed=["LEAST(visits, 5)"],
    ),
    From(
        text="data RIGHT JOIN visits USING (id)",
        columns=_VISITS,
        bounded=["x", "i", "cost", "stay"],
        listed=["k", "stay"],
    ),
    From(text="(SELECT * FROM data WHERE {B} UNION ALL SELECT * FROM data WHERE {B}) AS twice"),
    From(
        text="(SELECT id, i, x, k, c, b, d, t FROM data UNION ALL"
        " SELECT id, stay, cost, zip, zip, NULL, d, NULL FROM visits JOIN data USING (id)) AS both",
        columns={"I": ["i"], "F": ["x"], "T": ["k", "c"], "B": ["b"], "D": ["d"], "S": ["t"]},
        bounded=["i", "x"],
        listed=["i", "month(d)"],
    ),
    From(text="(SELECT * FROM data WHERE c IN (SELECT zip FROM zips WHERE size > 3)) AS near"),
    From(text="(SELECT * FROM data WHERE {B} OR {T} IN (SELECT region FROM zips) IS TRUE) AS some"),
    From(
        text="(SELECT * FROM data WHERE {B} OR id NOT IN (SELECT id FROM visits WHERE stay > 1))"
        " AS rare"
    ),
]
# What cannot be bounded: these must be refused, whatever surrounds them.
REFUSED = [
    From(text="zips"),
    From(text="data FULL JOIN visits USING (id)"),
    From(text="data, zips"),
    From(text="(SELECT *, ROW_NUMBER() OVER (PARTITION BY id) AS r FROM data) AS numbered"),
    From(text="(SELECT * FROM data UNION SELECT * FROM data) AS twice"),
    From(text="(SELECT * FROM data WHERE c IN (SELECT zip FROM visits)) AS led"),
    From(text="(SELECT * FROM data WHERE i > (SELECT AVG(i) FROM data)) AS above"),
    From(text="data JOIN visits ON data.c = visits.zip"),
    From(text="(SELECT * FROM data LIMIT 9) AS cut"),
    From(text="(SELECT k, m, i, x FROM data GROUP BY k, m, i, x) AS lost"),
]
# Made of several aggregates, or about dates.
COMPOSED = [
    *("SUM({_}) / COUNT(*)", "ROUND(AVG({_}), 1)", "COUNT(*) * 100", "MIN(d)", "MEDIAN(t)"),
    *("CASE WHEN COUNT(*) > 3 THEN AVG({_}) ELSE 0.0 END", "SUM({_} > 1)", "COUNT(*) + NULL"),
    "QUANTILE({_}, 0.1) - QUANTILE({_}, 0.9)",
]
HAVING = ["COUNT(*) > 2", "a0 > 1", "key0 IS NOT NULL", "AVG(i) > 1 AND COUNT(*) < 9"]
FUNCTIONS = [
    *("SUM({_})", "AVG({_})", "VAR_SAMP({_})", "VAR_POP({_})", "STDDEV({_})", "STDDEV_POP({_})"),
    *("MEDIAN({_})", "QUANTILE({_}, 0.9)", "MIN({_})", "MAX({_})", "SUM({_})", "AVG({_})"),
    "PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY {_})",
]
COUNTS = ["COUNT(*)", "COUNT({A})", "COUNT(DISTINCT {A})", "COUNT(DISTINCT id)", "COUNT_IF({B})"]


class Writer:
    """Writes one question after another; `rng` is a seeded random.Random."""

    def __init__(self, rng):
        self.rng = rng
        self.deepest = DEEPEST

    def question(self):
        rng = self.rng
        asked = rng.choice(FROMS if rng.random() < 0.95 else REFUSED)
        self.deepest = rng.choice([DEEPEST] * 19 + [8])
        self.rows = FROMS[0]  # inside, the columns are those of the table
        head, source = self.fill(asked.head), self.fill(asked.text)
        self.rows = asked
        keys = self._keys()
        made = [f"{self.fill(key)} AS key{j}" for j, key in enumerate(keys)]
        made += [f"{self._aggregate()} AS a{j}" for j in range(rng.randint(1, 3))]
        text = f"{head} SELECT {', '.join(made)} FROM {source}"
        if rng.random() < 0.5:
            text += f" WHERE {self.grow('B', 0)}"
        text += self._grouped([f"key{j}" for j in range(len(keys))])
        if keys and rng.random() < 0.2:
            text += f" HAVING {rng.choice(HAVING)}"
        if rng.random() < 0.2:
            text += " ORDER BY a0 DESC LIMIT 5"
        return text.strip()

    def catalogue(self, *, each=6, distinct=True):
        """Questions in which every template stands at least once, filled with columns alone.

        Columns that may be missing: of what is never missing all rows are counted, unread.
        """
        self.rows, self.deepest = From(text="data", columns=NULLABLE), DEEPEST
        counts = ("COUNT({})", "COUNT(DISTINCT {})" if distinct else "COUNT({})")
        counted = [
            ("COUNT_IF({})" if kind == "B" else counts[j % 2]).format(self.fill(t, DEEPEST + 1))
            for kind, templates in TEMPLATES.items()
            for j, t in enumerate(templates)
        ]
        return [
            f"SELECT {', '.join(f'{part} AS a{j}' for j, part in enumerate(counted[i : i + each]))}"
            " FROM data"
            for i in range(0, len(counted), each)
        ]

    def _keys(self):
        """None, one or two, most of them with public lists."""
        chosen = []
        for _ in range(self.rng.choice([0, 0, 1, 1, 1, 2])):
            kind = self.rng.random()
            if kind < 0.7:
                chosen.append(self.rng.choice(self.rows.listed))
            elif kind < 0.8:
                chosen.append("CASE WHEN {B} THEN 'yes' WHEN {B} THEN 'no' END")
            else:
                chosen.append(self.rng.choice(["{T}", "{I}", "{D}", *self.rows.columns["T"]]))
        return [self.fill(key) for key in dict.fromkeys(chosen)]

    def _grouped(self, names):
        if not names:
            return ""
        listed = ", ".join(names)
        forms = [listed] * 3 + [f"ROLLUP ({listed})", f"CUBE ({listed})"]
        forms.append(f"GROUPING SETS (({listed}), ({names[0]}))")
        return f" GROUP BY {self.rng.choice(forms)}"

    def _aggregate(self):
        rng = self.rng
        if rng.random() < 0.35:
            made = self.fill(rng.choice(COUNTS))
        elif rng.random() < 0.1:
            return rng.choice(COMPOSED).replace("{_}", self.fill(rng.choice(self.rows.bounded)))
        else:
            inside = rng.choice(
                [*self.rows.bounded, "CLAMP(COALESCE({N}, 0), -2, 9)", "CLAMP({N}, -2, 9)"]
                + ["COALESCE({N}, 1)", "{N}"] * (rng.random() < 0.3)
            )
            made = rng.choice(FUNCTIONS).replace("{_}", self.fill(inside))
        if rng.random() < 0.25:
            made += f" FILTER (WHERE {self.grow('B', 1)})"
        return made

    def fill(self, template, depth=1):
        """The template with everything in braces grown."""
        return re.sub(r"\{(\w)\}", lambda found: self.grow(found[1], depth), template)

    def grow(self, kind, depth):
        """An expression of a kind."""
        rng = self.rng
        kind = rng.choice(EITHER.get(kind, kind))
        if depth >= self.deepest or rng.random() < (0.25 + 0.2 * depth) * DEEPEST / self.deepest:
            plain = depth > self.deepest or rng.random() > 0.16
            constants = LITERALS if rng.random() < 0.9 else ODD
            return rng.choice(self.rows.columns[kind] if plain else constants[kind])
        return self.fill(rng.choice(TEMPLATES[kind]), depth + 1)
