"""Private sums, charged by a session: exact but for the noise that was promised."""

import itertools
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special
from tests import goodness

import deniable as dp
from deniable import secure
from deniable.audit import audit, replay
from deniable.forms import Form
from deniable.ledger import open_ledger
from deniable.mechanisms import Mechanism, Skellam, SkellamL2, SkellamShares
from deniable.secure import aggregating
from deniable.session import Session

SPENDS = [dp.epsilon(1.0, delta=1e-6), dp.rho(0.1), dp.mu(0.5)]


def session(budget, unit=None):
    return Session(
        tables={}, schema=None, ledger=open_ledger(budget=budget, unit=unit or dp.rows())
    )


@pytest.mark.statistical
@pytest.mark.parametrize("missing", [(), (2,)])
def test_what_is_not_the_sum_is_noise_of_the_stated_law(missing):
    """False-alarm rate 2e-8."""
    length = 30_000
    vectors = [np.full(length, 10 * i) if i not in missing else None for i in range(5)]
    r = secure.aggregate(vectors, spend=SPENDS[1], l1=1, dropouts=1, colluding=1)
    noise = np.asarray(r.value) - sum(10 * i for i in range(5) if i not in missing)
    shares = Mechanism.from_dict(r.mechanisms[0])
    assert isinstance(shares, SkellamShares)
    variance = shares.share.variance * (5 - len(missing))
    assert variance >= shares.of.variance * (5 - len(missing)) / 3
    points = np.arange(-80, 81)
    chances = special.ive(np.abs(points), variance)
    wide = chances * length > 25
    seen = np.array([(noise == k).sum() for k in points[wide]] + [0])
    seen[-1] = length - seen.sum()
    assert goodness.cells(seen, np.append(chances[wide], 1 - chances[wide].sum())) > 1e-8


@pytest.mark.statistical
def test_with_dropouts_and_colluders_the_noise_they_do_not_know_is_what_was_charged():
    """The worst case, enumerated: drop one honest party, subtract one colluder's own share."""
    shares = SkellamShares(of=Skellam(variance=6.0), parties=5, dropouts=1, colluding=1)
    unknown = sum(np.asarray(shares.share.draw(np.zeros(40_000, np.int64))) for _ in range(3))
    points = np.arange(-30, 31)
    chances = special.ive(np.abs(points), 6.0)
    wide = chances * unknown.size > 25
    seen = np.array([(unknown == k).sum() for k in points[wide]] + [0])
    seen[-1] = unknown.size - seen.sum()
    assert goodness.cells(seen, np.append(chances[wide], 1 - chances[wide].sum())) > 1e-8


@pytest.mark.parametrize("variance", [0.1, 1.0, 7.3, 1e5])
def test_the_shares_that_are_counted_on_never_add_up_to_less(variance):
    from fractions import Fraction

    for parties, dropouts, colluding in itertools.product((3, 7, 1000), (0, 1), (0, 1)):
        shares = SkellamShares(
            of=SkellamL2(variance=variance), parties=parties, dropouts=dropouts, colluding=colluding
        )
        counted = shares.honest * Fraction(shares.share.variance)
        assert Fraction(variance) <= counted <= Fraction(variance) * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("bound", [{"l1": 2}, {"l2": 1.5}], ids=str)
def test_it_costs_no_more_than_was_said_in_any_currency(spend, bound):
    s = session(10 * spend)
    r = secure.aggregate([[1, 2]] * 3, spend=spend, session=s, **bound)
    if isinstance(spend, dp.Approx):
        assert 0.99 < Mechanism.from_dict(r.mechanisms[0]).epsilon_at(1e-6) <= 1.0
    else:
        figure = spend.figure
        assert 0.99 < getattr(r.loss, figure) / getattr(spend, figure) <= 1
    assert len(list(s.ledger.entries)) == 1
    assert dp.Release.from_dict(r.to_dict()).rows() == r.rows()
    assert "skellam_shares" in str(r.to_dict()["mechanisms"])


def test_a_budget_that_is_spent_refuses_before_any_party_speaks(monkeypatch):
    s = session(dp.rho(0.1))
    secure.aggregate([[1]] * 3, spend=dp.rho(0.1), l1=1, session=s)
    monkeypatch.setattr(secure.Party, "advertise", None)
    with pytest.raises(dp.BudgetExceeded):
        secure.aggregate([[1]] * 3, spend=dp.rho(0.1), l1=1, session=s)


def round_of(spend, **facts):
    noise = SkellamShares(of=Skellam.calibrate(to=spend), parties=3)
    return secure.Round(**({"parties": 3, "length": 2, "limit": 9, "noise": noise} | facts))


def test_a_round_played_elsewhere_is_charged_before_and_answered_once():
    s, round_ = session(dp.rho(0.25)), round_of(dp.rho(0.1))
    spent = []

    def play():
        spent.append(s.spent.rho)
        return secure.run(round_, np.array([[1, 2]] * 3))

    r = secure.release(round_, play, session=s)
    assert spent == [s.spent.rho] == [r.loss.rho]
    assert 0.099 < r.loss.rho <= 0.1
    assert Mechanism.from_dict(r.mechanisms[0]) == round_.noise
    same = secure.aggregate([[1, 2]] * 3, spend=dp.rho(0.1), l1=1, session=s)
    assert r.mechanisms == same.mechanisms
    assert r.answers["value"].errors() == same.answers["value"].errors()
    assert "at least 3 of 3 parties" in r.answers["value"].estimand
    with pytest.raises(dp.BudgetExceeded):
        secure.release(round_, play, session=s)
    assert len(spent) == 1


@pytest.mark.parametrize(
    "play",
    [
        lambda: 1 / 0,
        lambda: [1],
        lambda: [1, 2, 3],
        lambda: [[1, 2]],
        lambda: [1.5, 2],
        lambda: None,
        lambda: "12",
        lambda: secure.Coordinator(round_of(dp.rho(0.1))).total(),
    ],
)
def test_a_round_elsewhere_that_fails_or_gives_another_form_is_a_charged_failure(play):
    s = session(dp.rho(1.0))
    with pytest.raises(dp.DataFailure):
        secure.release(round_of(dp.rho(0.1)), play, session=s)
    assert s.spent.rho > 0.099
    with pytest.raises(dp.AskerStopped):
        secure.release(round_of(dp.rho(0.1)), lambda: [1, 2], session=s)


def test_rounds_that_a_price_does_not_cover_are_not_charged():
    s = session(dp.rho(1.0), unit=dp.rows())
    noise = SkellamShares(of=Skellam(variance=50.0), parties=1000, dropouts=50, colluding=50)
    sparse = {"parties": 1000, "dropouts": 50, "colluding": 50, "noise": noise}
    for facts in ({"noise": None}, sparse | {"chance": 2**-40}):
        with pytest.raises(dp.BadParameter, match="with noise"):
            secure.release(round_of(dp.rho(0.1), **facts), list, session=s)
    unit = dp.rows(relation="replace")
    with pytest.raises(dp.DeniableError, match="protects"):
        secure.release(round_of(dp.rho(0.1)), list, session=s, unit=unit)
    assert not s.ledger.entries


@pytest.mark.statistical
def test_the_stated_error_covers():
    """False-alarm rate 1e-9."""
    r = secure.aggregate([[0] * 5000] * 4, spend=SPENDS[0], l1=1, dropouts=1, colluding=1)
    inside = sum(low <= 0 <= high for low, high in r.answers["value"].intervals(0.95))
    assert goodness.covered(inside, 5000, 0.95) > 1e-9


@pytest.mark.parametrize(
    ("vectors", "facts"),
    [
        ([[1], [2]], {}),
        ([[1], [2]], {"l1": 1, "l2": 1.0}),
        ([[1], [2]], {"l1": 0}),
        ([[1], [2]], {"l2": float("nan")}),
        ([[1], [2]], {"l1": 10**400}),
        ([[1], [2]], {"l1": 1, "session": 3}),
        ([[1], [2, 3]], {"l1": 1}),
        ([[[1]], [[2]]], {"l1": 1}),
        ([[1]], {"l1": 1}),
        ([], {"l1": 1}),
        ([[1], None, [2]], {"l1": 1}),
        ([[1], [2], [3]], {"l1": 1, "dropouts": 1, "colluding": 1}),
        ([[1], [2], [3]], {"l1": 1, "spend": dp.epsilon(1.0)}),
    ],
    ids=str,
)
def test_what_cannot_be_promised_is_refused_before_the_charge(vectors, facts):
    s = session(dp.epsilon(5.0, delta=1e-6))
    with pytest.raises(dp.DeniableError) as refused:
        secure.aggregate(vectors, **({"spend": dp.epsilon(1.0, delta=1e-6), "session": s} | facts))
    assert not isinstance(refused.value, dp.DataFailure)
    assert not s.ledger.entries


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ("12", "one vector per party, not"),
        (b"12", "one vector per party, not"),
        ({"a": [1], "b": [2]}, "one vector per party, not"),
        (3, "one vector per party, not"),
        ([None, None], "no party has a vector"),
        ([], "no party has a vector"),
    ],
    ids=str,
)
def test_what_is_no_list_of_vectors_is_refused_as_that(vectors, said):
    with pytest.raises(dp.BadParameter, match=said):
        secure.aggregate(vectors, spend=dp.rho(0.1), l1=1, dropouts=2)


def test_what_is_no_round_and_no_loss_is_refused_as_that():
    with pytest.raises(dp.BadParameter, match="round_ must be a Round"):
        secure.release(3, lambda: [1], session=session(dp.rho(1.0)))
    noise = SkellamShares(of=Skellam.calibrate(to=dp.rho(0.1)), parties=3)
    with pytest.raises(dp.BadParameter, match="session must be a session"):
        secure.release(secure.Round(parties=3, length=1, noise=noise), lambda: [1], session=3)
    with pytest.raises(dp.BadParameter, match="spend must be a loss"):
        secure.aggregate([[1], [2]], spend=0.1, l1=1)


@pytest.mark.parametrize("form", [Form(whole=True, shape=(2, 1)), Form(whole=False, shape=(3, 1))])
def test_parties_add_whole_numbers_a_row_for_each(form):
    noise = SkellamShares(of=Skellam.calibrate(to=dp.rho(0.1)), parties=3)
    round_ = secure.Round(parties=3, length=1, noise=noise)
    made = aggregating.InParties.of_round(round_, lambda value: value)
    assert made.reading(Form(whole=True, shape=(3, 1)))("as it is") == "as it is"
    with pytest.raises(dp.DeniableError):
        made.reading(form)


@pytest.mark.parametrize("vectors", [[1, 2], [1, None, 2], [[1], 2]], ids=str)
def test_a_number_is_no_vector_of_a_party(vectors):
    with pytest.raises(dp.BadParameter, match="each party needs a list of numbers"):
        secure.aggregate(vectors, spend=dp.rho(0.1), l1=1, dropouts=1)


def test_a_replay_on_neighbours_finds_the_sum_moved_no_further_than_declared():
    def program(vectors):
        secure.aggregate(vectors, spend=dp.rho(0.1), l1=1, session=session(dp.rho(0.1)))

    found = replay(program, [[3, 1], [2, 2], [0, 5]], [[3, 1], [2, 3], [0, 5]])
    assert found.ok
    far = replay(program, [[3, 1], [2, 2], [0, 5]], [[3, 1], [2, 9], [0, 5]])
    assert not far.ok


def test_the_plan_says_what_the_release_then_does():
    facts = {"spend": SPENDS[0], "l1": 1, "dropouts": 1, "colluding": 1}
    plan = secure.explain(parties=5, **facts)
    r = secure.aggregate([[1]] * 5, **facts)
    assert plan.errors["value"] == r.answers["value"].errors()[0]
    assert plan.cost == r.loss
    assert "drops out" in str(plan)


def test_an_answer_says_whom_it_is_about():
    r = secure.aggregate([[1], None, [2]], spend=dp.rho(0.1), l1=1, dropouts=1, limit=9)
    assert r.answers["value"].estimand == "the sum over 2 of 3 parties, of numbers clipped to ±9"


def unknown_noise(share, count):
    """What a coalition does not know, in the worst case: the shares of two honest parties."""
    return lambda value, n: (
        value + sum(np.asarray(share.draw(np.zeros(n, np.int64))) for _ in range(count))
    )


@pytest.mark.statistical
def test_the_auditor_finds_nothing_in_the_worst_case_and_a_naive_split_out():
    """Noise split over all parties, as if none dropped out or told, is found. Alarm rate 1e-6."""
    shares = SkellamShares(of=Skellam(variance=3.0), parties=8, dropouts=3, colluding=3)
    naive = Skellam(variance=3.0 / 8)
    for share, wrong in ((shares.share, False), (naive, True)):
        verdict = audit(
            None,
            0,
            1,
            loss=shares.loss(dp.Profile),
            samples=60_000,
            confidence=1 - 1e-6,
            batch=unknown_noise(share, shares.honest),
        )
        assert verdict.violated is wrong


@pytest.mark.parametrize("name", ["l1", "limit", "dropouts", "colluding"])
def test_whole_numbers_of_numpy_are_charged_once_and_answered(name):
    s = session(dp.epsilon(3.0, delta=1e-5))
    facts = {"l1": 1, "limit": 10, "dropouts": 1, "colluding": 1}
    given = facts | {name: np.int64(facts[name])}
    for _ in range(2):
        secure.aggregate([[1], [2], [3], [4]], spend=SPENDS[0], session=s, **given)
    assert not s.failures


def test_everything_public_is_computed_before_the_charge(monkeypatch):
    def fails(_self):
        raise OSError("out of memory")

    s = session(dp.epsilon(3.0, delta=1e-5))
    for name in ("id", "bits", "seats"):
        with monkeypatch.context() as patched:
            patched.setattr(secure.Round, name, property(fails))
            with pytest.raises(OSError, match="memory"):
                secure.aggregate([[1], [2], [3]], spend=SPENDS[0], l1=1, session=s)
    assert not s.ledger.entries
    assert not s.failures


@pytest.mark.parametrize(
    ("spend", "facts"),
    [
        (dp.epsilon(1.0), {"l1": 1}),
        (dp.epsilon(1e-6, delta=1e-6), {"l1": 1}),
        (dp.rho(1e-9), {"l2": 1.0}),
    ],
)
def test_a_loss_out_of_reach_is_refused_in_the_words_of_the_asker(spend, facts):
    with pytest.raises(dp.BadParameter, match="noise achieves") as raised:
        secure.aggregate([[1], [2]], spend=spend, **facts)
    assert "you gave" not in str(raised.value)


@pytest.mark.parametrize("spend", [dp.epsilon(1e9, delta=1e-6), dp.rho(1e200), dp.mu(1e100)])
def test_a_loss_that_needs_no_noise_is_refused_in_the_words_of_the_asker(spend):
    with pytest.raises(dp.BadParameter, match="met without noise") as raised:
        secure.aggregate([[1], [2]], spend=spend, l1=1)
    assert "you gave" not in str(raised.value)


def test_shares_that_add_up_to_too_much_noise_are_refused_by_what_was_given():
    with pytest.raises(dp.BadParameter, match="variance 4e\\+06 in shares of 2 among 5"):
        SkellamShares(of=Skellam(variance=4e6), parties=5, dropouts=3)


@pytest.mark.parametrize("variance", [1e-90, 1e-50, 1e-26, 1e-6, 0.1, 100.0])
def test_prices_are_computed_without_warnings(variance):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        noise = Skellam(variance=variance * (1 + 1e-9))
        assert noise.gdp() > 0
        assert noise.epsilon_at(1e-6) > 0


@pytest.mark.parametrize(
    ("divergence", "variance", "steps"),
    [
        (2.0, 8.0, 0),  # less than is allowed
        (1.0, 8.0, 0),  # exactly as much
        (0.25, 32.0, 1),
        (1 / 1.00001, 8.0 * 1.0001, 1),  # hardly too much: at least a step of 1.0001
        (None, 8.0, 0),  # a ledger that adds up something else
    ],
)
def test_noise_is_as_large_as_the_ledger_admits_and_no_larger(
    divergence, variance, steps, monkeypatch
):
    """A stub whose divergence is 8 by its variance."""
    made = []

    class Noise(SimpleNamespace):
        def renyi(self, order):
            assert order == 5.0
            return 8.0 / self.variance

        @classmethod
        def calibrate(cls, *, to, sensitivity):
            return cls(variance=8.0, sensitivity=sensitivity)

        @classmethod
        def within_reach(cls, variance, sensitivity, *, to):
            made.append(variance)
            return cls(variance=variance, sensitivity=sensitivity)

    class Filter(SimpleNamespace):
        pass

    monkeypatch.setattr(aggregating, "ApproxFilter", Filter)
    monkeypatch.setattr(aggregating, "Skellam", Noise)
    monkeypatch.setattr(aggregating, "SkellamShares", lambda *, of, **facts: (of, facts))
    used = None if divergence is None else Filter(order=5.0, divergence=divergence)
    asked = {"parties": 5, "dropouts": 1, "colluding": 2}
    noise, facts = aggregating.calibrated(
        dp.epsilon(1.0), session=SimpleNamespace(ledger=SimpleNamespace(filter=used)),
        l1=3, l2=None, **asked,
    )  # fmt: skip
    assert noise.variance == pytest.approx(variance, rel=1e-12)
    assert (len(made), noise.sensitivity, facts) == (steps, 3, asked)
