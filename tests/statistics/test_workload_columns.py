"""Columns that a workload cannot divide into cells."""

import pandas as pd
import pytest

import deniable as dp
from deniable.errors import BadParameter, MissingBounds


def test_what_cannot_be_divided_into_cells_is_named_and_costs_nothing():
    many = [f"k{i}" for i in range(100_000)]
    schema = dp.Schema(columns={"code": dp.keys(many), "sex": dp.keys(["F", "M"])})
    table = pd.DataFrame({"code": ["k1"] * 9, "sex": ["F"] * 9, "note": ["x"] * 9})
    s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(1.0), schema=schema)
    for ask in (
        lambda: s.ranges("note", spend=dp.epsilon(0.5)),
        lambda: s.marginals(["sex", "note"], spend=dp.epsilon(0.5)),
        lambda: s.hierarchy(["sex", "note"], spend=dp.epsilon(0.5)),
    ):
        with pytest.raises(MissingBounds, match="`note`: a column needs bounds or a list"):
            ask()
    for ask in (
        lambda: s.marginals(["code"], ways=1, spend=dp.epsilon(0.5)),
        lambda: s.hierarchy(["code"], spend=dp.epsilon(0.5)),
    ):
        with pytest.raises(BadParameter, match="`code` has 100,001 values"):
            ask()
    assert s.spent.epsilon == 0
