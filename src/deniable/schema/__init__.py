"""What is public about tables: types, bounds, keys, missing values, the unit; TOML both ways.

    columns     what is known of one column
    tables      the columns of a table, or the tables of a database; whom they protect
    typed       facts as people type them
    lint        what is missing or dangerous, with fixes
    toml        the exact writer (the standard library only reads)
    arrays      a column of values as numbers, whatever its rows hold
    binning     one column divided into cells: encode, decode, labels, one-hot
    edges       where cells lie: equal widths, half-octaves, given edges
    made_up     rows with the columns of a table that belong to nobody

Nothing here is ever read from the data, not even from the statistics a file keeps of itself.
"""

from __future__ import annotations

from .columns import Column, bounds, column, keys
from .tables import Schema

__all__ = ["Column", "Schema", "bounds", "column", "keys"]
