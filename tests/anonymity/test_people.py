"""k people per class: counted again by brute force, from the published labels."""

import itertools
from collections import defaultdict

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.anonymity import anonymize, check, digits, generalize, ranges
from deniable.errors import BadParameter

QUASI = ["age", "zip"]
LADDERS = {"age": ranges(5, 20), "zip": digits()}
METHODS = {
    "optimal": {"method": "optimal"},
    "mondrian": {"method": "mondrian"},
    "relaxed": {"method": "mondrian", "strict": False},
}
visit = st.fixed_dictionaries(
    {
        "who": st.integers(1, 9),
        "age": st.integers(18, 60) | st.none(),
        "zip": st.integers(0, 30).map(lambda n: f"{53_700 + n}"),
        "ill": st.sampled_from(["flu", "cold", "ulcer"]),
    }
)
SCHEMA = pa.schema(
    [("who", pa.int64()), ("age", pa.int64()), ("zip", pa.string()), ("ill", pa.string())]
)


def crowds(frame):
    """The people of each published class."""
    found = defaultdict(set)
    for row in frame.to_pylist():
        found[row["age"], row["zip"]].add(row["who"])
    return found


@pytest.mark.parametrize("method", METHODS)
@given(
    visits=st.lists(visit, min_size=1, max_size=50),
    k=st.integers(1, 6),
    l=st.sampled_from([None, 2]),
    suppression=st.sampled_from([0.0, 0.2]),
)
@settings(max_examples=40)
def test_every_published_class_has_k_people(method, visits, k, l, suppression):
    table = pa.Table.from_pylist(visits, schema=SCHEMA)
    asked = {"sensitive": "ill", "l": l} if l else {}
    try:
        done = anonymize(
            table, quasi=QUASI, k=k, unit="who", hierarchies=LADDERS, suppression=suppression,
            **METHODS[method], **asked,
        )  # fmt: skip
    except BadParameter:
        people = {row["who"] for row in visits}
        values = {row["ill"] for row in visits}
        assert len(people) < k or (l and len(values) < l)
        return
    found = crowds(done.frame)
    assert all(len(people) >= k for people in found.values())
    if done.frame.num_rows:
        assert done.report.k == min(map(len, found.values()))
        assert done.report.k == check(done.frame, quasi=QUASI, unit="who").k
    assert table.num_rows - done.frame.num_rows == done.report.suppressed
    assert done.report.suppressed <= suppression * table.num_rows


@given(visits=st.lists(visit, min_size=4, max_size=30), k=st.integers(1, 4))
@settings(max_examples=25)
def test_the_optimal_table_loses_least_of_all_that_keep_k_people(visits, k):
    table = pa.Table.from_pylist(visits, schema=SCHEMA)
    every = {}
    for levels in itertools.product(range(4), range(6)):
        chosen = dict(zip(QUASI, levels, strict=True))
        try:
            made = generalize(table, levels=chosen, hierarchies=LADDERS)
        except BadParameter:
            continue  # beyond the last step
        if all(len(people) >= k for people in crowds(made.frame).values()):
            every[levels] = made.report.loss
    if not every:
        return
    done = anonymize(table, quasi=QUASI, k=k, unit="who", hierarchies=LADDERS, suppression=0.0)
    assert done.report.loss == pytest.approx(min(every.values()), abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_one_row_per_person_is_the_same_as_counting_rows(method):
    table = dp.load_adult().slice(0, 600) if hasattr(dp.load_adult(), "slice") else None
    rows = pa.Table.from_pandas(dp.load_adult().head(600)) if table is None else table
    numbered = rows.append_column("who", pa.array(range(rows.num_rows)))
    quasi = ["age", "sex", "race"]
    one = anonymize(numbered, quasi=quasi, k=7, **METHODS[method])
    other = anonymize(numbered, quasi=quasi, k=7, unit="who", **METHODS[method])
    assert one.report.losses == other.report.losses
    assert one.report.k == other.report.k
    assert "people (who)" in str(other)
    assert "people" not in str(one)


@pytest.mark.parametrize("method", METHODS)
def test_many_rows_of_one_person_hide_nobody(method):
    """Ten rows of each of six people: k = 6 rows are one person, k = 6 people are everyone."""
    rows = [{"who": i, "age": 20 + i, "zip": "53700", "ill": "flu"} for i in range(6)] * 10
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    by_rows = anonymize(table, quasi=QUASI, k=6, hierarchies=LADDERS, **METHODS[method])
    by_people = anonymize(
        table, quasi=QUASI, k=6, unit="who", hierarchies=LADDERS, **METHODS[method]
    )
    assert min(map(len, crowds(by_rows.frame).values())) == 1
    assert len(crowds(by_people.frame)) == 1
    with pytest.raises(BadParameter):
        anonymize(table, quasi=QUASI, k=7, unit="who", hierarchies=LADDERS, **METHODS[method])


def test_the_unit_is_a_column():
    with pytest.raises(dp.DeniableError, match="whom"):
        anonymize(dp.load_adult(), quasi=["age"], k=2, unit="whom")


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.string()])
@pytest.mark.parametrize("method", METHODS)
def test_rows_that_may_be_anybodys_hide_nobody(method, kind):
    who = pa.array([1, None, 2, 3]).cast(kind)
    tables = [pa.table({"who": who, "age": [30, 30, 40, 40]})]
    if kind == pa.float64():
        numbers = pa.array([1.0, float("nan"), 2.0, 3.0])
        tables.append(pa.table({"who": numbers, "age": [30, 30, 40, 40]}))
    for table in tables:
        with pytest.raises(BadParameter, match="is missing in some rows"):
            anonymize(table, quasi=["age"], k=2, unit="who", **METHODS[method])
        with pytest.raises(BadParameter, match="is missing in some rows"):
            check(table, quasi=["age"], unit="who")
