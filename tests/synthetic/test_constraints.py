"""Constraints: honoured exactly whatever the bins are, or refused before anything is charged."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.schema.binning import Listed
from deniable.synthetic import determines, impossible
from deniable.synthetic.constraints import constrained
from deniable.synthetic.domain import Domain

DAY = dt.date(2020, 1, 1)
SCHEMA = dp.Schema(
    columns={
        "age": dp.bounds(0, 125, type="int"),
        "wealth": dp.bounds(-1e6, 1e6),
        "share": dp.bounds(0.0, 10.0),
        "grade": dp.bounds(1, 40, type="int", missing=7),
        "school": dp.keys(["HS", "BA"]),
        "level": dp.keys([1, 2, 3, 4]),
        "born": dp.bounds(DAY, dt.date(2020, 12, 31), type="date"),
        "pay": dp.keys(["lo", "hi"]),
    }
)
EMPTY = pd.DataFrame({name: pd.Series(dtype=object) for name in SCHEMA.columns})


def asked(columns, constraints, **options):
    s = dp.open(EMPTY, unit=dp.rows(), budget=dp.rho(1.0), schema=SCHEMA)
    return s.synthesis(columns, method="independent", constraints=constraints, **options)


def possible(synthesis, columns):
    """Which cells of these columns can occur, in every model that a run could make."""
    model, _ = synthesis.start
    return model.marginal([synthesis.domain.names.index(name) for name in columns]) > 0


def values(cells):
    """Values from the beginning, the middle and the end of each cell; None for what is missing."""
    ends = (0.0, 0.5, math.nextafter(1.0, 0.0))
    held = [cells.decode([i] * 3, ends).tolist() for i in range(cells.size)]
    return held + [[None]] * (cells.count - cells.size)


RANGES = {
    "across cells": ("age", (0, 14), lambda v: v <= 14),
    "inside a cell": ("age", (1, 3), lambda v: 1 <= v <= 3),
    "one number": ("age", (13, 13), lambda v: v == 13),
    "numbers": ("age", [13, 0, 125], lambda v: v in (0, 13, 125)),
    "beyond bounds": ("age", (-5, 12), lambda v: v <= 12),
    "to the lowest": ("age", (-5, 0), lambda v: v == 0),
    "from the highest": ("age", (125, 200), lambda v: v == 125),
    "without end": ("age", (63, math.inf), lambda v: v >= 63),
    "up to 64 bits": ("age", (63, 2**63 - 1), lambda v: v >= 63),
    "all": ("age", (-math.inf, math.inf), lambda v: True),
    "between numbers": ("age", (0.5, 12.5), lambda v: 1 <= v <= 12),
    "real": ("share", (0, 2.2), lambda v: v < 2.2),
    "real to the end": ("share", (7.7, 10.0), lambda v: v >= 7.7),
    "far beyond": ("share", (5, 1e300), lambda v: v >= 5),
    "by magnitude": ("wealth", (-300.0, 4.5), lambda v: -300 <= v < 4.5),
    "nothing": ("wealth", [0], lambda v: v == 0),
    "below nothing": ("wealth", (-math.inf, 0), lambda v: v < 0),
    "stand-in": ("grade", (6, 8), lambda v: 6 <= v <= 8),
    "days": ("born", (DAY, dt.date(2020, 1, 31)), lambda v: v <= dt.date(2020, 1, 31)),
    "a day": ("born", [dt.date(2020, 3, 3)], lambda v: v == dt.date(2020, 3, 3)),
    "listed": ("level", [2, 3], lambda v: v in (2, 3)),
}


@pytest.mark.parametrize("bins", [None, 3], ids=["usual bins", "3 bins"])
@pytest.mark.parametrize("case", RANGES)
def test_an_impossible_range_cannot_occur_and_everything_else_can(case, bins):
    column, wanted, meant = RANGES[case]
    if case == "nothing":
        bins = None  # a cell for 0 alone is one of half-octaves
    chosen = {column: bins} if bins and SCHEMA.columns[column].keys is None else None
    found = asked([column, "pay"], [impossible(**{column: wanted}, pay=["hi"])], bins=chosen)
    cells = found.domain.cells[column]
    able = possible(found, [column, "pay"])
    for flags, held in zip(able.tolist(), values(cells), strict=True):
        for value in held:
            assert flags == [True, value is None or not meant(value), True], value
    if column == "grade":
        assert cells.encode([None]).tolist() == cells.encode([7]).tolist()


@pytest.mark.parametrize(
    ("first", "second", "mapping"),
    [
        ("school", "grade", {"HS": 9, "BA": 13}),
        ("grade", "school", {9: "HS", 13: "BA"}),
        ("school", "pay", {"HS": None}),
        ("pay", "born", {"lo": dt.date(2020, 5, 5)}),
        ("level", "age", {1: 0, 4: 125}),
    ],
)
def test_what_one_column_determines_has_that_one_value(first, second, mapping):
    found = asked([first, second], [determines(first, second, mapping)])
    able = possible(found, [first, second])
    ones, others = (values(found.domain.cells[name]) for name in (first, second))
    for flags, keys in zip(able, ones, strict=True):
        allowed = {v for flag, held in zip(flags, others, strict=True) if flag for v in held}
        for key in keys:
            assert allowed == (
                {mapping[key]} if key in mapping else {v for held in others for v in held}
            )


def test_rows_honour_a_constraint_that_no_bin_ends_at():
    frame = pd.DataFrame({"age": list(range(126)) * 20, "pay": ["lo", "hi"] * 1260})
    schema = dp.Schema(columns={name: SCHEMA.columns[name] for name in frame})
    s = dp.open(frame, unit=dp.rows(), budget=dp.rho(1.0), schema=schema)
    y = s.synthesize(
        spend=dp.rho(1.0),
        method="tree",
        bins={"age": 5},
        constraints=[impossible(age=(0, 14), pay=["hi"])],
    )
    rows = y.to_pandas(20_000, seed=1)
    assert (rows["age"] <= 14).any()
    assert not ((rows["age"] <= 14) & (rows["pay"] == "hi")).any()


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (impossible(school=["HSS"], pay=["hi"]), "school must be on the list"),
        (impossible(school=[1]), "school must be"),
        (impossible(school=("HS", "BA")), "school must be a list"),
        (impossible(school="HS"), "school must be a list"),
        (impossible(level=(1, 3)), "level must be a list"),
        (impossible(level=[5]), "level must be on the list"),
        (impossible(level=[True]), "level must be"),
        (impossible(level=["1"]), "level must be"),
        (impossible(age=(14, 0)), "age must be a range"),
        (impossible(age=(0.2, 0.8)), "age must be a range"),
        (impossible(age=(1, 2, 3)), "age must be a range"),
        (impossible(age=(200, 300)), "bounds"),
        (impossible(age=[126]), "bounds"),
        (impossible(age=[10**400]), "age must be"),
        (impossible(age=(0, 10**400)), "age must be"),
        (impossible(share=(0, 10**400)), "share must be"),
        (impossible(age=("0", "14")), "age must be"),
        (impossible(age=(math.nan, 3)), "age must be"),
        (impossible(age=(None, 3)), "age must be"),
        (impossible(age=(DAY, DAY)), "age must be"),
        (impossible(share=[2.5]), "share must be a range"),
        (impossible(wealth=[2.5]), "wealth must be a range"),  # though 0 has a cell of its own
        (impossible(share=(2.5, 2.5)), "share must be a range"),
        (impossible(share=(True, 2)), "share must be"),
        (impossible(born=("2020-01-01", "2020-01-31")), "born must be"),
        (impossible(born=(1, 2)), "born must be"),
        (impossible(born=(dt.date(2020, 2, 1), DAY)), "born must be a range"),
        (impossible(grade=[None]), "no cell for what is missing"),
        (determines("school", "pay", {"HS": "low"}), "pay must be on the list"),
        (determines("school", "school", {"HS": "BA"}), "twice"),
        (determines("school", "grade", {"HS": 9.5}), "grade must be"),
    ],
)
def test_a_constraint_that_says_nothing_clear_is_refused(constraint, message):
    found = asked(list(SCHEMA.columns), [constraint])
    with pytest.raises(dp.BadParameter, match=message):
        found.release(spend=dp.rho(1.0))
    assert not len(found.session.ledger.entries)


def test_cells_that_constraints_add_are_limited():
    schema = dp.Schema(columns={"x": dp.bounds(0, 10**6, type="int")})
    s = dp.open(pd.DataFrame({"x": [1]}), unit=dp.rows(), budget=dp.rho(1.0), schema=schema)
    many = impossible(x=list(range(0, 4000, 2)))
    with pytest.raises(dp.BadParameter, match="the constraints divide `x`"):
        s.synthesize(spend=dp.rho(1.0), constraints=[many])


@pytest.mark.parametrize("spare", [0, -1])
def test_a_column_may_be_divided_into_exactly_the_most_cells(spare, monkeypatch):
    """One of them for what is missing: a file with more could not be read again."""
    wanted = [impossible(age=[20, 40], pay=["hi"])]
    count = asked(["age", "pay"], wanted, bins={"age": 3}).domain.cells["age"].count
    monkeypatch.setattr("deniable.synthetic.constraints.MOST_CELLS", count + spare)
    found = asked(["age", "pay"], wanted, bins={"age": 3})
    if spare:
        with pytest.raises(dp.BadParameter, match="the constraints divide `age`"):
            found.domain  # noqa: B018
    else:
        assert found.domain.cells["age"].count == count


def test_an_end_between_whole_numbers_is_the_nearest_one_inside():
    found = asked(["age", "pay"], [impossible(age=(0.5, 12.5), pay=["hi"])], bins={"age": 3})
    cells = found.domain.cells["age"]
    assert {1, 13} <= set(cells.edges)
    assert 0.5 not in cells.edges
    assert cells.encode([None, 0, 1]).tolist() == [cells.size, 0, 1]  # its own cell is the last


def test_naming_0_does_not_divide_its_own_cell():
    plain, named = (
        asked(["wealth", "pay"], constraints).domain.cells["wealth"]
        for constraints in ([], [impossible(wealth=[0], pay=["hi"])])
    )
    assert plain.zero
    assert named == plain


def test_without_constraints_nothing_is_tied_together():
    model, cliques = constrained(SMALL, [], largest=1)
    assert cliques == ()
    assert model.marginal((0, 2)) == pytest.approx(np.full((2, 4), 1 / 8))


def test_a_constraint_is_about_something():
    with pytest.raises(dp.UnknownName, match="salary"):
        asked(["age", "pay"], [impossible(salary=[1])]).domain  # noqa: B018
    with pytest.raises(dp.BadParameter, match="names no column"):
        impossible()
    with pytest.raises(dp.BadParameter, match="empty mapping"):
        determines("school", "pay", {})


# ---- the model that a run begins with

SIZES = {"a": 2, "b": 3, "c": 4, "d": 2}
SMALL = Domain(cells={name: Listed(type="int", keys=tuple(range(n))) for name, n in SIZES.items()})


@pytest.mark.parametrize(
    ("constraints", "able"),
    [
        ([impossible(a=[0])], lambda a, b, c, d: a == 1),
        ([impossible(a=[0], b=[0, 1])], lambda a, b, c, d: a or b == 2),
        ([determines("c", "a", {0: 1, 3: 0})], lambda a, b, c, d: {0: a == 1, 3: a == 0}.get(c, 1)),
        (
            [impossible(a=[0], b=[0]), impossible(b=[0], c=[1, 2]), impossible(c=[1], a=[1])],
            lambda a, b, c, d: not (a == b == 0 or (b == 0 and c in (1, 2)) or (c == a == 1)),
        ),
        (
            [
                determines("a", "b", {0: 0, 1: 2}),
                impossible(d=[1], c=[3]),
                impossible(b=[2], d=[0]),
            ],
            lambda a, b, c, d: b == 2 * a and not (d and c == 3) and not (b == 2 and not d),
        ),
    ],
)
def test_every_possible_row_is_as_likely_as_any_other(constraints, able):
    model, _ = constrained(SMALL, constraints, largest=10**4)
    flags = [bool(able(*row)) for row in np.ndindex(*SMALL.sizes)]
    found = model.marginal((0, 1, 2, 3)).ravel()
    assert found == pytest.approx(np.array(flags) / sum(flags), abs=1e-12)


@pytest.mark.parametrize(
    "constraints",
    [
        [impossible(a=[0, 1])],
        [impossible(a=[0]), impossible(a=[1])],
        [determines("a", "b", {0: 0, 1: 0}), impossible(b=[0])],
        [impossible(a=[0], b=[0, 1, 2]), impossible(a=[1], c=[0, 1, 2, 3])],
        [impossible(d=[0, 1]), impossible(a=[0], b=[1])],
    ],
)
def test_constraints_that_leave_nothing_are_refused(constraints):
    with pytest.raises(dp.BadParameter, match="leave nothing"):
        constrained(SMALL, constraints, largest=10**4)


def test_as_many_cells_are_tied_together_as_the_model_may_have():
    tied = [impossible(a=[0], b=[0], c=[0])]  # 24 cells, and 2 of the column that is left
    constrained(SMALL, tied, largest=26)
    with pytest.raises(dp.BadParameter, match="tie columns together in 26 cells"):
        constrained(SMALL, tied, largest=25)


def test_hundreds_of_columns_can_be_tied_to_one():
    """Its first value is possible with 39 of 40 values of each of 220 others."""
    keys, others = tuple(range(40)), [f"c{i}" for i in range(220)]
    domain = Domain(cells={name: Listed(type="int", keys=keys) for name in ("hub", *others)})
    tied = [impossible(**{"hub": [0], name: [1]}) for name in others]
    model, _ = constrained(domain, tied, largest=10**6)
    rare = (39 / 40) ** 220
    assert model.marginal((0,)) == pytest.approx(np.array([rare] + [1] * 39) / (rare + 39))
