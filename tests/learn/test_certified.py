"""Certificates of models: public facts in JSON's types."""

from types import SimpleNamespace

import numpy as np
import pytest

import deniable as dp
from deniable.learn.models.certified import certify
from deniable.learn.models.drafts import SETTINGS


def model(*, settings=None, **facts):
    return SimpleNamespace(
        **{
            SETTINGS: settings or {},
            "loss_": dp.epsilon(1.0, delta=1e-6),
            "unit_": dp.rows(),
            "plan_": {"name": "gaussian"},
            "caveat": "",
            **facts,
        }
    )


def test_settings_are_written_in_types_of_json():
    def gradient():
        """A function is told by its name."""

    settings = {
        "array": np.array([1.5, 2.0]), "number": np.float64(3.0), "pair": (np.int64(1), [2, None]),
        "text": "x", "nothing": None, "truth": True, "function": gradient,
    }  # fmt: skip
    found = certify(model(settings=settings)).to_dict()["model"]["settings"]
    assert found.pop("function") == repr(gradient)
    assert found == {
        "array": [1.5, 2.0], "number": 3.0, "pair": [1, [2, None]],
        "text": "x", "nothing": None, "truth": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "features"),
    [
        ({}, []),
        ({"features_": ["a", "b"]}, ["a", "b"]),
        ({"encoding_": SimpleNamespace(names=("a",)), "features_": ["a"]}, ["a"]),
        (
            {
                "features_": ["a = 1", "a = 2"],
                "encoding_": SimpleNamespace(names=("a",), bins=(SimpleNamespace(count=2),)),
            },
            ["a, 2 cells"],
        ),
    ],
    ids=["array", "names", "numbers", "cells"],
)
def test_features_are_columns_and_how_many_cells_they_have(facts, features):
    assert certify(model(**facts)).to_dict()["features"] == features


def test_a_caveat_is_written_where_there_is_one():
    assert certify(model(caveat="floats")).to_dict()["caveat"] == "floats"
    assert "caveat" not in certify(model()).to_dict()
