"""The columns of a file without a schema: names and types, never values."""

import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dp
from deniable.session import first_look


@pytest.fixture
def csv(tmp_path):
    def made(content):
        path = tmp_path / "people.csv"
        path.write_bytes(content)
        return path

    return made


@pytest.mark.parametrize("mark", ",;\t|")
def test_the_first_line_is_cut_where_that_gives_most_names(csv, mark):
    path = csv(f'id{mark}age{mark}"a b"\n1{mark}2{mark}3\n'.encode())
    found, unread = first_look.columns(path, header=True)
    assert found == dict.fromkeys(["id", "age", "a b"], dp.column("text"))
    assert unread == []


def test_one_column_and_a_mark_of_order_are_read(csv):
    found, _ = first_look.columns(csv("\ufeffage\n1\n".encode()), header=True)
    assert list(found) == ["age"]


def test_a_first_line_is_read_only_if_somebody_says_that_it_names_columns(csv, tmp_path):
    path = csv(b"Secret,Person\n")
    with pytest.raises(dp.BadParameter, match="could be column names or somebody") as refused:
        first_look.columns(path, header=False)
    assert "Secret" not in str(refused.value)
    with pytest.raises(dp.BadParameter, match="there is no file"):
        first_look.columns(tmp_path / "missing.csv", header=True)
    with pytest.raises(dp.BadParameter, match="cannot be read as UTF-8"):
        first_look.columns(csv(b"\xff\xfe\n"), header=True)


def test_a_file_with_types_tells_them_whatever_its_letters(tmp_path):
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(pa.table({"age": [1], "city": ["a"]}), path)
    found, _ = first_look.columns(path, header=False)
    assert {name: column.type for name, column in found.items()} == {"age": "int", "city": "text"}
    upper = tmp_path / "PEOPLE.CSV"
    upper.write_bytes(b"a,b\n")
    assert list(first_look.columns(upper, header=True)[0]) == ["a", "b"]


def test_a_table_that_is_not_there_is_refused_with_those_that_are():
    tables = {"visits": pa.table({"age": [1]}), "homes": pa.table({"size": [1.5]})}
    found, _ = first_look.of_source(tables, "homes")
    assert list(found) == ["size"]
    with pytest.raises(dp.BadParameter, match="there is no table `other`") as refused:
        first_look.of_source(tables, "other")
    assert "visits, homes" in refused.value.fix
