"""Mechanisms that add noise to numbers."""

from typing import TYPE_CHECKING

from deniable.loading import on_first_use

if TYPE_CHECKING:
    from .discrete_gaussian import DiscreteGaussian
    from .discrete_laplace import DiscreteLaplace
    from .gaussian import Gaussian
    from .laplace import Laplace
    from .skellam import Skellam, SkellamL2
    from .skellam_shares import SkellamShares
    from .staircase import Staircase
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "discrete_gaussian": "DiscreteGaussian",
            "discrete_laplace": "DiscreteLaplace",
            "gaussian": "Gaussian",
            "laplace": "Laplace",
            "skellam": "Skellam SkellamL2",
            "skellam_shares": "SkellamShares",
            "staircase": "Staircase",
        },
    )

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Gaussian",
    "Laplace",
    "Skellam",
    "SkellamL2",
    "SkellamShares",
    "Staircase",
]
