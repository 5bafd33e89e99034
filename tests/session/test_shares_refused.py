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
