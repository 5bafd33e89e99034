"""A small table of answers: every form people want it in keeps what it is."""

import csv
import datetime as dt
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.release.frame import Frame, box

DAYS = (dt.date(2024, 1, 31), dt.date(2024, 2, 1))


def test_dates_are_dates_in_every_frame():
    frame = Frame(
        {"day": DAYS, "at": (dt.datetime.fromisoformat("2024-01-01T12:00"), None), "n": (1, 2)}
    )
    pandas = frame.to_pandas()
    assert [pandas[c].dtype.kind for c in pandas] == ["M", "M", "i"]
    assert list(pandas["day"].dt.day) == [31, 1]
    assert str(frame.to_polars()["day"].dtype) == "Date"
    assert str(frame.to_arrow().schema.field("day").type) == "date32[day]"


@pytest.mark.parametrize(
    ("values", "kind", "held"),
    [
        ((2**63, 1, None), "double", [2.0**63, 1.0, None]),
        ((-(2**63), 2**63 - 1), "int64", [-(2**63), 2**63 - 1]),
        ((2**53 + 1, 1.5), "double", [2.0**53, 1.5]),
        ((True, 2), "int64", [1, 2]),
        ((1, "a", None), "string", ["1", "a", None]),
        ((None, DAYS[0], "b"), "string", [None, "2024-01-31", "b"]),
    ],
)
def test_what_one_type_of_arrow_cannot_hold_is_told_in_another(values, kind, held):
    """Another column keeps its own type, and no answer that was paid for is lost."""
    table = Frame({"x": values, "day": (DAYS[0],) * len(values)}).to_arrow()
    assert str(table.schema.field("x").type) == kind
    assert table["x"].to_pylist() == held
    assert str(table.schema.field("day").type) == "date32[day]"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0"))))
def test_csv_reads_back_and_no_cell_is_a_formula(texts):
    frame = Frame({"key": tuple(texts), "n": tuple(range(len(texts)))})
    (head, *rows) = csv.reader(io.StringIO(frame.to_csv()))
    assert head == ["key", "n"]
    for text, (shown, _) in zip(texts, rows, strict=True):
        assert shown in (text, f"'{text}")
        assert not shown.startswith(("=", "+", "-", "@", "\t"))


def test_csv_is_written_to_a_file(tmp_path):
    text = Frame({"=1+1": ("@x",), "n": (-3,)}).to_csv(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == text == "'=1+1,n\n'@x,-3\n"


@pytest.mark.parametrize("word", ["東京", "Ålesund", "e\u0301", "ｆｕｌｌ", "plain"])
def test_wide_characters_align(word):
    lines = box(["city", "n"], [[word, "1"], ["Oslo", "22"]]).splitlines()
    ends = {
        sum(
            0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
            for c in line
        )
        for line in lines
    }
    assert len(ends) == 1
