"""What is asked of every class: at least k rows, ℓ well-spread values, within t of the whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter
from deniable.parameters import one_of, positive, probability, whole

from . import diversity
from .diversity import Floats, Pairs
from .tables import Codes

DIVERSITIES = ("distinct", "entropy", "recursive")
# Distances are sums of rounded shares: one that equals t may come out this much above it.
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class Demands:
    """k, and optionally ℓ (of one of three kinds) and t.

    *Monotone* means: a union of classes that pass, and of others, passes. Then rows that are
    suppressed at a node are suppressed at every finer one.

    * k and distinct ℓ are monotone: a union has at least as many rows and values as each part.
    * The others are not: 2 rows with values {a, b} have entropy ln 2, and joined with 100 rows of
      value a next to none. But a union of classes that *all* pass does pass: entropy is
      concave and the earth mover's distance convex; for recursive (c, ℓ) see [MKGV07]. That
      is enough where nothing may be suppressed.
    """

    k: int
    l: float | None = None
    t: float | None = None
    diversity: str = "distinct"
    c: float = 1.0

    def __post_init__(self) -> None:
        whole("k", self.k)
        one_of("diversity", self.diversity, DIVERSITIES)
        positive("c", self.c)
        if self.l is not None and self.diversity == "entropy":
            positive("l", self.l)
        elif self.l is not None:
            whole("l", self.l)
        if self.t is not None:
            probability("t", self.t)

    @property
    def monotone(self) -> bool:
        """A class that passes still does when any other is added to it."""
        return self.t is None and (self.l is None or self.diversity == "distinct")

    def needs(self, sensitive: str | None) -> None:
        """ℓ and t are about a sensitive column."""
        if sensitive is None and (self.l is not None or self.t is not None):
            raise BadParameter(
                "ℓ-diversity and t-closeness need to know which column is sensitive",
                fix='sensitive="diagnosis"',
            )

    def small(self, sizes: Codes, pairs: Pairs) -> NDArray[np.bool_]:
        """The classes that fail a monotone demand."""
        bad: NDArray[np.bool_] = sizes < self.k
        if self.l is not None:
            # Each kind of ℓ-diversity implies the distinct one.
            least = np.ceil(self.l - 1e-9) if self.diversity == "entropy" else self.l
            bad = bad | (diversity.distinct(pairs) < least)
        return bad

    def broken(
        self,
        sizes: Codes,
        pairs: Pairs,
        *,
        ordered: bool,
        tree: tuple[Codes, ...] = (),
        overall: Floats | None = None,
    ) -> NDArray[np.bool_]:
        """The classes that fail any demand, where t is the distance from that whole."""
        bad = self.small(sizes, pairs)
        if self.l is not None and self.diversity == "entropy":
            bad |= diversity.entropy(pairs) < self.l * (1 - 1e-12)
        if self.l is not None and self.diversity == "recursive":
            bad |= diversity.recursive(pairs, l=int(self.l)) >= self.c
        if self.t is not None:
            far = diversity.distance(pairs, ordered=ordered, tree=tree, overall=overall)
            bad |= far > self.t + _ROUNDING
        return bad

    def failing(
        self, sizes: Codes, pairs: Pairs, *, ordered: bool, tree: tuple[Codes, ...] = ()
    ) -> NDArray[np.bool_]:
        """The classes to suppress so that all others pass.

        t is measured against what is published: without the suppressed rows. Taking rows out
        changes the whole, so this is repeated until every class that is left passes.
        """
        bad = np.zeros(sizes.size, bool)
        while not bad.all():
            left = pairs.kept(~bad)
            more = self.broken(sizes[~bad], left, ordered=ordered, tree=tree)
            if not more.any():
                break
            bad[np.flatnonzero(~bad)[more]] = True
        return bad
