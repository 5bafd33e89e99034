"""Answer: what noisy numbers say, in the form that was asked for. All of it is free.

present      HAVING, ORDER BY, LIMIT, expressions, and the columns of the release
answering    every aggregate from its noisy tallies, then the columns
"""

from __future__ import annotations

from .answering import answer, tabled

__all__ = ["answer", "tabled"]
