"""Mechanisms that say which keys of a private list may be shown."""

from typing import TYPE_CHECKING

from deniable.loading import on_first_use

if TYPE_CHECKING:
    from .gaussian_threshold import GaussianThreshold
    from .laplace_threshold import LaplaceThreshold
    from .partition_selection import PartitionSelection
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "gaussian_threshold": "GaussianThreshold",
            "laplace_threshold": "LaplaceThreshold",
            "partition_selection": "PartitionSelection",
        },
    )

__all__ = ["GaussianThreshold", "LaplaceThreshold", "PartitionSelection"]
