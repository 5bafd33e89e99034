"""`dp.open`: data, a privacy unit and a budget in; a curator's session out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from deniable import session as core
from deniable.ledger import Ledger
from deniable.losses import Loss
from deniable.parameters import called
from deniable.schema import Schema
from deniable.units import Unit

from .curator import Curator


@called("dp.open(table, unit=dp.rows(), budget=dp.epsilon(1.0))")
def open(  # noqa: A001  (dp.open is the promised name)
    source: object,
    *,
    unit: Unit | None = None,
    budget: Loss | None = None,
    schema: Schema | Mapping[str, Schema] | str | os.PathLike[str] | None = None,
    ledger: Ledger | str | Path | None = None,
    name: str | None = None,
    version: str | None = None,
    asker: str | None = None,
) -> Curator:
    """Open data for private questions.

    `source` is a path or glob (.csv, .parquet), a frame, an Ibis table, a connection, or several
    tables by name. Only column names and types are looked at. `unit` is whom to protect, here or in
    the schema. `budget` is the ceiling for everything that will ever be released from this ledger;
    an existing ledger brings its own. A frame is called `data`, a file by its stem, unless `name`
    says otherwise. `version` is your public name for the state of the data: answers stored about
    one version are not given for another. The budget is one for all versions. `asker` is whom the
    session is for: it spends from their share, and shows nothing of others. Without it the session
    is the curator's.

    >>> import deniable as dp
    >>> people = dp.load_adult()
    >>> s = dp.open(people, unit=dp.rows(), budget=dp.epsilon(1.0), name="people")
    >>> q = s.sql("SELECT COUNT(*) AS n FROM people WHERE age > 40")
    >>> print(q.explain(within=50).cost)    # free: the price of that ±
    ε = 0.0594
    >>> answer = q.release(within=50)       # spends
    >>> print(s.left)
    ε = 0.94

    Statistics in one line: `count`, `sum`, `mean`, `median`, `quantile`, `variance`, `std`,
    `histogram`, `crosstab`, `top_k`, `describe`, `bounds`, `contributions`. More: `workload`,
    `synthesize`, `fit`, `select`, `run` for algorithms, `ledger`, `spent`, `left`, `plot`.
    """
    opened = core.open(
        source,
        unit=unit,
        budget=budget,
        schema=schema,
        ledger=ledger,
        name=name,
        version=version,
        asker=asker,
        of=Curator,
    )
    assert isinstance(opened, Curator)
    return opened
