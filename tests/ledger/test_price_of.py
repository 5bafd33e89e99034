"""What a list costs: the sum over its parts as often as they are used, or one block at a δ."""

import pytest

import deniable as dp
from deniable.ledger.chain import price_of
from deniable.losses.filters import Price, filter_for
from deniable.mechanisms.combine import Composed
from deniable.mechanisms.frameworks import Catastrophe

FILTER = filter_for(dp.epsilon(50.0, delta=1e-2))
PARTS = [
    (dp.Laplace(scale=2.0), 3),
    (Catastrophe(delta=1e-6, of=dp.Laplace(scale=5.0)), 4),
    (dp.Gaussian(sigma=9.0), 2),
]


@pytest.mark.parametrize("chosen", [[1], [0, 1], [0, 1, 2], [1, 2]])
def test_each_part_with_a_delta_of_its_own_counts_as_often_as_it_is_used(chosen):
    parts = [PARTS[i] for i in chosen]
    found = price_of(Composed.of(*parts), FILTER, None)
    wanted = Price.zero
    for part, times in parts:
        for _ in range(times):
            wanted = wanted + FILTER.price(part)
    for name in ("epsilon", "delta", "rho"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-12)
    assert found.renyi == pytest.approx(wanted.renyi, rel=1e-12)
    assert found.delta >= 4e-6


def test_with_a_delta_it_is_one_block():
    whole = Composed.of(PARTS[0], PARTS[2])
    found = price_of(whole, FILTER, 1e-5)
    assert found == FILTER.block(whole.epsilon_at(1e-5), 1e-5)
    assert price_of(whole, FILTER, None) == FILTER.price(whole)
