"""Support responses: the chance of support, and the law of the reports."""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp
from tests import goodness

import deniable as dp
from deniable.mechanisms.local.support_response import SupportResponse
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import using


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 12.0])
@pytest.mark.parametrize(("reports", "support"), [(2, 1), (16, 4), (16, 15), (65536, 3)])
def test_the_chance_of_support_is_rounded_down_and_close(epsilon, reports, support):
    made = SupportResponse(epsilon=epsilon, reports=reports, support=support)
    weight = support * mp.exp(mp.mpf(epsilon))
    exact = weight / (weight + reports - support)
    found = mp.mpf(made.chance.numerator) / made.chance.denominator
    assert exact - mp.mpf(2) ** -49 < found <= exact
    assert made.pure() == epsilon


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0.0},
        {"reports": 1},
        {"support": 0},
        {"support": 5},
        {"support": 6},
        {"reports": 2.5},
    ],
    ids=str,
)
def test_each_parameter_is_checked(wrong):
    SupportResponse(epsilon=1.0, reports=5, support=4)
    with pytest.raises(dp.BadParameter):
        SupportResponse(**({"epsilon": 1.0, "reports": 5, "support": 2} | wrong))


@pytest.mark.parametrize("true", [0, 3, 4])
def test_reports_have_their_law(true):
    """20,000 reports of one seed, in five cells; a bound on p of 1e-8."""
    made = SupportResponse(epsilon=1.2, reports=5, support=2)
    with using(SeededSource(3)):
        found = made.draw(np.full(20_000, true))
        one = made.draw(true)
    inside = float(made.chance)
    law = np.full(5, (1 - inside) / 3)
    law[[true, (true + 1) % 5]] = inside / 2
    assert goodness.cells(np.bincount(found, minlength=5), law) > 1e-8
    assert type(one) is int
    odds = [a / b for a, b in itertools.permutations(sorted(set(law.tolist())), 2)]
    assert max(odds) == pytest.approx(math.exp(1.2), rel=1e-9)
    assert max(odds) <= math.exp(1.2)
