"""A statistic of a column whose bounds are found privately first, for a part of the spend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from deniable import statistics
from deniable.errors import DeniableError
from deniable.losses import Loss
from deniable.losses.filters import Price
from deniable.query.query import Query
from deniable.query.refuse import paid_before
from deniable.release import Release
from deniable.release.numbers import amount
from deniable.session.offers import offering
from deniable.statistics import About
from deniable.statistics.ranges import EXTREMES, SEARCH_SHARE, knowing, read_bounds


@dataclass(frozen=True, kw_only=True)
class Searching:
    """What is asked of a column once its bounds are known; `options` are those of the answer."""

    about: About
    column: str
    question: Callable[[About], Query]
    options: Mapping[str, Any]

    def release(self, spend: Loss) -> Release:
        """The answer, after the search; refused before either if there is too little for both."""
        with offering(self.about.session, spend, self._most_due):
            return self._released(spend)

    def _released(self, spend: Loss) -> Release:
        whole = self.about.source.column(self.column).type == "int"
        search, *after = self._due(spend)
        if search != Price.zero:  # else it is free, and the answer is charged alone
            for each in after:
                self.about.session.ledger.check(search + each)
        part, rest = spend.split(SEARCH_SHARE)
        found = self._search.release(spend=part)
        bounds = read_bounds(found, whole=whole)
        try:
            known = self._within(*bounds)
            answer = known.release(**self.options, spend=rest)
        except DeniableError as error:
            paid_before(error, found, "find bounds")
            raise
        return _noted(answer, found, bounds.note)

    def _most_due(self, spend: Loss) -> Price:
        search, _narrow, wide = self._due(spend)
        return search + wide

    def _due(self, spend: Loss) -> list[Price]:
        """What is due for the search, and for the answer if it finds the least or the most."""
        part, rest = spend.split(SEARCH_SHARE)
        after = [self._within(*ends).due(**self.options, spend=rest) for ends in EXTREMES]
        return [self._search.due(spend=part), *after]

    @property
    def _search(self) -> Query:
        return statistics.bounds(self.about, self.column)

    def _within(self, low: float, high: float) -> Query:
        return self.question(knowing(self.about, self.column, low, high))


def _noted(release: Release, search: Release, nothing: str) -> Release:
    """The answer with what the search for bounds cost, and whether it found any, beside it."""
    both, answers = release.after(search), release.answers
    if nothing:
        told = f"means nothing, because {nothing}"
        answers = {n: replace(a, estimand=f"{told}; {a.estimand}") for n, a in answers.items()}
    found = "no bounds found" if nothing else "bounds found privately"
    note = f"{found} for {amount(search.loss, 'up')}; {release.provenance.note}"
    return replace(both, answers=answers, provenance=replace(both.provenance, note=note))
