"""The guard that float functions are as good as the samplers assume."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from deniable.sampling import floats, inversion, lazy, select, uniform
from deniable.sampling.exact import cos_bounds, exp_bounds, log_bounds
from deniable.sampling.gaussian import laws, steps


def nearest(bounds, points):
    """The float nearest to the true value at each point, found by exact arithmetic."""
    found = []
    for point in points.tolist():
        lo, hi = bounds(Fraction(point), 400)
        found.append(float(Fraction(lo, 2**400)))
        assert found[-1] == float(Fraction(hi, 2**400))
    return np.array(found, dtype="<f8")


def test_this_machine_passes():
    floats.check_floats.__wrapped__()


def test_the_values_to_compare_with_are_the_nearest_floats():
    functions = (log_bounds, exp_bounds, cos_bounds)
    found = [nearest(*pair) for pair in zip(functions, floats.points(), strict=True)]
    held = Path(floats.__file__).with_name("floats.f64").read_bytes()
    assert held == np.concatenate(found).tobytes()


def test_the_points_lie_in_every_binade_that_samplers_use():
    logs, exps, cosines = floats.points()
    assert {*np.frexp(logs)[1]} == {*range(66)}
    assert {*np.frexp(-exps)[1]} == {*range(-49, 7)}
    assert np.histogram(cosines, bins=20, range=(0, 1))[0].min() >= 5


@pytest.mark.parametrize("wrong", [2.0**-48, -(2.0**-48)])
def test_a_logarithm_wrong_by_sixteen_units_fails_loudly(wrong):
    points = np.linspace(2.0, 3.0, 9)
    right = nearest(log_bounds, points)
    with pytest.raises(ArithmeticError, match="nothing will be drawn"):
        floats._compare("log", lambda x: np.log(x) * (1 + wrong), math.log, points, right)


def test_four_units_are_accepted_and_eight_are_not():
    points = np.linspace(2.0, 3.0, 9)
    right = nearest(log_bounds, points)

    def off(units):
        return lambda x: nearest(log_bounds, np.atleast_1d(x)) + units * np.spacing(np.log(x))

    floats._compare("log", off(3), math.log, points, right)
    with pytest.raises(ArithmeticError):
        floats._compare("log", off(8), math.log, points, right)


def test_a_wrong_scalar_exponential_fails_loudly():
    points = np.array([-1.0, -40.0])
    right = nearest(exp_bounds, points)
    with pytest.raises(ArithmeticError):
        floats._compare("exp", np.exp, lambda x: math.exp(x) * (1 + 2e-14), points, right)


@pytest.mark.parametrize("instead", [lambda x: x * (1 + 1e-13), lambda x: x * np.nan])
def test_a_fault_at_one_point_only_is_found(instead):
    points = np.linspace(-3.0, -1.0, 11)

    def faulty(x):
        return np.where(x == points[7], instead(np.exp(x)), np.exp(x))

    with pytest.raises(ArithmeticError):
        floats._compare("exp", faulty, math.exp, points, nearest(exp_bounds, points))


class Wrong(Exception):
    """This machine's functions are not what the margins assume."""


FAST = {
    "inversion": (inversion, lambda: inversion.Inversion(Fraction(3))),
    "gaussian laws": (laws, lambda: laws._Law(Fraction(3))),
    "gaussian steps": (steps, steps._table.__wrapped__),
    "many lazy": (lazy, lambda: lazy.Laplace.estimates(np.array([5], dtype=np.uint64))),
    "one lazy": (lazy, lazy.Laplace),
    "select": (select, lambda: select.noisy_max([0.0, 1.0], scale=1.0)),
    "uniform": (uniform, lambda: uniform.bernoulli_exp(np.full(9, 0.3))),
}


@pytest.mark.parametrize("place", FAST)
def test_nothing_is_decided_by_floats_on_a_machine_that_fails_the_check(place, monkeypatch):
    module, use = FAST[place]
    use()

    def fail():
        raise Wrong

    monkeypatch.setattr(module, "check_floats", fail)
    with pytest.raises(Wrong):
        use()


FUNCTIONS = [(np, "log"), (np, "exp"), (math, "log"), (math, "exp"), (math, "cos")]


@pytest.mark.parametrize(("home", "name"), FUNCTIONS, ids=lambda x: getattr(x, "__name__", x))
def test_the_check_notices_when_any_function_is_slightly_wrong(home, name, monkeypatch):
    right = getattr(home, name)
    monkeypatch.setattr(home, name, lambda x: right(x) * (1 + 1e-11))
    with pytest.raises(ArithmeticError, match=name):
        floats.check_floats.__wrapped__()
