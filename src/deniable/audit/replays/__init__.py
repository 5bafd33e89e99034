"""Run a computation twice, on two neighbouring data sets, with the noise taken out of the question.

_replay       replay: record on the first data set, replay on the second, compare step by step
watching      what is recorded, and how recorded answers are fed back
distances     how far a value moved, in the sense in which its mechanism promises
sameness      whether two results are the same
neighbours    pairs of neighbouring data sets that hurt
rows          arrays, lists and tables as lists of rows, and back
search        try all pairs, and shrink one that fails
"""

from ._replay import Fault, Replay, replay
from .neighbours import Pair, neighbours
from .search import search

__all__ = ["Fault", "Pair", "Replay", "neighbours", "replay", "search"]
