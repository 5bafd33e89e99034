"""Synthetic data: a private model of a table, and rows of it with the original types.

y = s.synthesize(spend=dp.epsilon(1, delta=1e-9))
y.to_pandas()

inference     graphical models on NumPy: fit, marginals, rows
domain        columns and their cells, from public facts
constraints   what is publicly known to be impossible
counting      exact marginals, hidden: counted by the engine, or from one reading of the rows
latest        a cache of what was used last, up to a total size
purse         what a run may spend, as one figure
run           the state of a run: what was measured, the model, what is left
methods       independent columns or chosen marginals, a tree of pairs, an adaptive choice
synthesis     a synthetic table before it is made: explain, release
planning      how near it would be, before spending
_synthetic    the table that is made: rows, marginals, certificate
marginal      counts of a model's marginal with their ±
evaluation    a comparison with the real table, for the curator
files         save and load
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.loading import on_first_use

if TYPE_CHECKING:
    from ._synthetic import Synthetic
    from .constraints import Determines, Impossible, determines, impossible
    from .evaluation import Report
    from .files import load
    from .marginal import Marginal
    from .synthesis import Interrupted, Synthesis
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "_synthetic": "Synthetic",
            "constraints": "Determines Impossible determines impossible",
            "evaluation": "Report",
            "files": "load",
            "marginal": "Marginal",
            "synthesis": "Interrupted Synthesis",
        },
    )

__all__ = [
    "Determines",
    "Impossible",
    "Interrupted",
    "Marginal",
    "Report",
    "Synthesis",
    "Synthetic",
    "determines",
    "impossible",
    "load",
]
