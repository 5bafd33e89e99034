"""Compile: our trees to each engine's SQL, by way of sqlglot's trees; no text is passed through.

nodes           pieces of SQL trees
dialect         what engines spell differently
duckdb, postgres, spark    the spelling of each engine
reals           floats with their ranges, and guards where an engine fails
arithmetic, words, moments, casts    the operators by subject
expressions     our expressions
reading         from stored columns to what the schema promises
relations       our relations
contributions   what every row adds, as a whole number
statements      the integer plan
"""

from __future__ import annotations

from .dialect import Dialect
from .expressions import compiled
from .relations import Relations, Stored
from .statements import Statement, statements

__all__ = ["Dialect", "Relations", "Statement", "Stored", "compiled", "statements"]
