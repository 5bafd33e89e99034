"""The figures of the Adult data with noise on: how often the stated 95 % intervals hold them.

The engine adds up once; the noise is drawn, and the answer made of it, once for each repetition.
"""

import numpy as np
import pytest
from tests import goodness
from tests.query.executing import execute
from tests.query.whole.asking import adult, without_noise

import deniable as dp
from deniable.query.answer import answer
from deniable.query.execute import ExactCells

REPETITIONS = 12_000
ALARM = 1e-8

FIGURES = [
    "SELECT COUNT(*) AS x FROM adult WHERE age >= 40",
    "SELECT COUNT(*) AS x FROM adult WHERE education_num > 10",
    "SELECT COUNT(*) AS x FROM adult WHERE age >= 21 AND age < 33",
    "SELECT SUM(age) AS x FROM adult WHERE education_num > 10",
    "SELECT SUM(LEAST(age, 30)) AS x FROM adult",
    "SELECT AVG(age) AS x FROM adult",
    "SELECT COUNT(DISTINCT occupation) AS x FROM adult",
    "SELECT COUNT(*) AS x FROM adult WHERE education = 'HS-grad'",
]


def covered(session, sql, spend, repetitions=REPETITIONS):
    """How many intervals hold the exact value, and how many there are."""
    query = session.sql(sql)
    with without_noise():
        exact = query.release(spend=spend).value
    allocation = query._allocate(spend, None, None)
    cells = execute(query.integers, tables=query.session.tables)
    once = [ExactCells(cells).aligned(part, [()]) for part in allocation.parts]
    many = [np.repeat(vector, repetitions, axis=0) for vector in once]
    drawn = [m.draw(vector) for m, vector in zip(allocation.noise, many, strict=True)]
    _, answers = answer(allocation, [()] * repetitions, drawn)
    inside = [low <= exact <= high for low, high in answers["x"].intervals(0.95)]
    return sum(inside), len(inside)


@pytest.fixture(scope="module")
def session():
    return adult()


@pytest.mark.statistical
@pytest.mark.parametrize("sql", FIGURES)
def test_wide_noise_is_covered_as_often_as_is_said(session, sql):
    assert goodness.count(*covered(session, sql, dp.epsilon(0.01)), 0.95) > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("sql", FIGURES)
def test_narrow_noise_is_covered_at_least_as_often(session, sql):
    """Whole numbers within ± 1 are exact more often than is said; never less often."""
    assert goodness.covered(*covered(session, sql, dp.epsilon(2.0)), 0.95) > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("sql", ["SELECT VAR_SAMP(age) AS x FROM adult"])
def test_variances_are_covered_at_least_as_often_as_is_said(session, sql):
    """Their intervals allow for a mean that is not known exactly, and are a little wide."""
    assert goodness.covered(*covered(session, sql, dp.epsilon(0.01)), 0.95) > ALARM


@pytest.mark.statistical
def test_the_median_is_covered_at_least_as_often_as_is_said(session):
    sql = "SELECT MEDIAN(age) AS x FROM adult"
    held = covered(session, sql, dp.epsilon(0.05), repetitions=2_000)
    assert goodness.covered(*held, 0.95) > ALARM


@pytest.mark.statistical
def test_an_interval_for_less_noise_than_was_drawn_would_be_seen(session, monkeypatch):
    from deniable.mechanisms import Laplace

    drawn = Laplace.draw
    monkeypatch.setattr(
        Laplace, "draw", lambda self, value: drawn(Laplace(scale=1.2 * self.scale), value)
    )
    assert goodness.covered(*covered(session, FIGURES[0], dp.epsilon(0.01)), 0.95) < ALARM
