"""Linkage: exact and by rules, against brute force, and on Adult with made-up identifiers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.attacks import linkage, linked_rows, month, near, prefix, spelling, year
from deniable.errors import BadParameter


@pytest.fixture(scope="module")
def people():
    return dp.load_adult(identifiers=True)


@pytest.mark.parametrize(
    ("on", "found"),
    [
        (["zip"], 15_115),
        (["birth_date"], 6_032),
        (["zip", "birth_date"], 32_557),
        (["zip", "sex"], 20_051),
        (["age", "sex"], 5),
        ([month("birth_date"), "zip"], 32_473),
        ([prefix("zip", length=3), "birth_date"], 32_277),
        ([near("birth_date", within=3), "sex"], 844),
    ],
)
def test_reidentification_figures_of_adult(people, on, found):
    known = people.select(["name", "birth_date", "zip", "sex", "age"])
    released = people.drop_columns(["name"])
    result = linkage(known, released, on=on, truth=range(people.num_rows))
    assert result.reidentified == found
    assert result.correct == found  # everyone is in the table, so a single match is theirs


def test_the_attacker_reads_the_secret_of_whom_they_find(people):
    target = people.slice(0, 1).select(["name", "birth_date", "zip"])
    released = people.drop_columns(["name"])
    result = linkage(target, released, on=["birth_date", "zip"])
    assert linked_rows(result, released, column="age") == [(0, 39)]
    assert result.narrowed_to(1) == 1


def test_people_who_are_not_in_the_table_are_mostly_not_found(people):
    strangers = dp.load_adult("test", identifiers=True)
    result = linkage(strangers, people, on=["birth_date", "zip"])
    assert result.rate < 0.02
    assert "not found" in result.explain()


small = st.integers(0, 4)
rows = st.lists(st.tuples(small, small, st.text("ab", max_size=4)), min_size=1, max_size=15)


def edits(a, b):
    table = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, table[0] = table[0], i
        for j, y in enumerate(b, 1):
            last, table[j] = table[j], min(table[j] + 1, table[j - 1] + 1, last + (x != y))
    return table[-1]


@settings(max_examples=60)
@given(rows, rows, st.integers(0, 2), st.integers(0, 2))
def test_rules_find_exactly_the_pairs_that_brute_force_finds(known, released, reach, letters):
    def table(data):
        return {name: [row[i] for row in data] for i, name in enumerate(("k", "n", "t"))}

    on = ["k", near("n", within=reach), spelling("t", edits=letters)]
    result = linkage(table(known), table(released), on=on)
    expected = [
        sum(
            a[0] == b[0] and abs(a[1] - b[1]) <= reach and edits(a[2], b[2]) <= letters
            for b in released
        )
        for a in known
    ]
    assert result.candidates.tolist() == expected


@settings(max_examples=30)
@given(rows, rows)
def test_numbers_alone_and_everything_alone_agree_with_brute_force(known, released):
    first, second = {"n": [r[1] for r in known]}, {"n": [r[1] for r in released]}
    result = linkage(first, second, on=[near("n", within=1)])
    expected = [sum(abs(a[1] - b[1]) <= 1 for b in released) for a in known]
    assert result.candidates.tolist() == expected


def test_dates_by_year_names_by_spelling_and_columns_by_another_name():
    known = {"born": np.array(["1970-03-05"], dtype="datetime64[D]"), "who": ["Maria"]}
    rows = {"birth": np.array(["1970-12-31", "1971-01-01"], dtype="datetime64[D]"),
            "name": ["Mariah", "Maria"]}  # fmt: skip
    by_year = linkage(known, rows, on=[year("born", released="birth")])
    assert by_year.matches.tolist() == [0]
    by_name = linkage(known, rows, on=[spelling("who", edits=1, released="name")])
    assert by_name.candidates.tolist() == [2]


def test_pandas_and_polars_give_the_same_as_arrow(people):
    import polars as pl

    some = people.slice(0, 2_000)
    counts = [
        linkage(frame, frame, on=["zip", month("birth_date")]).reidentified
        for frame in (some, some.to_pandas(), pl.from_arrow(some))
    ]
    assert len(set(counts)) == 1


@pytest.mark.parametrize("on", [[], [3]])
def test_nonsense_to_join_on_is_refused(on):
    with pytest.raises(dp.BadParameter):
        linkage({"a": [1]}, {"a": [1]}, on=on)


def test_text_is_not_compared_as_numbers():
    with pytest.raises(dp.BadParameter, match="compared as numbers"):
        linkage({"a": ["x"]}, {"a": ["y"]}, on=[near("a", within=1)])


def test_too_many_pairs_are_refused_with_a_way_out():
    names = {"n": [f"name {i}" for i in range(30_000)]}
    with pytest.raises(dp.BadParameter, match="too many pairs"):
        linkage(names, names, on=[spelling("n", edits=1)])


def test_an_empty_table_finds_nobody():
    assert linkage({"a": [1, 2]}, {"a": []}, on=["a"]).candidates.tolist() == [0, 0]


def test_it_draws_how_many_rows_remain(people):
    result = linkage(people.slice(0, 100), people, on=["zip"])
    assert len(result.plot().patches) == 7


def test_files_relations_and_dictionaries_are_tables_too(tmp_path):
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = {"a": [1, 2, 2], "b": ["x", "y", "y"]}
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
    relation = duckdb.sql("SELECT * FROM (VALUES (1, 'x'), (2, 'y'), (2, 'y')) t(a, b)")
    for table in (rows, tmp_path / "rows.parquet", relation, pa.table(rows)):
        assert linkage(rows, table, on=["a", "b"]).candidates.tolist() == [1, 2, 2]
    with pytest.raises(dp.BadParameter):
        linkage(rows, 3, on=["a"])


def test_the_remaining_rows_are_those_that_fit_by_every_rule():
    """Against a plain double loop, exact columns and near numbers together."""
    rng = np.random.default_rng(8)
    known = {"zip": rng.integers(0, 4, 40), "age": rng.integers(20, 40, 40)}
    rows = {"zip": rng.integers(0, 4, 90), "age": rng.integers(20, 40, 90)}
    for on, reach in ((["zip", "age"], 0), (["zip", near("age", within=2)], 2)):
        found = linkage(known, rows, on=on)
        for i in range(40):
            wanted = [
                j for j in range(90)
                if known["zip"][i] == rows["zip"][j]
                and abs(known["age"][i] - rows["age"][j]) <= reach
            ]  # fmt: skip
            assert found.remaining(i).tolist() == wanted
            assert found.candidates[i] == len(wanted)


def test_three_rows_left_are_a_guess_of_two_thirds():
    people = {"age": [39, 39, 39, 50], "income": ["<=50K", ">50K", "<=50K", ">50K"]}
    found = linkage({"name": ["Karrie"], "age": [39]}, people, on="age")
    assert found.reidentified == 0
    told = found.distribution(people, "income", record=0)
    assert list(told) == ["<=50K", ">50K"]
    assert told["<=50K"] == pytest.approx(2 / 3)
    assert found.distribution(people, "income", record=0) == told
    with pytest.raises(BadParameter):
        found.remaining(1)


def test_ten_rows_of_one_person_reidentify_them():
    visits = {"patient": [1] * 10 + [2, 3], "zip": ["a"] * 10 + ["b", "b"]}
    people = {"zip": ["a", "b", "c"]}
    by_row = linkage(people, visits, on="zip")
    by_person = linkage(people, visits, on="zip", unit="patient", truth=[3, 10, -1])
    assert (by_row.reidentified, by_person.reidentified) == (0, 1)
    assert by_person.candidates.tolist() == [1, 2, 0]
    assert (by_person.rows, by_person.correct) == (3, 1)
    assert "narrowed to 2 people or fewer" in str(by_person)
