"""What s.fit refuses by public facts, before a row is read or anything is charged."""

from types import SimpleNamespace

import pytest
from sklearn.linear_model import LinearRegression

import deniable as dp
from deniable.learn import KMeans, LogisticRegression, Ridge, fitting
from deniable.learn.fitting import _chosen, check_estimator

COLUMNS = {
    "a": dp.bounds(0, 1), "b": dp.keys([1, 2]), "y": dp.bounds(0, 1), "who": dp.bounds(0, 9),
    "note": dp.column("text"),
}  # fmt: skip
ABOUT = SimpleNamespace(source=SimpleNamespace(columns=COLUMNS))
SESSION = SimpleNamespace(unit=dp.person("who", rows=2))


@pytest.mark.parametrize(
    ("estimator", "target", "words"),
    [
        (LinearRegression(), None, "LinearRegression is not an estimator of deniable.learn"),
        (LinearRegression, None, "LinearRegression is not an estimator of deniable.learn"),
        (Ridge, "y", "Ridge is a class; s.fit needs an instance"),
        (3, "y", "int is not an estimator"),
        (Ridge(epsilon=1.0), "y", "sets epsilon or delta"),
        (Ridge(delta=1e-6), "y", "sets epsilon or delta"),
        (KMeans(), "y", "KMeans has no target"),
        (LogisticRegression(steps=0), "y", "steps"),
    ],
    ids=str,
)
def test_what_cannot_be_fitted_is_refused_whatever_the_table_is(estimator, target, words):
    with pytest.raises(dp.BadParameter, match=words):
        check_estimator(estimator, target)
    given = {"target": target, "features": None, "spend": dp.mu(1.0), "table": None}
    for ask in (fitting.fit, fitting.prepared):  # before the session is looked at
        with pytest.raises(dp.BadParameter, match=words):
            ask(None, estimator, **given)


def test_other_estimators_pass():
    for estimator, target in ((Ridge(), "y"), (Ridge(), None), (KMeans(), None)):
        check_estimator(estimator, target)


def test_the_fix_names_our_estimator_of_that_name_or_a_likely_one():
    for wrong, ours in ((LinearRegression(), "LinearRegression"), (3, "LogisticRegression")):
        with pytest.raises(dp.BadParameter) as error:
            check_estimator(wrong, None)
        assert f"from deniable.learn import {ours}" in str(error.value)


def test_features_are_those_named_or_all_that_can_be():
    assert _chosen(ABOUT, "y", ["b", "a"], SESSION) == ["b", "a"]
    assert _chosen(ABOUT, "y", None, SESSION) == ["a", "b"]
    assert _chosen(ABOUT, None, ("a", "y"), SESSION) == ["a", "y"]


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ("a", "a list of columns"),
        ([], "one or more columns, each once"),
        (["a", "a"], "one or more columns, each once"),
        (["a", "y"], "`y` is the target"),
        (["a", "who"], "`who` identifies people"),
    ],
    ids=str,
)
def test_features_that_no_model_may_have_are_refused(features, words):
    with pytest.raises(dp.BadParameter, match=words):
        _chosen(ABOUT, "y", features, SESSION)
