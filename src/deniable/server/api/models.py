"""What requests look like: plain data with limits, checked before anything else happens."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from deniable.server.jobs.kinds import Asked
from deniable.server.jobs.kinds.choices import Selection, Threshold


def encoded(text: str) -> str:
    """Text that can be sent again: half of a surrogate pair cannot."""
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        raise ValueError("not a text of whole characters")
    return text


Positive = Annotated[FiniteFloat, Field(gt=0)]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(encoded)]
Text = Annotated[str, Field(min_length=1, max_length=200)]


class Amount(BaseModel):
    """An amount of privacy loss: epsilon (with or without delta), rho or mu."""

    model_config = ConfigDict(extra="forbid")

    kind: str | None = Field(default=None, max_length=20)
    epsilon: Positive | None = None
    delta: Annotated[FiniteFloat, Field(ge=0, lt=1)] | None = None
    rho: Positive | None = None
    mu: Positive | None = None

    def figures(self) -> dict[str, Any]:
        """Those that were given."""
        return self.model_dump(exclude_none=True)


class Question(BaseModel):
    """A question as data: SQL or a question by name, and what to spend, or the ± that is wanted."""

    model_config = ConfigDict(extra="forbid")

    sql: Annotated[str, Field(min_length=1, max_length=10_000)] | None = None
    ask: Asked | None = None
    """A question by name, such as {"kind": "ranges", "column": "age"}, in place of SQL."""
    table: Text | None = None
    spend: Amount | None = None
    within: Positive | dict[Name, Positive] | None = None
    size: Positive | None = None
    purpose: Text | None = None
    choose: Selection | None = None
    above: Threshold | None = None

    @model_validator(mode="after")
    def _one_mechanism(self) -> Self:
        if self.choose is not None and self.above is not None:
            raise ValueError("a question has `choose` or `above`, not both")
        if (self.sql is None) == (self.ask is None):
            raise ValueError("a question has `sql` or `ask`")
        if self.ask is not None and (self.choose is not None or self.above is not None):
            raise ValueError("`choose` and `above` go with `sql`")
        return self

    def task(self) -> dict[str, Any]:
        """As a worker takes it."""
        return {
            "sql": self.sql,
            "ask": None if self.ask is None else self.ask.model_dump(),
            "table": self.table,
            "spend": None if self.spend is None else self.spend.figures(),
            "within": self.within,
            "size": self.size,
            "purpose": self.purpose,
            "choose": self.choose,
            "above": None if self.above is None else self.above.model_dump(),
        }


class NewPerson(BaseModel):
    """An analyst, and the share of a group's budget that is reserved for them."""

    model_config = ConfigDict(extra="forbid")

    name: Text
    people: Text | None = None
    share: Amount | None = None


class Problem(BaseModel):
    """What went wrong, why, a fix, and what it cost."""

    type: str = "error"
    code: str
    title: str
    why: str = ""
    fix: str = ""
    cost: str = ""
    where: str = ""
    hint: str = ""
