"""The ends of what parameters and values of local protocols can be."""

import json
import math

import numpy as np
import pytest

import deniable as dp
from deniable import local


@pytest.mark.parametrize("counts", [[2**62] * 4, [2**63] * 4, [2**40, 1, 0, 0], [1, -1, 0, 0]])
@pytest.mark.parametrize("kind", [local.Direct, local.Unary, local.Hashing])
def test_made_up_counts_that_are_too_many_are_refused(kind, counts):
    with pytest.raises(dp.BadParameter, match="2⁴⁰"):
        kind(categories=4, epsilon=1.0).simulate(np.array(counts))


def test_a_text_that_ends_with_zeros_is_not_taken_for_another_label():
    with pytest.raises(dp.BadParameter):
        local.Direct(categories=["a", "a\0"], epsilon=1.0)
    p = local.Direct(categories=["a", "b"], epsilon=1.0)
    for use in (lambda: p.encode("a\0"), lambda: p.encode_all(["b", "a\0"])):
        with pytest.raises(dp.BadParameter):
            use()
    assert p.numbered(np.array(["b", "a"])).tolist() == [1, 0]


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\ud83d\ude00"])
def test_half_of_a_surrogate_pair_is_no_part_of_a_name(text):
    """It is not UTF-8, and two halves in JSON are read as the one character that they are not."""
    with pytest.raises(dp.BadParameter):
        local.Direct(categories=["a", text], epsilon=1.0)
    with pytest.raises(dp.BadParameter):
        local.Attributes(categories={text: 2, "b": 3}, epsilon=1.0)
    whole = local.Direct(categories=["a", "\U0001f600"], epsilon=1.0)
    assert local.from_dict(json.loads(json.dumps(whole.to_dict()))).identity == whole.identity


@pytest.mark.parametrize("first", [1e-200, 1e-39, 1e-20, 0.99e-6])
def test_a_first_report_that_says_nothing_is_refused(first):
    with pytest.raises(dp.BadParameter, match="at least 1e-06"):
        local.Repeated(categories=4, epsilon=1.0, first=first)
    least = local.Repeated(categories=4, epsilon=1.0, first=1e-6)
    assert np.isfinite(least.simulate([1, 2, 3, 4]).error).all()


@pytest.mark.parametrize("kind", [local.Mean, local.Ranges])
@pytest.mark.parametrize(
    ("low", "high"), [(1e308, 1.7e308), (-1.7e308, 1.7e308), (0, 5e-324), (1, 1), (2, 1)]
)
def test_bounds_with_which_one_cannot_compute_are_refused(kind, low, high):
    with pytest.raises(dp.BadParameter):
        kind(epsilon=1.0, low=low, high=high)


@pytest.mark.parametrize(("low", "high"), [(-(2.0**900), 2.0**900), (0, 2.0**-890)])
def test_means_and_ranges_of_wide_and_narrow_bounds_are_finite(low, high):
    for kind in (local.Mean, local.Ranges):
        p = kind(epsilon=1.0, low=low, high=high)
        found = p.server().add(p.encode_all([low, high] * 50)).estimate()
        ends = (found.mean, found.error) if p.name == "mean" else found.quantile(0.5)
        assert np.isfinite(ends).all()


def test_cells_have_distinct_edges():
    with pytest.raises(dp.BadParameter, match="edges differ"):
        local.Ranges(epsilon=1.0, low=1e16, high=1e16 + 64, cells=256)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("norm", [1e-200, 1e-3, 1.0, 1e200])
@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-3, 1.0, 1e307, 1.7e308])
def test_vectors_of_any_length_are_clipped_without_overflow(norm, size):
    p = local.Vector(dimension=2, epsilon=4.0, norm=norm)
    (found,) = p.numbered([[size, -size]])
    expected = min(1 / math.sqrt(2), size / norm if size < norm else math.inf)
    assert found == pytest.approx([expected, -expected], rel=1e-12, abs=1e-300)
