"""What a minimisation does, costs and achieves: its steps by hand, and measured slopes."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable.learn.convex import Ball, Box, ConvexExponential, brought
from deniable.learn.convex import problems as module
from deniable.learn.convex.descent import LATTICE, Descent, sums_of_gradients
from deniable.learn.convex.grid import Grid
from deniable.learn.convex.held import Held
from deniable.learn.convex.objectives import STEP, link
from deniable.learn.convex.problems import Problem
from deniable.learn.convex.stochastic import Stochastic
from deniable.learn.engine.budget import gaussian
from deniable.losses import Approx, Gdp, Pure, Zcdp
from deniable.sampling import PublicRandom

SPEND = dp.epsilon(1.0, delta=1e-6)
FACTS = {
    "loss": "logistic", "domain": Ball(3.0), "coordinates": 2, "lipschitz": 2.0, "spend": SPEND,
    "method": "regularised", "unit": dp.rows(), "size": 100,
}  # fmt: skip


NINE = Held.of((np.ones((9, 2)), np.zeros(9)))
X, Y = (PublicRandom(5).generator.normal(size=size) * 6 for size in ((40, 2), 40))


def problem(**changes):
    return Problem.of(**FACTS | changes)


def squares(x, X, y):
    gap = X @ x - y
    return gap**2 / 2, gap[:, None] * X


# ---- what is refused


METHODS = {
    "regularised": (Approx,),
    "exponential": (Approx, Pure),
    "descent": (Approx, Gdp, Zcdp),
    "stochastic": (Approx,),
}
FREE, TINY = (Approx(1.0, delta=delta) for delta in (0.0, 1e-30))


@pytest.mark.parametrize("spend", [SPEND, FREE, TINY, Pure(1.0), Gdp(1.0), Zcdp(0.5)], ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_each_method_is_paid_for_in_its_own_currencies(method, spend):
    if isinstance(spend, METHODS[method]) and getattr(spend, "delta", 1.0) > 0:
        assert problem(method=method, spend=spend).spend == spend
        assert problem(method=method).paid_with(spend).spend == spend
    else:
        with pytest.raises(dp.BadParameter, match="cannot be paid for"):
            problem(method=method, spend=spend)
        with pytest.raises(dp.BadParameter, match="cannot be paid for"):
            problem(method=method).paid_with(spend)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"unit": dp.person("id", rows=1)}, "protects one row"),
        ({"size": 2**53 + 1, "method": "descent"}, "size must be"),
        ({"size": None, "method": "stochastic"}, "needs size="),
        ({"method": "newton"}, "method"),
        ({"domain": "ball"}, "domain must be"),
        ({"domain": Box((0.0, 1.0, 2.0), 5.0), "method": "descent"}, "3 coordinates"),
        ({"loss": "squares", "method": "descent"}, "loss must be"),
        ({"loss": squares}, "takes the named losses"),
        ({"loss": 3.0, "method": "descent"}, "loss must be"),
        ({"loss": lambda x, X, y: (y, X - X.mean()), "method": "descent"}, "beside it"),
        ({"spend": 1.0}, "spend must be"),
        ({"coordinates": 4, "method": "exponential", "spend": Pure(1.0)}, "three"),
        ({"size": 10**9}, "days"),
    ],
)
def test_what_public_facts_refuse_is_refused_by_its_own_words(changes, said):
    with pytest.raises(dp.DeniableError, match=said):
        problem(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"size": 2**53, "method": "descent"},
        {"size": None, "method": "descent"},
        {"size": None, "method": "exponential", "spend": Pure(1.0)},
        {"loss": squares, "method": "descent"},
        {"loss": squares, "method": "exponential", "spend": Pure(1.0)},
    ],
)
def test_what_can_be_done_is_not_refused(changes):
    made = problem(**changes)
    assert made.name == ("a function" if "loss" in changes else "logistic")


def test_a_sampler_is_offered_down_to_a_variation_of_e_to_the_minus_90(monkeypatch):
    """ε − ln δ of what is left for the draw, down to the least float."""
    least = math.exp(1 - 90) / (1 - 2.0**-20)
    problem(spend=Approx(1.0, delta=least * (1 + 1e-9)))
    for delta in (least * (1 - 1e-9), 5e-324):
        with pytest.raises(dp.BadParameter, match="days"):
            problem(spend=Approx(1.0, delta=delta))
    with pytest.raises(dp.BadParameter, match="days"):
        problem(spend=Approx(89.0, delta=0.1))
    exactly = problem().way(100).epsilon - math.log(1e-6 * (1 - 2.0**-20))
    monkeypatch.setattr(module, "_FINEST", exactly)
    problem()
    monkeypatch.setattr(module, "_FINEST", math.nextafter(exactly, 0.0))
    with pytest.raises(dp.BadParameter, match="days"):
        problem()


def test_what_would_take_more_products_than_allowed_is_refused(monkeypatch):
    """Sixteen passes for each pair of draws, over every number of every row."""
    made = problem()
    work = made.way(100).pace(100).steps * 100 * 2 * 16
    monkeypatch.setattr(module, "_WORK", work)
    made.way(100)
    monkeypatch.setattr(module, "_WORK", work * (1 - 1e-9))
    with pytest.raises(dp.BadParameter, match="days"):
        made.way(100)


# ---- how the loss is divided


@pytest.mark.parametrize("spend", [SPEND, Gdp(0.7), Zcdp(0.3)], ids=str)
def test_descent_and_its_count_share_mu(spend):
    """A fiftieth of μ² counts, unless the size is public; the books are kept in μ."""
    mu = gaussian(spend)
    counted, public = (problem(method="descent", spend=spend, size=n) for n in (None, 100))
    assert public.count is None
    assert public.budget == counted.budget == (Gdp(mu) if isinstance(spend, Approx) else spend)
    used = [Fraction(way.mu) for way in (counted.way(50), public.way(50))]
    noise = Fraction(counted.count.sensitivity / counted.count.sigma)
    assert float(noise**2) == pytest.approx(0.02 * mu**2)
    # Room for the roundings of the steps that follow, each of a few units in the last place.
    for spent in (used[0] ** 2 + noise**2, used[1] ** 2):
        assert (1 - Fraction(2) ** -38) <= spent / Fraction(mu) ** 2 <= 1 - Fraction(2) ** -41


OTHERS = ("regularised", "exponential", "stochastic")
FINE = Approx(0.3, delta=1e-9)


@pytest.mark.parametrize(
    ("method", "spend"),
    [("exponential", Pure(2.5)), *((m, loss) for m in OTHERS for loss in (SPEND, FINE))],
)
def test_other_methods_and_their_count_share_epsilon(method, spend):
    coordinates = 30 if method == "regularised" else 2  # in few, the pure price is the lower one
    for size in (None, 100) if method != "stochastic" else (100,):
        made = problem(method=method, spend=spend, size=size, coordinates=coordinates)
        way = made.way(100)
        assert made.budget == spend
        paid = way.loss if isinstance(way, Stochastic) else way
        used = Fraction(paid.epsilon)
        if size is None:
            assert made.count.scale == pytest.approx(50 / spend.epsilon)
            used += Fraction(made.count.pure())
        else:
            assert made.count is None
        assert 1 - Fraction(2) ** -43 <= used / Fraction(spend.epsilon) <= 1 - Fraction(2) ** -46
        if method != "exponential":
            delta = paid.delta if method == "stochastic" else way.approx()[1]
            assert 1 - 2.0**-19 <= delta / spend.delta <= 1 - 2.0**-21


@pytest.mark.parametrize(
    ("method", "spend", "kind"),
    [
        ("regularised", SPEND, ConvexExponential),
        ("exponential", SPEND, ConvexExponential),
        ("exponential", Pure(1.0), Grid),
        ("descent", SPEND, Descent),
        ("stochastic", SPEND, Stochastic),
    ],
)
def test_each_method_is_its_own_mechanism_with_the_given_facts(method, spend, kind):
    made = problem(method=method, spend=spend, unit=dp.rows())
    way = made.way(80.0)
    assert type(way) is kind
    assert (way.coordinates, way.lipschitz) == (2, 2.0)
    if kind is ConvexExponential:
        assert way.domain == ("ball", 3.0)
        assert way.ridge == pytest.approx(4 / 9 if method == "regularised" else 1 / 9)
        assert way.sensitivity == 2.0
        twice = problem(method=method, unit=dp.rows(relation="replace")).way(80.0)
        assert twice.sensitivity == 4.0
    else:
        assert (way.domain, way.unit) == (Ball(3.0), dp.rows())
    if kind in (Descent, Stochastic):
        assert way.size == 80.0
        assert made.way(1.0).size == made.way(0.25).size == made.way(-7.0).size == 1.0


def test_corners_are_rounded_over_a_quarter_of_the_excess_within_limits():
    """A width of 2⁻¹⁰ at least, as steps grow with its inverse, and of ¼ at most."""
    seen = {}
    for size in (1, 30, 300, 4000):
        seen[size] = problem(loss="hinge", size=size, domain=Ball(0.75)).way(size).blur
        sharp = ConvexExponential.calibrate(
            loss="hinge", domain=Ball(0.75), coordinates=2, lipschitz=2.0, sides=1,
            epsilon=1 - 2.0**-45, delta=1e-6 * (1 - 2.0**-20), regularised=True, blur=1e-9,
        )  # fmt: skip
        assert seen[size] == pytest.approx(min(0.25, max(sharp.excess(size) / 4, 2.0**-10)))
    assert seen[1] == 0.25
    assert seen[4000] == 2.0**-10
    assert 2.0**-10 < seen[300] < 0.25


# ---- the plan


def test_a_plan_counts_rows_only_if_their_number_is_hidden():
    hidden, public = (problem(method="descent", size=n).plan() for n in (None, 100))
    reach = problem(method="descent", size=None).count.error(0.95)
    assert hidden.steps[0] == f"count the rows ± {reach:.3g} (2 % of the loss)"
    for (step,) in (hidden.steps[1:], public.steps):
        assert "gradient steps for logistic loss, and the average of" in step
    assert hidden.errors == {"excess": None}


@pytest.mark.parametrize("method", METHODS)
def test_a_plan_states_both_bounds_for_a_public_number_of_rows(method):
    made = problem(method=method, size=200)
    way, plan = made.way(200), made.plan()
    stepping = method in ("descent", "stochastic")
    facts = {"least": 200, "most": 200} if stepping else {"size": 200}
    assert plan.errors["excess"] == way.excess(**facts, confidence=0.95)
    mean = float(plan.notes[1].split("at most ")[1].split(" above")[0])
    assert way.excess(**facts) <= mean <= 1.01 * way.excess(**facts)
    assert plan.cost == SPEND
    assert len(plan.notes) == (2 if stepping else 3)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_plan_says_how_long_a_sampler_runs_before_anything_is_spent(loss):
    """From public facts, for the worst rows: pairs of draws, and seconds, at least a tenth."""
    for size in (3, 1000):
        made = problem(loss=loss, size=size)
        way, said = made.way(size), made.plan().notes[2]
        assert f"up to {way.pace(size).steps:,} pairs of draws" in said
        took = float(said.split("about ")[1].split(" s of CPU")[0].replace(",", ""))
        wanted = max(way.seconds(size), 0.1)
        assert wanted <= took <= 1.01 * wanted
        assert ("far from the corner" in said) is (loss == "hinge")
    assert problem(loss=loss, size=3).way(3).seconds(3) < 0.1 < way.seconds(1000)
    assert "CPU" not in " ".join(problem(loss=loss, method="descent").plan().notes)


def test_a_plan_names_the_step_and_rounds_what_it_costs_up():
    way = problem(size=500).way(500)
    said = problem(size=500).plan().steps[-1]
    mu = float(said.split("μ = ")[1].split(",")[0])
    assert way.ideal()[1] * (1 - 1e-9) <= mu <= way.ideal()[1] * 1.01
    assert len(str(mu)) <= 6
    sampled = problem(method="stochastic").plan().steps[-1]
    assert f"Poisson sample of {problem(method='stochastic').way(100).rate:.3g}" in sampled
    grid = problem(method="exponential", spend=Pure(1.0))
    assert f"choose one of {len(grid.way(100).points()):,} points" in grid.plan().steps[-1]


# ---- the steps, one after the other


def driven(steps, *first):
    """All steps, answered by these and then by zeros; and what they return."""
    made, answers = [next(steps)], iter(first)
    try:
        while True:
            made.append(steps.send(next(answers, np.zeros(2))))
    except StopIteration as end:
        return made, end.value


@pytest.mark.parametrize("noisy", [500, -40])
@pytest.mark.parametrize("method", ["descent", "regularised"])
def test_a_hidden_number_of_rows_is_counted_and_its_noise_widens_the_bound(method, noisy):
    """99 % of the noise on either side; a count below 1 promises nothing."""
    made = problem(method=method, size=None)
    (counted, *steps), found = driven(made.steps(NINE), noisy)
    assert counted.mechanism == made.count
    assert counted.value.bound("l1") == 1
    reach = made.count.error(0.99, whole=True)
    way, least = made.way(max(noisy, 1.0)), noisy - reach
    if method == "descent":
        assert [step.mechanism for step in steps] == [way.mechanism] * way.turns
        assert found.excess == way.excess(least=least, most=noisy + reach)
    else:
        assert [step.mechanism for step in steps] == [way]
        assert found.excess == way.excess(least)
    assert found.x.tolist() == [0.0, 0.0]
    assert (found.excess == 12.0) is (noisy < 0)  # the Lipschitz bound times the diameter


def test_a_public_number_of_rows_is_believed():
    made = problem(method="descent", size=40)
    way, (steps, found) = made.way(40), driven(made.steps(NINE))
    assert [step.mechanism for step in steps] == [way.mechanism] * way.turns
    assert found.excess == way.excess(least=40, most=40)


@pytest.mark.parametrize(("unit", "sides"), [(dp.rows(), 1), (dp.rows(relation="replace"), 2)])
@pytest.mark.parametrize(
    ("method", "spend", "norm", "bound"),
    [
        ("regularised", SPEND, "l2", 2.0),
        ("descent", SPEND, "l2", LATTICE),
        ("exponential", Pure(1.0), "linf", 2.0**20),
    ],
)
def test_the_first_step_declares_how_far_one_unit_moves_it(method, spend, norm, bound, unit, sides):
    made = problem(method=method, spend=spend, unit=unit)
    step = next(made.steps(NINE))
    assert step.value.bound(norm) == step.mechanism.sensitivity == bound * sides
    assert step.value.unit == unit


def test_samples_are_paid_for_as_one_block():
    made = problem(method="stochastic")
    opened, way = next(made.steps(NINE)), made.way(100)
    assert (opened.delta, opened.mechanism.parts[0][0].rate) == (way.loss.delta, way.rate)


# ---- what the steps ask about


def clipped_rows(X, y, *, norm, labels):
    """Each row shortened to the norm; labels ±1 are folded into it."""
    short = X / np.maximum(np.linalg.norm(X, axis=1) / norm, 1.0)[:, None]
    return short * np.where(y > 0, 1.0, -1.0)[:, None] if labels else short


@pytest.mark.parametrize("name", ["logistic", "huber"])
def test_gradients_scores_and_samples_are_those_of_the_clipped_rows(name):
    """In the units of the data, for a Lipschitz bound of 2, at points that are not the center."""
    held, made = Held.of((X, Y)), link(name)
    x, places = np.array([0.4, -0.9]), np.array([3, 17, 31])
    short = clipped_rows(X, Y, norm=2.0, labels=made.labels)
    shift = 0.0 if made.labels else np.clip(Y, -8.0, 8.0)  # beyond the farthest a·x, and 2 more
    each = made.slope(short @ x - shift)[:, None] * short
    stepping = problem(loss=name, method="descent")
    sums = stepping._gradients(held)
    for _ in range(2):  # the second time from what was kept
        found = sums(x).astype(float) * 2.0 / LATTICE
        assert found == pytest.approx(each.sum(axis=0), abs=40 * 2 * 2 * STEP)
    sampled = problem(loss=name, method="stochastic")._sampled(held)
    for _ in range(2):
        found = sampled(x, places).astype(float) * 2.0 / LATTICE
        assert found == pytest.approx(each[places].sum(axis=0), abs=3 * 2 * 2 * STEP)
    gridded = problem(loss=name, method="exponential", spend=Pure(1.0))
    points = np.array([[0.0, 0.0], [0.4, -0.9], [-2.0, 1.0]])
    scores = gridded._scores(gridded.way(40), points, held)
    values = [made.value(short @ p - shift).sum() for p in points]
    wanted = [-(v - values[0]) / (2.0 * 3.0) * 2.0**20 for v in values]
    assert scores == pytest.approx(wanted, abs=40 * (1 + 2.0**20 * 3 * STEP))


def test_functions_are_asked_about_the_rows_themselves():
    held, x, places = Held.of((X, Y)), np.array([0.4, -0.9]), np.array([3, 17])
    gradients = squares(x, X, Y)[1]
    sums = problem(loss=squares, method="descent")._gradients(held)
    sampled = problem(loss=squares, method="stochastic")._sampled(held)
    for _ in range(2):
        assert (sums(x) == sums_of_gradients(gradients, norm=2.0)).all()
        assert (sampled(x, places) == sums_of_gradients(gradients[places], norm=2.0)).all()
    gridded = problem(loss=squares, method="exponential", spend=Pure(1.0))
    (score,) = gridded._scores(gridded.way(40), x[None], held)
    moved = (squares(x, X, Y)[0] - squares(0 * x, X, Y)[0]) / 6.0
    kept = np.clip(moved, brought.SPARE - 1, 1 - brought.SPARE)
    assert (kept != moved).any()
    assert score == -int(np.trunc(kept * 2.0**20).sum())


def test_a_named_loss_may_rise_by_all_of_the_lipschitz_bound_times_the_reach():
    made, held = problem(loss="absolute", method="exponential", spend=Pure(1.0)), [[[2.0, 0]], [8]]
    (score,) = made._scores(made.way(1), np.array([[3.0, 0.0]]), Held.of(held))
    assert 2**20 - 64 <= score <= 2**20


def test_targets_are_cut_where_they_can_no_longer_bend_the_loss():
    """Two beyond the farthest a·x; and neighbours are compared at the center of the set."""
    domain = Box((1.0, -2.0), (5.0, 0.0))
    made = problem(loss="absolute", domain=domain, method="regularised")
    far = 2.0 * domain.norm(2) + 2
    held = Held.of((np.zeros((4, 2)), [far * 1.01, far * 0.99, -far * 1.01, 0.5]))
    rows = made._rows(held, center=True)
    assert rows.targets == pytest.approx([far, far * 0.99, -far, 0.5])
    assert rows.center == pytest.approx([6.0, -2.0])
    assert (rows.norm, made._rows(held).center) == (2.0, None)
