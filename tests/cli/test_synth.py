"""synth: what is refused costs nothing, what is written was paid for."""

import pyarrow.csv
import pyarrow.parquet
import pytest

from deniable.errors import BadParameter
from deniable.synthetic import load


def spent(read) -> float:
    return read("ledger")["spent"]["epsilon"]


def test_rows_are_written_and_charged(described, folder, read):
    record = read("synth", "out.csv", "--spend", "0.5", "--columns", "age,city", "--rows", "50")
    table = pyarrow.csv.read_csv(folder / "out.csv")
    assert table.column_names == ["age", "city"]
    assert table.num_rows == record["rows"] == 50
    assert spent(read) == pytest.approx(0.5)


def test_columns_without_cells_are_left_out_by_the_fix_that_is_pasted(described, folder, say, read):
    refused = say("synth", "out.csv", "--spend", "0.5", code=1).stderr
    assert "--columns age,city    only the columns that have them" in refused
    assert "dp." not in refused
    read("synth", "out.csv", "--spend", "0.5", "--columns", "age,city", "--rows", "5")


def test_the_model_itself_can_be_kept(described, folder, say, read):
    said = say("synth", "out.synthetic", "--spend", "0.5", "--columns", "age,city")
    assert "age ±" in said.stderr
    assert load(folder / "out.synthetic").total == pytest.approx(2000, abs=200)


@pytest.mark.parametrize(
    "words",
    [
        ("out.csv", "--columns", "age,city"),  # nothing is offered
        ("out.doc", "--spend", "0.5", "--columns", "age,city"),
        ("people.parquet", "--spend", "0.5", "--columns", "age,city"),  # the data themselves
        ("people.parquet", "--spend", "0.5", "--columns", "age,city", "--force"),
        ("./people.parquet", "--spend", "0.5", "--columns", "age,city", "--force"),
        ("out.csv", "--spend", "0.5", "--columns", "age,city", "--rows", "-5"),
        ("nowhere/out.csv", "--spend", "0.5", "--columns", "age,city"),
        ("out.csv", "--spend", "0.5", "--columns", "age,town"),
        ("out.csv", "--spend", "0.5", "--columns", "income"),  # no bounds
        ("out.csv", "--spend", "2", "--columns", "age,city"),  # more than there is
    ],
)
def test_what_cannot_be_written_is_refused_before_it_is_paid_for(described, say, read, words):
    before = (described / "people.parquet").read_bytes()
    assert "nothing was spent" in say("synth", *words, code=1).stderr
    assert spent(read) == 0
    assert (described / "people.parquet").read_bytes() == before


def test_what_to_spend_is_proposed_in_the_units_of_the_ledger(described, say, read):
    words = ("synth", "out.csv", "--columns", "age,city", "--rows", "5")
    refused = say(*words, code=1).stderr
    proposed = refused.partition("fix:")[2].partition("    ")[0].split()
    assert proposed == ["--spend", "0.25"]
    assert read(*words, *proposed)["rows"] == 5


def test_an_error_after_the_charge_does_not_say_that_nothing_was_spent(
    described, say, read, monkeypatch
):
    def fails(*_: object) -> int:
        raise BadParameter("the disk is full")

    monkeypatch.setattr("deniable.cli.commands.synth._written", fails)
    words = ("out.csv", "--spend", "0.5", "--columns", "age,city")
    assert "nothing was spent" not in say("synth", *words, code=1).stderr
    assert spent(read) == pytest.approx(0.5)
