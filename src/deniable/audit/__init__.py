"""Is the claim true? Black-box audits, audits of one training run, and replays of a computation.

blackbox     audit: run a function on two data sets and look for an event that refutes the claim
claims       the claimed limit on how differently two neighbouring data sets may answer
sample       draw answers from both data sets in turn
outputs      any answers as columns
leaves       an answer split into numbers and everything else an observer can read
parts        the parts of a container, whichever library made it
frames       the parts of pandas, Polars and PyArrow objects, without importing them
features     scores of answers that may separate two data sets
propose      the features to try, simplest first
events       the event that separates two data sets best
certify      exact binomial bounds
power        how small an error the audit would have caught
verdict      the result, as text and as a chart
game         an adversary who asks adaptively and guesses which data set answered
one_run      audit a training run with canaries
replays      run a computation twice, on neighbouring data sets, with the noise frozen
specimens    deliberately wrong mechanisms, which an auditor must catch
"""

from __future__ import annotations

from .blackbox import audit
from .game import Game, game
from .one_run import audit_scores, audit_training
from .replays import Replay, neighbours, replay, search
from .verdict import Verdict

__all__ = [
    "Game",
    "Replay",
    "Verdict",
    "audit",
    "audit_scores",
    "audit_training",
    "game",
    "neighbours",
    "replay",
    "search",
]
