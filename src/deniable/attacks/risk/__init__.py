"""The risk report for a table about to be published."""

from __future__ import annotations

from ._report import PRIVATE, Option, Report, report

__all__ = ["PRIVATE", "Option", "Report", "report"]
