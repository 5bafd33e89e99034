"""What an asker is refused does not show whether others have asked the same question."""

import subprocess
import sys
from dataclasses import dataclass

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import DeniableError
from deniable.ledger import open_ledger
from deniable.losses.rounding import RESOLUTION

TABLE = pa.table({"x": [1, 2, 3]})
TENTH = dp.epsilon(0.1)
OWN = """
import deniable as dp, pyarrow as pa, sys
from dataclasses import dataclass
@dataclass(frozen=True, kw_only=True)
class Own(dp.Laplace):
    name = "of_another_process"
s = dp.open(pa.table({"x": [1]}), unit=dp.rows(), ledger=sys.argv[1])
s.release(Own(scale=10.0).on(dp.Sensitive(lambda: 1, l1=1)), question="own")
"""


@dataclass(frozen=True, kw_only=True)
class Foreign(dp.Laplace):
    name = "of_this_test"


def step(mechanism):
    return mechanism.on(dp.Sensitive(lambda: 3, l1=1))


def shared(path):
    s = dp.open(TABLE, unit=dp.rows(), budget=dp.epsilon(4), ledger=path)
    s.ledger.share("ann", amount=dp.epsilon(0.5))
    s.ledger.share("bob", amount=dp.epsilon(1))
    return s


def nothing(_s, _path):
    pass


def unknown_line(_s, path):
    subprocess.run([sys.executable, "-c", OWN, str(path)], check=True, timeout=240)


def stopped(s, _path):
    with pytest.raises(dp.DeniableError):
        s.for_("ann").release(dp.Laplace(scale=100.0).on(dp.Sensitive(lambda: {}["x"], l1=1)))


DEAR = dp.Laplace(scale=1 / 0.7)
# What Ann asks, who may have asked it before her, and what happened in between.
REFUSED = {
    "a release beyond her share": (lambda s: s.release(step(DEAR), question="q"), "bob", nothing),
    "a count beyond her share": (lambda s: s.count(spend=dp.epsilon(0.7)), "bob", nothing),
    "SQL beyond her share": (
        lambda s: s.sql("SELECT COUNT(*) FROM data").release(spend=dp.epsilon(0.7)), "bob", nothing,
    ),
    "a ledger with an unknown line": (lambda s: s.count(spend=TENTH), "bob", unknown_line),
    "a release on such a ledger": (
        lambda s: s.release(step(dp.Laplace(scale=9.0)), question="q"), "bob", unknown_line,
    ),
    "a mechanism of her own": (
        lambda s: s.release(step(Foreign(scale=10.0)), question="q"), None, nothing,
    ),
    "a question after her failure": (lambda s: s.count(spend=TENTH), "bob", stopped),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_the_same_whether_or_not_others_have_asked(tmp_path, case):
    ask, other, between = REFUSED[case]
    worlds = []
    for before in (False, True):
        path = tmp_path / f"{before}.db"
        s = shared(path)
        if before:
            ask(s if other is None else s.for_(other))
        between(s, path)
        ann = s.for_("ann")
        spent = str(ann.spent)
        with pytest.raises(DeniableError) as told:
            ask(ann)
        assert str(ann.spent) == spent
        worlds.append((type(told.value), str(told.value).replace(str(path), "")))
    assert worlds[0] == worlds[1]


def test_an_answer_names_the_tables_in_one_order_whoever_asked_first():
    tables = {"aa": TABLE, "bb": TABLE}
    named = []
    for first in (["aa", "bb"], ["bb", "aa"]):
        sources = {name: tables[name] for name in first}
        s = dp.open(sources, unit=dp.rows(), budget=dp.epsilon(4))
        found = s.release(step(dp.Laplace(scale=9.0)), question="q")
        named.append((found.provenance.table, found.certificate()["question"]))
    assert named[0] == named[1]


@pytest.mark.parametrize("budget", [dp.epsilon, dp.rho])
def test_a_share_can_be_spent_in_full_though_others_used_the_resolution_of_theirs(budget):
    """Each comparison allows 2⁻⁴⁰; what two of them allow together is nobody's loss but theirs."""
    tiny = 0.999 * RESOLUTION
    ledger = open_ledger(budget=budget(1.0), unit=dp.rows())
    for name, amount in (("ann", 0.5), ("bob", 0.3)):
        ledger.share(name, amount=budget(amount))

    def charge(amount, asker=None):
        noise = dp.Laplace(scale=1 / amount)
        if budget is dp.rho:
            noise = dp.Gaussian(sigma=(2 * amount) ** -0.5)
        return ledger.charge(noise, unit=dp.rows(), asker=asker)

    charge(0.2 + tiny)
    charge(0.3 * (1 + tiny), "bob")
    charge(0.5, "ann")
    assert ledger.verify()
    with pytest.raises(dp.BudgetExceeded):
        charge(1e-6, "ann")
    with pytest.raises(dp.BudgetExceeded):
        charge(1e-6)


def tiny(ledger, asker, times, amount=1e-17):
    for _ in range(times):
        ledger.charge(dp.Laplace(scale=1 / amount), unit=dp.rows(), asker=asker)


@pytest.mark.parametrize("spent_by_others", [False, True])
def test_many_small_charges_of_one_asker_are_felt_by_nobody_else(spent_by_others):
    """Sums are rounded up at each charge, the total more than a small share: neither refuses."""
    with open_ledger(budget=dp.epsilon(1.5), unit=dp.rows()) as ledger:
        for name, amount in (("ann", 0.25), ("bob", 0.001), ("cem", 1.0)):
            ledger.share(name, amount=dp.epsilon(amount))
        if spent_by_others:
            ledger.charge(dp.Laplace(scale=1.0), unit=dp.rows(), asker="cem")
        ledger.charge(dp.Laplace(scale=1 / (0.001 - 2e-13)), unit=dp.rows(), asker="bob")
        tiny(ledger, "bob", 7_000)
        ledger.charge(dp.Laplace(scale=4.0), unit=dp.rows(), asker="ann")
        assert ledger.verify()


def test_what_is_written_after_many_small_charges_can_be_read_again(tmp_path):
    """The charge outside shares is held to the same test as the line is when it is read."""
    with open_ledger(budget=dp.epsilon(4), unit=dp.rows()) as ledger:
        ledger.share("cem", amount=dp.epsilon(1))
        ledger.share("bob", amount=dp.epsilon(0.001))
        for amount, asker in ((1.0, "cem"), (0.999 - 1e-12, None), (0.001 - 2e-13, "bob")):
            ledger.charge(dp.Laplace(scale=1 / amount), unit=dp.rows(), asker=asker)
        tiny(ledger, "bob", 7_500)
        tiny(ledger, None, 5)
        assert ledger.verify()


def test_a_share_of_nothing_is_refused():
    with open_ledger(budget=dp.rho(1), unit=dp.rows()) as ledger:
        with pytest.raises(dp.BadParameter, match="amount must be above 0"):
            ledger.share("ann", amount=dp.rho(1) * 0)
        assert not ledger.shares()


class Missing:
    """Something that cannot be made ready, as a file that was moved away."""

    def __enter__(self):
        raise RuntimeError("not there")

    def __exit__(self, *_):
        pass


@pytest.mark.parametrize("before", [False, True])
def test_a_used_up_share_is_refused_before_anything_is_made_ready(tmp_path, before):
    """Else the kind of refusal would show whether somebody else has asked."""
    s = shared(tmp_path / "ledger.db")
    if before:
        s.for_("bob").release(step(DEAR), question="q")
    value = dp.Sensitive(lambda: 3, l1=1, ready=[Missing()])
    with pytest.raises(dp.BudgetExceeded):
        s.for_("ann").release(DEAR.on(value), question="q")


def test_an_answer_drawn_now_is_told_as_one_that_was_stored(tmp_path):
    s = dp.open(TABLE, unit=dp.rows(), budget=dp.epsilon(9), ledger=tmp_path / "ledger.db",
                schema=dp.Schema(columns={"x": dp.bounds(0, 9, type="int")}))  # fmt: skip
    ask = "SELECT AVG(x) AS a, COUNT(*) AS n FROM data"
    drawn, stored = (s.sql(ask).release(spend=dp.epsilon(1)) for _ in range(2))
    assert repr(drawn.answers) == repr(stored.answers)
