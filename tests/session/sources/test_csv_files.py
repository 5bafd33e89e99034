"""How a CSV file is cut: by the separator that finds most columns, at one kind of line end."""

import itertools

import pytest

import deniable as dp
from deniable.errors import BadParameter
from deniable.session.sources import csv_files
from deniable.session.sources.csv_files import (
    _cuts,
    _different,
    _first_end,
    _header,
    _others,
    _parts,
    _with_one_end,
)

FACTS = dp.Schema(
    columns={"age": dp.bounds(0, 9), "city": dp.column("text"), "x;y": dp.column("text")}
)


def written(tmp_path, content):
    path = tmp_path / "held.csv"
    path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize("mark", ",;\t|")
def test_the_separator_that_finds_most_of_the_names_is_taken(tmp_path, mark):
    path = written(tmp_path, f"id{mark}age{mark}city\n1{mark}2{mark}a\n".encode())
    assert _header(path, FACTS) == (mark, ("id", "age", "city"))
    assert [cut[0] for cut in _cuts(path, ",;\t|")] == list(",;\t|")


def test_names_may_hold_other_separators(tmp_path):
    path = written(tmp_path, b'"x;y",age\n')
    assert _header(path, FACTS) == (",", ("x;y", "age"))


@pytest.mark.parametrize("content", [b"", b"\xff\xfe,a\n"])
def test_a_first_line_that_cannot_be_read_is_refused(tmp_path, content):
    with pytest.raises(BadParameter, match="cannot be read"):
        _header(written(tmp_path, content), FACTS)
    assert _cuts(str(tmp_path / "missing.csv"), ",") == []


def test_columns_without_a_name_of_their_own_get_one():
    assert _different(["a", "", "A", "b", "a"]) == [
        "a", "column 1 of the file", "column 2 of the file", "b", "column 4 of the file",
    ]  # fmt: skip


ENDS = [b"\n", b"\r", b"\r\n"]


@pytest.mark.parametrize("end", ENDS)
def test_the_first_line_end_decides(tmp_path, end):
    assert _first_end(written(tmp_path, b"a,b" + end + b"1,2\n\r\r\n")) == end
    assert _first_end(written(tmp_path, b"a,b")) == b"\n"


@pytest.mark.parametrize(("end", "other"), [*itertools.product(ENDS, repeat=2)])
def test_other_line_ends_are_noticed(end, other):
    assert not _others(b"a" + end + b"b" + end, end)
    assert _others(b"a" + end + b"b" + other, end) == (end != other)


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("end", ENDS)
def test_a_file_is_settled_alike_in_pieces_of_any_size(tmp_path, monkeypatch, piece, end):
    monkeypatch.setattr(csv_files, "_PIECE", piece)
    content = b"a,b" + end + b"1,x\ry" + end + b"2,x\ny" + end + b"3,\r\r\n\n" + end + b"4,z\r"
    path = written(tmp_path, content)
    assert b"".join(_parts(path)) == content
    pieces = list(_parts(path))
    assert not any(a.endswith(b"\r") and b.startswith(b"\n") for a, b in itertools.pairwise(pieces))
    with open(_with_one_end(path, tmp_path), "rb") as file:  # noqa: PTH123
        settled = file.read()
    assert not _others(settled, end)
    wanted = csv_files._settled(content, end)
    assert settled == wanted


@pytest.mark.parametrize("end", ENDS)
def test_a_file_with_one_kind_of_line_end_is_read_where_it_is(tmp_path, monkeypatch, end):
    monkeypatch.setattr(csv_files, "_PIECE", 3)
    path = written(tmp_path, end.join([b"a,b", b"1,2", b"3,4"]))
    assert _with_one_end(path, tmp_path) == path


@pytest.mark.parametrize("where", [0, 1, 2])
def test_one_other_line_end_anywhere_makes_a_copy(tmp_path, monkeypatch, where):
    monkeypatch.setattr(csv_files, "_PIECE", 8)
    lines = [b"aaaaaaa,b\n", b"1111111,2\n", b"3333333,4\n"]
    lines[where] = lines[where][:4] + (b"\r" if where else b"") + lines[where][4:]
    path = written(tmp_path, b"".join(lines))
    assert (_with_one_end(path, tmp_path) != path) == (where > 0)


@pytest.mark.parametrize("changed", [None, 0, 1])
@pytest.mark.parametrize("content", [b"a,c\n1,2\n", b"a;b\n", b"", b"a\n"])
def test_every_file_still_begins_with_the_line_it_had(tmp_path, changed, content):
    paths = [tmp_path / "first.csv", tmp_path / "second.csv"]
    for path in paths:
        path.write_bytes(b"a,b\n1,2\n")
    held = tuple(map(str, paths))
    source = csv_files.CsvFiles(held=held, header=("a", "b"), delimiter=",")
    if changed is not None:
        paths[changed].write_bytes(content)
    assert source.difference(None) == (None if changed is None else "")
    paths[0].write_bytes(b"a,b\n3,4\n5,6\n")  # rows may come and go
    paths[1].unlink()
    assert source.difference(None) == ""


def test_the_first_line_and_the_schema_must_use_the_same_names_once(tmp_path):
    def declared(*contents, facts=FACTS):
        paths = []
        for number, content in enumerate(contents):
            paths.append(str(tmp_path / f"{number}.csv"))
            (tmp_path / f"{number}.csv").write_bytes(content)
        (outline,) = csv_files.look(paths, "visits", None)
        return outline.source.declared(outline, facts)

    fine = b'age,city,"x;y",more\n'
    found = declared(fine, fine)
    assert found.source.header == ("age", "city", "x;y", "more")
    assert list(found.types) == ["age", "city", "x;y"]
    for contents, said in (
        ((fine, b'age,city,"x;y"\n'), "do not have the same first line"),
        ((b"age,city\n",), "has no `x;y`"),
        ((b'age,city,"x;y",AGE\n',), "has `age` more than once"),
    ):
        with pytest.raises(BadParameter, match=said):
            declared(*contents)
    with pytest.raises(BadParameter, match="needs a schema with types"):
        declared(fine, facts=None)
