"""Which schema is meant, and what belongs to it."""

from pathlib import Path

import pytest

from deniable.cli import places
from deniable.errors import BadParameter, UnknownName


def test_the_only_schema_of_a_folder_is_meant(described):
    place = places.find()
    assert place.schema == Path("people.toml")
    assert place.started
    assert place.sources(place.facts()) == {"people": Path("people.parquet")}


def test_other_toml_files_are_no_schemas(described):
    Path("pyproject.toml").write_text('[project]\nname = "x"\n')
    Path("broken.toml").write_text("= no")
    assert places.find().schema == Path("people.toml")


def test_of_several_schemas_one_must_be_named(described):
    Path("other.toml").write_text(Path("people.toml").read_text())
    with pytest.raises(BadParameter, match="several schemas"):
        places.find()
    assert places.find(table="people").schema == Path("people.toml")
    assert places.find(Path("other.toml")).ledger == "other.ledger"


def test_data_may_lie_elsewhere(described, say, tmp_path_factory):
    away = tmp_path_factory.mktemp("away") / "people.parquet"
    Path("people.parquet").rename(away)
    assert "--data PATH" in say("check", code=1).stderr
    say("check", "--data", str(away))
    place = places.find(data=[away, Path("visits.parquet")])
    with pytest.raises(UnknownName):
        place.sources(place.facts())


def test_two_files_of_one_table_are_one_too_many(described, say):
    Path("people.csv").write_text("age\n")
    assert (
        "both people.parquet and people.csv are beside people.toml" in say("check", code=1).stderr
    )


@pytest.mark.parametrize("target", ["", ".", ".income", "people."])
def test_a_target_is_a_table_or_a_column(target):
    with pytest.raises(BadParameter):
        places.split(target)


def test_in_another_folder_a_schema_elsewhere_comes_first(folder):
    Path("other.parquet").touch()
    with pytest.raises(BadParameter, match="no schema in this folder") as refused:
        places.find()
    assert [fix.python.split()[0] for fix in refused.value.fixes] == ["--schema", "deniable"]
