"""k, ℓ and t, against their definitions and against a peer's figures."""

import json
import math
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.anonymity.reference import classes_of, relatives_of, spread_of

import deniable as dp
from deniable.anonymity import anonymize, check
from deniable.anonymity.tables import arrow
from deniable.errors import BadParameter, UnknownName

SIX = ["sex", "age", "race", "marital_status", "education", "native_country"]
PEER = json.loads(Path(__file__).with_name("pycanon.json").read_text())

texts = st.sampled_from(["a", "b", "c", None])
people = st.lists(
    st.fixed_dictionaries(
        {"x": texts, "y": st.integers(0, 2) | st.none(), "s": texts, "r": st.integers(0, 9)}
    ),
    min_size=1,
    max_size=30,
)
SCHEMA = pa.schema([("x", pa.string()), ("y", pa.int64()), ("s", pa.string()), ("r", pa.int64())])


@given(people)
@settings(max_examples=60)
def test_every_measure_is_what_its_definition_says_with_null_as_a_value(rows):
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    found = check(table, quasi=["x", "y"], sensitive=["s", "r"])
    for name, ordered in (("s", False), ("r", True)):
        k, l, entropy, c, t = spread_of(rows, ["x", "y"], name, ordered=ordered)
        spread = found.spreads[name]
        assert (found.k, spread.l) == (k, l)
        assert np.allclose([spread.entropy_l, spread.c, spread.t], [entropy, c, t], atol=1e-12)
        others = [spread.alpha, spread.beta, spread.enhanced_beta, spread.delta]
        assert np.allclose(others, relatives_of(rows, ["x", "y"], name), atol=1e-9)
    assert found.l == min(s.l for s in found.spreads.values())
    assert found.t == max(s.t for s in found.spreads.values())
    assert found.classes["size"].to_numpy().sum() == found.rows == len(rows)


def test_adult_is_as_the_peer_says():
    for case in PEER:
        if case["table"] == "adult":
            table = complete(dp.load_adult(split="all"))
            found = check(table, quasi=case["quasi"], sensitive=case["sensitive"])
            agree(found, case)


@given(people)
@settings(max_examples=25)
def test_with_a_unit_people_are_counted_once_in_each_class(rows):
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    found = check(table, quasi=["x", "y"], sensitive="s", unit="r")
    crowds = {key: {row["r"] for row in part} for key, part in classes_of(rows, ["x", "y"]).items()}
    sizes = sorted(map(len, crowds.values()))
    assert found.classes["size"].to_pylist() == sizes
    assert (found.k, found.rows) == (sizes[0], len({row["r"] for row in rows}))
    for k in (2, 3, 5):
        exposed = set().union(*(crowd for crowd in crowds.values() if len(crowd) < k))
        assert found.below(k) == len(exposed)
    assert found.unique == found.below(2)
    shares = [
        len({row["r"] for row in part if row["s"] == value}) / len({row["r"] for row in part})
        for part in classes_of(rows, ["x", "y"]).values()
        for value in {row["s"] for row in part}
    ]
    assert found.spreads["s"].alpha == pytest.approx(max(shares))


@given(people)
@settings(max_examples=10)
def test_a_unit_that_names_rows_changes_nothing(rows):
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    numbered = table.append_column("id", [list(range(len(rows)))])
    one = check(table, quasi=["x", "y"], sensitive=["s", "r"])
    two = check(numbered, quasi=["x", "y"], sensitive=["s", "r"], unit="id")
    assert (one.k, one.rows, one.unique, one.crowds) == (two.k, two.rows, two.unique, two.crowds)
    assert one.spreads == two.spreads


def complete(table):
    frame = table.to_pandas().dropna().reset_index(drop=True)
    return pa.Table.from_pandas(frame, preserve_index=False)


def agree(found, case):
    spread = found.spreads[case["sensitive"]]
    assert (found.k, spread.l, math.floor(spread.entropy_l + 1e-9)) == (
        case["k"],
        case["l"],
        case["entropy_l"],
    )
    assert spread.t == pytest.approx(case["t"], abs=1e-9)
    assert spread.alpha == pytest.approx(case["alpha"], abs=1e-9)
    assert spread.beta == pytest.approx(case["beta"], rel=1e-9)
    if math.isfinite(spread.delta):
        assert spread.delta == pytest.approx(case["delta_of_present"], abs=1e-9)


def test_the_peer_is_wrong_about_enhanced_likeness_and_absent_values():
    """pycanon calls the six columns of Adult enhanced-β-like with a finite β, and gives a finite δ.

    Each class of one person has a value of share p with q = 1: its gain 1/p − 1 exceeds −ln p, so
    no β satisfies the definition; and all other values are absent, which |ln 0| makes infinite.
    """
    case = PEER[0]
    found = check(complete(dp.load_adult(split="all")), quasi=SIX, sensitive="occupation")
    spread = found.spreads["occupation"]
    assert math.isfinite(case["enhanced_beta_wrong"])
    assert math.isfinite(case["delta_of_present"])
    assert math.isinf(spread.enhanced_beta)
    assert math.isinf(spread.delta)


@pytest.mark.parametrize(
    "case", [c for c in PEER if c["table"] != "adult"], ids=lambda c: c["table"]
)
def test_the_peer_agrees_on_what_we_anonymized(case):
    table = complete(dp.load_adult(split="all"))
    done = anonymize(table, quasi=case["quasi"], sensitive=case["sensitive"], **case["parameters"])
    report = done.report
    assert (report.k, report.l) == (case["k"], case["l"])
    assert report.t == pytest.approx(case["t"], abs=1e-9)
    agree(check(done.frame, quasi=case["quasi"], sensitive=case["sensitive"]), case)


def test_all_kinds_of_tables_give_the_same_answer(tmp_path):
    table = dp.load_adult().slice(0, 2_000)
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    pyarrow.csv.write_csv(table, tmp_path / "t.csv")
    kinds = [
        table,
        table.to_pandas(),
        table.to_pandas().set_index("age", drop=False).sort_index(ascending=False),
        table.to_pandas().astype({"sex": "category"}),
        pl.from_arrow(table),
        duckdb.connect().from_arrow(table),
        tmp_path / "t.parquet",
        str(tmp_path / "t.csv"),
    ]
    answers = [check(kind, quasi=["sex", "age"], sensitive="occupation") for kind in kinds]
    assert len({(a.k, a.l, round(a.t, 12), a.unique, a.classes.num_rows) for a in answers}) == 1
    assert all(arrow(kind).num_rows == 2_000 for kind in kinds)


def test_the_worst_classes_come_first():
    found = check(dp.load_adult(), quasi=SIX)
    sizes = found.classes["size"].to_numpy()
    assert (np.diff(sizes) >= 0).all()
    assert found.worst(3)["size"].to_pylist() == [1, 1, 1]
    assert found.below(2) == found.unique
    assert found.below(10**9) == found.rows == 32_561
    assert found.discernibility == int((sizes**2).sum())
    assert found.average_class == pytest.approx(sizes.mean())


def test_the_six_usual_columns_single_out_one_in_seven():
    found = check(dp.load_adult(split="all"), quasi=SIX)
    assert (found.classes.num_rows, found.unique) == (11_095, 7_152)


def test_a_tree_makes_values_of_one_branch_closer():
    table = pa.table({"q": [0, 0, 1, 1], "s": ["flu", "cold", "flu", "ulcer"]})
    ladder = {"flu": ["lungs"], "cold": ["lungs"], "ulcer": ["stomach"]}
    near = check(table, quasi=["q"], sensitive="s", hierarchies={"s": ladder})
    assert near.t == pytest.approx(0.25)
    assert check(table, quasi=["q"], sensitive="s").t == 0.25
    # Class 0 lacks ¼ of an ulcer and has ¼ too much of a cold: from branch to branch, a whole step.
    other = pa.table({"q": [0, 0, 1, 1], "s": ["flu", "flu", "cold", "cold"]})
    tree = {"flu": ["lungs"], "cold": ["lungs"]}
    assert check(other, quasi=["q"], sensitive="s").t == 0.5
    assert check(other, quasi=["q"], sensitive="s", hierarchies={"s": tree}).t == 0.25


def test_an_empty_table_has_no_classes():
    found = check(dp.load_adult().slice(0, 0), quasi=["age"], sensitive="income")
    assert (found.k, found.rows, found.l, found.t) == (0, 0, None, None)


def test_a_report_reads_as_a_sentence():
    text = str(check(dp.load_adult(), quasi=["sex"], sensitive="income"))
    assert text.startswith("k = 10771: 2 classes of 32,561 rows, 0 rows alone in theirs")
    assert "ℓ = 2" in text


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"quasi": []}, BadParameter),
        ({"quasi": ["sex", "sex"]}, BadParameter),
        ({"quasi": ["sx"]}, UnknownName),
        ({"quasi": ["sex"], "sensitive": "sex"}, BadParameter),
    ],
)
def test_wrong_columns_are_refused(arguments, error):
    with pytest.raises(error):
        check(dp.load_adult(), **arguments)


@pytest.mark.parametrize("table", [7, "people.xlsx", {"a": [1]}])
def test_what_is_not_a_table_is_refused(table):
    with pytest.raises(BadParameter, match="table must be"):
        check(table, quasi=["a"])


def test_lists_cannot_be_quasi_identifiers():
    with pytest.raises(BadParameter, match="lists or records"):
        check(pa.table({"a": [[1], [2]]}), quasi=["a"])
