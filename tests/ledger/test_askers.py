"""One person has one name: a spelling that only looks like it is refused, wherever it is given."""

import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.halts import named

ROWS = dp.rows()
UNSEEN = "\u200b\u200d\u2060\ufeff\u00ad\u034f\u115f\u3164\ufe0f\uffa0\U000e0001\U000e0101\u180e"
UNSEEN += "\u2800\U00016fe4\U0001d159"
BLANK = " \t\n\r\x0b\x0c\u00a0\u2003\u3000\u2028"
STRANGE = {
    *(f"ann{c}" for c in UNSEEN + BLANK),
    *(f"{c}ann" for c in UNSEEN + BLANK),
    *(f"an{c}n" for c in UNSEEN),
    *("ann  lee", "a\x00b", "", "x" * 201, "\ud800", "\u202eann"),
    *("Jose\u0301", "\u212b", "\u212a"),  # decomposed; the signs of Ångström and kelvin
}


def fresh():
    return open_ledger(budget=dp.epsilon(1.0), unit=ROWS)


USES = {
    "share": lambda ledger, name: ledger.share(name, amount=dp.epsilon(0.1)),
    "charge": lambda ledger, name: ledger.charge(dp.Laplace(scale=9.0), unit=ROWS, asker=name),
    "check": lambda ledger, name: ledger.check(ledger.price(dp.Laplace(scale=9.0)), asker=name),
    "recall": lambda ledger, name: ledger.recall("0" * 64, asker=name),
    "resume": lambda ledger, name: ledger.resume(name),
    "open": lambda ledger, name: dp.open({"x": [1]}, unit=ROWS, ledger=ledger, asker=name),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", [*sorted(STRANGE), 7], ids=ascii)
def test_a_name_that_is_not_what_it_looks_like_is_refused(name, use):
    ledger = fresh()
    with pytest.raises(dp.BadParameter, match="asker must be a name"):
        USES[use](ledger, name)
    assert not list(ledger.entries)


@pytest.mark.parametrize("name", ["ann", "Ann Lee", "José", "李雷", "a@b.org", "a", "x" * 200])
def test_a_plain_name_is_kept_as_it_is(name):
    assert named(name) == name
    assert fresh().share(name, amount=dp.epsilon(0.1)).asker == name


@pytest.mark.parametrize(
    ("first", "second"),
    [("ann", "Ann"), ("ann", "ANN"), ("ann", "ａｎｎ"), ("straße", "STRASSE"), ("ﬁn", "fin")],
)
def test_no_two_shares_have_names_alike(first, second):
    for one, other in ((first, second), (second, first)):
        ledger = fresh()
        ledger.share(one, amount=dp.epsilon(0.1))
        with pytest.raises(dp.BadParameter, match="only in case or width"):
            ledger.share(other, amount=dp.epsilon(0.1))
        ledger.share(one, amount=dp.epsilon(0.1))
