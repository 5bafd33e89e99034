"""Whatever is refused for lack of budget proposes what fits, and that is accepted when pasted."""

import datetime as dt
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import secure
from deniable.curator import open as open_curator
from deniable.errors import BudgetExceeded
from deniable.learn import KMeans, LogisticRegression
from deniable.learn.convex import Ball, minimize
from deniable.losses.filters import Price, filter_for
from deniable.session import offers

ROWS = 400
TABLE = pa.table(
    {
        "x": [float(n % 90 + 1) for n in range(ROWS)],
        "y": [float(n % 90 + 1) for n in range(ROWS)],
        "g": ["a", "b"] * (ROWS // 2),
        "h": ["u", "u", "v", "v"] * (ROWS // 4),
        "day": [dt.date(2024, 1, 1 + n % 20) for n in range(ROWS)],
    }
)
SCHEMA = dp.Schema(
    columns={
        "x": dp.bounds(0, 100),
        "y": dp.column("float"),
        "g": dp.keys(["a", "b"]),
        "h": dp.keys(["u", "v"]),
        "day": dp.bounds(dt.date(2024, 1, 1), dt.date(2024, 1, 20), type="date"),
    }
)
DELTA = dp.epsilon(2.0, delta=1e-6)
BUDGETS = {
    "ε": (dp.epsilon(2.0), dp.epsilon(1.77), dp.epsilon(1.0)),
    "ε, δ": (DELTA, dp.Gaussian(sigma=3.0), dp.epsilon(1.8, delta=9e-7)),
    "ε, δ after Laplace": (DELTA, dp.epsilon(1.77), dp.epsilon(1.0, delta=5e-7)),
    "ε alone": (DELTA, dp.epsilon(1.77), dp.epsilon(1.5)),
    "ρ": (dp.rho(0.5), dp.rho(0.337), dp.rho(0.4)),
    "μ": (dp.mu(1.0), dp.mu(0.913), dp.mu(0.8)),
}
"""The budget, what is spent before, and what is then asked for: more than is left."""

POINTS = np.linspace(-1, 1, 60)[:, None]
QUERY = "SELECT g, COUNT(*) AS n, AVG(x) AS x FROM data GROUP BY g"
CALLS = {
    "sql": lambda s, spend: s.sql(QUERY).release(spend=spend),
    "weights": lambda s, spend: s.sql(QUERY).release(spend=spend, weights={"n": 9.0}),
    "mean": lambda s, spend: s.mean("x", by="g", spend=spend),
    "bounds found": lambda s, spend: s.mean("y", bounds="auto", spend=spend),
    "ranges": lambda s, spend: s.ranges("x", bins=8, spend=spend),
    "marginals": lambda s, spend: s.marginals(["g", "h"], spend=spend),
    "hierarchy": lambda s, spend: s.hierarchy(["g", "h"], spend=spend),
    "running": lambda s, spend: s.running("day", spend=spend),
    "follow": lambda s, spend: s.follow("day", spend=spend),
    "any function": lambda s, spend: s.sample_and_aggregate(np.median, "x", parts=9, spend=spend),
    "synthesize": lambda s, spend: s.synthesize(["g", "h"], method="tree", spend=spend),
    "independent": lambda s, spend: s.synthesize(["g", "h"], method="independent", spend=spend),
    "fit": lambda s, spend: s.fit(
        LogisticRegression(steps=2), target="g", features=["x"], spend=spend
    ),
    "fit without target": lambda s, spend: s.fit(KMeans(n_clusters=2), features=["x"], spend=spend),
    "select": lambda s, spend: s.select([Always("a"), Always("b")], target="g", spend=spend),
    "tune": lambda s, spend: s.tune(
        [LogisticRegression(steps=2), LogisticRegression(steps=3)],
        target="g",
        features=["x"],
        spend=spend,
    ),
    "minimize": lambda s, spend: minimize(
        "logistic",
        data=(POINTS, POINTS[:, 0] > 0),
        domain=Ball(1.0),
        lipschitz=1.0,
        method="descent",
        spend=spend,
        session=s,
    ),
    "secure sum": lambda s, spend: secure.aggregate(
        [[3, 1], [2, 2], [5, 0]], spend=spend, l1=1, session=s
    ),
}
NOT_IN = {
    "ε": {"fit", "fit without target", "tune", "minimize", "secure sum"},
    "ε alone": {"fit", "fit without target", "tune", "minimize", "secure sum"},
    "ε, δ after Laplace": {"minimize", "secure sum"},
    "μ": {"any function"},
}
"""What these amounts cannot pay for at all: normal noise without a δ, permute-and-flip in μ.

Laplace noise fills the Rényi sum, so that after it Gaussian steps no longer fit, however small.
"""


class Always:
    """A model that has one answer."""

    def __init__(self, answer):
        self.answer = answer

    def predict(self, frame):
        return [self.answer] * len(frame)


def opened(budget, before, **more):
    session = open_curator(TABLE, unit=dp.rows(), budget=budget, schema=SCHEMA, **more)
    if isinstance(before, dp.Loss):
        session.count(spend=before)
    else:
        session.release(before.on(dp.Sensitive(lambda: 1.0, l2=1)))
    return session


def pasted(fix):
    """The amount that a line such as `spend=dp.epsilon(0.1)    what is left` proposes."""
    name, _, typed = fix.split("    ")[0].partition("=")
    assert name == "spend"
    return eval(typed, {"dp": dp})


# ---- the search


@pytest.mark.parametrize("most", [80.0, 5.0, 0.9, 0.5, 0.31, 0.1, 0.0123, 0.002, 1e-6])
@pytest.mark.parametrize("left", [60.0, 2.0, 0.3, 0.1])
@pytest.mark.parametrize("wanted", [1.0, 50.0])
@pytest.mark.parametrize("delta", [None, 1e-7])
def test_the_most_that_fits_is_found_within_two_powers_of_ten_of_the_first_guess(
    delta, wanted, left, most
):
    """Without a δ what is left is all that can fit, so that nothing above it is tried."""
    kind = {} if delta is None else {"delta": delta}
    most = most if kind else min(most, left)
    found = offers._largest(
        dp.epsilon(wanted, **kind), dp.epsilon(left, **kind), lambda amount: amount.epsilon <= most
    )
    if most < min(left, wanted) / 100:
        assert found is None
    else:
        assert 0.97 * min(most, wanted) <= found.epsilon <= min(most, wanted)
        assert found.figures().get("delta") == delta
    assert offers._largest(dp.epsilon(1.0), dp.epsilon(0.0), lambda _: True) is None


def approx(reserve):
    budget = dp.epsilon(4.0, delta=1e-6)
    rule = filter_for(budget, reserve=reserve)
    return SimpleNamespace(budget=budget, ledger=SimpleNamespace(filter=rule))


@pytest.mark.parametrize(
    ("reserve", "left", "spend", "deltas"),
    [
        (2.5e-7, 1e-7, 9e-7, [9e-7, 4e-7, 0.0]),  # of a budget of 1e-6 a quarter is for blocks
        (5e-7, 1e-7, 9e-7, [9e-7, 2e-7, 0.0]),
        (5e-7, 1e-7, 1e-7, [1e-7, 0.0]),
        (5e-7, 0.0, 9e-7, [9e-7, 0.0]),
    ],
)
def test_a_smaller_delta_is_tried_if_that_is_what_is_left_for_blocks_and_then_none(
    reserve, left, spend, deltas
):
    amount, rest = dp.epsilon(0.5, delta=spend), dp.epsilon(1.0, delta=left)
    found = list(offers._kinds(approx(reserve), amount, rest))
    assert [each.figures().get("delta", 0.0) for each in found] == pytest.approx(deltas, rel=0.05)
    assert {each.epsilon for each in found} == {0.5}
    assert found[0] is amount


@pytest.mark.parametrize("amount", [dp.epsilon(0.5), dp.rho(0.1)], ids=str)
def test_an_amount_without_a_delta_has_one_kind(amount):
    assert list(offers._kinds(approx(2.5e-7), amount, dp.epsilon(1.0, delta=1e-7))) == [amount]


def selling(most, left=1.0, known=None):
    """A session in which what costs up to `most` still fits."""

    def check_known():
        if known is not None:
            raise known

    ledger = SimpleNamespace(
        check_known=check_known,
        price=lambda mechanism, delta: Price(epsilon=mechanism.pure()),
        left_after=lambda price: "something" if price.epsilon <= most else None,
    )
    return SimpleNamespace(ledger=ledger, budget=dp.epsilon(9.0), left=dp.epsilon(left))


@pytest.mark.parametrize("mechanism", [dp.Laplace(scale=0.5), dp.Exponential(epsilon=2.0)])
@pytest.mark.parametrize("most", [1.9, 1.0, 0.7, 0.1, 0.03, 0.001])
def test_as_much_noise_as_it_takes_is_found_within_two_powers_of_ten(mechanism, most):
    found = offers._softer(selling(most), mechanism, None)
    if most < 0.02:
        assert found is None
    else:
        assert 0.95 * most <= found.pure() <= most
        assert type(found) is type(mechanism)


@pytest.mark.parametrize("closed", [{"left": 0.0}, {"known": BudgetExceeded("unknown lines")}])
def test_nothing_is_looked_for_where_nothing_can_be_charged(closed):
    session = selling(1.0, **closed)
    assert offers._softer(session, dp.Laplace(scale=0.5), None) is None
    assert offers.fitting(session, dp.epsilon(1.0), lambda _: Price.zero) is None


class Own(dp.Laplace):
    """What cannot be typed as dp.Own(...)."""


@pytest.mark.parametrize("mechanism", [Own(scale=0.5), 2 * dp.Laplace(scale=0.5)])
def test_what_has_no_dial_or_no_public_name_is_not_softened(mechanism):
    assert offers._softer(selling(100.0), mechanism, None) is None


@pytest.mark.parametrize(
    ("call", "kind"), [(c, k) for c in CALLS for k in BUDGETS if c not in NOT_IN.get(k, ())]
)
def test_what_is_proposed_fits(call, kind):
    budget, before, wanted = BUDGETS[kind]
    session = opened(budget, before)
    with pytest.raises(BudgetExceeded) as caught:
        CALLS[call](session, wanted)
    error, charged = caught.value, len(session.ledger.entries)
    assert error.cost == "nothing was spent"
    first = error.fix.split("\n")[0]
    assert "what is left" in first
    assert sum("spend=" in line for line in error.fix.split("\n")) == 1
    CALLS[call](session, pasted(first))
    assert len(session.ledger.entries) > charged


@pytest.mark.parametrize("call", ["marginals", "synthesize", "select"])
def test_nearly_all_that_is_left_is_proposed(call):
    session = opened(dp.epsilon(2.0), dp.epsilon(1.2))
    with pytest.raises(BudgetExceeded) as caught:
        CALLS[call](session, dp.epsilon(3.0))
    assert pasted(caught.value.fix.split("\n")[0]) == dp.epsilon(0.8)


def test_an_asker_is_offered_what_is_left_of_their_share():
    session = open_curator(TABLE, unit=dp.rows(), budget=dp.epsilon(2.0), schema=SCHEMA)
    session.ledger.share("ann", amount=dp.epsilon(0.5))
    hers = session.for_("ann")
    for call in ("marginals", "synthesize", "bounds found"):
        with pytest.raises(BudgetExceeded) as caught:
            CALLS[call](hers, dp.epsilon(0.9))
        first, second = caught.value.fix.split("\n")
        assert pasted(first) == dp.epsilon(0.5)
        assert "share" in second


def test_where_the_delta_for_blocks_is_short_a_smaller_one_is_proposed():
    session = open_curator(TABLE, unit=dp.rows(), budget=dp.epsilon(4.0, delta=1e-6), schema=SCHEMA)
    fit = CALLS["fit"]
    fit(session, dp.epsilon(0.5, delta=8e-7))
    with pytest.raises(BudgetExceeded, match="left for blocks") as caught:
        fit(session, dp.epsilon(0.5, delta=4e-7))
    offered = pasted(caught.value.fix.split("\n")[0])
    assert offered.epsilon == 0.5
    assert 1e-7 < offered.delta <= 2.01e-7
    fit(session, offered)


def test_tuning_pays_for_nothing_if_it_cannot_pay_for_all():
    session = opened(dp.mu(1.0), dp.mu(0.5))
    with pytest.raises(BudgetExceeded):
        CALLS["tune"](session, dp.mu(0.95))
    assert len([e for e in session.ledger.entries if e.kind == "charge"]) == 1


def test_nothing_is_proposed_where_nothing_is_left():
    session = opened(dp.epsilon(2.0), dp.epsilon(2.0))
    for call in ("marginals", "synthesize", "sql", "select"):
        with pytest.raises(BudgetExceeded) as caught:
            CALLS[call](session, dp.epsilon(1.0))
        assert "spend=" not in caught.value.fix


def test_who_has_no_share_is_offered_nothing():
    session = open_curator(TABLE, unit=dp.rows(), budget=dp.epsilon(2.0), schema=SCHEMA)
    hers = session.for_("ann")
    session.ledger.share("bob", amount=dp.epsilon(0.5))
    with pytest.raises(BudgetExceeded, match="no share") as caught:
        CALLS["marginals"](hers, dp.epsilon(0.9))
    assert "spend=" not in caught.value.fix


MECHANISMS = [
    dp.Laplace(scale=1.0),
    dp.DiscreteLaplace(scale=1.0),
    dp.Exponential(epsilon=1.0),
    dp.NoisyMax(epsilon=1.0),
    dp.PermuteAndFlip(epsilon=1.0),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: each.name)
def test_a_mechanism_is_proposed_with_more_noise(mechanism):
    session = opened(dp.epsilon(2.0), dp.epsilon(1.77))
    value = dp.Sensitive(lambda: [1, 2], l1=1, linf=1, whole=True, shape=2)
    with pytest.raises(BudgetExceeded) as caught:
        session.release(mechanism.on(value))
    typed = caught.value.fix.split("    ")[0]
    made = eval(typed, {"dp": dp})
    assert made.pure() > 0.9 * session.left.epsilon
    session.release(made.on(value))


def test_normal_noise_and_opened_mechanisms_are_proposed_with_more_noise():
    session = opened(dp.rho(0.5), dp.rho(0.337))
    value = dp.Sensitive(lambda: 1.0, l2=1)
    with pytest.raises(BudgetExceeded) as caught:
        session.release(dp.Gaussian(sigma=1.0).on(value))
    session.release(eval(caught.value.fix.split("    ")[0], {"dp": dp}).on(value))

    session = opened(dp.epsilon(2.0), dp.epsilon(1.77))
    with pytest.raises(BudgetExceeded) as caught:
        session.open(dp.SparseVector(epsilon=1.0, answers=3))
    session.open(eval(caught.value.fix.split("    ")[0], {"dp": dp}))


def test_a_list_of_noises_has_no_single_fix():
    session = opened(dp.epsilon(2.0), dp.epsilon(1.77))
    steps = [dp.Laplace(scale=1.0).on(dp.Sensitive(lambda: 1.0, l1=1))] * 2
    with pytest.raises(BudgetExceeded) as caught:
        session.release(steps)
    assert "dp." not in caught.value.fix
