"""The guard that float functions are as good as the samplers assume."""

import math

import numpy as np
import pytest

from deniable.sampling import floats
from deniable.sampling.exact import exp_bounds, log_bounds


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
