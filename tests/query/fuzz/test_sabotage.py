"""The checks of this folder can fail: each safeguard taken away is noticed."""

import pytest
from sqlglot import exp

import deniable as dp
from deniable.query import execute, integers
from deniable.query.compile import contributions, reading
from deniable.query.compile import nodes as sql
from deniable.query.compile.dialect import Dialect
from deniable.query.compile.relations import PERSON, selected
from deniable.query.compile.statements import Writer

from .hostile import Data, Pair
from .judging import Case, judge
from .test_odd_row import PLAIN

PEOPLE = Case(unit=dp.person("id", rows=3, groups=2), budget=dp.epsilon(50, delta=1e-6))
SINGLE = Case(unit=dp.rows(), budget=dp.epsilon(50, delta=1e-6))
REPLACED = Case(unit=dp.rows(relation="replace"), budget=dp.epsilon(50, delta=1e-6))
CROWD = tuple(PLAIN | {"id": j} for j in range(7))
TEXTS = ("", "a", "it's", "é")


def rows(count, **values):
    return tuple(PLAIN | {"id": 99} | values for _ in range(count))


def no_weights(patch):
    patch.setattr(Writer, "_weight", lambda self, rows: self.dialect.whole(self.plan.weight))


def no_clipping(patch):
    for module in (contributions, reading):
        patch.setattr(module, "clipped", lambda node, low, high, *, nullable: node)
    patch.setattr(reading, "_bounded", lambda stored, *_: stored)


def nobody_is_somebody(patch):
    present = sql.present

    def anybody(node):
        return exp.true() if node.name == PERSON else present(node)

    patch.setattr(sql, "present", anybody)


def narrow_sums(patch):
    narrow = lambda self, node: sql.typed(sql.function("SUM", node), "BIGINT")  # noqa: E731
    patch.setattr(Dialect, "summed", narrow)


def rounded_sums(patch):
    """Floats in place of whole numbers."""

    def in_floats(self, node):
        return sql.typed(sql.typed(sql.function("SUM", node), "REAL"), "HUGEINT")

    patch.setattr(Dialect, "summed", in_floats)


def all_groups(patch):
    def keep(self, source, names):
        same = selected([(n, sql.name(n)) for n in names], sql.table(source))
        self.parts.append(("kept", same))

    patch.setattr(Writer, "_keep_groups", keep)


def all_values(patch):
    rank = sql.over

    def first(function, person, order=None):
        return sql.plain(1) if order is not None else rank(function, person)

    patch.setattr(sql, "over", first)


def wrong_relation(patch):
    """Bounds for added rows where rows are replaced."""
    honest = integers.moves
    added = dp.rows().relation
    patch.setattr(integers, "moves", lambda **given: honest(**given | {"relation": added}))


def only_keys_found(patch):
    honest = execute.ExactCells.aligned

    def shrunk(found, part, groups):
        cells = found.cells
        there = [
            group
            for group in groups
            if group in cells.groups
            and any(numbers[cells.groups.index(group)] for numbers in cells.numbers.values())
        ]
        return honest(found, part, there)

    patch.setattr(execute.ExactCells, "aligned", shrunk)


SABOTAGES = [
    (no_weights, PEOPLE, "SELECT COUNT(*) AS n, AVG(x) AS a FROM data", CROWD, rows(23), ()),
    (no_clipping, PEOPLE, "SELECT SUM(x) AS s FROM data", CROWD, rows(1, x=1e6), ()),
    (no_clipping, SINGLE, "SELECT k, AVG(x) AS s FROM data GROUP BY k", (), rows(1, x=1e6), ()),
    (
        nobody_is_somebody,
        PEOPLE,
        "SELECT c, COUNT(*) AS n FROM data GROUP BY c",
        CROWD,
        rows(4, id=None),
        (),
    ),
    (
        narrow_sums,
        PEOPLE,
        "SELECT SUM(huge) AS s FROM data",
        tuple(row | {"huge": 2**40} for row in CROWD),
        rows(1, huge=2**40),
        (),
    ),
    (
        rounded_sums,
        SINGLE,
        "SELECT SUM(x) AS s FROM data",
        tuple(row | {"x": 1 / 3} for row in CROWD) * 2,
        rows(1, x=10.0),
        (),
    ),
    (
        all_groups,
        PEOPLE,
        "SELECT k, COUNT(DISTINCT id) AS n FROM data GROUP BY k",
        CROWD,
        tuple(row for k in TEXTS for row in rows(1, k=k)),
        (),
    ),
    (
        all_values,
        PEOPLE,
        "SELECT COUNT(DISTINCT i) AS n FROM data",
        CROWD,
        tuple(row for i in range(9) for row in rows(1, i=i)),
        (),
    ),
    (
        wrong_relation,
        REPLACED,
        "SELECT k, COUNT(*) AS n FROM data GROUP BY k",
        CROWD,
        rows(1, k="a"),
        rows(1, k="é"),
    ),
    (
        only_keys_found,
        SINGLE,
        "SELECT k, COUNT(*) AS n FROM data GROUP BY k",
        CROWD,
        rows(1, k="é"),
        (),
    ),
]


@pytest.mark.parametrize(
    ("sabotage", "case", "sql", "shared", "own", "other"),
    SABOTAGES,
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_a_safeguard_taken_away_is_noticed(
    sabotage, case, sql, shared, own, other, in_duckdb, monkeypatch
):
    nobody = sabotage is nobody_is_somebody
    first, second = (Data(ids="int", data=(*shared, *own)) for own in (own, other))
    pair = Pair(what=sabotage.__name__, first=first, second=second, nobody=nobody)
    assert not judge(sql, case, [pair], opening=in_duckdb)
    sabotage(monkeypatch)
    assert judge(sql, case, [pair], opening=in_duckdb)
