"""One template for every error, whoever shows it."""

import json
import pickle
import re
from pathlib import Path

import pytest

import deniable as dp
from deniable import errors
from deniable.errors import BadParameter, DeniableError, Snippet, UnknownName

ALL = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, DeniableError) and kind is not DeniableError
]


@pytest.fixture
def error() -> DeniableError:
    query = "SELECT city,\n       AVG(incom) FROM people"
    at = query.index("incom")
    return UnknownName.of(
        "column",
        "incom",
        known=["income", "city"],
        snippet=Snippet(text=query, start=at, end=at + 5),
    )


def test_codes_are_unique():
    assert len({kind.code for kind in ALL}) == len(ALL)


@pytest.mark.parametrize("kind", ALL, ids=lambda k: k.__name__)
def test_the_tree_on_top_of_the_file_shows_every_error_with_its_code(kind: type[DeniableError]):
    assert re.search(rf"[├└]── {kind.__name__} +{kind.code} ", errors.__doc__)


@pytest.mark.parametrize("kind", ALL, ids=lambda k: k.__name__)
def test_every_code_has_its_line_in_the_docs(kind: type[DeniableError]):
    page = Path(__file__).parents[1] / "docs/errors/README.md"
    assert f"| {kind.code} | `{kind.__name__}` |" in page.read_text()


def test_the_text_has_what_where_why_fix_and_cost(error: DeniableError):
    error.says_cost = True
    assert str(error).split("\n") == [
        "error[DP320]: there is no column `incom`; did you mean `income`?",
        "           AVG(incom) FROM people",
        "               ^^^^^",
        "  fix:  income    in place of `incom`",
        "  cost: nothing was spent",
        "  hint: known: city, income",
    ]


def test_where_nothing_can_be_spent_nothing_is_said_of_it(error: DeniableError):
    for text in (str(error), error._repr_html_()):
        assert "cost" not in text
    error.cost = "ε 0.5 was charged"
    for text in (str(error), error._repr_html_()):
        assert "ε 0.5 was charged" in text


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: dp.Laplace(scale=-1.0),
        lambda: dp.epsilon(-1),
        lambda: dp.bounds(5, 1),
        lambda: dp.person("id", rows=0),
        dp.Laplace,
        lambda: dp.open("nowhere.parquet", unit=dp.rows(), budget=dp.epsilon(1.0)),
    ],
)
def test_without_a_session_no_error_speaks_of_spending(mistake):
    with pytest.raises(DeniableError) as caught:
        mistake()
    assert "spent" not in str(caught.value)


def test_json_html_and_notebook_tell_the_same_facts(error: DeniableError):
    error.says_cost = True
    record = json.loads(json.dumps(error.to_json()))
    assert record["code"] == "DP320"
    assert record["title"] == error.what
    for part in (error.what, error.cost, "AVG(incom)"):
        assert part in error._repr_html_()
    assert error._render_traceback_() == str(error).split("\n")


def test_html_escapes_what_users_wrote():
    assert "<script>" not in BadParameter("<script>")._repr_html_()


def test_an_error_survives_the_way_between_processes(error: DeniableError):
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is type(error)
    assert str(twin) == str(error)


@pytest.mark.parametrize("kind", ALL, ids=lambda k: k.__name__)
def test_every_error_can_be_caught_by_the_root(kind: type[DeniableError]):
    with pytest.raises(DeniableError, match="DP"):
        raise kind("something")


def test_an_error_read_from_a_record_is_of_the_class_that_owns_the_code():
    """Not of one that inherits it: a server's own kinds of NotReady have other statuses."""
    from deniable.server.guard.limits import TooMany
    from deniable.server.wire import error_from_dict

    assert type(error_from_dict(TooMany("wait").to_json())) is dp.NotReady
