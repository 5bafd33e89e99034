"""What a fit learns is assigned together, or not at all."""

import pytest

from deniable.learn.models.drafts import LEARNT, SETTINGS, together


class Model:
    def __init__(self, size):
        self.size, self.account, self.others = size, [], []

    def get_params(self, *, deep):
        assert not deep
        return {"size": self.size}

    def _fits(self):
        return self.account

    @together
    def fit(self, *, learn=(), fail=False):
        self._account.append("fit")
        for name in learn:
            setattr(self, name, self.size)
        if fail:
            raise RuntimeError
        return self


def test_a_fit_leaves_what_it_learnt_and_nothing_of_the_one_before():
    model = Model(3)
    assert model.fit(learn=["a_", "b_"]) is model
    assert (model.a_, model.b_, vars(model)[SETTINGS]) == (3, 3, {"size": 3})
    assert vars(model)[LEARNT] == {"a_", "b_", SETTINGS, LEARNT}
    model.size, model.others = 4, ["kept"]
    model.fit(learn=["a_"])
    assert (model.size, model.a_, model.others) == (4, 4, ["kept"])
    assert not hasattr(model, "b_")
    assert vars(model)[SETTINGS] == {"size": 4}
    assert model.account == ["fit", "fit"]


def test_a_fit_that_fails_changes_nothing_but_the_account():
    model = Model(3).fit(learn=["a_"])
    model.size = 5
    with pytest.raises(RuntimeError):
        model.fit(learn=["a_", "b_"], fail=True)
    assert model.a_ == 3
    assert not hasattr(model, "b_")
    assert vars(model)[SETTINGS] == {"size": 3}
    assert model.account == ["fit", "fit"]
