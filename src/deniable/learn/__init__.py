"""Private learning: estimators with scikit-learn's interface, alone or through a session.

    models       estimators, one file per family
    scikit_learn  what we use of scikit-learn, with types
    engine       what they share: features on a lattice, exact sums, noise, price
    encoding     features from the schema of a session's table
    from_table   examples from columns of a table: in cells, or as numbers
    fitting      s.fit
    explaining   s.explain_fit
    selecting    s.select and s.tune
    convex       minimise a convex loss over a set
    deep         PyTorch networks, with per-row gradients by Opacus
    effects      scores against ε or another setting, before you spend

from deniable.learn import LogisticRegression

model = LogisticRegression(epsilon=1.0, delta=1e-6, bounds=(0, 1), classes=[0, 1]).fit(X, y)
model = s.fit(LogisticRegression(), target="income", spend=dp.epsilon(1.0, delta=1e-6))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.loading import on_first_use

_HOMES = {
    "effects": "Effect effect",
    "models.bayes": "GaussianNB",
    "models.boosting": "GradientBoosting",
    "models.clusters": "KMeans",
    "models.custom": "GradientDescent",
    "engine.rowwise": "margins",
    "models.linear": "LinearRegression Ridge",
    "models.logistic": "LogisticRegression",
    "models.preparation": "PCA StandardScaler",
}

__all__ = [name for names in _HOMES.values() for name in names.split()]

if TYPE_CHECKING:
    from .effects import Effect as Effect
    from .effects import effect as effect
    from .engine.rowwise import margins as margins
    from .models.bayes import GaussianNB as GaussianNB
    from .models.boosting import GradientBoosting as GradientBoosting
    from .models.clusters import KMeans as KMeans
    from .models.custom import GradientDescent as GradientDescent
    from .models.linear import LinearRegression as LinearRegression
    from .models.linear import Ridge as Ridge
    from .models.logistic import LogisticRegression as LogisticRegression
    from .models.preparation import PCA as PCA
    from .models.preparation import StandardScaler as StandardScaler
else:
    __getattr__, __dir__ = on_first_use(__name__, _HOMES)
