"""Whole runs: what is charged, what comes out, what is refused before anything is charged."""

import datetime as dt
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from tests.synthetic.people import SCHEMA, opened, people

import deniable as dp
from deniable.losses import convert
from deniable.losses.filters import ApproxFilter
from deniable.sampling.public import PublicRandom
from deniable.synthetic import Interrupted, determines, impossible, load
from deniable.synthetic.counting import Listed, counted
from deniable.synthetic.evaluation import _ranges
from deniable.synthetic.inference import Measurement, Model, fit, noisy_total
from deniable.synthetic.marginal import marginal_of
from deniable.synthetic.purse import purse_for
from deniable.synthetic.run import deviation

METHODS = ("independent", "tree", "adaptive")
SPENDS = {
    "pure": (dp.epsilon(1.0), dp.epsilon(2.0)),
    "approximate": (dp.epsilon(1.0, delta=1e-7), dp.epsilon(2.0, delta=1e-6)),
    "all of it": (dp.epsilon(1.0, delta=1e-6), dp.epsilon(1.0, delta=1e-6)),
    "little of much": (dp.epsilon(0.05, delta=1e-7), dp.epsilon(20.0, delta=1e-6)),
    "pure in approximate": (dp.epsilon(0.5), dp.epsilon(1.0, delta=1e-6)),
    "zcdp": (dp.rho(0.05), dp.rho(0.1)),
    "gaussian": (dp.mu(0.5), dp.mu(1.0)),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SPENDS)
def test_a_run_spends_all_that_it_was_given_and_no_more(method, name):
    spend, budget = SPENDS[name]
    s = opened(people(300), budget)
    y = s.synthesize(["age", "sex", "score"], spend=spend, method=method)
    assert y.loss == spend
    charged = [dp.Mechanism.from_dict(m) for m in y.release.mechanisms]
    purse = purse_for(spend, filter=s.ledger.filter)
    total = sum(purse.cost(m) for m in charged)
    assert 0.99 * purse.total <= total <= purse.total * (1 + 1e-12)
    prices = sum((s.ledger.price(m) for m in charged), start=s.ledger.filter.block(0.0))
    assert s.ledger.filter.admits(prices)
    match s.ledger.filter:
        case ApproxFilter() if spend.figures().get("delta", 0.0):
            whole = sum(m.renyi(purse.order) for m in charged)
            implied = convert.renyi_to_epsilon(whole, purse.order, spend.delta)
            assert implied <= spend.epsilon * (1 + 1e-9)


def test_counts_by_the_engine_and_from_rows_are_those_of_pandas():
    frame = people(500)
    s = opened(frame, dp.epsilon(1.0))
    asked = s.synthesis(bins=5)
    domain, about = asked.domain, asked.about
    codes = [cells.encode(frame[name]) for name, cells in domain.cells.items()]
    cliques = list(combinations(range(6), 1)) + list(combinations(range(6), 2))
    listed, by_engine = Listed(about, domain), counted(about, domain, cliques)
    for clique in cliques:
        shape = tuple(domain.sizes[a] for a in clique)
        place = np.ravel_multi_index([codes[a] for a in clique], shape)
        expected = np.bincount(place, minlength=domain.size_of(clique))
        for hidden in (listed[clique], by_engine[clique]):
            assert (hidden.l1, hidden.l2, hidden.worth) == (1, 1, 1)
            noisy = dp.open(frame, unit=dp.rows(), budget=dp.epsilon(1e9), schema=SCHEMA).release(
                dp.Laplace(scale=1e-6).on(hidden.value)
            )
            assert np.array_equal(np.asarray(noisy.value).ravel(), expected)


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_a_person_with_many_rows_counts_as_few(relation):
    frame = people(60).assign(id=["heavy"] * 50 + [f"p{i}" for i in range(10)])
    unit = dp.person("id", rows=3, relation=relation)
    s = dp.open(frame, unit=unit, budget=dp.rho(1e9), schema=SCHEMA)
    y = s.synthesize(["sex", "member"], spend=dp.rho(1e8), method="independent")
    assert y.total == pytest.approx(13, abs=0.1)
    assert "at most 3 rows per person" in repr(y)
    assert y.rows(2)[0].keys() == {"sex", "member"}


def test_rows_have_the_original_types_and_keep_what_is_missing():
    frame = people(2000)
    s = opened(frame, dp.rho(1e6))
    y = s.synthesize(spend=dp.rho(1e5), method="tree", bins=8)
    table = y.to_arrow()
    kinds = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert kinds == {
        "age": "int64",
        "height": "double",
        "sex": "string",
        "member": "bool",
        "joined": "date32[day]",
        "score": "int64",
    }
    assert table.num_rows == pytest.approx(2000, abs=2)
    made = y.to_pandas(1000, seed=1)
    assert list(made.columns) == list(frame.columns)
    assert made["score"].notna().all()  # missing scores count as 0
    for name in ("age", "height", "sex"):
        expected = frame[name].isna().mean() if name != "sex" else (frame["sex"] == "x").mean()
        assert made[name].isna().mean() == pytest.approx(expected, abs=0.02)
    assert made["age"].dropna().between(0, 99).all()
    assert made.equals(y.to_pandas(1000, seed=1))
    row = y.rows(5, seed=1)[0]
    assert isinstance(row["joined"], dt.date)
    assert set(made["sex"].dropna()) <= {"f", "m"}


def test_dependence_between_columns_is_kept_by_tree_and_adaptive_and_not_by_independent():
    frame = people(3000)
    errors = {}
    for method in METHODS:
        s = opened(frame, dp.rho(10.0))
        y = s.synthesize(["age", "sex", "score"], spend=dp.rho(5.0), method=method, bins=6)
        errors[method] = y.evaluate(frame).variation[2][1]
    assert errors["independent"] > 0.1
    assert errors["tree"] < 0.05
    assert errors["adaptive"] < 0.02


@pytest.mark.parametrize(
    ("frame", "columns"),
    [
        (people(0), None),
        (people(1), None),
        (people(50).assign(sex="f"), None),
        (people(50).assign(sex="not on the list"), None),
        (people(50), ["sex"]),
        (people(50), ["sex", "member"]),
    ],
    ids=["empty", "one row", "constant column", "unseen category", "one column", "two columns"],
)
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_odd_tables_work(frame, columns, method):
    s = opened(frame, dp.epsilon(1.0, delta=1e-6))
    y = s.synthesize(columns, spend=dp.epsilon(1.0, delta=1e-6), method=method)
    assert {row["sex"] for row in y.rows(10)} <= {"f", "m", None}
    assert y.total >= 1


@pytest.mark.parametrize(
    ("schema", "options", "message"),
    [
        ({"x": dp.column("float")}, {}, "`x`: a column needs bounds or a list"),
        ({"x": dp.column("text")}, {}, "`x`: a column needs bounds or a list"),
        ({"x": dp.keys([f"k{i}" for i in range(100_000)])}, {}, "`x` has 100,001 values"),
        ({"x": dp.bounds(0, 9)}, {"marginals": [["y"]]}, "y"),
        ({"x": dp.bounds(0, 9)}, {"marginals": []}, "empty list"),
        ({"x": dp.bounds(0, 9)}, {"marginals": ["x"]}, "'x' is not in a list"),
        ({"x": dp.bounds(0, 9)}, {"marginals": [["x"], "x"]}, "'x' is not in a list"),
        ({"x": dp.bounds(0, 9)}, {"marginals": [["x", "x"]]}, "twice"),
        ({"x": dp.bounds(0, 9)}, {"method": "best"}, "method"),
        ({"x": dp.bounds(0, 9)}, {"method": "marginals"}, "needs marginals="),
        ({"x": dp.bounds(0, 9)}, {"method": "tree", "marginals": [["x"]]}, "its own"),
        ({"x": dp.bounds(0, 9)}, {"columns": []}, "no columns"),
        ({"x": dp.bounds(0, 9)}, {"columns": ["z"]}, "z"),
        ({"x": dp.bounds(0, 9)}, {"bins": {"z": 3}}, "z"),
        ({"x": dp.bounds(0, 9)}, {"constraints": ["x"]}, "constraints"),
        ({"x": dp.bounds(0, 9, missing=0)}, {"constraints": [impossible(x=(0, 9))]}, "nothing"),
    ],
)
def test_what_cannot_be_made_is_refused_before_the_charge(schema, options, message):
    frame = pd.DataFrame({"x": ["a", "b"] if schema["x"].type == "text" else [1.0, 2.0]})
    s = dp.open(frame, unit=dp.rows(), budget=dp.epsilon(1.0), schema=dp.Schema(columns=schema))
    with pytest.raises(dp.DeniableError, match=message) as caught:
        s.synthesize(spend=dp.epsilon(1.0), **({"columns": None} | options))
    assert not len(s.ledger.entries)
    assert "nothing" in caught.value.cost


def test_all_columns_without_bounds_are_named_at_once():
    columns = {"a": dp.column("text"), "b": dp.keys(["x"]), "c": dp.column("float")}
    frame = pd.DataFrame({"a": ["u"], "b": ["x"], "c": [1.0]})
    s = dp.open(frame, unit=dp.rows(), budget=dp.rho(1.0), schema=dp.Schema(columns=columns))
    with pytest.raises(dp.MissingBounds, match="`a`, `c`: a column needs") as caught:
        s.synthesize(spend=dp.rho(1.0))
    assert 'columns=["b"]' in str(caught.value)


@pytest.mark.parametrize("name", ["sex", "member"])
def test_bins_for_a_column_with_a_list_are_refused(name):
    s = opened(people(5), dp.rho(1.0))
    with pytest.raises(dp.BadParameter, match=f"`{name}` has a list of values"):
        s.synthesize(["age", name], spend=dp.rho(1.0), bins={"age": 4, name: 2})


def test_a_noisy_total_that_is_absurd_draws_no_rows_unasked():
    s = opened(people(5), dp.rho(1.0))
    y = replace(s.synthesize(["sex"], spend=dp.rho(1.0)), total=1e13)
    for drawn in (y.rows, y.to_arrow, y.to_pandas, y.codes, y.columns):
        with pytest.raises(dp.BadParameter, match="say how many to draw"):
            drawn()
        assert len(drawn(3)) in (1, 3)


@pytest.mark.parametrize("missing", [0.0, 0.02, 0.5, 1.0])
def test_missing_values_do_not_flatter_ranges(missing):
    """Rows are 0 and synthetic ones 1, where present: a range has all of one and none of the other.

    Of two ends, both are 1 here, so that every range errs by the share of what is present.
    """
    draw = np.random.default_rng(2)
    gone = draw.random(1000) < missing
    real, fake = (np.where(gone, np.nan, value)[:, None] for value in (0.0, 1.0))
    found = _ranges([real, fake], PublicRandom(1))
    assert found == pytest.approx(1 - gone.mean())


def test_cells_found_privately_follow_the_data():
    """Where most values lie, cells are narrow; elsewhere they are wide. None is left out."""
    draw = np.random.default_rng(4)
    low = draw.random(20_000) < 0.9
    frame = pd.DataFrame({"x": np.where(low, draw.uniform(0, 10, 20_000), 900.0)})
    frame["y"] = draw.integers(0, 2, 20_000)
    columns = {"x": dp.bounds(0.0, 1000.0), "y": dp.keys([0, 1])}
    found = {}
    for bins in (None, "private"):
        s = dp.open(frame, unit=dp.rows(), budget=dp.rho(1.0), schema=dp.Schema(columns=columns))
        y = s.synthesize(spend=dp.rho(0.5), method="tree", bins=bins)
        made = y.to_pandas(20_000, seed=1)["x"].dropna()
        assert made.between(0, 1000).all()
        assert (made > 500).mean() == pytest.approx(0.1, abs=0.02)
        found[bins] = (made < 10.5).mean()
    fold = y.model.folds[0]
    assert 2 <= fold.partition.count <= 32 < len(fold.shares)
    # a cell of 3.9 holds 7.8 to 11.7: 0.22 of what is low, of which 0.3 is drawn above 10.5
    assert found["private"] == pytest.approx(0.84, abs=0.03)


@pytest.mark.parametrize("options", [{"method": "independent"}, {"marginals": [["age"]]}])
def test_cells_are_not_found_privately_where_nothing_is_measured_before(options):
    s = opened(people(5), dp.rho(1.0))
    with pytest.raises(dp.BadParameter, match='bins="private" does not go with'):
        s.synthesize(["age"], spend=dp.rho(1.0), bins="private", **options)
    with pytest.raises(dp.BadParameter, match="bins"):
        s.synthesize(["age"], spend=dp.rho(1.0), bins="best", method="tree")
    assert not len(s.ledger.entries)


def test_more_than_is_left_is_refused_before_the_charge():
    s = opened(people(50), dp.epsilon(1.0, delta=1e-6))
    with pytest.raises(dp.BudgetExceeded):
        s.synthesize(["sex", "age"], spend=dp.epsilon(3.0, delta=1e-6))
    with pytest.raises(dp.BudgetExceeded):
        s.synthesize(["sex", "age"], spend=dp.epsilon(3.0))
    assert not len(s.ledger.entries)


def test_explain_is_free_and_its_errors_are_those_of_the_noise():
    frame = people(400)
    s = opened(frame, dp.rho(1.0))
    asked = s.synthesis(["age", "sex"], marginals=[["age", "sex"], ["sex"]])
    plan = asked.explain(spend=dp.rho(0.5))
    assert not len(s.ledger.entries)
    y = asked.release(spend=dp.rho(0.5))
    for m in y.measured:
        name = " × ".join(y.domain.names[a] for a in m.columns)
        assert plan.errors[f"count by {name}"] == pytest.approx(1.96 * m.sigma + 0.5, rel=1e-3)
    for method in ("tree", "adaptive"):
        told = opened(frame, dp.rho(1.0)).synthesis(["age", "sex"], method=method)
        shown = str(told.explain(spend=dp.rho(0.5)))
        assert "count by age ±" in shown
        assert "chosen during the run" in shown


@pytest.mark.parametrize(
    "noise", [dp.Gaussian(sigma=4.0), dp.Laplace(scale=3.0), dp.Gaussian(sigma=0.3)], ids=repr
)
def test_the_stated_error_of_marginals_covers(noise):
    """95 % or more of 2,280 counts, of which 1,440 have noise of their own.

    The 1,440 would be below 91.5 % (6.1 deviations) with a chance of 1e-9 if each were covered by
    exactly 95 %; the distance between model and measurement makes it more.
    """
    draw = np.random.default_rng(8)
    truth = draw.integers(0, 60, (3, 4))
    asked = opened(people(1), dp.epsilon(1.0)).synthesis(["sex", "score"], bins=4)
    domain = asked.domain
    held, cells = 0, 0
    for _ in range(120):
        noisy = noise.release(truth.astype(np.int64))
        law = noise.name
        measured = [
            Measurement(columns=(0, 1), counts=noisy.astype(float), sigma=deviation(noise), law=law)
        ]
        total = noisy_total(measured)
        model = fit(Model.uniform(domain.sizes), measured, total=total, steps=60).model
        for clique, exact in (
            ((0, 1), truth),
            ((0,), truth.sum(axis=1)),
            ((1,), truth.sum(axis=0)),
        ):
            found = marginal_of(domain, model, measured, clique, total)
            inside = np.abs(found.counts - exact) <= found.error
            held, cells = held + inside.sum(), cells + inside.size
    assert held >= 0.915 * cells


def test_the_error_of_what_was_never_measured_is_unknown():
    s = opened(people(100), dp.rho(1.0))
    y = s.synthesize(["age", "sex"], spend=dp.rho(1.0), method="independent")
    assert y.marginal(["age", "sex"]).error is None
    assert y.marginal("age").error is not None
    assert "unknown" in repr(y.marginal(["age", "sex"]))
    assert len(y.marginal(["sex", "age"]).to_pandas()) == y.domain.size_of((0, 1))


def test_a_saved_table_is_the_same_when_loaded(tmp_path):
    s = opened(people(200), dp.epsilon(1.0, delta=1e-6))
    y = s.synthesize(spend=dp.epsilon(1.0, delta=1e-6), method="tree")
    y.save(tmp_path / "people.synthetic")
    z = load(tmp_path / "people.synthetic")
    assert z.rows(20, seed=3) == y.rows(20, seed=3)
    assert repr(z) == repr(y)
    assert z.certificate().to_dict() == y.certificate().to_dict()
    assert np.array_equal(z.marginal("age").error, y.marginal("age").error)
    (tmp_path / "no").write_text("not this")
    with pytest.raises(dp.BadParameter, match="not a synthetic table"):
        load(tmp_path / "no")
    with pytest.raises(dp.BadParameter, match="no file"):
        load(tmp_path / "nowhere")


@pytest.mark.parametrize("method", METHODS)
def test_public_zeros_are_honoured_exactly(method):
    frame = people(500)
    s = opened(frame, dp.rho(0.1))
    y = s.synthesize(
        ["age", "sex", "score", "member"],
        spend=dp.rho(0.1),
        method=method,
        bins=10,
        constraints=[
            impossible(age=(0, 49), sex=["f"]),
            determines("score", "member", {0: False, 1: False, 5: True}),
        ],
    )
    made = y.to_pandas(3000)
    young = made["age"] < 49
    assert not (young & (made["sex"] == "f")).any()
    assert not made.loc[made["score"] <= 1, "member"].astype(bool).any()
    assert made.loc[made["score"] == 5, "member"].astype(bool).all()


def test_ctrl_c_surfaces_and_keeps_what_was_paid_for(monkeypatch):
    from deniable.synthetic.run import Run

    s = opened(people(300), dp.rho(1.0))
    fitted = Run.refit
    calls = []

    def refit(run, **options):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        fitted(run, **options)

    monkeypatch.setattr(Run, "refit", refit)
    with pytest.raises(KeyboardInterrupt) as caught:
        s.synthesize(["age", "sex", "score"], spend=dp.rho(0.5), method="adaptive")
    assert isinstance(caught.value, Interrupted)
    y = caught.value.synthetic
    assert len(y.rows(10)) == 10
    charged = [dp.Mechanism.from_dict(m) for m in y.release.mechanisms]
    assert sum(m.zcdp() for m in charged) == pytest.approx(s.spent.rho)
    assert "interrupted" in repr(y)
    assert s.spent <= dp.rho(0.5)


def test_a_certificate_names_every_mechanism_and_the_unit():
    s = opened(people(100), dp.epsilon(1.0, delta=1e-6))
    y = s.synthesize(["age", "sex"], spend=dp.epsilon(1.0, delta=1e-6), method="tree")
    record = y.certificate().to_dict()
    assert len(record["mechanisms"]) == 2 + 1 + 1
    assert "one row" in record["claim"]["protects"]
    assert record["ledger"]["entry_hash"]
