"""Trees on noisy histograms, against the definition worked out leaf by leaf in plain Python."""

import numpy as np
import pytest

from deniable.learn.engine.cells import Cells
from deniable.learn.models.trees import _cuts, grown


def worth(slopes, weights, noise):
    """Of one leaf: its squared sum beyond what noise explains, over its damped weight."""
    return max(sum(slopes) ** 2 - len(slopes) * noise**2, 0.0) / (sum(weights) + noise)


def cut(slopes, weights, noise, leaves):
    begins = [0]
    while len(begins) < leaves:
        best, where = -1.0, None
        for start, stop in zip(begins, [*begins[1:], len(slopes)], strict=True):
            for place in range(start + 1, stop):
                ends = [(start, place), (place, stop), (start, stop)]
                one, two, both = (worth(slopes[a:b], weights[a:b], noise) for a, b in ends)
                if one + two - both > best:
                    best, where = one + two - both, place
        if where is None or best <= 2 * noise**2 / (sum(weights) / leaves + noise):
            break
        begins = sorted([*begins, where])
    return begins


def step(slopes, weights, noise):
    """Newton's, damped by the noise and shrunk by the share that noise explains."""
    total = sum(slopes)
    shrunk = max(1 - len(slopes) * noise**2 / total**2, 0.0)
    return shrunk * total / (sum(weights) + noise)


def histograms(seed, size):
    rng = np.random.default_rng(seed)
    return rng.normal(size=size) * 9 + np.where(np.arange(size) > size // 3, 12, -7), rng.uniform(
        1, 30, size
    )


@pytest.mark.parametrize("noise", [0.1, 3.0, 9.0])
@pytest.mark.parametrize("leaves", [1, 2, 3, 8])
def test_the_split_that_gains_most_above_the_noise_is_made_again_and_again(leaves, noise):
    cuts = []
    for seed in range(12):
        slopes, weights = histograms(seed, 7 + seed % 3)
        found = _cuts(slopes, weights, noise, leaves).tolist()
        assert found == cut(slopes.tolist(), weights.tolist(), noise, leaves)
        cuts.append(len(found))
    assert max(cuts) <= leaves
    assert leaves == 1 or max(cuts) > 1


def test_without_a_signal_nothing_is_split():
    assert _cuts(np.zeros(6), np.ones(6), 0.5, 4).tolist() == [0]


def test_a_gain_of_just_what_noise_would_make_is_not_enough():
    """(36 − 25)/8 + (64 − 25)/8 = 2 · 25/8, all of them exact in floats."""
    assert _cuts(np.array([6.0, -8.0]), np.array([3.0, 3.0]), 5.0, 2).tolist() == [0]
    assert _cuts(np.array([6.0, -8.1]), np.array([3.0, 3.0]), 5.0, 2).tolist() == [0, 1]


@pytest.mark.parametrize("classes", [1, 3])
def test_each_column_has_a_tree_and_cells_without_an_order_are_leaves(classes):
    space, noise, leaves = Cells(sizes=(6, 4, 9)), 2.0, 3
    ordered = [True, False, True]
    slopes = np.stack([histograms(seed, 19)[0] for seed in range(classes)], axis=1)
    weights = histograms(7, 19)[1]
    found = grown(space, slopes, weights, noise=noise, leaves=leaves, ordered=ordered)
    assert found.shape == slopes.shape
    for one, steps in zip(slopes.T, found.T, strict=True):
        wanted = []
        for start, size, in_order in zip((0, 6, 10), space.sizes, ordered, strict=True):
            s, w = one[start : start + size].tolist(), weights[start : start + size].tolist()
            begins = cut(s, w, noise, leaves) if in_order else list(range(size))
            for a, b in zip(begins, [*begins[1:], size], strict=True):
                wanted += [step(s[a:b], w[a:b], noise)] * (b - a)
        assert steps == pytest.approx(wanted)
    alone = grown(space, slopes[:, 0], weights, noise=noise, leaves=leaves, ordered=ordered)
    assert (alone == found[:, 0]).all()


def test_what_noise_explains_alone_is_no_step():
    space = Cells(sizes=(4,))
    found = grown(
        space, np.array([0.0, 0.5, -0.9, 0.3]), np.ones(4), noise=1.0, leaves=4, ordered=[False]
    )
    assert not found.any()
