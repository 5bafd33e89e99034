"""Frames of Polars, lazy or not: the columns of a question, with their rows or without."""

import pytest

import deniable as dp
from deniable.session.sources.polars_frames import PolarsFrame, look

pl = pytest.importorskip("polars")
FRAME = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})
HELD = {"frame": FRAME, "lazy": FRAME.lazy()}


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize(
    ("columns", "read"), [(["b"], ["b"]), (["b", "a"], ["b", "a"]), ([], ["a"])]
)
def test_only_the_columns_of_a_question_are_read(name, columns, read):
    source = PolarsFrame(held=HELD[name]).only(columns)
    empty = source.none().rows()
    assert (empty.column_names, empty.num_rows) == (read, 0)
    assert source.rows().to_pydict() == {column: FRAME[column].to_list() for column in read}


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize(("given", "called"), [("t", "t"), (None, "data")])
def test_names_and_types_are_those_of_the_frame(name, given, called):
    (found,) = look(HELD[name], given, None)
    assert (found.name, found.types) == (called, {"a": "int", "b": "text"})


def test_a_lazy_frame_is_not_run_to_be_looked_at():
    ran = []
    lazy = FRAME.lazy().map_batches(
        lambda rows: ran.append(rows.height) or rows, schema={"a": pl.Int64, "b": pl.String}
    )
    (found,) = look(lazy, "t", None)
    assert found.source.only([]).none().rows().num_rows == 0
    assert sum(ran) == 0
    assert found.source.rows().num_rows == sum(ran) == 2


def test_a_series_is_no_table():
    with pytest.raises(dp.BadParameter, match="one column, not a table"):
        look(FRAME["a"], "t", None)
