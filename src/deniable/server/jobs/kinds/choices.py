"""Selection and sparse vector over the groups of a query."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from deniable.curator import Curator
from deniable.losses import Loss
from deniable.release import Plan
from deniable.server.jobs import choosing

from ._kind import Answer, Named, Sql

Selection = Literal["permute_and_flip", "exponential", "noisy_max"]
"""Mechanisms that choose one of several groups."""


class Threshold(BaseModel):
    """Which groups have a number above a threshold: the first so many, by sparse vector."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    threshold: FiniteFloat
    """The number that a group's number is compared with."""
    answers: Annotated[int, Field(ge=1, le=1000)] = 1
    """After how many groups above the threshold to stop."""


class Choose(Named):
    """Which group has the largest number: the query gives one number per group."""

    starts_from: ClassVar[str] = "groups"

    kind: Literal["choose"] = "choose"
    sql: Sql
    """One number per group: SELECT city, COUNT(*) AS n FROM visits GROUP BY city, for example."""
    mechanism: Selection = "permute_and_flip"

    def explain(self, session: Curator, spend: Loss) -> Plan:
        """The cost; a choice has no ±."""
        return choosing.explained(session, session.sql(self.sql), self._task(), spend)

    def release(self, session: Curator, spend: Loss) -> Answer:
        """The group that was chosen."""
        found = choosing.released(session, session.sql(self.sql), self._task(), spend)
        return Answer(release=found)

    def _task(self) -> dict[str, object]:
        return {"sql": self.sql, "choose": self.mechanism}


class Above(Threshold, Named):
    """Which groups have a number above a threshold: the first so many, by sparse vector."""

    starts_from: ClassVar[str] = "groups"

    kind: Literal["above"] = "above"
    sql: Sql
    """One number per group, such as SELECT city, COUNT(*) AS n FROM visits GROUP BY city."""

    def explain(self, session: Curator, spend: Loss) -> Plan:
        """The cost; a yes or no has no ±."""
        return choosing.explained(session, session.sql(self.sql), self._task(), spend)

    def release(self, session: Curator, spend: Loss) -> Answer:
        """The groups that were found above."""
        found = choosing.released(session, session.sql(self.sql), self._task(), spend)
        return Answer(release=found)

    def _task(self) -> dict[str, object]:
        above = {"threshold": self.threshold, "answers": self.answers}
        return {"sql": self.sql, "above": above}
