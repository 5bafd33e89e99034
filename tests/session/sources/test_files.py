"""Files: which are meant by a path, how they are named in SQL, and whether they changed."""

from pathlib import Path

import duckdb
import pytest

import deniable as dp
from deniable.errors import NotReady
from deniable.session.sources.files import Files, _stem, call, of_one_kind, text

ENDINGS = (".csv", ".parquet")


@pytest.fixture
def folder(tmp_path):
    for name in ("a-1.csv", "a-2.csv", "b.parquet", "c[1].csv", "d.txt"):
        (tmp_path / name).write_text("x\n")
    (tmp_path / "e.csv").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("given", "name", "found"),
    [
        ("a-1.csv", None, ("a-1", ".csv", ["a-1.csv"])),
        ("a-1.csv", "visits", ("visits", ".csv", ["a-1.csv"])),
        ("a-*.csv", None, ("a", ".csv", ["a-1.csv", "a-2.csv"])),
        ("b.parquet", None, ("b", ".parquet", ["b.parquet"])),
        ("c[1].csv", None, ("c", ".csv", ["c[1].csv"])),
    ],
)
def test_a_path_that_is_there_is_that_file_and_any_other_a_pattern(folder, given, name, found):
    called, ending, paths = of_one_kind(str(folder / given), name, ENDINGS)
    assert (called, ending, [Path(p).name for p in paths]) == found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("s3://bucket/a.csv", "of this machine"), ("none.csv", "there is no file"),
        ("none-*.csv", "there is no file"), ("e.csv", "is a folder"), ("?.csv", "is a folder"),
        ("*.csv", "is a folder"), ("d.txt", "neither .csv nor .parquet"),
        ("[ab]*.*", "neither .csv nor .parquet"),
    ],
)  # fmt: skip
def test_what_is_not_files_of_one_kind_is_refused(folder, given, said):
    where = given if "://" in given else str(folder / given)
    with pytest.raises(dp.BadParameter, match=said):
        of_one_kind(where, None, ENDINGS)


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("/x/visits.csv", "visits"), ("/x/visits-*.csv", "visits"),
        ("/x/visits_[0-9].csv", "visits"),
        ("/x/*.csv", "x"), ("/y/*/?.csv", "y"), ("/*.csv", "data"), ("/x/a?b.csv", "ab"),
    ],
)  # fmt: skip
def test_a_table_is_named_by_what_is_not_wild(path, stem):
    assert _stem(Path(path)) == stem


def test_names_in_sql_are_constants_and_no_patterns():
    assert text("it's") == "'it''s'"
    assert call("read_csv", ["/a*b", "/it's"], {"header": "true"}) == (
        "read_csv(['/a[*]b', '/it''s'], header = true)"
    )


class Held(Files):
    """Files of which the difference is given."""

    kind = "test"
    said: str | None = None

    def difference(self, connection):
        return Held.said


def refuse(error):
    raise error


@pytest.mark.parametrize(
    ("describe", "difference", "told"),
    [
        (lambda: "found", None, None),
        (lambda: "found", "it changed", "it changed"),
        (lambda: "found", "", "no longer have the columns"),
        (lambda: refuse(duckdb.Error("secret")), None, "no longer have the columns"),
        (lambda: refuse(OSError("secret")), "it changed", "it changed"),
        (lambda: refuse(ValueError("secret")), "", "no longer have the columns"),
        (lambda: refuse(KeyError("secret")), "", "no longer have the columns"),
        (lambda: refuse(dp.BadParameter("our words")), "it changed", "our words"),
    ],
)
def test_files_that_changed_are_told_in_our_words(
    monkeypatch, tmp_path, describe, difference, told
):
    monkeypatch.setattr(Held, "said", difference)
    path = tmp_path / "a.csv"
    path.touch()
    files = Held(held=(str(path),))
    if told is None:
        assert files.unchanged("visits", None, describe) == "found"
        return
    with pytest.raises(dp.DeniableError, match=told) as refused:
        files.unchanged("visits", None, describe)
    assert "secret" not in str(refused.value)
    assert refused.value.__context__ is None


def test_a_file_that_is_gone_is_told_with_its_path(tmp_path):
    files = Held(held=(str(tmp_path / "gone.csv"),))
    with pytest.raises(NotReady, match=r"gone\.csv: No such file"):
        files.unchanged("visits", None, lambda: "found")
