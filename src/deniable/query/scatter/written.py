"""What was written: where it is, what it cost, and how to read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deniable.losses import Loss
from deniable.release import Certificate, Provenance, Release
from deniable.units import Unit

from .columns import Field

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, kw_only=True, repr=False)
class Written:
    """A noisy table in Parquet files: keys, noisy values, and <column>_error (95 %).

    `.frame()` reads the files that were committed, so whatever is made of it, and however often
    Spark computes that again, no noise is drawn again.
    """

    path: str
    columns: tuple[Field, ...]
    release: Release = field(repr=False)
    """Its cost and provenance; it has no rows."""
    spark: Any = field(repr=False, compare=False)

    @property
    def loss(self) -> Loss:
        """The loss that was charged for the release."""
        return self.release.loss

    @property
    def mechanisms(self) -> tuple[Mapping[str, object], ...]:
        """What drew the noise."""
        return self.release.mechanisms

    @property
    def unit(self) -> Unit:
        """The privacy unit of the release."""
        return self.release.unit

    @property
    def provenance(self) -> Provenance:
        """Where it came from; public facts only."""
        return self.release.provenance

    @property
    def free(self) -> str:
        """Why this answer cost nothing this time, if it did."""
        return self.release.free

    def frame(self) -> DataFrame:
        """A Spark DataFrame of the committed files."""
        found: DataFrame = self.spark.read.schema(spark_schema(self.columns)).parquet(self.path)
        return found

    def certificate(self) -> Certificate:
        """Everything a sceptic needs to check the claim."""
        return self.release.certificate()

    def __repr__(self) -> str:
        cost = self.release.cost
        names = ", ".join(column.name for column in self.columns)
        return (
            f"{self.provenance.question}\nwritten to {self.path} as Parquet: {names}\n"
            f"{cost} · protects {self.unit}\n{self.provenance.note}\n(.frame() reads it)"
        )


def spark_schema(columns: tuple[Field, ...]) -> str:
    """The columns as Spark has them."""
    from deniable.query.compile.spark import Spark

    return ", ".join(
        f"`{column.name.replace('`', '``')}` {Spark.types[column.kind]}" for column in columns
    )
