"""Marginals chosen before anything was seen: measured together, once."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.synthetic.inference import Clique
from deniable.synthetic.purse import Noise
from deniable.synthetic.run import Run, Steps, View

STEPS = 500


def fixed(run: Run, cliques: Sequence[Clique]) -> Steps[None]:
    """Measure each of the cliques with the same noise, and fit."""
    run.say(f"measuring {len(cliques)} marginals")
    views = [View(clique) for clique in cliques]
    yield from run.measure(views, equal_noise(run, views, run.purse.left))
    run.say("fitting the model")
    run.refit(steps=STEPS, tolerance=1e-5)


def equal_noise(run: Run, views: Sequence[View], amount: float) -> list[Noise]:
    """Noise of one size for marginals that share an amount."""
    share = amount / len(views)
    hidden = [run.hidden(view) for view in views]
    return [run.purse.noise(share, l1=h.l1, l2=h.l2) for h in hidden]
