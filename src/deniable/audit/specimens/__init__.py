"""Deliberately wrong mechanisms, each beside its correct version: what an auditor must catch.

_specimen    a wrong mechanism beside its correct version, and how it is refuted
noise        size, law and digits of noise; noise used twice
sums         sums, means and vectors whose sensitivity is not what is said
selection    noisy max and the exponential mechanism
sparse       sparse vectors
frameworks   propose-test-release, smooth sensitivity, sample and aggregate
keys         keys from the data, thresholds, groups
books        composition, sampling, stopping rules, the order of charging, time
training     clipping, batches and intercepts in private training
stopping     for books: the adversary against the best order

None was written to suit an auditor: each is a mistake that was printed or shipped somewhere.

    >>> specimen = next(each for each in SPECIMENS if each.name == "sensitivity u − l of a sum")
    >>> specimen.judge_wrong().refuted, specimen.judge_right().refuted
    (True, False)
"""

from __future__ import annotations

from . import books, frameworks, keys, noise, selection, sparse, sums, training
from ._specimen import Computed, Finding, Replayed, Sampled, Specimen, Timed

SPECIMENS: tuple[Specimen, ...] = tuple(
    specimen
    for part in (noise, sums, selection, sparse, frameworks, keys, books, training)
    for specimen in part.SPECIMENS
)

__all__ = ["SPECIMENS", "Computed", "Finding", "Replayed", "Sampled", "Specimen", "Timed"]
