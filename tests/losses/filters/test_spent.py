"""What is shown as spent covers what was charged, had it been fixed in advance: also its δ."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.losses.filters import Price, filter_for
from deniable.mechanisms import Catastrophe

BUDGET = dp.epsilon(4.0, delta=1e-2)
BLOCKS = st.lists(st.sampled_from([1e-4, 3e-4, 1e-3]), min_size=1, max_size=6)


@settings(max_examples=30)
@given(deltas=BLOCKS, gaussians=st.integers(0, 8), laplaces=st.integers(0, 4))
def test_the_deltas_of_blocks_are_part_of_what_is_spent(deltas, gaussians, laplaces):
    """Catastrophes are (0, δ)-private and no better; their list is priced exactly."""
    ceiling = filter_for(BUDGET)
    noise = [dp.Gaussian(sigma=6.0)] * gaussians + [dp.Laplace(scale=20.0)] * laplaces
    blocks = [Catastrophe(delta=delta) for delta in deltas]
    spent = ceiling.spent(sum(map(ceiling.price, [*noise, *blocks]), Price.zero))
    whole = sum([*noise[1:], *blocks], noise[0]) if noise else sum(blocks[1:], blocks[0])
    assert whole.delta_at(spent.epsilon) <= spent.delta
    assert spent.delta >= sum(deltas) * (1 - 1e-12)


@pytest.mark.parametrize("noise", [dp.Laplace(scale=20.0), dp.Gaussian(sigma=6.0)])
def test_a_block_adds_its_delta_whichever_sum_is_the_better(noise):
    ceiling = filter_for(BUDGET)
    one = ceiling.price(noise)
    block = ceiling.block(0.0, 1e-3)
    alone, both = ceiling.spent(one), ceiling.spent(one + block)
    assert both.delta == pytest.approx(alone.delta + 1e-3)
    assert both.delta >= alone.delta + 1e-3 * (1 - 1e-12)
