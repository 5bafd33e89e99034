"""The UCI Adult data: 48,842 people of a 1994 census, for demonstrations, docs and tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import MissingExtra
from deniable.sampling.public import PublicRandom

if TYPE_CHECKING:
    import pyarrow as pa

PATH = Path(__file__).with_name("adult.parquet")
"""The file itself: any engine that reads Parquet can open it."""

_SEED = 1994
# fmt: off
_SYLLABLES = [
    "ba", "be", "bo", "da", "de", "do", "fi", "ga", "ka", "la", "le", "li", "lo", "ma", "me",
    "mi", "na", "ne", "no", "ra", "re", "ri", "ro", "sa", "se", "ta", "te", "ti", "va",
]
# fmt: on


def load_adult(split: str = "train", *, identifiers: bool = False) -> pa.Table:
    """The people of the training part (32,561 rows), of the test part (16,281) or of both ("all").

    With `identifiers`, columns name, birth_date and zip are put in front: made up, the same at each
    call, and belonging to nobody. Ages are as of 1994-12-31.
    """
    parameters.one_of("split", split, ("train", "test", "all"))
    try:
        import pyarrow.compute as pc
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra.of("PyArrow, which holds the table,", extra="frames") from None
    table = pq.read_table(PATH)
    if identifiers:
        table = _with_identifiers(table)
    if split != "all":
        table = table.filter(pc.equal(table["split"], split))
    return table.drop_columns(["split"])


def _with_identifiers(table: pa.Table) -> pa.Table:
    import pyarrow as pa

    draw = PublicRandom(_SEED).generator
    people = table.num_rows
    ages = table["age"].to_numpy()
    days = np.datetime64("1994-12-31") - draw.integers(0, 365, people)
    births = (days.astype("datetime64[Y]") - ages).astype("datetime64[D]") + (
        days - days.astype("datetime64[Y]")
    )
    # A few large towns and many small places, as ZIP codes are.
    zips = (10_000 + 90_000 * draw.beta(0.6, 2.5, people)).astype(np.int64)
    made_up = {
        "name": pa.array(_names(draw.integers(0, len(_SYLLABLES), (people, 5)))),
        "birth_date": pa.array(births),
        "zip": pa.array([f"{code:05d}" for code in zips]),
    }
    return pa.table(made_up | {name: table[name] for name in table.column_names})


def _names(picks: NDArray[np.int64]) -> list[str]:
    """A first name of two syllables and a last name of three."""
    spelled = [[_SYLLABLES[i] for i in row] for row in picks.tolist()]
    return [f"{''.join(s[:2]).title()} {''.join(s[2:]).title()}" for s in spelled]
