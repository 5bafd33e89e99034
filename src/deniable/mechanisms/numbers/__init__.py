"""Mechanisms that add noise to numbers."""

from typing import TYPE_CHECKING

from deniable.loading import on_first_use

if TYPE_CHECKING:
    from .discrete_gaussian import DiscreteGaussian
    from .discrete_laplace import DiscreteLaplace
    from .gaussian import Gaussian
    from .laplace import Laplace
    from .staircase import Staircase
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "discrete_gaussian": "DiscreteGaussian",
            "discrete_laplace": "DiscreteLaplace",
            "gaussian": "Gaussian",
            "laplace": "Laplace",
            "staircase": "Staircase",
        },
    )

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "Gaussian", "Laplace", "Staircase"]
