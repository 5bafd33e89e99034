"""minimize: every method on every set, hostile rows, neighbours, and what it costs."""

import math

import numpy as np
import pytest

import deniable as dp
from deniable.audit import audit, replay
from deniable.learn.convex import Ball, Box, Minimum, Simplex, explain, minimize, minimizing
from deniable.learn.convex.held import Held
from deniable.learn.convex.minimizing import _due, _noted, _unit, own_session
from deniable.learn.convex.objectives import NAMES, link
from deniable.learn.convex.problems import Found, Problem
from deniable.losses.filters import Price
from deniable.sampling import PublicRandom

SPEND = dp.epsilon(1.0, delta=1e-6)
WAYS = [
    ("regularised", SPEND),
    ("exponential", SPEND),
    ("exponential", dp.epsilon(1.0)),
    ("descent", SPEND),
    ("descent", dp.mu(0.5)),
    ("descent", dp.rho(0.1)),
    ("stochastic", SPEND),
]
IDS = ["regularised", "exponential", "grid", "descent", "descent-mu", "descent-rho", "stochastic"]


def data(n=16, d=2, seed=7):
    generator = PublicRandom(seed).generator
    X = generator.normal(size=(n, d))
    return X, (X @ np.linspace(1, -1, d) > 0) * 1.0


def run(given, method="descent", spend=SPEND, **changes):
    options = {"domain": Ball(1.0), "lipschitz": 1.0} | changes
    return minimize(
        options.pop("loss", "logistic"), data=given, spend=spend, method=method, **options
    )


# ---- charges and units, without a draw


def problem_of(method, spend, size):
    return Problem.of(
        loss="logistic", domain=Ball(1.0), coordinates=2, lipschitz=1.0, spend=spend,
        method=method, unit=dp.rows(), size=size,
    )  # fmt: skip


CASES = [(*way, size) for way in WAYS for size in (16, None) if size or way[0] != "stochastic"]


@pytest.mark.parametrize(("method", "spend", "size"), CASES)
def test_what_is_due_is_the_price_of_all_steps_together(method, spend, size):
    problem = problem_of(method, spend, size)
    s = own_session(problem.budget, unit=dp.rows())
    way, counted = problem.way(size or 1000), [problem.count] * (size is None)
    if method == "stochastic":
        prices = [s.ledger.price(way.mechanism, delta=way.loss.delta)]
    else:
        drawn = [way] if spend == SPEND and method != "descent" else [way.mechanism]
        turns = way.turns if method == "descent" else 1
        prices = [s.ledger.price(each) for each in counted + drawn * turns]
    due = _due(problem, s)
    for figure in ("epsilon", "delta", "mu_squared", "rho"):
        total = math.fsum(getattr(price, figure) for price in prices)
        assert getattr(due, figure) == pytest.approx(total, rel=1e-9, abs=0)
    assert due != Price.zero


@pytest.mark.parametrize("size", [16, None])
@pytest.mark.parametrize("method", ["regularised", "exponential", "descent", "stochastic"])
def test_what_does_not_fit_is_refused_before_its_first_step(method, size):
    if method == "stochastic" and size is None:
        return
    s = dp.open(dp.load_adult(), unit=dp.rows(), budget=dp.epsilon(0.9, delta=1e-5))
    with pytest.raises(dp.BudgetExceeded) as seen:
        run(data(), method, dp.epsilon(1.0, delta=5e-6), session=s, size=size)
    assert seen.value.cost == "nothing was spent"
    assert not s.ledger.entries


def test_another_currency_than_the_sessions_is_refused():
    s = dp.open(dp.load_adult(), unit=dp.rows(), budget=dp.epsilon(9.0, delta=1e-5))
    with pytest.raises(dp.MixedLosses):
        run(data(), "descent", dp.mu(0.1), session=s)
    assert not s.ledger.entries


def test_a_session_of_its_own_keeps_nearly_all_of_its_delta_for_one_block():
    reserve = own_session(SPEND, unit=dp.rows()).ledger.filter.reserve
    assert reserve == pytest.approx(1e-6 * (1 - 2.0**-20), rel=1e-12, abs=0)
    for other in (dp.epsilon(1.0), dp.mu(0.5), dp.rho(0.1)):
        assert own_session(other, unit=dp.rows()).ledger.budget == other


def test_units_are_given_or_those_of_the_session_or_rows():
    replaced = dp.rows(relation="replace")
    s = own_session(SPEND, unit=replaced)
    assert _unit(None, None) == dp.rows()
    assert _unit(None, s) == replaced
    assert _unit(replaced, None) == _unit(replaced, s) == replaced
    assert _unit(dp.rows(), s) == dp.rows()


def test_every_release_is_noted_and_every_answer_passed_on():
    first, last = (dp.Laplace(scale=k).on(dp.Sensitive(lambda: 1.0, l1=1)) for k in (1.0, 2.0))

    def steps():
        seen = [(yield first), (yield "a block"), (yield last)]
        return Found(x=np.array(seen), excess=0.5)

    made = []
    noted = _noted(steps(), made)
    assert [next(noted), noted.send(7.0), noted.send(8.0)] == [first, "a block", last]
    with pytest.raises(StopIteration) as end:
        noted.send(9.0)
    assert end.value.value.x.tolist() == [7.0, 8.0, 9.0]
    assert made == [first, last]


@pytest.mark.parametrize(("method", "spend"), WAYS, ids=IDS)
@pytest.mark.parametrize("domain", [Ball(1.0), Box(-0.5, 1.0), Simplex()], ids=str)
def test_every_method_finds_a_point_of_every_set(method, spend, domain):
    found = run(data(), method, spend, domain=domain, size=16)
    assert isinstance(found, Minimum)
    assert np.allclose(domain.project(found.x), found.x, atol=1e-9)
    assert found.loss == spend
    assert 0 < found.excess_bound <= domain.diameter(2)
    assert "protects: one row, added or removed" in str(found.certificate())
    assert method in str(found)


@pytest.mark.parametrize("name", NAMES)
def test_every_named_loss_can_be_sampled(name):
    found = run(data(), "regularised", loss=name, size=16)
    assert np.linalg.norm(found.x) <= 1


# ---- what it costs


@pytest.mark.parametrize(("method", "spend", "size"), CASES)
def test_a_session_of_exactly_that_budget_admits_it_once(method, spend, size):
    problem = problem_of(method, spend, size)
    s = own_session(problem.budget, unit=dp.rows())
    s.run(problem.steps(Held.of(data(n=20))))
    with pytest.raises(dp.BudgetExceeded):
        s.run(problem.steps(Held.of(data(n=20))))


def test_a_session_of_ones_own_is_charged():
    budget = dp.epsilon(3.0, delta=1e-5)
    s = dp.open(dp.load_adult(), unit=dp.rows(), budget=budget)
    found = run(data(), "regularised", session=s)
    assert len(s.ledger.entries) == 2
    assert found.certificate()
    more = s.run(minimizing(data=data(), domain=Ball(1.0), lipschitz=1.0, spend=SPEND, size=16))
    assert more.x.shape == (2,)
    assert len(s.ledger.entries) == 3


def test_a_certificate_cites_its_own_charge_whoever_else_writes(monkeypatch, tmp_path):
    options = {
        "unit": dp.rows(),
        "budget": dp.epsilon(3.0, delta=1e-5),
        "ledger": str(tmp_path / "books.ledger"),
    }
    s, other = (dp.open(dp.load_adult(), **options) for _ in range(2))
    found = Problem.steps

    def steps(*given, **named):
        result = yield from found(*given, **named)
        other.release(dp.Laplace(scale=100.0).on(dp.Sensitive(lambda: 1.0, l1=1)))
        return result

    monkeypatch.setattr(Problem, "steps", steps)
    record = run(data(), session=s).certificate().to_dict()
    *_, own = (e for e in s.ledger.entries if e.what.startswith("minimize"))
    assert record["ledger"]["entry_hash"] == own.hash != s.ledger.entries[-1].hash


def test_a_replaced_row_costs_twice_the_noise():
    one, two = (
        explain(columns=4, size=1000, domain=Ball(1.0), lipschitz=1.0, spend=SPEND, unit=unit)
        for unit in (dp.rows(), dp.rows(relation="replace"))
    )
    assert two.errors["excess"] == pytest.approx(2 * one.errors["excess"], rel=1e-5)


# ---- hostile rows


def hostile():
    X, y = data()
    for value in (math.nan, math.inf, -math.inf, 1e308, 5e-324):
        changed = X.copy()
        changed[3, 0] = value
        yield f"a row with {value}", (changed, y)
    yield "a target that is missing", (X, np.where(np.arange(16) == 4, math.nan, y))
    yield "labels of other numbers", (X, np.where(y > 0, 17.5, -3.0))
    yield "one class", (X, np.ones(16))
    yield "no rows", (X[:0], y[:0])
    yield "one row", (X[:1], y[:1])
    yield "more columns than rows", data(n=3, d=2)
    yield "rows of zeros", (np.zeros((5, 2)), np.zeros(5))
    yield "rows far outside the norm", (1e9 * X, y)
    yield "a list with a missing value", ([[1.0, 2.0], [None, 1.0], ["a", 3]], [1, 0, None])
    yield "whole numbers", (np.arange(20).reshape(10, 2), np.arange(10) % 2)


@pytest.mark.parametrize(("method", "spend"), WAYS[:4], ids=IDS[:4])
@pytest.mark.parametrize(("given"), [g for _, g in hostile()], ids=[w for w, _ in hostile()])
def test_whatever_the_rows_are_a_point_is_returned(method, spend, given):
    found = run(given, method, spend)
    assert np.isfinite(found.x).all()
    assert np.linalg.norm(found.x) <= 1 + 1e-9


@pytest.mark.parametrize("loss", NAMES)
def test_one_row_moves_what_is_summed_by_no_more_than_its_bound(loss):
    """Gradients in L2 and scores in L∞, of clipped and rounded rows, for rows of any size."""
    from deniable.learn.convex.descent import LATTICE
    from deniable.learn.convex.objectives import Rows, clipped

    made = link(loss)
    generator = PublicRandom(8).generator
    for scale in (1e-300, 1e-3, 1.0, 1e3, 1e300):
        X, y = generator.normal(size=(33, 5)) * scale, generator.normal(size=33) * scale
        points, targets = clipped(X, y, norm=2.5, labels=made.labels)
        assert ((points**2).sum(axis=1) <= 2.0**32).all()
        x = generator.normal(size=5)
        whole, less = (
            Rows(points=points[k:], targets=targets[k:], link=made).sums(x) for k in (0, 1)
        )
        moved = [int(v) for v in whole - less]
        assert sum(v * v for v in moved) <= LATTICE**2


@pytest.mark.parametrize("size", [1, 7, 63, 64, 65, 200])
def test_what_a_row_adds_does_not_depend_on_the_rows_beside_it(size):
    from deniable.learn.convex.objectives import STEP, Rows

    generator = PublicRandom(9).generator
    points = np.rint(generator.uniform(-0.4, 0.4, size=(size, 5)) / STEP)
    rows = Rows(points=points, targets=generator.normal(size=size))
    x = generator.normal(size=5)
    alone = [
        Rows(points=points[i : i + 1], targets=rows.targets[i : i + 1]).sums(x) for i in range(size)
    ]
    assert (rows.sums(x) == np.sum(alone, axis=0)).all()


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"data": ([1.0, 2.0], [1, 2])}, "X must be"),
        ({"data": ([[1.0], [2.0]], [1])}, "y must be"),
        ({"data": (np.array([["a"], ["b"]]), [0, 1])}, "X must be"),
        ({"data": ([[1.0], [2.0]], np.array(["no", "yes"]))}, "y must be"),
        ({"data": [[1.0]]}, "pair"),
        ({"lipschitz": math.nan}, "lipschitz"),
        ({"lipschitz": -1.0}, "lipschitz"),
        ({"lipschitz": 1e155, "method": "descent"}, "lipschitz"),
        ({"lipschitz": 1e-200, "method": "stochastic", "size": 50}, "lipschitz"),
        ({"lipschitz": 1e155, "method": "exponential", "spend": dp.epsilon(1.0)}, "lipschitz"),
        ({"domain": 3.0}, "domain"),
        ({"loss": "square"}, "loss"),
        ({"method": "newton"}, "method"),
        ({"spend": 1.0}, "spend"),
        ({"spend": dp.epsilon(1.0)}, "regularised"),
        ({"method": "exponential", "spend": dp.mu(1.0)}, "exponential"),
        ({"method": "descent", "spend": dp.epsilon(1.0)}, "descent"),
        ({"unit": dp.person("id", rows=3)}, "protects one row"),
        ({"size": 0}, "size"),
        ({"size": 10**9}, "days"),
        ({"size": 10**400}, "size"),
        ({"size": 10**200, "method": "descent"}, "size"),
        ({"spend": dp.epsilon(800.0, delta=1e-6)}, "days"),
        ({"spend": dp.epsilon(1.0, delta=1e-300)}, "days"),
        ({"loss": lambda x, X, y: (0, 0)}, "named losses"),
    ],
)
def test_what_public_facts_refuse_is_refused_before_anything_is_spent(changes, match):
    s = dp.open(dp.load_adult(), unit=dp.rows(), budget=dp.epsilon(9.0, delta=1e-5))
    given = {"data": data(), "domain": Ball(1.0), "lipschitz": 1.0, "spend": SPEND} | changes
    if "unit" not in changes:
        given["session"] = s
    with pytest.raises(dp.DeniableError, match=match) as seen:
        minimize(**given)
    assert ("nothing was spent" in str(seen.value)) is ("unit" not in changes)
    assert not s.ledger.entries


def test_pure_privacy_in_many_dimensions_is_refused_with_a_way_out():
    with pytest.raises(dp.BadParameter, match="three"):
        run(data(d=4), "exponential", dp.epsilon(1.0))


# ---- a function that a user brings


def quadratic(x, X, y):
    """½(a·x − y)² per row: not Lipschitz as it is, but clipped."""
    gap = X @ x - y
    return gap**2 / 2, gap[:, None] * X


@pytest.mark.parametrize(("method", "spend"), [("descent", SPEND), ("exponential", dp.epsilon(1))])
def test_a_function_with_gradient_is_clipped(method, spend):
    found = run(data(n=400), method, spend, loss=quadratic)
    assert np.linalg.norm(found.x) <= 1


def gap(x, X, y):
    return X @ x - y


WRONG = {
    "rows centered in their batch": lambda x, X, y: quadratic(x, X - X.mean(axis=0), y),
    "divided by the rows": lambda x, X, y: [part / len(X) for part in quadratic(x, X, y)],
    "transposed": lambda x, X, y: (gap(x, X, y) ** 2, quadratic(x, X, y)[1].T),
    "summed": lambda x, X, y: [part.sum(axis=0) for part in quadratic(x, X, y)],
    "one value for all": lambda x, X, y: (0.0, quadratic(x, X, y)[1]),
    "complex": lambda x, X, y: [part.astype(complex) for part in quadratic(x, X, y)],
    "text": lambda x, X, y: [part.astype(str) for part in quadratic(x, X, y)],
    "the gradient alone": lambda x, X, y: quadratic(x, X, y)[1],
    "one that fails": lambda x, X, y: 1 / 0,
    "one that writes to the rows": lambda x, X, y: quadratic(x, X.__imul__(2), y),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize(("method", "spend"), [("descent", SPEND), ("exponential", dp.epsilon(1))])
def test_a_function_that_is_no_loss_of_single_rows_is_refused_free(wrong, method, spend):
    """On made-up rows: the data play no part, so that the refusal says nothing about them."""
    refused = []
    for given in (data(), data(n=3), (np.full((4, 2), math.nan), np.zeros(4))):
        with pytest.raises(dp.BadParameter) as seen:
            run(given, method, spend, loss=wrong)
        refused.append((str(seen.value), seen.value.cost))
    assert len(set(refused)) == 1
    assert refused[0][1] == "nothing was spent"


def test_a_function_cannot_change_what_is_chosen_from():
    def writing(x, X, y):
        found = quadratic(x, X, y)
        x[:] = 7.0
        return found

    found = run(data(), "exponential", dp.epsilon(1.0), loss=writing)
    assert np.linalg.norm(found.x) <= 1


# ---- neighbours


@pytest.mark.parametrize("lipschitz", [0.1, 10.0])
@pytest.mark.parametrize(("method", "spend"), WAYS[:4], ids=IDS[:4])
@pytest.mark.parametrize("row", [[1e9, -1.0], [math.nan, 0.0]])
def test_replayed_on_neighbours_nothing_moves_further_than_declared(method, spend, row, lipschitz):
    X, y = data(n=12)
    more = np.vstack([X, [row]]), np.append(y, 1.0)
    found = replay(lambda given: run(given, method, spend, lipschitz=lipschitz).x, (X, y), more)
    assert found.ok, found


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["regularised", "descent"])
def test_the_auditor_finds_nothing_on_small_cases(method):
    """False alarms below 1e-8. One row against none: the most that one row can show."""
    loss = dp.epsilon(1.0, delta=9e-4)
    pairs = [(np.ones((k, 1)), np.ones(k)) for k in (4, 3)]

    def drawn(given, n):
        return np.array([run(given, method, loss, size=4).x[0] for _ in range(n)])

    verdict = audit(
        None, *pairs, epsilon=1.0, delta=loss.delta, samples=100,
        confidence=1 - 1e-8, batch=drawn,
    )  # fmt: skip
    assert not verdict.violated
