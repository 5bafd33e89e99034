"""Questions by name: what a task holds, what it is called, how long and how large it may be."""

import pytest

import deniable as dp
from deniable.server.jobs import kinds
from deniable.server.jobs.kinds.learning import _MOST, _WORK, Fit

SQL = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


def test_a_task_is_a_question_by_name_a_choice_or_plain_sql():
    asked = {"kind": "ranges", "column": "age", "bins": 12}
    assert kinds.named({"sql": None, "ask": asked}) == kinds.KINDS["ranges"](column="age", bins=12)
    chosen = kinds.named({"sql": SQL, "choose": "noisy_max"})
    assert (chosen.kind, chosen.sql, chosen.mechanism) == ("choose", SQL, "noisy_max")
    above = kinds.named({"sql": SQL, "above": {"threshold": 7.0, "answers": 3}})
    assert (above.kind, above.sql, above.threshold, above.answers) == ("above", SQL, 7.0, 3)
    assert kinds.named({"sql": SQL}) is None
    assert kinds.named({"sql": SQL, "ask": None, "choose": None, "above": None}) is None


def test_a_question_by_name_is_called_by_its_facts_and_others_by_their_sql():
    asked = {"kind": "ranges", "column": "age", "bins": 12}
    said = kinds.question_of({"sql": None, "ask": asked})
    assert said.startswith("ranges(")
    assert "column='age'" in said
    assert "bins=12" in said
    assert "table" not in said
    for more in ({}, {"ask": None}, {"choose": "noisy_max"}, {"above": {"threshold": 1.0}}):
        assert kinds.question_of({"sql": SQL, **more}) == SQL


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_the_patience_for_a_kind_is_the_same_by_its_task_and_by_its_words(kind):
    own = kinds.KINDS[kind].patience
    assert kinds.patience({"ask": {"kind": kind}}) == kinds.patience_of(f"{kind}(x=1)") == own
    assert kinds.KINDS["fit"].patience > kinds.KINDS["choose"].patience == 1


@pytest.mark.parametrize("task", [{}, {"ask": None}, {"ask": {}}, {"ask": {"kind": "none"}}])
def test_anything_else_has_the_patience_of_a_query(task):
    assert kinds.patience(task) == kinds.patience_of(SQL) == kinds.patience_of("fits(x=1)") == 1


@pytest.mark.parametrize(
    ("estimator", "given", "fits"),
    [
        ("LogisticRegression", {"steps": _MOST}, True),
        ("LogisticRegression", {"steps": _MOST + 1}, False),
        ("KMeans", {"n_clusters": 100, "steps": _WORK // 100}, True),
        ("KMeans", {"n_clusters": 101, "steps": _WORK // 100}, False),
        ("KMeans", {"n_clusters": 2, "steps": _MOST + 1}, False),
        ("Ridge", {"alpha": 1e9}, True),
        ("StandardScaler", {}, True),
        ("GradientBoosting", {"rounds": 2, "max_leaves": 4, "bins": 8}, True),
        ("GradientBoosting", {"rounds": 2, "max_leaves": 4, "bins": _MOST + 1}, False),
        ("GradientBoosting", {"rounds": _MOST, "max_leaves": 4, "bins": 100}, False),
    ],
)
def test_a_model_that_would_take_too_long_is_refused(estimator, given, fits):
    asked = Fit(estimator=estimator, parameters=given, target="x")
    if fits:
        made = asked._made()
        assert {name: made.get_params()[name] for name in given} == given
    else:
        with pytest.raises(dp.BadParameter, match="takes too long"):
            asked._made()


@pytest.mark.parametrize("name", ["epsilon", "random_state", "bounds", "depth"])
def test_only_parameters_of_the_model_can_be_asked_for(name):
    with pytest.raises(dp.BadParameter, match=f"no parameter `{name}`"):
        Fit(estimator="LogisticRegression", parameters={name: 1}, target="x")._made()
