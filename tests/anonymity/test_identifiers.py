"""Names found, dropped, replaced; outliers clipped."""

import hashlib
import hmac

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dp
from deniable.anonymity import clip, deidentify, pseudonymize
from deniable.errors import BadParameter, UnknownName

PEOPLE = pa.table(
    {
        "userName": ["ann", "ann", "bob"],
        "contact": ["a@x.org", "a@x.org", None],
        "where": ["10.0.0.1", "10.0.0.2", "10.0.0.2"],
        "code": ["x1", "x2", "x3"],
        "weight_kg": [61.5, 80.25, 70.0],
        "rating": [1, 1, 2],
    }
)


def test_names_addresses_and_codes_are_found():
    done = deidentify(PEOPLE)
    assert done.identifiers == ("userName", "contact", "where", "code")
    assert done.quasi == ("weight_kg",)
    assert done.frame.column_names == ["weight_kg", "rating"]
    why = {found.column: found.why for found in done.findings}
    assert why["contact"] == "most values look like an e-mail address"
    assert why["code"] == "nearly all values differ"


def test_adult_has_one_name_and_many_quasi_identifiers():
    done = deidentify(dp.load_adult(identifiers=True))
    assert done.identifiers == ("name",)
    assert {"birth_date", "zip", "age", "sex", "race", "native_country"} <= set(done.quasi)
    assert "name" not in done.frame.column_names


def test_the_curator_has_the_last_word():
    done = deidentify(PEOPLE, keep=["code"], also=["rating"])
    assert done.identifiers == ("userName", "contact", "where", "rating")
    with pytest.raises(UnknownName):
        deidentify(PEOPLE, keep=["codes"])


def test_identifiers_can_be_replaced_instead():
    done = deidentify(PEOPLE.to_pandas(), action="pseudonymize")
    assert list(done.frame.columns) == PEOPLE.column_names
    names = done.frame["userName"]
    assert names[0] == names[1] != names[2]
    assert names[0] == hmac.new(done.key, b"ann", hashlib.sha256).hexdigest()[:32]
    assert done.frame["contact"].isna().tolist() == [False, False, True]


def test_pseudonyms_keep_who_is_who_and_nothing_else():
    hidden = pseudonymize(PEOPLE, "userName")
    names = hidden.frame["userName"].to_pylist()
    assert names[0] == names[1] != names[2]
    assert not set(names) & {"ann", "bob"}
    assert hidden.frame.drop_columns(["userName"]).equals(PEOPLE.drop_columns(["userName"]))
    assert hidden.frame.column_names == PEOPLE.column_names


def test_each_call_has_a_key_of_its_own_unless_it_is_given_one():
    first, second = pseudonymize(PEOPLE, "userName"), pseudonymize(PEOPLE, "userName")
    assert first.key != second.key
    assert first.frame["userName"][0] != second.frame["userName"][0]
    again = pseudonymize(pl.from_arrow(PEOPLE), "userName", key=first.key)
    assert again.frame["userName"].to_list() == first.frame["userName"].to_pylist()
    assert first.key.hex() not in repr(first)


def test_a_short_key_is_refused():
    with pytest.raises(BadParameter, match="16 bytes"):
        pseudonymize(PEOPLE, "userName", key=b"secret")


@pytest.mark.parametrize("kind", [lambda t: t, pa.Table.to_pandas, pl.from_arrow])
def test_outliers_are_set_to_the_bound(kind):
    table = kind(pa.table({"gain": [0, 50, 99_999], "part": [0.5, None, -3.0]}))
    out = clip(table, bounds={"gain": (10, 5_000), "part": (0, 1)})
    frame = out if isinstance(out, pd.DataFrame) else out.to_pandas()
    assert type(out) is type(table)
    assert frame["gain"].tolist() == [10, 50, 5_000]
    assert np.allclose(frame["part"], [0.5, np.nan, 0.0], equal_nan=True)


def test_half_bounds_on_whole_numbers_make_them_real():
    assert clip(pa.table({"x": [1, 9]}), bounds={"x": (1.5, 3)})["x"].to_pylist() == [1.5, 3.0]


def test_bounds_must_make_sense():
    with pytest.raises(BadParameter):
        clip(pa.table({"x": [1]}), bounds={"x": (3, 1)})
    with pytest.raises(BadParameter, match="does not hold numbers"):
        clip(pa.table({"x": ["1"]}), bounds={"x": (1, 3)})
    with pytest.raises(UnknownName):
        clip(pa.table({"x": [1]}), bounds={"y": (1, 3)})
