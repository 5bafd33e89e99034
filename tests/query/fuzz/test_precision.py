"""Part numbers tell nothing by their digits (Haney et al. 2022): one lattice for all data.

Each number released is (noisy whole number) × (public step). Two things are shown for neighbours
alike: that every answer lies on that lattice, and that every residue of the whole numbers is met,
so that neither where the answers can lie nor their last digits depend on rows. Averages are
functions of such numbers alone.
"""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.curator import open as open_curator
from deniable.session.drawing import watched

GROUPS = 400
SUM = "SELECT g, SUM(x) AS s FROM data GROUP BY g"
AVG = "SELECT g, AVG(x) AS a FROM data GROUP BY g"
SPEND = {"Pure": dp.epsilon(0.5), "Zcdp": dp.rho(0.05)}
ROWS = [(j // 3, j % GROUPS, math.sin(j) * 9) for j in range(3 * GROUPS)]
LAST = (9999, 7, 0.1)


def session(rows, unit, budget):
    table = pa.table(dict(zip(("id", "g", "x"), map(list, zip(*rows, strict=True)), strict=True)))
    schema = dp.Schema(columns={"g": dp.keys(range(GROUPS)), "x": dp.bounds(-10, 10)})
    return open_curator(table, unit=unit, budget=budget, schema=schema)


class Drawn:
    """Watches what is drawn, with the mechanism's own noise."""

    def __init__(self):
        self.vectors = []

    def charged(self, entry):
        pass

    def answer(self, draw, value, compute):
        self.vectors.append(draw(compute()))
        return self.vectors[-1]


def on_lattice(values, step):
    return all((Fraction(value) / step).denominator == 1 for value in values)


def all_residues(numbers, modulus=8):
    """With noise far wider than the modulus each of 400 draws meets a residue with about 1/8:
    one is missed with probability below 8·0.88^400 < 1e-21."""
    return set(np.asarray(numbers).ravel() % modulus) == set(range(modulus))


UNITS = [dp.rows(), dp.person("id", rows=2)]
BUDGETS = [dp.epsilon(20), dp.rho(9)]


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("rows", [ROWS, [*ROWS, LAST]], ids=["without", "with"])
def test_sums_lie_on_one_lattice_whatever_the_rows(rows, budget, unit):
    query = session(rows, unit, budget).sql(SUM)
    spend = SPEND[type(budget).__name__]
    allocation = query._allocate(spend, None, None)
    (part,) = allocation.parts
    drawn = Drawn()
    with watched(drawn):
        values = [row["s"] for row in query.release(spend=spend).rows()]
    unit = Fraction(part.worth)
    assert unit.denominator & (unit.denominator - 1) == 0  # a power of two, and public
    assert on_lattice(values, unit)
    (numbers,) = drawn.vectors
    assert numbers.dtype == np.int64
    assert all_residues(numbers)
    assert [Fraction(v) / unit for v in values] == numbers.tolist()


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_averages_are_made_of_whole_noisy_numbers_alone(budget, unit):
    """The same noisy counts and sums give the same bits, whichever neighbour they came from."""
    shown = []
    spend = SPEND[type(budget).__name__]
    recorded = Drawn()
    with watched(recorded):
        shown.append(session(ROWS, unit, budget).sql(AVG).release(spend=spend).rows())
    assert len(recorded.vectors) == (1 if isinstance(budget, dp.Pure) else 2)
    assert all(vector.dtype == np.int64 and all_residues(vector) for vector in recorded.vectors)

    class Fed(Drawn):
        def answer(self, draw, value, compute):
            super().answer(draw, value, compute)
            return recorded.vectors[len(self.vectors) - 1]

    with watched(Fed()):
        shown.append(session([*ROWS, LAST], unit, budget).sql(AVG).release(spend=spend).rows())
    assert shown[0] == shown[1]


def test_float_noise_would_be_caught():
    """The attack itself: a float sum with float noise, and noise in coarse steps."""
    rng = np.random.default_rng(0)
    step = Fraction(1, 2**28)
    assert not on_lattice(1.1 + rng.laplace(0, 20, 50), step)
    assert not all_residues(3 + 8 * rng.integers(-50, 50, 400))
