"""A model by hand: the rows that are drawn from it, in each form and as often as asked."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dp
from deniable.schema.binning import Intervals, Listed
from deniable.synthetic import _synthetic, files
from deniable.synthetic._synthetic import Synthetic
from deniable.synthetic.domain import Domain
from deniable.synthetic.inference import Model, Unfolded

DAY = dt.date(2024, 5, 17)
CELLS = {
    "whole": Listed(type="int", keys=(1, 2)),
    "whole or missing": Listed(type="int", keys=(1, 2), missing=2),
    "real": Intervals(type="float", edges=(0.0, 1.0, 2.0), low=0.0, high=2.0),
    "real or missing": Intervals(type="float", edges=(0.0, 1.0, 2.0), low=0.0, high=2.0, missing=2),
    "text or missing": Listed(type="text", keys=("a", "b"), missing=2),
    "flag": Listed(type="bool", keys=(False, True)),
    "day or missing": Listed(type="date", keys=(DAY,), missing=1),
}
MISSING = [name for name in CELLS if "missing" in name]


def made(total=60.0, cells=None):
    domain = Domain(cells=cells or CELLS)
    model = Unfolded(Model.uniform(domain.sizes), (None,) * len(domain.sizes))
    return Synthetic(
        domain=domain, model=model, total=total, method="fixed", measured=(), release=None
    )


@pytest.mark.parametrize(
    ("total", "asked", "rows"), [(60.4, None, 60), (60.6, None, 61), (60.0, 7, 7), (1e300, 3, 3)]
)
def test_as_many_rows_are_drawn_as_are_asked_for_or_as_the_table_has(total, asked, rows):
    y = made(total)
    assert y.codes(asked).shape == (rows, len(CELLS))
    assert len(y.rows(asked)) == y.to_arrow(asked).num_rows == len(y.to_pandas(asked)) == rows
    assert y.codes(0).shape == (0, len(CELLS))


def test_more_rows_than_anyone_expects_are_drawn_only_if_their_number_is_given(monkeypatch):
    monkeypatch.setattr(_synthetic, "MOST_ROWS", 60)
    assert len(made(60.0).codes()) == 60
    with pytest.raises(dp.BadParameter, match="say how many to draw"):
        made(60.1).codes()
    assert len(made(60.1).codes(61)) == 61


def test_rows_are_the_same_until_another_seed_is_given():
    y = made()
    assert (y.codes() == y.codes()).all()
    assert y.rows(seed=3) == y.rows(seed=3) == made().rows(seed=3)
    assert len({str(y.rows(seed=seed)) for seed in (None, 3, 4)}) == 3
    assert str(y.rows()) != str(made().rows())  # another model draws a seed of its own
    with pytest.raises(dp.BadParameter, match="seed"):
        y.rows(seed=-1)


def test_where_in_its_cell_a_value_lies_is_drawn_apart_from_the_cell(monkeypatch):
    """The same stream for both would tie a value to the order of the rows."""
    begun = []

    class Recorded(_synthetic.PublicRandom):
        def __init__(self, seed):
            begun.append(seed)
            super().__init__(seed)

    monkeypatch.setattr(_synthetic, "PublicRandom", Recorded)
    made().columns(seed=5)
    assert len(begun) == len(set(begun)) == 2


def test_every_form_has_the_values_of_the_cells():
    y = made()
    codes, columns, rows = y.codes(), y.columns(), y.rows()
    arrow, frame = y.to_arrow(), y.to_pandas()
    for place, (name, cells) in enumerate(CELLS.items()):
        gone = codes[:, place] == cells.size
        assert gone.any() == (name in MISSING)
        assert cells.encode(columns[name]).tolist() == codes[:, place].tolist()
        listed = [row[name] for row in rows]
        assert [value is None for value in listed] == gone.tolist()
        assert arrow[name].to_pylist() == listed
        assert frame[name].isna().tolist() == gone.tolist()
        kept = [v.item() if isinstance(v, np.generic) else v for v in frame[name][~gone]]
        if name == "day or missing":
            kept = [pd.Timestamp(day).date() for day in frame[name][~gone]]
        assert kept == [value for value in listed if value is not None]


def test_columns_keep_their_types_where_values_are_missing():
    y = made()
    assert y.to_arrow().schema.types == [
        pa.int64(), pa.int64(), pa.float64(), pa.float64(), pa.string(), pa.bool_(), pa.date32()
    ]  # fmt: skip
    kinds = y.to_pandas().dtypes.astype(str).to_dict()
    assert kinds["whole"] == "int64"
    assert kinds["whole or missing"] == "Int64"
    assert kinds["real"] == kinds["real or missing"] == "float64"
    assert "Int64" not in {kind for name, kind in kinds.items() if "whole" not in name}
    assert any(math.isnan(value) for value in y.columns()["real or missing"])


def test_a_model_is_saved_where_it_is_said(monkeypatch):
    written = []
    monkeypatch.setattr(files, "save", lambda *given: written.append(given))
    y = made()
    y.save("here.json")
    assert written == [(y, "here.json")]
