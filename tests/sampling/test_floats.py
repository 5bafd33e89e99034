"""The guard that float functions are as good as the samplers assume."""

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.sampling import floats, inversion, lazy, select, uniform
from deniable.sampling.exact import exp_bounds, log_bounds
from deniable.sampling.gaussian import laws, steps


def test_this_machine_passes():
    floats.check_floats.__wrapped__()


@pytest.mark.parametrize("wrong", [2.0**-48, -(2.0**-48)])
def test_a_logarithm_wrong_by_sixteen_units_fails_loudly(wrong):
    points = np.linspace(2.0, 3.0, 9)
    with pytest.raises(ArithmeticError, match="nothing will be drawn"):
        floats._compare("log", lambda x: np.log(x) * (1 + wrong), math.log, points, log_bounds)


def test_a_wrong_scalar_exponential_fails_loudly():
    points = np.array([-1.0, -40.0])
    with pytest.raises(ArithmeticError):
        floats._compare("exp", np.exp, lambda x: math.exp(x) * (1 + 2e-14), points, exp_bounds)


def test_a_fault_at_one_point_only_is_found():
    points = np.linspace(-3.0, -1.0, 11)

    def faulty(x):
        return np.where(x == points[7], np.exp(x) * (1 + 1e-13), np.exp(x))

    with pytest.raises(ArithmeticError):
        floats._compare("exp", faulty, math.exp, points, exp_bounds)


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
