"""Calls that lack something, or say by place what has a name: told by a call that works."""

import ast
import inspect
import pickle

import pyarrow as pa
import pytest

import deniable as dp
from deniable import anonymity, attacks, parameters
from deniable.errors import BadCall

TABLE = pa.table({"age": [30, 40], "education": ["a", "b"], "sex": ["f", "m"], "name": ["x", "y"]})
COLUMNS = {
    "age": dp.bounds(0, 100, type="int"),
    "education": dp.keys(["a", "b"]),
    "sex": dp.keys(["f", "m"]),
    "name": dp.keys(["x", "y"]),
}


def known() -> dict[str, object]:
    s = dp.open(TABLE, unit=dp.rows(), budget=dp.epsilon(99), schema=dp.Schema(columns=COLUMNS))
    q = s.sql("SELECT COUNT(*) AS n FROM data")
    return {
        "dp": dp,
        "s": s,
        "q": q,
        "r": q.release(spend=dp.epsilon(1)),
        "table": TABLE,
        "eps": dp.epsilon(0.1),
    }


CALLS = [
    "dp.person('age')",
    "dp.person()",
    "dp.person('age', 10)",
    "dp.person('age', row=10)",
    "dp.rows('age')",
    "dp.open()",
    "dp.open(table, dp.rows(), eps)",
    "dp.open(table, unit=dp.rows(), epsilon=1)",
    "dp.epsilon()",
    "dp.epsilon(1, 1e-6)",
    "dp.epsilon(1, detla=1e-6)",
    "dp.rho()",
    "dp.mu()",
    "dp.bounds(0)",
    "dp.bounds(0, 100, 'int')",
    "dp.keys('a', 'b')",
    "dp.column()",
    "dp.Schema({'age': dp.bounds(0, 1)})",
    "dp.Schema(column={})",
    "s.sql()",
    "s.sql('SELECT COUNT(*) FROM data', spend=eps)",
    "s.count(eps)",
    "s.count(epsilon=0.1)",
    "s.sum('age', eps)",
    "s.sum(spend=eps)",
    "s.mean('age', eps)",
    "s.variance('age', eps)",
    "s.std('age', eps)",
    "s.median('age')",
    "s.median('age', eps)",
    "s.quantile('age', 0.5)",
    "s.quantile('age', 0.5, eps)",
    "s.histogram('age', 10, spend=eps)",
    "s.crosstab('education', spend=eps)",
    "s.top_k('education', 3, spend=eps)",
    "s.bounds('age')",
    "s.describe()",
    "s.describe(eps)",
    "q.release(eps)",
    "q.release(epsilon=0.1)",
    "q.explain(eps)",
    "s.release()",
    "s.run()",
    "s.open()",
    "r.rows(1)",
    "r.to_pandas(1)",
    "r.to_arrow(1)",
    "r.interval(0.9, 0.95)",
    "r.certificate(1)",
    "dp.Pure()",
    "dp.Approx(1)",
    "dp.Approx(1, 1e-6)",
    "dp.Zcdp()",
    "dp.Gdp()",
    "dp.Renyi()",
    "eps.epsilon_at(1e-6, 1e-7)",
    "eps.delta_at()",
    "dp.Laplace(scale=1).delta_at()",
    "eps.group()",
    "eps.to()",
    "dp.Sensitive()",
    "dp.Sensitive(lambda: 3, 1)",
    "dp.Laplace(scale=1).release()",
    "dp.Laplace(scale=1).on()",
    "dp.Laplace(scale=1).loss()",
    "dp.Gaussian(sigma=1).sampled(0.1)",
    "dp.Exponential(1)",
    "dp.PermuteAndFlip()",
    "dp.NoisyMax()",
    "dp.AboveThreshold(1)",
    "dp.AboveThreshold(epsilon=1).release()",
    "dp.SparseVector(epsilon=1)",
    "dp.SparseVector(epsilon=1, answers=2).release()",
    "dp.RandomizedResponse()",
    "dp.parallel(eps, eps)",
    "dp.calibrate(dp.Gaussian)",
    *(
        f"dp.{name}{call}"
        for name in ("Laplace", "Gaussian", "DiscreteLaplace", "DiscreteGaussian")
        for call in ("(1)", "()", "(epsilon=1)", ".calibrate(1)")
    ),
]


@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_does_not_fit_is_told_one_that_does(call):
    names = known()
    with pytest.raises(BadCall) as caught:
        eval(call, names)
    error = caught.value
    assert isinstance(error, dp.BadParameter | TypeError)
    assert str(error).startswith("error[DP113]: ")
    assert error.cost == "nothing was spent"
    assert error.__context__ is None or error.__suppress_context__
    for fix in error.fix.split(" or "):
        eval(fix, names)


def test_the_column_that_was_meant_is_in_the_fix():
    s = known()["s"]
    with pytest.raises(BadCall) as caught:
        s.mean("in come", dp.epsilon(0.1))
    assert caught.value.fix == 's.mean("in come", spend=dp.epsilon(0.1))'
    with pytest.raises(BadCall) as caught:
        dp.person("id", row=3)
    assert "did you mean `rows`?" in caught.value.what


def test_a_type_error_from_within_is_left_alone():
    @parameters.called("add(1, 2)")
    def add(first: object, second: object) -> object:
        return first + second

    assert add(1, 2) == 3
    with pytest.raises(TypeError, match="unsupported operand") as caught:
        add(1, "a")
    assert not isinstance(caught.value, BadCall)

    @parameters.called("outer()")
    def outer() -> object:
        return add()

    with pytest.raises(BadCall, match=r"add\(\) is missing first= and second="):
        outer()


def test_what_is_checked_is_still_itself():
    assert dp.person.__name__ == "person"
    value = dp.Laplace(scale=2.0)
    assert pickle.loads(pickle.dumps(value)) == value


def test_words_for_numbers_come_with_the_number():
    s = known()["s"]
    for call, fix in {
        "dp.epsilon('1')": "epsilon=1",
        "s.quantile('age', 50, spend=eps)": "q=0.5",
        "s.quantile('age', '0.5', spend=eps)": "q=0.5",
        "s.count(spend=0.1)": "spend=dp.epsilon(0.1)",
        "dp.open(table, unit=dp.rows, budget=eps)": (
            'unit=dp.person("user_id", rows=10)\nunit=dp.rows()'
        ),
        "dp.open(table, unit=dp.rows(), budget=eps, schema={'age': dp.bounds(0, 1)})": (
            'schema=dp.Schema(columns={"age": dp.bounds(0, 125)})'
        ),
        "dp.calibrate(lambda s: dp.Gaussian(sigma=s), to=1)": "to=dp.epsilon(2, delta=1e-6)",
        "eps.to('zcdp')": ".to(dp.Zcdp)",
    }.items():
        with pytest.raises(dp.BadParameter) as caught:
            eval(call, known() | {"s": s})
        assert caught.value.fix == fix
        assert " at 0x" not in str(caught.value)


def test_one_column_may_be_described_by_its_name():
    found = known()["s"].describe("age", spend=dp.epsilon(1))
    assert found.keys["column"] == ("age",)


ATTACKED = pa.table({"age": [30, 40] * 8, "zip": ["a", "b"] * 8, "income": [1, 2, 2, 1] * 4})
CURATORS = [
    "attacks.uniqueness(table, ['age'])",
    "attacks.selectivity()",
    "attacks.small_groups(table)",
    "attacks.linkage(table, table)",
    "attacks.differencing(1)",
    "attacks.averaging()",
    "attacks.membership(table)",
    "attacks.attributes(table, secret='income')",
    "attacks.singling_out(table, table, table)",
    "attacks.linkability(table)",
    "attacks.reconstruct()",
    "attacks.histories(table, table)",
    "attacks.report(table, ['age'])",
    "anonymity.anonymize(table, k=5)",
    "anonymity.generalize(table)",
    "anonymity.check(table)",
    "anonymity.population_uniqueness(table, quasi=['age'])",
    "anonymity.deidentify()",
    "anonymity.suggest(table, ['age'])",
]


@pytest.mark.parametrize("call", CURATORS)
def test_a_call_of_the_curators_own_tools_is_told_one_that_does_fit(call):
    names = {"attacks": attacks, "anonymity": anonymity, "table": ATTACKED}
    with pytest.raises(BadCall) as caught:
        eval(call, names)
    named = ast.parse(caught.value.fix, mode="eval").body
    function = eval(ast.unparse(named.func), names)
    given = {each.arg: None for each in named.keywords}
    inspect.signature(function).bind(*named.args, **given)
