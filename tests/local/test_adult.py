"""The Adult data: Sales (3,650 people) and all 14 occupations, at ε = ln 3 and ln 9."""

import math
from collections import Counter

import numpy as np
import pytest
from tests import goodness

import deniable as dp
from deniable import local

EPSILONS = [math.log(3), math.log(9)]


@pytest.fixture(scope="module")
def occupations():
    column = dp.load_adult("train")["occupation"].to_pylist()
    return Counter(x for x in column if x not in (None, "?"))


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_sales_by_two_coins_and_by_less(occupations, epsilon):
    """Intervals hold 3,650 in at least 95 % of 200 surveys; a false alarm once in 1e9 runs."""
    counts = [sum(occupations.values()) - occupations["Sales"], occupations["Sales"]]
    assert counts[1] == 3650
    p = local.Direct(categories=["other", "Sales"], epsilon=epsilon)
    found = [p.simulate(counts) for _ in range(200)]
    hits = sum(abs(each.counts[1] - 3650) <= each.error[1] for each in found)
    assert goodness.covered(hits, 200, 0.95) > 1e-9
    # Two coins: the variance is n·(3/16)/(1/4), whoever answers.
    if epsilon == EPSILONS[0]:
        assert float(p.chances[0]) == pytest.approx(0.75)
        assert found[0].error[1] == pytest.approx(1.96 * math.sqrt(sum(counts) * 3 / 4), rel=0.01)


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_all_fourteen_occupations_are_covered(occupations, epsilon):
    labels = sorted(occupations)
    counts = np.array([occupations[each] for each in labels])
    assert len(labels) == 14
    p = local.choose(categories=labels, epsilon=epsilon, reports=int(counts.sum()))
    hits = np.zeros(14, dtype=int)
    people = np.repeat(labels, counts)
    for survey in range(60):
        real = survey == 0
        found = p.server().add(p.encode_all(people)).estimate() if real else p.simulate(counts)
        hits += np.abs(found.counts - counts) <= found.error
    for each in hits:
        assert goodness.covered(int(each), 60, 0.95) > 1e-10
