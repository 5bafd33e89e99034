"""Questions by name, as the methods of a local session: workloads, synthetic data, learning."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from deniable import fixes
from deniable.errors import BadParameter, NotReady
from deniable.losses import Loss
from deniable.parameters import called
from deniable.progress import Progress
from deniable.release import Plan
from deniable.sampling.source import current
from deniable.schema.edges import Bins
from deniable.server import wire

from .connection import Connection

E = TypeVar("E")
_POLL: Final = 0.25
_PATIENCE: Final = 3600.0


class ByName:
    """What a session offers beside SQL. Without `spend=` each is a question, to `explain`."""

    _connection: Connection

    @called('c.named("median", sql="SELECT AVG(age) FROM visits", method="smooth")')
    def named(self, kind: str, *, purpose: str | None = None, **parameters: object) -> RemoteNamed:
        """A question of any kind that the server knows, with its parameters."""
        given = {name: value for name, value in parameters.items() if value is not None}
        asked = {"kind": kind, **given}
        return RemoteNamed(connection=self._connection, asked=asked, purpose=purpose)

    def _asked(
        self, kind: str, spend: Loss | None, purpose: str | None, **parameters: object
    ) -> Any:
        asked = self.named(kind, purpose=purpose, **parameters)
        return asked if spend is None else asked.release(spend=spend)

    @called('c.ranges("age", spend=dp.epsilon(0.5))')
    def ranges(
        self,
        column: str,
        *,
        spend: Loss | None = None,
        bins: Bins | None = None,
        table: str | None = None,
        purpose: str | None = None,
    ) -> Any:
        """Every range of a column: `c.ranges("age", spend=...).between(20, 40)`."""
        return self._asked("ranges", spend, purpose, column=column, bins=bins, table=table)

    @called('c.marginals(["sex", "race"], ways=2, spend=dp.epsilon(0.5))')
    def marginals(
        self,
        columns: Sequence[str],
        *,
        spend: Loss | None = None,
        ways: int = 2,
        bins: Bins | None = None,
        table: str | None = None,
        purpose: str | None = None,
    ) -> Any:
        """A table for every set of `ways` of the columns; all tables agree with each other."""
        more = {"ways": ways, "bins": bins, "table": table}
        return self._asked("marginals", spend, purpose, columns=list(columns), **more)

    @called('c.hierarchy(["state", "county"], spend=dp.epsilon(0.5))')
    def hierarchy(
        self,
        columns: Sequence[str],
        *,
        spend: Loss | None = None,
        table: str | None = None,
        purpose: str | None = None,
    ) -> Any:
        """Counts by the first column, the first two, …, and in total, that add up."""
        return self._asked("hierarchy", spend, purpose, columns=list(columns), table=table)

    @called('c.running("when", every="day", spend=dp.epsilon(0.5))')
    def running(
        self,
        column: str,
        *,
        spend: Loss | None = None,
        every: str = "day",
        table: str | None = None,
        purpose: str | None = None,
    ) -> Any:
        """The number of rows up to each day; a person's rows are limited over the whole stream."""
        return self._asked("running", spend, purpose, column=column, every=every, table=table)

    @called("c.synthesize(spend=dp.epsilon(1, delta=1e-9))")
    def synthesize(
        self,
        columns: Sequence[str] | None = None,
        *,
        spend: Loss,
        method: str = "auto",
        marginals: Sequence[Sequence[str]] | int | None = None,
        table: str | None = None,
        purpose: str | None = None,
    ) -> Any:
        """A private model of a table; rows are drawn from it here, as many as you like."""
        listed = None if columns is None else list(columns)
        more = {"method": method, "marginals": marginals, "table": table}
        return self._asked("synthesize", spend, purpose, columns=listed, **more)

    @called('c.fit(LogisticRegression(), target="income", spend=dp.epsilon(1.0, delta=1e-6))')
    def fit(
        self,
        estimator: E,
        *,
        target: str | None = None,
        features: Sequence[str] | None = None,
        spend: Loss,
        table: str | None = None,
        purpose: str | None = None,
    ) -> E:
        """The estimator of `deniable.learn`, fitted on the server; it predicts here."""
        get_params = getattr(estimator, "get_params", None)
        if not type(estimator).__module__.startswith("deniable.learn.") or get_params is None:
            raise BadParameter.of(
                "estimator", type(estimator).__name__, must="an estimator of deniable.learn"
            )
        kind: Any = type(estimator)
        chosen, usual = get_params(deep=False), kind().get_params(deep=False)
        settings = {name: value for name, value in chosen.items() if value != usual[name]}
        found = self._asked(
            "fit",
            spend,
            purpose,
            estimator=type(estimator).__name__,
            parameters=settings,
            target=target,
            features=None if features is None else list(features),
            table=table,
        )
        vars(estimator).update(vars(found))
        return estimator


@dataclass(frozen=True, kw_only=True)
class RemoteNamed:
    """A question by name to a server: `.explain` is free, `.release` spends."""

    connection: Connection = field(repr=False)
    asked: Mapping[str, object]
    purpose: str | None = None

    @called("q.explain(spend=dp.epsilon(0.1))")
    def explain(self, *, spend: Loss) -> Plan:
        """What an answer would cost and how good it would be. Free."""
        return wire.plan_from_dict(self.connection.post("/api/explain", self._body(spend)))

    @called("q.rehearse(spend=dp.epsilon(0.1))")
    def rehearse(self, *, spend: Loss) -> Any:
        """An answer on made-up rows. Free; it describes no real people."""
        found = self.connection.post("/api/try", self._body(spend))["release"]
        return wire.answer_from_dict(found | {"free": "these rows are made up"})

    @called("q.release(spend=dp.epsilon(0.1))")
    def release(self, *, spend: Loss, key: str | None = None) -> Any:
        """The answer, as a local session gives it: charged, then computed, then drawn.

        The server works in the background meanwhile. `key` names this question for ever: released
        again under the same key it is the same answer, and paid for once.
        """
        named = key or f"{current().integer(128):032x}"
        self.connection.post("/api/jobs", self._body(spend), key=named)
        end = time.monotonic() + _PATIENCE
        with Progress(f"the server computes {self.asked['kind']}") as progress:
            while time.monotonic() < end:
                found = self.connection.get(f"/api/jobs/{named}")
                if found["error"] is not None:
                    raise wire.error_from_dict(found["error"])
                if found["release"] is not None:
                    return wire.answer_from_dict(found["release"])
                progress.text = f"the server computes {self.asked['kind']} ({found['state']})"
                time.sleep(_POLL)
        raise NotReady(
            "the server has not answered within an hour",
            fix=f"q.release(..., key={named!r})    it is paid for once",
            cost="unknown until the server answers",
        )

    def _body(self, spend: object) -> dict[str, object]:
        if not isinstance(spend, Loss):
            raise BadParameter.of(
                "spend", spend, must="a privacy loss", fix=fixes.amount("spend", "epsilon", 0.1)
            )
        body = {"ask": dict(self.asked), "spend": spend.to_dict(), "purpose": self.purpose}
        return {name: value for name, value in body.items() if value is not None}
