"""Mechanisms that add noise to numbers."""

from .discrete_gaussian import DiscreteGaussian
from .discrete_laplace import DiscreteLaplace
from .gaussian import Gaussian
from .laplace import Laplace
from .staircase import Staircase

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "Gaussian", "Laplace", "Staircase"]
