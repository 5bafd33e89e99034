"""Fitted estimators as records: only what was learnt, and only estimators of this library."""

import json

import numpy as np
import pytest

import deniable as dp
from deniable import learn
from deniable.learn.models.drafts import SETTINGS
from deniable.server.jobs.kinds import models


def test_what_was_learnt_is_written_and_nothing_hidden():
    model = learn.Ridge()
    vars(model).update({
        SETTINGS: {"alpha": 0.5, "epsilon": None}, "coef_": np.array([1.0, 2.5]), "n_": np.int64(3),
        "loss_": dp.epsilon(0.5), "_hidden_": object(), "hidden": object(), "_cache": object(),
        "names_": ("a", ["b", 1]),
    })  # fmt: skip
    record = models.written(model)
    assert json.loads(json.dumps(record)) == record
    assert record["estimator"] == "Ridge"
    assert record["settings"] == {"alpha": 0.5, "epsilon": None}
    assert record["learnt"] == {
        "coef_": {"array": [1.0, 2.5], "dtype": "<f8"}, "n_": 3, "names_": ["a", ["b", 1]],
        "loss_": {"loss": dp.epsilon(0.5).to_dict()},
    }  # fmt: skip
    again = models.read(record)
    assert type(again) is learn.Ridge
    assert again.coef_.tolist() == [1.0, 2.5]
    assert (again.n_, again.loss_, again.alpha) == (3, dp.epsilon(0.5), 0.5)


@pytest.mark.parametrize("name", ["Encoding", "annotations", "os", ""])
def test_only_estimators_of_this_library_are_read(name):
    assert name not in learn.__all__
    with pytest.raises(dp.BadParameter, match="is not an estimator"):
        models.read({"estimator": name, "settings": {}, "learnt": {}})


@pytest.mark.parametrize(
    "value",
    [{"array": ["x"], "dtype": "O"}, {"array": [1], "dtype": "V8"}, {"code": "1 + 1"}, {1, 2}],
    ids=repr,
)
def test_what_no_estimator_writes_is_not_read(value):
    with pytest.raises(dp.BadParameter, match="not the record"):
        models._read(value)
