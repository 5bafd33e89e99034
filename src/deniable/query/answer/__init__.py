"""Answer: what noisy numbers say, in the form that was asked for. All of it is free.

derived      counts, sums, averages, variances and quantiles from noisy tallies
intervals    where averages and variances may be
present      HAVING, ORDER BY, LIMIT, expressions, and the columns of the release
answering    the four together
"""

from __future__ import annotations

from .answering import answer, tabled

__all__ = ["answer", "tabled"]
