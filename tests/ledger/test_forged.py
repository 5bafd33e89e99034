"""A charge that was made cheaper in any coordinate of its price does not pass `verify`."""

import json

import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.entry import canonical, row_of
from deniable.ledger.header import Header
from deniable.losses.filters import Price

from .test_chain import assert_found, lines_of, meddle, rewrite

BUDGETS = {
    "pure": dp.epsilon(5.0),
    "approx": dp.epsilon(5.0, delta=1e-3),
    "zcdp": dp.rho(5.0),
    "gdp": dp.mu(5.0),
    "renyi": dp.rho(5.0).to(dp.Renyi),
}
LAPLACE, GAUSSIAN = dp.Laplace(scale=2.0), dp.Gaussian(sigma=2.0)
CHARGED = {"pure": [LAPLACE], "approx": [LAPLACE, GAUSSIAN], "gdp": [GAUSSIAN]}
CASES = [
    (kind, mechanism, coordinate, share)
    for kind in BUDGETS
    for mechanism in CHARGED.get(kind, [LAPLACE, GAUSSIAN])
    for coordinate in {"pure": ["epsilon"], "approx": ["epsilon", "renyi"]}.get(
        kind, [{"zcdp": "rho", "gdp": "mu_squared", "renyi": "renyi"}.get(kind)]
    )
    for share in (0.0, 0.5)
]


def cheaper(record, coordinate, share):
    """The line at a share of one coordinate of its price; its totals add up."""
    price = dict(record["price"])
    was = price.pop(coordinate)
    if share and was != "inf":
        price[coordinate] = [share * x for x in was] if isinstance(was, list) else share * was
    return record | {"price": price, "total": price, "committed": price}


@pytest.mark.parametrize(("kind", "mechanism", "coordinate", "share"), CASES)
def test_a_charge_made_cheaper_is_found(tmp_path, kind, mechanism, coordinate, share):
    path = tmp_path / "ledger.db"
    with open_ledger(path, budget=BUDGETS[kind], unit=dp.rows()) as ledger:
        ledger.charge(mechanism, unit=dp.rows())
        ledger.verify()
    header, line = lines_of(path)
    rewrite(path, [header, canonical(cheaper(json.loads(line), coordinate, share))])
    assert_found(path, "line 1 of the ledger was charged less than it costs")


def test_the_delta_of_a_block_cannot_be_left_out_either(tmp_path):
    path = tmp_path / "ledger.db"
    with open_ledger(path, budget=dp.epsilon(5.0, delta=1e-3), unit=dp.rows()) as ledger:
        ledger.charge(GAUSSIAN, unit=dp.rows(), delta=1e-5)
    header, line = lines_of(path)
    assert Price.from_dict(json.loads(line)["price"]).delta == 1e-5
    rewrite(path, [header, canonical(cheaper(json.loads(line), "delta", 0.0))])
    assert_found(path, "line 1 of the ledger was charged less than it costs")


@pytest.mark.parametrize("coordinate", ["epsilon", "renyi"])
@pytest.mark.parametrize(("delta", "share", "passes"), [
    (1e-5, 0.995, True), (1e-5, 0.98, False), (None, 1 - 1e-10, True), (None, 0.995, False),
])  # fmt: skip
def test_only_a_block_may_have_been_priced_a_little_lower(
    tmp_path, coordinate, delta, share, passes
):
    """Blocks are priced numerically, and a later version may end 1 % higher; formulas do not."""
    path, budget = tmp_path / "ledger.db", dp.epsilon(5.0, delta=1e-3)
    with open_ledger(path, budget=budget, unit=dp.rows()) as ledger:
        ledger.charge(LAPLACE, unit=dp.rows(), **({} if delta is None else {"delta": delta}))
    header, line = lines_of(path)
    rewrite(path, [header, canonical(cheaper(json.loads(line), coordinate, share))])
    if passes:
        with open_ledger(path, budget=budget, unit=dp.rows()) as ledger:
            ledger.verify()
    else:
        assert_found(path, "line 1 of the ledger was charged less than it costs")


@pytest.mark.parametrize("charges", [1, 5, 130])
def test_a_header_with_a_higher_ceiling_and_a_hash_of_its_own_is_found_at_opening(
    tmp_path, charges
):
    """Also where the next lines are too far back to be checked with the newest."""
    path, grown = tmp_path / "ledger.db", tmp_path / "grown.db"
    for place, ceiling in ((path, 20.0), (grown, 200.0)):
        with open_ledger(place, budget=dp.epsilon(ceiling), unit=dp.rows()) as ledger:
            for _ in range(charges):
                ledger.charge(dp.Laplace(scale=10.0), unit=dp.rows())
    forged = row_of(lines_of(grown)[0], json.loads(lines_of(grown)[0]))
    second = row_of(lines_of(path)[1], json.loads(lines_of(path)[1]))
    with pytest.raises(dp.LedgerFailure):  # by itself, before any walk
        Header.read([forged, second], where="here")
    change = "UPDATE entries SET line = ?, hash = ? WHERE sequence = 0"
    meddle(path, (change, (forged.line, forged.hash)))
    with pytest.raises(dp.LedgerFailure):
        open_ledger(path)
