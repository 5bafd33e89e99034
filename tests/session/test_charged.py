"""What is left of a share, in every currency; and what answers of two steps say was charged."""

import re
from types import SimpleNamespace

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import BadParameter, BudgetExceeded
from deniable.ledger import open_ledger
from deniable.losses.filters import Price, filter_for
from deniable.losses.rounding import RESOLUTION
from deniable.session.asked import tell_earlier

ROWS = dp.rows()
TABLE = pa.table({"age": [20, 30, 40, 50], "paid": [1.0, 2.0, 3.0, 4.0]})
SCHEMA = dp.Schema(columns={"age": dp.bounds(0, 120, type="int"), "paid": dp.column("float")})


def curator(budget):
    ledger = open_ledger(budget=budget, unit=ROWS)
    return dp.open(TABLE, unit=ROWS, schema=SCHEMA, ledger=ledger)


def charges(s):
    return [entry for entry in s.ledger.entries if entry.kind == "charge"]


# ---- how much is left, in every currency


@pytest.mark.parametrize(
    ("budget", "share", "spend"),
    [
        (dp.epsilon(2), dp.epsilon(0.5), dp.epsilon),
        (dp.rho(2), dp.rho(0.5), dp.rho),
        (dp.mu(2), dp.mu(0.5), dp.mu),
        (dp.epsilon(2, delta=1e-6), dp.epsilon(0.5), dp.epsilon),
        (dp.epsilon(2, delta=1e-6), dp.epsilon(0.5, delta=1e-8), dp.epsilon),
    ],
    ids=lambda each: getattr(each, "__name__", str(each)),
)
def test_what_is_left_of_a_share_can_be_spent_and_no_more(budget, share, spend):
    s = curator(budget)
    s.ledger.share("ann", amount=share)
    ann = s.for_("ann")
    figure = type(spend(1.0)).__dataclass_fields__
    name = next(iter(figure))
    assert getattr(ann.left, name) == pytest.approx(getattr(share, name))
    for part in (0.3, 0.2):
        ann.count(spend=spend(part * getattr(share, name)))
    left = getattr(ann.left, name)
    assert 0 < left < getattr(share, name)
    with pytest.raises(BudgetExceeded):
        ann.sum("age", spend=spend(1.001 * left))
    ann.sum("age", spend=spend(left))
    assert getattr(ann.left, name) < 1e-6
    assert "(ann's share)" in str(ann)


def test_a_share_in_rho_pays_for_gaussian_noise_under_an_epsilon_delta_budget():
    s = curator(dp.epsilon(2, delta=1e-6))
    s.ledger.share("ann", amount=dp.rho(0.01))
    ann = s.for_("ann")
    left = ann.left.epsilon
    assert 0 < left < 1
    ann.release(dp.Gaussian(sigma=10.0).on(dp.Sensitive(lambda: 4, l2=1)))  # ρ 0.005
    assert 0 < ann.left.epsilon < left
    with pytest.raises(BudgetExceeded, match="share"):
        ann.release(dp.Gaussian(sigma=9.0).on(dp.Sensitive(lambda: 4, l2=1)))
    assert ann.left.epsilon > 0


# ---- what was charged is what is said


def test_an_answer_that_cannot_be_presented_was_paid_for():
    def refuse(drawn):
        raise BadParameter("this answer has no columns")

    s = curator(dp.epsilon(4))
    with pytest.raises(BadParameter, match="no columns") as told:
        s.release(dp.Laplace(scale=2.0).on(dp.Sensitive(lambda: 3, l1=1)), present=refuse)
    assert told.value.cost == "ε 0.5 was spent"
    assert len(charges(s)) == 1


@pytest.mark.parametrize("budget", [dp.epsilon(4), dp.rho(4), dp.mu(4)], ids=str)
def test_automatic_bounds_say_what_was_charged_for_both_steps(budget):
    s = curator(budget)
    spend = type(budget)(1.0)
    release = s.mean("paid", spend=spend, bounds="auto")
    total = sum((entry.price for entry in charges(s)), Price.zero)
    assert len(charges(s)) == 2
    assert release.certificate()["ledger"]["charged"] == total.to_dict()
    assert s.ledger.filter.spent(total) == s.spent
    (lost,), (spent,) = (loss.figures().values() for loss in (release.loss, s.spent))
    assert (lost, spent) == pytest.approx((1.0, 1.0))
    assert re.search(r"spent . 1 ", str(release))
    again = s.mean("paid", spend=spend, bounds="auto")
    assert again.free
    assert again.certificate()["ledger"]["charged"] == total.to_dict()


def test_a_part_that_was_paid_before_is_not_said_to_be_spent_again():
    s = curator(dp.epsilon(4))
    s.mean("paid", spend=dp.epsilon(1), bounds="auto")
    before = s.spent
    release = s.sum("paid", spend=dp.epsilon(1), bounds="auto")  # the same search, stored
    assert s.spent == before + dp.epsilon(0.75)
    assert "spent ε 0.75 now; ε 1 with what was charged earlier" in str(release)
    assert release.charged == dp.epsilon(0.75)
    assert release.loss == dp.epsilon(1)


@pytest.mark.parametrize("other", [0.0, 2.4])
def test_the_very_end_of_a_share_is_the_same_whatever_others_spent(other):
    """Shares and ceilings have a resolution; what others left of it is not Ann's to know."""
    s = curator(dp.epsilon(1))
    s.ledger.share("ann", amount=dp.epsilon(0.5))
    s.ledger.share("bob", amount=dp.epsilon(0.5 * (1 + 1.5 * RESOLUTION)))

    def ask(asker, parts):
        epsilon = 0.5 * (1 + parts * RESOLUTION)
        step = dp.Laplace(scale=1 / epsilon).on(dp.Sensitive(lambda: 1, l1=1))
        s.for_(asker).release(step)

    if other:
        ask("bob", other)
    with pytest.raises(BudgetExceeded, match="this would exceed your share") as refused:
        ask("ann", 2.0)
    assert "ceiling" not in str(refused.value)
    ask("ann", 0.9)
    assert s.ledger.verify()


# ---- what an error says that ends an algorithm


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
@pytest.mark.parametrize("charged", [False, True])
def test_an_error_tells_what_the_steps_before_it_were_charged_and_no_more(steps, charged):
    paid = [SimpleNamespace(price=Price(epsilon=0.25)) for _ in range(steps + charged)]
    error = BudgetExceeded("no")
    own = "ε 0.25 was spent" if charged else error.cost
    error.cost = own
    tell_earlier(error, paid, ledger=SimpleNamespace(filter=filter_for(dp.epsilon(2))))
    if not steps:
        assert error.cost == own
    else:
        before = "the step before it" if steps == 1 else f"the {steps} steps before it"
        assert f"{before} cost ε {0.25 * steps:g}" in error.cost
        this = "this step: ε 0.25" if charged else "this step was not charged"
        assert error.cost.startswith(this)
