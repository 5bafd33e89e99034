"""Questions by name as forms: which widget each parameter has, and what is read from it."""

import pytest

import deniable as dp
from deniable.server.jobs.kinds import KINDS, forms

SQL = "SELECT AVG(age) AS age FROM visits"
TEXTS = {"type": "array", "items": {"type": "string"}}
NUMBERS = {"type": "array", "items": {"type": "number"}}


@pytest.mark.parametrize(
    ("name", "facts", "widget"),
    [
        ("sql", {"type": "string"}, "sql"), ("sql", {"enum": ["a"]}, "sql"),
        ("how", {"enum": ["a", "b"], "type": "string"}, "choice"),
        ("how", {"type": "string"}, "column"), ("how", {"type": "integer"}, "number"),
        ("how", {"type": "object"}, "settings"),
        ("how", {"anyOf": [{"type": "object"}, {"type": "null"}]}, "settings"),
        ("how", {"anyOf": [{"type": "object"}, {"type": "string"}]}, "column"),
        ("how", {"anyOf": [{"type": "object"}, TEXTS]}, "columns"),
        ("how", TEXTS, "columns"), ("how", TEXTS | {"ordered": True}, "names"),
        ("how", NUMBERS, "numbers"), ("how", {"anyOf": [{"type": "integer"}, NUMBERS]}, "numbers"),
        ("how", {"anyOf": [{"type": "number"}, {"type": "null"}]}, "number"),
    ],
)  # fmt: skip
def test_a_parameter_has_the_widget_of_its_type(name, facts, widget):
    assert forms._widget(name, facts) == widget


@pytest.mark.parametrize(
    ("kind", "typed", "asked"),
    [
        ("median", {"sql": SQL, "method": "smooth", "quantile": " 0.9 "},
         {"sql": SQL, "method": "smooth", "quantile": 0.9}),
        ("median", {"sql": SQL, "method": "sample_and_aggregate", "parts": "7", "bound": " "},
         {"sql": SQL, "method": "sample_and_aggregate", "parts": 7}),
        ("ranges", {"column": " age ", "bins": "12"}, {"column": "age", "bins": 12}),
        ("ranges", {"column": "age", "bins": "0, 2.5,9,"}, {"column": "age", "bins": [0, 2.5, 9]}),
        ("ranges", {"column": "age", "bins": ""}, {"column": "age"}),
        ("marginals", {"columns:city": "on", "columns:age": "on", "ways": "1"},
         {"columns": ["age", "city"], "ways": 1}),
        ("hierarchy", {"columns": "state, county ,"}, {"columns": ["state", "county"]}),
        ("fit", {"estimator": "KMeans", "parameters": "steps = 60,tol=0.1\n\nwarm=True,cold=false"},
         {"estimator": "KMeans",
          "parameters": {"steps": 60, "tol": 0.1, "warm": True, "cold": False}}),
    ],
)  # fmt: skip
def test_what_is_typed_is_the_question(kind, typed, asked):
    """A query names its table itself; any other question is about the table of the page."""
    plain = {"kind": kind, **asked}
    assert forms.read(kind, typed, table=None) == plain
    with_table = plain if "sql" in asked else plain | {"table": "visits"}
    assert forms.read(kind, typed, table="visits") == with_table
    found = forms.read(kind, typed, table=None)
    assert {name: type(value) for name, value in found.items()} == {
        name: type(value) for name, value in plain.items()
    }


@pytest.mark.parametrize(
    ("kind", "typed", "said"),
    [
        ("none", {}, "there is no kind of question called none"),
        ("ranges", {"bins": "3"}, "column: nothing was chosen or filled in"),
        ("marginals", {"columns:age": "on", "ways": "99"}, "ways: input should be less than or"),
        ("median", {"sql": SQL}, "method: nothing was chosen or filled in"),
        ("ranges", {"column": "age", "bins": "many"}, "must be a number"),
        ("fit", {"estimator": "KMeans", "parameters": "steps"}, "must be settings"),
        ("fit", {"estimator": "KMeans", "parameters": "steps = few"}, "must be a number"),
    ],
)
def test_what_states_no_question_is_refused_by_the_name_of_the_field(kind, typed, said):
    with pytest.raises(dp.BadParameter) as refused:
        forms.read(kind, typed, table="visits")
    assert said in str(refused.value)


def test_a_form_offers_columns_and_choices_and_shows_what_was_typed():
    columns = ["age", "city"]
    found = {each.name: each for each in forms.fields("marginals", columns, {"columns:age": "on"})}
    assert found.keys() == {"columns", "ways", "bins"}
    assert (found["columns"].options, found["columns"].chosen) == (columns, frozenset({"age"}))
    assert (found["columns"].required, found["ways"].required) == (True, False)
    assert (found["ways"].typed, found["bins"].typed) == ("2", "")
    median = {each.name: each for each in forms.fields("median", columns, {"quantile": "0.9"})}
    assert list(median["method"].options) == [
        "smooth",
        "propose_test_release",
        "sample_and_aggregate",
    ]
    assert (median["quantile"].typed, median["sql"].label) == ("0.9", "Query")
    assert list(forms.fields("ranges", columns, {})[0].options) == columns


def test_every_kind_has_a_form_without_its_kind_and_table():
    for kind in KINDS:
        names = {each.name for each in forms.fields(kind, [], {})}
        assert not names & {"kind", "table"}
        assert names == KINDS[kind].model_fields.keys() - {"kind", "table"}
