"""What a question by name is: public parameters, checked when they arrive."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from deniable.curator import Curator
from deniable.losses import Loss
from deniable.release import Plan, Release

Name = Annotated[str, Field(min_length=1, max_length=200)]
Names = Annotated[list[Name], Field(min_length=1, max_length=100)]
Sql = Annotated[str, Field(min_length=1, max_length=10_000)]
Bins = (
    Annotated[int, Field(ge=1, le=100_000)] | Annotated[list[FiniteFloat], Field(max_length=2000)]
)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What was released, and what a client needs beside it to use it as a local session would."""

    release: Release
    attachment: Mapping[str, Any] | None = None


class Named(BaseModel, ABC):
    """A question by name. It holds no data: `explain` reads none, `release` charges first."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    patience: ClassVar[int] = 1
    """By how much its deadline is longer than that of a query."""

    starts_from: ClassVar[str] = ""
    """What its query asks for, if it has one: groups, or an average."""

    kind: str
    table: Name | None = None

    @property
    def title(self) -> str:
        """The question in words: public facts only."""
        given = self.model_dump(exclude_none=True, exclude={"kind"})
        return f"{self.kind}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    @abstractmethod
    def explain(self, session: Curator, spend: Loss) -> Plan:
        """The cost and the ± to expect, from public facts."""

    @abstractmethod
    def release(self, session: Curator, spend: Loss) -> Answer:
        """The answer: charged, then computed, then drawn."""
