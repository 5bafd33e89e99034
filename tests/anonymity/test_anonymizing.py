"""What comes out is as anonymous as it says, and every label is true of its row."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.anonymity import anonymize, check, digits, generalize, ranges
from deniable.errors import BadParameter, UnknownName

ZIP = st.integers(0, 30).map(lambda n: f"{53_700 + n}")
person = st.fixed_dictionaries(
    {
        "age": st.integers(18, 60) | st.none(),
        "zip": ZIP,
        "town": st.sampled_from(["Ayr", "Bonn", "Cork", "Delft", None]),
        "ill": st.sampled_from(["flu", "cold", "ulcer"]),
    }
)
SCHEMA = pa.schema(
    [("age", pa.int64()), ("zip", pa.string()), ("town", pa.string()), ("ill", pa.string())]
)
QUASI = ["age", "zip", "town"]
TOWNS = {"Ayr": ["north"], "Cork": ["north"], "Bonn": ["south"], "Delft": ["south"]}
LADDERS = {"age": ranges(5, 20), "zip": digits(), "town": TOWNS}


def covers(label, value):
    """Whether a published label is true of the original value; told from the text alone."""
    if label == "*" or label is None or value is None:
        return label == "*" or (label is None and value is None) or "NULL" in str(label)
    if found := re.fullmatch(r"\[(.+), (.+)([\])])", str(label)):
        low, high, end = found.groups()
        number = float(value)
        return float(low) <= number and (
            number <= float(high) if end == "]" else number < float(high)
        )
    if str(label) in {"north", "south"}:
        return TOWNS[value] == [label]
    if " | " in str(label):
        return str(value) in str(label).split(" | ")
    return re.fullmatch(str(label).replace("*", "."), str(value)) is not None


@pytest.mark.parametrize("method", ["optimal", "mondrian", "relaxed"])
@given(
    people=st.lists(person, min_size=8, max_size=60),
    k=st.integers(1, 6),
    l=st.sampled_from([None, 2]),
    given_ladders=st.booleans(),
    suppression=st.sampled_from([0.0, 0.1]),
)
@settings(max_examples=25)
def test_the_output_is_as_claimed_and_every_label_is_true(
    method, people, k, l, given_ladders, suppression
):
    l = l if len({row["ill"] for row in people}) > 1 else None
    table = pa.Table.from_pylist(people, schema=SCHEMA)
    how = {"method": "optimal"} if method == "optimal" else {"method": "mondrian"}
    done = anonymize(
        table,
        quasi=QUASI,
        k=k,
        l=l,
        sensitive="ill",
        hierarchies=LADDERS if given_ladders else None,
        suppression=suppression,
        strict=method != "relaxed",
        **how,
    )
    found = check(done.frame, quasi=QUASI, sensitive="ill")
    report = done.report
    assert found.k >= k or found.rows == 0
    assert l is None or found.l >= l
    assert (found.k, found.l) == (report.k, report.l)
    assert found.t == pytest.approx(report.t, abs=1e-9)
    assert report.suppressed == len(people) - found.rows <= suppression * len(people) + 1e-9
    assert all(-1e-12 <= lost <= 1 + 1e-12 for lost in report.losses.values())
    published = done.frame.to_pylist()
    for place, row in zip(done.rows.tolist(), published, strict=True):
        assert row["ill"] == people[place]["ill"]
        assert all(covers(row[name], people[place][name]) for name in QUASI)


@given(
    people=st.lists(person, min_size=10, max_size=60),
    asked=st.sampled_from(
        [
            {"t": 0.2},
            {"l": 1.5, "diversity": "entropy"},
            {"l": 2, "diversity": "recursive", "c": 3.0},
            {"l": 2, "t": 0.4},
        ]
    ),
    method=st.sampled_from(["optimal", "mondrian"]),
)
@settings(max_examples=40)
def test_spread_is_as_asked_in_what_is_published(people, asked, method):
    table = pa.Table.from_pylist(people, schema=SCHEMA)
    run = {"quasi": QUASI, "k": 2, "sensitive": "ill", "hierarchies": LADDERS, "method": method}
    try:
        done = anonymize(table, **run, **asked, suppression=0.3)
    except BadParameter:
        return
    found = check(done.frame, quasi=QUASI, sensitive="ill").spreads
    if "ill" not in found:
        return
    spread = found["ill"]
    assert "t" not in asked or spread.t <= asked["t"] + 1e-9
    if asked.get("diversity") == "entropy":
        assert spread.entropy_l >= asked["l"] - 1e-9
    elif "l" in asked:
        assert spread.l >= asked["l"]
    if asked.get("diversity") == "recursive":
        assert at(done.frame, l=2) < asked["c"]


def at(frame, *, l):
    """The c of recursive (c, ℓ)-diversity, counted by hand."""
    worst = 0.0
    for _, part in frame.to_pandas().groupby(QUASI, dropna=False)["ill"]:
        counts = sorted(part.value_counts(), reverse=True)
        worst = max(worst, counts[0] / sum(counts[l - 1 :]))
    return worst


def test_rows_come_in_no_order_and_without_an_index_of_the_old():
    table = dp.load_adult().to_pandas().set_index(np.arange(32_561) + 7)
    done = anonymize(table, quasi=["age", "sex"], k=5)
    assert list(done.frame.columns) == list(table.columns)
    assert list(done.frame.index) == list(range(len(done.frame)))
    assert abs(np.corrcoef(done.rows, np.arange(done.rows.size))[0, 1]) < 0.05
    again = anonymize(table, quasi=["age", "sex"], k=5)
    assert (again.rows != done.rows).any()
    assert sorted(again.rows) == sorted(done.rows)


def test_what_goes_in_as_pandas_or_polars_comes_out_so():
    table = dp.load_adult().slice(0, 3_000)
    run = {"quasi": ["age", "sex", "race"], "k": 5}
    for method in ("optimal", "mondrian"):
        frames = [
            anonymize(kind, **run, method=method).frame
            for kind in (table, table.to_pandas(), pl.from_arrow(table))
        ]
        assert [type(f) for f in frames] == [pa.Table, pd.DataFrame, pl.DataFrame]
        ks = {check(f, quasi=run["quasi"]).k for f in frames}
        assert len(ks) == 1
    assert frames[2].columns == table.column_names


def test_columns_that_are_not_changed_keep_their_type():
    table = dp.load_adult()
    done = generalize(table, levels={"age": 0, "sex": 1})
    assert done.frame.schema.field("age").type == pa.int64()
    assert set(done.frame["sex"].to_pylist()) == {"*"}
    assert done.report.levels == {"age": 0, "sex": 1}


def test_digits_are_masked_to_the_level_asked():
    table = dp.load_adult(identifiers=True)
    done = generalize(table, levels={"zip": 2}, k=3)
    assert all(re.fullmatch(r"\d{3}\*\*", z) for z in done.frame["zip"].to_pylist())
    assert done.report.k >= 3
    assert check(done.frame, quasi=["zip"]).k == done.report.k


def test_mondrian_loses_less_than_one_level_for_all():
    table = dp.load_adult()
    run = {"quasi": ["age", "education_num", "sex"], "k": 10}
    assert (
        anonymize(table, **run, method="mondrian").report.loss
        < anonymize(table, **run, suppression=0.0).report.loss
    )


def test_the_report_says_what_is_promised_and_what_is_not():
    text = str(anonymize(dp.load_adult(), quasi=["age", "sex"], k=5))
    assert "possible generalisations loses less information" in text
    assert "not promised" in text
    local = anonymize(dp.load_adult(), quasi=["age", "sex"], k=5, method="mondrian").report
    assert "a smaller loss may exist" in local.guarantee
    assert local.risk <= 1 / 5


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0},
        {"k": 2.5},
        {"suppression": 1.5},
        {"method": "best"},
        {"loss": "height"},
        {"l": 2},
        {"t": 0.2},
        {"sensitive": "income", "t": 2.0},
        {"sensitive": "income", "l": 1.5},
        {"sensitive": "income", "l": 2, "diversity": "much"},
        {"quasi": []},
        {"sensitive": "age"},
    ],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(BadParameter):
        anonymize(dp.load_adult(), **({"quasi": ["age"], "k": 2} | wrong))


def test_hierarchies_of_unknown_columns_are_refused():
    with pytest.raises(UnknownName):
        anonymize(dp.load_adult(), quasi=["age"], k=2, hierarchies={"agee": ranges(5)})


def test_levels_that_are_not_there_are_refused():
    with pytest.raises(BadParameter, match="at most 1"):
        generalize(dp.load_adult(), levels={"sex": 2})


@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_fewer_rows_than_k_cannot_be_helped(method):
    with pytest.raises(BadParameter):
        anonymize(dp.load_adult().slice(0, 3), quasi=["age"], k=5, method=method, suppression=0.0)
