"""Tables and data sets of PyArrow: the columns of a question, with their rows or without."""

import pyarrow as pa
import pyarrow.dataset
import pytest

import deniable as dp
from deniable.session.sources.arrow_tables import ArrowTable, look

TABLE = pa.table({"a": [1, 2], "b": ["x", "y"]})
HELD = {"table": TABLE, "batch": TABLE.to_batches()[0], "data set": pa.dataset.dataset(TABLE)}


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize(
    ("columns", "read"), [(["b"], ["b"]), (["b", "a"], ["b", "a"]), ([], ["a"])]
)
def test_only_the_columns_of_a_question_are_read(name, columns, read):
    source = ArrowTable(held=HELD[name]).only(columns)
    assert source.none().rows().schema.names == read
    assert source.none().rows().num_rows == 0
    rows = source.rows()
    whole = rows.read_all() if hasattr(rows, "read_all") else pa.table(rows.to_pydict())
    assert whole.to_pydict() == {column: TABLE.to_pydict()[column] for column in read}


@pytest.mark.parametrize("name", HELD)
def test_names_and_types_are_those_of_the_schema(name):
    (found,) = look(HELD[name], "t", None)
    assert (found.name, found.types) == ("t", {"a": "int", "b": "text"})


def test_what_can_be_read_once_or_has_no_columns_is_no_table():
    for wrong in (TABLE.to_reader(), pa.array([1])):
        with pytest.raises(dp.BadParameter, match="cannot be read twice"):
            look(wrong, "t", None)
