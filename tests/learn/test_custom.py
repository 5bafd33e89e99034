"""Noisy descent on a user's own gradient: clipped, on a lattice, full or sampled batches."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.audit import replay, search
from deniable.learn import GradientDescent, margins
from deniable.learn.engine.examples import Examples

EASY = {"epsilon": 1.0, "delta": 1e-5, "clip": 1.0, "size": 4000}


def median(theta, X, y):
    return np.sign(theta - X)


def squares(theta, X, y):
    return X * (margins(X, theta) - y)[:, None]


def hostile(theta, X, y):
    """A gradient that no bound holds for."""
    return np.exp(X * 1e3) - 1 / (X * 0)


WRONG = {
    "rows centered in their batch": lambda t, X, y: squares(t, X - X.mean(axis=0), y),
    "divided by the rows": lambda t, X, y: squares(t, X, y) / len(X),
    "ranked in their batch": lambda t, X, y: squares(t, X.argsort(axis=0).argsort(axis=0), y),
    "transposed": lambda t, X, y: squares(t, X, y).T,
    "summed": lambda t, X, y: squares(t, X, y).sum(axis=0),
    "a number": lambda t, X, y: 0.0,
    "complex": lambda t, X, y: squares(t, X, y).astype(complex),
    "text": lambda t, X, y: squares(t, X, y).astype(str),
    "objects": lambda t, X, y: squares(t, X, y).astype(object),
    "one column too many": lambda t, X, y: np.hstack([squares(t, X, y), X[:, :1]]),
    "nothing": lambda t, X, y: None,
    "one that fails": lambda t, X, y: 1 / 0,
    "one that writes to the rows": lambda t, X, y: squares(t, X.__imul__(2), y),
    "one that writes to the targets": lambda t, X, y: squares(t, X, y.__imul__(2)),
    "of two arguments": lambda t, X: X,
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("more", [{}, {"sample_rate": 0.5}], ids=str)
def test_a_function_that_is_no_gradient_of_single_rows_is_refused_free(wrong, more):
    """On made-up rows: the data play no part, so that the refusal says nothing about them."""
    model = GradientDescent(gradient=wrong, dimension=2, clip=1.0, size=9, steps=2, **more)
    facts = dp.Schema(columns={name: dp.bounds(0, 1) for name in ("a", "b", "y")})
    refused = set()
    for rows in (1, 9):
        frame = pd.DataFrame(np.full((rows, 3), np.nan if rows == 1 else 0.5), columns=[*"aby"])
        budget = dp.epsilon(1.0, delta=1e-5)
        session = dp.open(frame, unit=dp.rows(), budget=budget, schema=facts)
        for ask in (session.fit, session.explain_fit):
            with pytest.raises(dp.BadParameter) as seen:
                ask(model, target="y", features=["a", "b"], spend=budget)
            refused.add(str(seen.value).split("\n  cost")[0])
        assert not session.ledger.entries
        alone = type(model)(**model.get_params()).set_params(epsilon=1.0, delta=1e-5)
        with pytest.raises(dp.BadParameter) as seen:
            alone.fit(frame[["a", "b"]].to_numpy(), frame["y"].to_numpy())
        assert alone.spent == dp.mu(0.0)
        refused.add(str(seen.value).split("\n  cost")[0])
    assert len(refused) == 1


def test_a_gradient_cannot_change_the_parameters():
    def writing(theta, X, y):
        found = median(theta, X, y)
        theta[:] = 7.0
        return found

    model = GradientDescent(gradient=writing, **EASY, steps=40, learning_rate=0.1)
    assert abs(model.fit(points()).theta_[0] - 1) < 0.25


def points(rows=4000):
    return np.random.default_rng(0).normal(1.0, 0.5, (rows, 1))


@pytest.mark.parametrize("rate", [None, 0.2])
@pytest.mark.parametrize("momentum", [0.0, 0.5])
def test_a_loss_of_ones_own_is_minimised(rate, momentum):
    model = GradientDescent(
        gradient=median, **EASY, steps=40, learning_rate=0.1, sample_rate=rate, momentum=momentum
    )
    assert abs(model.fit(points()).theta_[0] - 1) < 0.25
    plan = dp.Mechanism.from_dict(model.plan_)
    assert plan.epsilon_at(1e-5) <= 1.0 + 1e-9
    assert model.loss_ == dp.epsilon(1.0, delta=1e-5)


def test_samples_are_drawn_by_poisson_and_priced_so():
    model = GradientDescent(gradient=median, **EASY, steps=40, sample_rate=0.05).fit(points(500))
    ((part, times),) = dp.Mechanism.from_dict(model.plan_).parts
    assert (part.name, part.rate, times) == ("sampled", 0.05, 40)
    full = GradientDescent(gradient=median, **EASY, steps=40).fit(points(500))
    ((noise, _),) = dp.Mechanism.from_dict(full.plan_).parts
    assert part.of.sigma < noise.sigma / 5


@pytest.mark.parametrize("gradient", [median, hostile])
@pytest.mark.parametrize("rate", [None, 1.0])
def test_no_gradient_moves_the_sum_further_than_declared(gradient, rate):
    model = GradientDescent(gradient=gradient, **EASY, steps=2, sample_rate=rate)

    def program(rows):
        with np.errstate(all="ignore"):
            return type(model)(**model.get_params()).fit(rows).loss_

    found = search(program, points(8), where="end", most=25)
    assert found.ok, found


def test_a_session_gives_numbers_and_bounds_people():
    x = np.random.default_rng(0).uniform(0, 1, 3000)
    frame = pd.DataFrame({"x": x, "y": 0.5 * x, "who": np.arange(3000) // 2})
    columns = {"x": dp.bounds(0, 1), "y": dp.bounds(0, 1), "who": dp.column("int")}
    unit = dp.person("who", rows=2)
    settings = {"dimension": 1, "clip": 1.0, "size": 3000, "steps": 20, "learning_rate": 1.0}

    def program(data):
        session = dp.open(data, unit=unit, budget=dp.mu(2.0), schema=dp.Schema(columns=columns))
        model = GradientDescent(gradient=squares, **settings)
        return session.fit(model, target="y", features=["x"], spend=dp.mu(2.0))

    assert abs(program(frame).theta_[0] - 0.5) < 0.2
    crowd = pd.DataFrame({"x": [1.0] * 50, "y": [0.0] * 50, "who": [-1] * 50})
    found = replay(lambda data: program(data).loss_, frame, pd.concat([frame, crowd]))
    assert found.ok, found


@pytest.mark.parametrize("missing", ["gradient", "clip", "size"])
def test_what_noise_depends_on_must_be_stated(missing):
    settings = {"gradient": median, **EASY} | {missing: None}
    with pytest.raises(dp.BadParameter, match="needs gradient, clip and size"):
        GradientDescent(**settings).fit(points(10))


def test_samples_of_persons_rows_are_refused():
    frame = pd.DataFrame({"x": [0.5] * 10, "who": range(10)})
    facts = dp.Schema(columns={"x": dp.bounds(0, 1), "who": dp.column("int")})
    unit = dp.person("who", rows=2)
    session = dp.open(frame, unit=unit, budget=dp.epsilon(1.0, delta=1e-4), schema=facts)
    model = GradientDescent(gradient=median, clip=1.0, size=10, sample_rate=0.5)
    with pytest.raises(dp.BadParameter, match="need the unit"):
        session.fit(model, features=["x"], spend=dp.epsilon(1.0, delta=1e-5))
    assert not session.ledger.entries


WRONG = {
    "transposed": lambda theta, X, y: X.T,
    "flat": lambda theta, X, y: X.ravel(),
    "one for all": lambda theta, X, y: X.sum(axis=0),
    "a row short": lambda theta, X, y: X[:-1],
    "0-d": lambda theta, X, y: 0.0,
    "wide": lambda theta, X, y: np.hstack([X, X]),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("rate", [None, 1.0])
def test_a_gradient_of_another_shape_is_a_failure(wrong, rate):
    model = GradientDescent(gradient=WRONG[wrong], dimension=2, **EASY, steps=1, sample_rate=rate)
    with pytest.raises(dp.DeniableError):
        model.fit(np.ones((7, 2)))
    assert not hasattr(model, "theta_")


@pytest.mark.parametrize("rows", [0, 1, 10, 1000])
@pytest.mark.parametrize("rate", [None, 0.5])
def test_targets_of_another_length_are_refused_for_free(rows, rate):
    model = GradientDescent(gradient=squares, **EASY, steps=2, sample_rate=rate)
    with pytest.raises(ValueError, match="same number of rows"):
        model.fit(points(100), np.zeros(rows))
    assert model.spent == dp.mu(0.0)


@pytest.mark.parametrize("d", [1, 3, 17, 64])
@pytest.mark.parametrize("columns", [(), (4,)])
def test_a_margin_depends_on_its_row_alone(d, columns):
    random = np.random.default_rng(d)
    X, theta = random.normal(size=(41, d)), random.normal(size=(d, *columns))
    whole = margins(X, theta)
    assert np.allclose(whole, X @ theta)
    for start in range(40):
        assert (margins(X[start:], theta) == whole[start:]).all()
        assert (margins(np.asfortranarray(X[: start + 1]), theta) == whole[: start + 1]).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"clip": -1.0},
        {"size": -1},
        {"learning_rate": -1},
        {"momentum": 2},
        {"steps": 0},
        {"dimension": 0},
        {"dimension": -1},
        {"batches": 0},
        {"gradient": 3},
        {"sample_rate": 2.0},
    ],
    ids=str,
)
def test_impossible_parameters_cost_nothing(wrong):
    frame, facts = pd.DataFrame({"x": [0.5] * 10}), dp.Schema(columns={"x": dp.bounds(0, 1)})
    session = dp.open(frame, unit=dp.rows(), budget=dp.mu(1.0), schema=facts)
    settings = {"gradient": median, "clip": 1.0, "size": 10, "steps": 3} | wrong
    with pytest.raises(dp.BadParameter):
        session.fit(GradientDescent(**settings), features=["x"], spend=dp.mu(0.5))
    assert not session.ledger.entries
    alone = GradientDescent(**settings, epsilon=1.0, delta=1e-5)
    with pytest.raises(dp.BadParameter):
        alone.fit(points(10))
    assert alone.spent == dp.mu(0.0)


# ---- disjoint batches


def moving(found):
    """The steps whose sum moved, and the sum of the squares of how far, in units of the bound."""
    apart = {step: max(m.moved / m.declared, 0) for step, m in found.measured if m.moved}
    return len(apart), sum(each**2 for each in apart.values())


@pytest.mark.parametrize("gradient", [median, hostile])
@pytest.mark.parametrize("steps", [4, 10, 12])
def test_a_row_moves_one_batch_of_each_epoch(gradient, steps):
    model = GradientDescent(gradient=gradient, **EASY, steps=steps, batches=4)
    epochs = -(-steps // 4)

    def program(rows):
        with np.errstate(all="ignore"):
            return type(model)(**model.get_params()).fit(rows).loss_

    rows = points(40)
    found = replay(program, rows, np.vstack([rows, [[5.0]]]))
    assert found.ok, found
    assert moving(found)[0] <= epochs
    assert dp.Mechanism.from_dict(program_plan(model, rows)).epochs == epochs


def program_plan(model, rows):
    with np.errstate(all="ignore"):
        return type(model)(**model.get_params()).fit(rows).plan_


def test_an_epoch_costs_what_one_of_its_steps_does():
    full = GradientDescent(gradient=median, **EASY, steps=40).fit(points(50))
    some = GradientDescent(gradient=median, **EASY, steps=40, batches=10).fit(points(50))
    plan = dp.Mechanism.from_dict(some.plan_)
    (noise, _), *_ = dp.Mechanism.from_dict(full.plan_).parts
    assert plan.of.sigma == pytest.approx(noise.sigma / np.sqrt(10))
    assert plan.gdp() == pytest.approx(dp.Mechanism.from_dict(full.plan_).gdp())
    assert plan.epsilon_at(1e-5) <= 1.0 + 1e-9


def table_of(values, who):
    return pd.DataFrame({"x": np.asarray(values, dtype=float), "who": who})


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("seed", range(4))
def test_all_rows_of_a_person_are_in_one_batch_and_two_persons_in_two_at_most(relation, seed):
    random = np.random.default_rng(seed)
    frame = table_of(random.uniform(size=60), np.arange(60) // 3)
    own = table_of([1.0, 1.0, 1.0], [99] * 3)
    other = table_of([0.0, 0.0, 0.0], [-seed if seed % 2 else 99] * 3)
    first = pd.concat([frame, own], ignore_index=True) if relation == "replace" else frame
    second = pd.concat([frame, other if relation == "replace" else own], ignore_index=True)
    facts = dp.Schema(columns={"x": dp.bounds(0, 1), "who": dp.column("int")})
    unit = dp.person("who", rows=3, relation=relation)

    def program(data):
        session = dp.open(data, unit=unit, budget=dp.mu(1.0), schema=facts)
        model = GradientDescent(gradient=median, clip=1.0, size=60, steps=15, batches=5)
        session.fit(model, features=["x"], spend=dp.mu(1.0))

    found = replay(program, first, second)
    assert found.ok, found
    touched, squares = moving(found)
    assert 0 < touched <= (3 if relation == "add_remove" else 6)
    assert squares <= 3 * (1 + 1e-9)


def test_a_sum_over_another_batch_is_refused():
    from deniable.learn.engine.batches import DisjointBatches, label

    made = DisjointBatches(of=dp.Gaussian(sigma=1.0), batches=2)
    frame, facts = pd.DataFrame({"x": [0.5]}), dp.Schema(columns={"x": dp.bounds(0, 1)})
    session = dp.open(frame, unit=dp.rows(), budget=dp.mu(2.0), schema=facts)
    handle = session.open(made)
    value = dp.Sensitive(lambda: 1, l2=1, whole=True, stream=label(1, 2))
    with pytest.raises(dp.BadParameter, match="batch 0 of 2"):
        session.release(handle.on(value))
    with pytest.raises(dp.BadParameter, match="not both"):
        GradientDescent(gradient=median, **EASY, batches=2, sample_rate=0.5).fit(points(10))


@pytest.mark.parametrize("budget", [dp.mu(1.0), dp.rho(0.5)], ids=str)
def test_samples_need_a_budget_in_which_they_have_a_price(budget):
    frame, facts = pd.DataFrame({"x": [0.5] * 10}), dp.Schema(columns={"x": dp.bounds(0, 1)})
    session = dp.open(frame, unit=dp.rows(), budget=budget, schema=facts)
    model = GradientDescent(gradient=median, clip=1.0, size=10, sample_rate=0.5)
    with pytest.raises(dp.MixedLosses, match="the privacy of Poisson samples is proved only in"):
        session.fit(model, features=["x"], spend=budget)
    assert not session.ledger.entries


@pytest.mark.parametrize("more", [{"sample_rate": 0.05}, {"batches": 30}], ids=str)
def test_a_gradient_is_not_asked_about_no_rows(more):
    """A sample or a batch may be empty, and a failure then would tell how many rows there are."""
    one_by_one = lambda theta, X, y: np.array([theta - row for row in X])  # noqa: E731
    model = GradientDescent(gradient=one_by_one, dimension=2, steps=30, **EASY, **more)
    assert model.fit(np.ones((3, 2))).theta_.shape == (2,)


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_the_answer_is_the_mean_of_the_last_half_of_the_steps(steps):
    """Rounded up, with momentum: the speed keeps a half of itself."""
    model = SimpleNamespace(
        steps=steps, learning_rate=0.5, momentum=0.5, dimension=2, theta_=None,
        _sum=lambda held, step, terms: (step, terms), _slope=np.asarray, _shortened=sum,
    )  # fmt: skip
    bought = SimpleNamespace(handle=SimpleNamespace(on=lambda asked: asked))
    running = GradientDescent._steps(model, bought, None)
    theta, speed, seen = np.zeros(2), np.zeros(2), []
    asked = next(running)
    for step in range(steps):
        assert asked[0] == step
        assert asked[1].args[0].tolist() == theta.tolist()
        slope = np.array([step + 1.0, -2.0])
        speed = 0.5 * speed - 0.5 * slope
        theta = theta + speed
        seen.append(theta)
        try:
            asked = running.send(slope)
        except StopIteration:
            assert step == steps - 1
    assert model.theta_ == pytest.approx(np.mean(seen[steps // 2 :], axis=0))


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_gradients_in_one_dimension_need_no_column(shape):
    model = GradientDescent(
        gradient=lambda theta, X, y: (X[:, 0] * theta[0] - y).reshape(shape), dimension=1, clip=1.0
    )
    rows = np.array([[1.0], [2.0], [3.0]])
    found = model._called(np.array([0.5]), rows, np.array([0.0, 1.0, 2.0]))
    assert found.tolist() == [[0.5], [0.0], [-0.5]]
    flat = GradientDescent(gradient=lambda theta, X, y: y, dimension=2, clip=1.0)
    with pytest.raises(ValueError, match=r"numbers in the shape \(3, 2\), and"):
        flat._called(np.array([0.5, 0.5]), rows, np.zeros(3))


def test_gradients_are_shortened_to_the_clip_and_rounded_towards_zero():
    given = np.array([[3.0, 0.0], [-3.0, 4.0], [1e300, 0.0], [np.inf, -np.inf], [np.nan, -2.5]])
    model = GradientDescent(gradient=lambda *_: given, dimension=2, clip=4.0, size=50)
    found = []
    for place in range(5):
        model.gradient = lambda *_, own=place: given[own : own + 1]
        rows = Examples(x=np.zeros((1, 1)), y=np.zeros(1))
        found.append(model._shortened(np.zeros(2), rows).tolist())
        half = Examples(x=rows.x, y=rows.y, w=np.array([1 << 19]))
        weighed = model._shortened(np.zeros(2), half)
        assert weighed.tolist() == [int(each / 2) for each in found[-1]]
    one, root = 2**20, 2**20 / 2**0.5
    wanted = [[0.75 * one, 0], [-0.6 * one, 0.8 * one], [one, 0], [root, -root], [0, -0.625 * one]]
    assert np.abs(np.array(found) - wanted).max() <= 1
    assert (np.abs(found) <= np.abs(wanted)).all()
    assert model._slope([one, -one / 2]).tolist() == [4.0 / 50, -2.0 / 50]
    model.batches = 5
    assert model._slope([one]).tolist() == [4.0 / 10]
    model.batches, model.sample_rate = None, 0.25
    assert model._slope([one]).tolist() == [4.0 / 12.5]


def test_in_many_dimensions_no_rounding_makes_a_gradient_longer_than_the_limit():
    """Squares that each round down when added: their sum is too small by 2⁻³⁷ of itself."""
    size = 2**18
    whole = np.full(size, 2048)
    whole[:4] += [1, -1, 1, -1]  # a little longer than the limit, if taken as they are
    given = (whole * (1 + 0.2495 * 2.0**-35))[None, :]
    model = GradientDescent(gradient=lambda *_: given, dimension=size, clip=1.0, size=1)
    found = model._shortened(np.zeros(size), Examples(x=np.zeros((1, 1)), y=np.zeros(1)))
    assert int((found * found).sum()) <= 2**40 < int((whole * whole).sum())
