"""Whatever an adversary asks, in whatever order and under whatever names: never past the ceiling.

The ledger keeps rounded sums of prices. Here the same charges are added up exactly, from the facts
that the mechanisms state, and held against the ceiling by the rule of each budget's filter.
"""

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.ledger import open_ledger

ROWS = dp.rows()
SLACK = 1 + Fraction(1, 2**39)  # ceilings are kept to one part in 2⁴⁰

BUDGETS = {
    "pure": dp.epsilon(1.0),
    "approx": dp.epsilon(1.0, delta=1e-6),
    "zcdp": dp.rho(0.05),
    "gdp": dp.mu(0.5),
    "renyi": dp.Renyi(orders=(2.0, 8.0), values=(0.2, 0.5)),
}
SHARES = {
    "pure": dp.epsilon(0.25),
    "approx": dp.epsilon(0.25, delta=1e-8),
    "zcdp": dp.rho(0.01),
    "gdp": dp.mu(0.2),
    "renyi": dp.Renyi(orders=(2.0, 8.0), values=(0.05, 0.1)),
}

scales = st.sampled_from([1.0, 2.0, 3.0, 7.0, 10.0, 30.0, 1000.0])
mechanisms = st.one_of(
    scales.map(lambda scale: dp.Laplace(scale=scale)),
    scales.map(lambda sigma: dp.Gaussian(sigma=sigma)),
    scales.map(lambda scale: dp.DiscreteLaplace(scale=scale)),
    scales.map(lambda scale: 3 * dp.Laplace(scale=10 * scale)),
)
askers = st.sampled_from([None, "ann", "bob", "eve"])
moves = st.one_of(
    st.tuples(st.just("charge"), mechanisms, askers),
    st.tuples(st.just("charge"), mechanisms, askers),
    st.tuples(st.just("share"), st.none(), askers.filter(bool)),
    st.tuples(st.just("recall"), st.integers(0, 3), askers),
)


def play(ledger, share, game):
    """What was admitted: the mechanisms, each with who paid for it."""
    admitted = []
    for kind, what, asker in game:
        with contextlib.suppress(dp.BudgetExceeded, dp.NoBound):
            match kind:
                case "charge":
                    question = ledger.fingerprint(len(admitted) % 4)
                    paid = ledger.charge(what, unit=ROWS, asker=asker, question=question)
                    admitted.append((what, paid))
                    ledger.answer(paid, 0)
                case "share":
                    ledger.share(asker, amount=share)
                case "recall":
                    ledger.recall(ledger.fingerprint(what), asker=asker)
    return admitted


def exact(figures):
    return sum(map(Fraction, figures), Fraction(0))


def within(figures, ceiling):
    figures = list(figures)
    return float("inf") not in figures and exact(figures) <= Fraction(ceiling) * SLACK


def holds(budget, used, filter_):
    """The rule of each filter, on exact sums."""
    match budget:
        case dp.Pure():
            return within((m.pure() for m in used), budget.epsilon)
        case dp.Zcdp():
            return within((m.zcdp() for m in used), budget.rho)
        case dp.Gdp():
            squares = (Fraction(m.loss(dp.Gdp).mu) ** 2 for m in used)
            return sum(squares, Fraction(0)) <= Fraction(budget.mu) ** 2 * SLACK
        case dp.Renyi():
            pairs = zip(budget.orders, budget.values, strict=True)
            return all(within((m.renyi(a) for m in used), r) for a, r in pairs)
    if within((m.pure() for m in used), budget.epsilon):
        return True
    return filter_ is not None and within(
        (m.renyi(filter_.order) for m in used), filter_.divergence
    )


@pytest.mark.parametrize("kind", BUDGETS)
@given(game=st.lists(moves, max_size=25))
@settings(max_examples=60)
def test_no_game_passes_the_ceiling(kind, game):
    budget = BUDGETS[kind]
    ledger = open_ledger(budget=budget, unit=ROWS)
    admitted = play(ledger, SHARES[kind], game)
    assert holds(budget, [mechanism for mechanism, _ in admitted], ledger.filter)
    for asker in ledger.shares():
        granted = sum(e.kind == "share" for e in ledger.entries if e.asker == asker)
        in_share = [m for m, paid in admitted if paid.asker == asker and paid.standing is not None]
        assert holds(granted * SHARES[kind], in_share, None)
    ledger.verify()


@pytest.mark.parametrize("kind", BUDGETS)
def test_the_game_would_catch_a_filter_that_admits_everything(kind, monkeypatch):
    ledger = open_ledger(budget=BUDGETS[kind], unit=ROWS)
    monkeypatch.setattr(type(ledger.filter), "admits", lambda *_: True)
    noise = dp.Laplace(scale=1.0) if kind in {"pure", "approx"} else dp.Gaussian(sigma=1.0)
    admitted = play(ledger, SHARES[kind], [("charge", noise, None)] * 3)
    assert len(admitted) == 3
    assert not holds(BUDGETS[kind], [mechanism for mechanism, _ in admitted], ledger.filter)


@pytest.mark.parametrize("kind", ["pure", "approx"])
@given(game=st.lists(st.tuples(st.just("charge"), mechanisms, askers), max_size=15))
@settings(max_examples=40)
def test_what_was_refused_would_have_passed_the_ceiling(kind, game):
    ledger = open_ledger(budget=BUDGETS[kind], unit=ROWS)
    used = []
    for _, mechanism, asker in game:
        try:
            ledger.charge(mechanism, unit=ROWS, asker=asker)
            used.append(mechanism)
        except dp.BudgetExceeded:
            assert not _fits_easily(BUDGETS[kind], [*used, mechanism], ledger.filter)
        except dp.NoBound:
            assert mechanism.pure() == float("inf")


def _fits_easily(budget, used, filter_):
    smaller = 1 - 1e-9
    epsilon = [m.pure() for m in used]
    if within(epsilon, budget.epsilon * smaller):
        return True
    orders = [m.renyi(filter_.order) for m in used] if isinstance(budget, dp.Approx) else None
    return orders is not None and within(orders, filter_.divergence * smaller)
