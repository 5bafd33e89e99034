"""Which types identify people: those whose values are equal in one way only."""

from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.session.identity import check, identifies, refused


@pytest.mark.parametrize(
    ("spelling", "exact"),
    [
        ("BIGINT", True), ("varchar(9)", True), ("character varying(9)", True), ("bytea", True),
        ("double precision", True), ("DATE", True), ("fixed_size_binary[16]", True),
        ("string collate UTF8_BINARY", True), ("string collate exact", True),
        ("string collate UTF8_LCASE", False), ("jsonb collate exact", False),
        ("dictionary<values=string, indices=int8>", True), ("Sparse[int64, 0]", True),
        ("dictionary<values=list, indices=int8>", False), ("Sparse[interval, 0]", False),
        ("citext", False), ("jsonb", False), ("INTERVAL", False), ("STRUCT(a DOUBLE)", False),
        ("STRUCT(a VARCHAR COLLATE exact)", False),
    ],
)  # fmt: skip
def test_a_type_says_whether_equal_values_are_the_same(spelling, exact):
    assert identifies(spelling) == exact


def outline(spelled, doubt=""):
    asked = []
    source = SimpleNamespace(doubt=lambda column, kind: asked.append((column, kind)) or doubt)
    types = {"id": "text"}
    return SimpleNamespace(name="visits", spelled=spelled, source=source, types=types), asked


def test_a_column_identifies_people_if_neither_its_type_nor_its_source_is_in_doubt():
    for spelled in ({"id": "VARCHAR"}, {}):
        found, asked = outline(spelled)
        check(found, "id")
        assert asked == [("id", "text")]
    with pytest.raises(dp.BadParameter, match="its type is citext"):
        check(outline({"id": "citext"})[0], "id")
    with pytest.raises(dp.BadParameter, match="its type is VARCHAR with a collation"):
        check(outline({"id": "VARCHAR"}, "VARCHAR with a collation")[0], "id")


@pytest.mark.parametrize(
    ("spelling", "text"),
    [("text COLLATE other", "text"), ("citext", "text"), ("jsonb", "VARCHAR")],
)
def test_the_fix_is_in_the_words_of_the_engine(spelling, text):
    assert f'CAST(lower("id") AS {text})' in str(refused("id", spelling, table="visits"))
